//! Connections that wait for runs in the foreground, and a plain rule for what must be kept then.

use super::super::*;
use super::bench::{Bench, PERIOD};

/// A connection without a watch.
pub(super) struct Front {
    pub(super) connection: u64,
    closed: CancellationToken,
    waits: Vec<Wait>,
    /// Numbers that it got in replies.
    pub(super) told: Vec<u64>,
}

/// Of one run, with the time of the first.
struct Wait {
    owner: &'static str,
    run: u32,
    since: Duration,
    /// The first reply with a notice, for each notice.
    told: Vec<(u64, Duration)>,
}

pub(super) fn run_id(number: u32) -> RunId {
    format!("{number:032x}").parse().unwrap()
}

impl Front {
    /// As if it had never waited for a run.
    pub(super) fn forget(&mut self, run: u32) {
        self.waits.retain(|wait| wait.run != run);
    }
}

impl Bench {
    pub(super) fn front(&mut self) -> usize {
        self.connections += 1;
        let (connection, closed) = (self.connections, CancellationToken::new());
        self.fronts.push(Front { connection, closed, waits: Vec::new(), told: Vec::new() });
        self.fronts.len() - 1
    }

    pub(super) fn wait(&mut self, front: usize, owner: &'static str, run: u32) {
        let (now, at, front) = (self.now, self.at(), &mut self.fronts[front]);
        self.lines.keep(front.connection, owner, run_id(run), at);
        self.awaited.insert(run);
        if front.waits.iter().all(|wait| wait.run != run) {
            front.waits.push(Wait { owner, run, since: now, told: Vec::new() });
        }
        self.walk();
    }

    /// A wait for `run`, by a new connection.
    pub(super) fn waits_for(&mut self, owner: &'static str, run: u32) -> usize {
        let front = self.front();
        self.wait(front, owner, run);
        front
    }

    pub(super) fn give_back(&mut self, front: usize, run: u32) {
        let at = self.at();
        let front = &mut self.fronts[front];
        front.waits.retain(|wait| wait.run != run);
        self.lines.give_back(front.connection, run_id(run), at);
        self.walk();
    }

    pub(super) fn close(&mut self, front: usize) {
        let front = self.fronts.remove(front);
        front.closed.cancel();
        self.lines.close(front.connection, self.at());
        self.walk();
    }

    /// The reply to a wait for a run that has ended, as the handler gives it.
    pub(super) fn tell(&mut self, front: usize, run: u32) -> Option<u64> {
        let (now, at) = (self.now, self.at());
        let newest = (1..).zip(&self.notices).filter(|(_, notice)| notice.run == run).last();
        let (seq, acknowledged) = newest.map(|(seq, notice)| (seq, notice.acknowledged))?;
        if !self.fronts[front].waits.iter().any(|wait| wait.run == run) {
            return None;
        }
        if acknowledged {
            self.give_back(front, run);
            return Some(seq);
        }
        let front = &mut self.fronts[front];
        let wait = front.waits.iter_mut().find(|wait| wait.run == run)?;
        if wait.told.iter().all(|told| told.0 != seq) {
            wait.told.push((seq, now));
        }
        front.told.push(seq);
        let notice = Stored { owner: wait.owner, run: run_id(run), seq, age: Duration::ZERO };
        self.lines.told(front.connection, &front.closed, notice, at);
        self.walk();
        Some(seq)
    }

    /// Acknowledges what this connection was told, up to a number.
    pub(super) fn show(&mut self, front: usize, up_to: u64) -> Vec<u64> {
        let connection = self.fronts[front].connection;
        let owners: Vec<&'static str> = self.fronts[front].waits.iter().map(|wait| wait.owner).collect();
        self.acknowledge_as(connection, &owners, Some(up_to), &[])
    }

    /// Whether a notice must be kept from the watchers: somebody waits for its run and has had it for less than a
    /// period, or could have been told of it for less than that.
    pub(super) fn is_kept(&self, seq: u64) -> bool {
        let notice = &self.notices[seq as usize - 1];
        if !self.awaited.contains(&notice.run) {
            return false;
        }
        let later = &self.notices[seq as usize..];
        // Only the newest of a run is kept. An acknowledgement may have ended the wait.
        let of_run = |other: &super::bench::Notice| other.run == notice.run;
        let earlier = self.notices[..seq as usize - 1].iter().any(|other| of_run(other) && other.acknowledged);
        if earlier || later.iter().any(of_run) {
            return false;
        }
        let waits = self.fronts.iter().flat_map(|front| &front.waits).filter(|wait| wait.run == notice.run);
        let mut ends = waits.map(|wait| {
            let untold = wait.since.max(notice.made) + PERIOD;
            let told = wait.told.iter().find(|told| told.0 == seq && told.1 < untold);
            told.map_or(untold, |told| told.1 + PERIOD)
        });
        ends.any(|end| self.now < end)
    }
}
