//! Notices that a foreground wait keeps from the watchers.
//!
//! A connection of the owner that waits for a run in the foreground is where its outcome will be shown. So the run's
//! notice is kept from the owner's watchers, from the first such wait, also between two waits, until
//!
//! - the notice is acknowledged, by whomever;
//! - the connection closes, or waits for the run in another way: that gives it back;
//! - it was out with the connection for a period, as with a watcher. That time runs from the reply that carried the
//!   notice's number; while there is none, from when a watcher would have had it. It runs once for each notice, so
//!   whoever waits again and again does not keep it for ever.
//!
//! Several connections may wait so for one run. Each is told of the end and has a time of its own: the watchers have the
//! notice when none is left. Of a run that ends several times only the newest notice is kept.
//!
//! A kept notice stops nobody: watchers pass over it and are offered what comes behind it. Set free it comes to one of
//! them with its own number, after higher ones. That is the one exception to the order, and the reason why a cursor can
//! leave it out.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use subagentd_core::id::RunId;
use subagentd_proto::limits::FOREGROUND_RUNS;
use tokio_util::sync::CancellationToken;

use super::{Acknowledged, Lines, Owner, Stored, Turn, UNACKNOWLEDGED};

/// Who waits in the foreground for which runs.
pub(super) struct Foreground {
    period: Option<Duration>,
    runs: HashMap<RunId, Awaited>,
    /// By connection, until it closes.
    connections: HashMap<u64, BTreeSet<RunId>>,
}

struct Awaited {
    owner: Owner,
    waiters: Vec<Waiter>,
}

struct Waiter {
    connection: u64,
    /// The newest notice that its time has begun for.
    notice: Option<u64>,
    /// It got that notice's number in a reply.
    told: bool,
    /// Of that notice. Never without a period.
    until: Option<Instant>,
}

impl Waiter {
    fn begin(&mut self, seq: u64, until: Option<Instant>) {
        (self.notice, self.told, self.until) = (Some(seq), false, until);
    }

    fn keeps(&self, seq: u64, now: Instant) -> bool {
        self.notice == Some(seq) && self.until.is_none_or(|until| now < until)
    }
}

impl Foreground {
    pub(super) fn new(period: Option<Duration>) -> Self {
        Self { period, runs: HashMap::new(), connections: HashMap::new() }
    }

    /// Runs, and connections.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.runs.len(), self.connections.len())
    }

    fn until(&self, now: Instant) -> Option<Instant> {
        self.period.and_then(|period| now.checked_add(period))
    }

    fn begin(&mut self, connection: u64, owner: &str, run: RunId, now: Instant) {
        let until = self.until(now);
        let runs = self.connections.entry(connection).or_default();
        if runs.contains(&run) || runs.len() >= FOREGROUND_RUNS {
            return;
        }
        runs.insert(run);
        let awaited = self.runs.entry(run).or_insert_with(|| Awaited { owner: owner.into(), waiters: Vec::new() });
        let notice = awaited.waiters.iter().filter_map(|waiter| waiter.notice).max();
        awaited.waiters.push(Waiter { connection, notice, told: false, until });
    }

    /// Gives the owner whose watchers may have the notice now.
    fn end(&mut self, connection: u64, run: RunId) -> Option<Owner> {
        self.connections.get_mut(&connection)?.remove(&run).then_some(())?;
        let awaited = self.runs.get_mut(&run)?;
        awaited.waiters.retain(|waiter| waiter.connection != connection);
        let owner = awaited.owner.clone();
        if awaited.waiters.is_empty() {
            self.runs.remove(&run);
        }
        Some(owner)
    }

    fn told(&mut self, connection: u64, run: RunId, seq: u64, now: Instant) {
        let until = self.until(now);
        let awaited = self.runs.get_mut(&run).map(|awaited| awaited.waiters.iter_mut());
        let Some(waiter) = awaited.into_iter().flatten().find(|waiter| waiter.connection == connection) else { return };
        if waiter.notice < Some(seq) {
            waiter.begin(seq, until);
        }
        if waiter.keeps(seq, now) && !waiter.told {
            (waiter.told, waiter.until) = (true, until);
        }
    }

    /// Whether a notice is kept from the watchers, one of whom would have it now.
    pub(super) fn keeps(&mut self, run: RunId, seq: u64, now: Instant) -> bool {
        let until = self.until(now);
        let Some(awaited) = self.runs.get_mut(&run) else { return false };
        let mut kept = false;
        for waiter in &mut awaited.waiters {
            if waiter.notice < Some(seq) {
                waiter.begin(seq, until);
            }
            kept |= waiter.keeps(seq, now);
        }
        kept
    }

    /// When a notice that is kept is kept no longer, as far as that is known.
    pub(super) fn kept_until(&self, run: RunId, seq: u64) -> Option<Instant> {
        let mut waiters = self.runs.get(&run)?.waiters.iter().filter(|waiter| waiter.notice == Some(seq));
        waiters.try_fold(None, |latest: Option<Instant>, waiter| Some(latest.max(Some(waiter.until?))))?
    }

    /// Nothing is left to be shown of these.
    pub(super) fn acknowledged(&mut self, marked: &Acknowledged) {
        self.runs.retain(|run, awaited| {
            let seen = |waiter: &Waiter| waiter.notice.is_some_and(|seq| marked.has(&awaited.owner, seq));
            let over = awaited.waiters.iter().any(seen);
            for waiter in awaited.waiters.iter().filter(|_| over) {
                self.connections.get_mut(&waiter.connection).map(|runs| runs.remove(run));
            }
            !over
        });
    }
}

impl Lines {
    /// A connection of the owner waits for a run in the foreground. Tells whether it is its first time: then its end
    /// is to be told by [`Lines::close`].
    pub(in super::super) fn keep(&mut self, connection: u64, owner: &str, run: RunId, now: Instant) -> bool {
        let known = self.foreground.connections.contains_key(&connection);
        self.foreground.begin(connection, owner, run, now);
        !known
    }

    /// A connection does not wait for a run in the foreground any more.
    pub(in super::super) fn give_back(&mut self, connection: u64, run: RunId, now: Instant) {
        if let Some(owner) = self.foreground.end(connection, run) {
            self.set_free(&owner, now);
        }
    }

    /// A connection has closed.
    pub(in super::super) fn close(&mut self, connection: u64, now: Instant) {
        let runs = self.foreground.connections.get(&connection).cloned().unwrap_or_default();
        let owners: BTreeSet<Owner> = runs.iter().filter_map(|run| self.foreground.end(connection, *run)).collect();
        self.foreground.connections.remove(&connection);
        owners.iter().for_each(|owner| self.set_free(owner, now));
        self.sweep();
    }

    /// The reply to a foreground wait carries a notice: it was sent to that connection as by a watch. A connection
    /// that has [`UNACKNOWLEDGED`] ones is told nevertheless; it acknowledges this one by number.
    pub(in super::super) fn told(
        &mut self,
        connection: u64,
        closed: &CancellationToken,
        notice: Stored<'_>,
        now: Instant,
    ) {
        if closed.is_cancelled() {
            return;
        }
        let Stored { owner, run, seq, .. } = notice;
        self.foreground.told(connection, run, seq, now);
        let sent = self.sent_to(connection, closed);
        if sent.seqs.len() < UNACKNOWLEDGED {
            sent.seqs.insert(seq, owner.into());
        }
        self.set_free(&owner.into(), now);
    }

    /// Whether a notice that a watcher came to is kept from it. What is out with another watcher stays so.
    pub(super) fn is_kept(&mut self, notice: Stored<'_>, now: Instant) -> bool {
        let offer = self.lines.get(notice.owner).and_then(|line| line.offers.get(&notice.seq));
        offer.is_none_or(|offer| !offer.sent) && self.foreground.keeps(notice.run, notice.seq, now)
    }

    /// A watcher goes on behind a kept notice.
    pub(super) fn pass_over(&mut self, number: u64, notice: Stored<'_>, now: Instant) -> Turn {
        let Some(line) = self.lines.get_mut(notice.owner) else { return Turn::Stop };
        line.kept.insert(notice.seq, notice.run);
        if line.offers.remove(&notice.seq).is_some() {
            // It was to come to one of them, and others stopped before it.
            line.wake(&self.watchers);
        }
        if let Some(watcher) = self.watchers.get_mut(&number) {
            watcher.reach = watcher.reach.max(notice.seq);
        }
        // Of one run only the newest notice is kept.
        self.set_free(&notice.owner.into(), now);
        Turn::Pass
    }

    /// Offers what was passed over and is not kept any more.
    pub(super) fn set_free(&mut self, owner: &Owner, now: Instant) {
        let Some(line) = self.lines.get(owner) else { return };
        let kept = line.kept.iter().map(|(seq, run)| (*seq, *run));
        let free: Vec<u64> =
            kept.filter(|(seq, run)| !self.foreground.keeps(*run, *seq, now)).map(|(seq, _)| seq).collect();
        for seq in free {
            let Some(line) = self.lines.get(owner) else { return };
            let offer = self.next(line, seq, None, Duration::MAX, now);
            let Some(line) = self.lines.get_mut(owner) else { return };
            line.kept.remove(&seq);
            if let Some(offer) = offer {
                line.offers.insert(seq, offer);
            }
        }
    }
}
