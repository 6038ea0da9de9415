//! Lines beside a table of notices, under clients that walk as `inbox/watch` does.

use super::super::*;
use super::front::{Front, run_id};

pub(super) const PERIOD: Duration = Duration::from_secs(10);
/// Rows of one read: few, so that walks have several pages.
const ROWS: usize = 3;

/// A notice on its way to one client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Out {
    pub(super) watcher: u64,
    pub(super) at: Duration,
}

pub(super) struct Notice {
    pub(super) owner: &'static str,
    pub(super) run: u32,
    pub(super) made: Duration,
    pub(super) acknowledged: bool,
    pub(super) out: Option<Out>,
    /// Since when somebody who wants it could have it and nobody has.
    pub(super) waits: Option<Duration>,
}

pub(super) struct Client {
    pub(super) number: u64,
    pub(super) connection: u64,
    pub(super) closed: CancellationToken,
    pub(super) owners: Vec<&'static str>,
    pub(super) from: u64,
    /// Takes nothing.
    pub(super) stuck: bool,
    wake: Arc<Notify>,
    /// It stopped before something.
    stopped: bool,
    /// There is a notice that it has not looked at.
    news: bool,
    /// What it was sent, with the time.
    pub(super) got: Vec<(u64, Duration)>,
}

/// Lines beside a table of notices and clients that walk as `inbox/watch` does.
pub(super) struct Bench {
    pub(super) lines: Lines,
    start: Instant,
    pub(super) now: Duration,
    pub(super) notices: Vec<Notice>,
    pub(super) clients: Vec<Client>,
    pub(super) connections: u64,
    pub(super) fronts: Vec<Front>,
    /// Runs that anybody has ever waited for in the foreground.
    pub(super) awaited: BTreeSet<u32>,
    pub(super) problems: Vec<String>,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self {
            lines: Lines::new(Some(PERIOD)),
            start: Instant::now(),
            now: Duration::ZERO,
            notices: Vec::new(),
            clients: Vec::new(),
            connections: 0,
            fronts: Vec::new(),
            awaited: BTreeSet::new(),
            problems: Vec::new(),
        }
    }

    pub(super) fn at(&self) -> Instant {
        self.start + self.now
    }

    /// Of a run that nobody else has.
    pub(super) fn notice(&mut self, owner: &'static str) -> u64 {
        self.ends(owner, u32::MAX - self.notices.len() as u32)
    }

    /// A run ends.
    pub(super) fn ends(&mut self, owner: &'static str, run: u32) -> u64 {
        self.comes(owner, run);
        self.walk();
        self.notices.len() as u64
    }

    /// Nobody looks at it yet.
    pub(super) fn comes(&mut self, owner: &'static str, run: u32) {
        self.notices.push(Notice { owner, run, made: self.now, acknowledged: false, out: None, waits: None });
        self.clients.iter_mut().for_each(|client| client.news = true);
    }

    pub(super) fn join_as(&mut self, owners: &[&'static str], from: u64, stuck: bool) -> usize {
        self.connections += 1;
        let (connection, closed) = (self.connections, CancellationToken::new());
        let named = owners.iter().map(|owner| Owner::from(*owner)).collect();
        let (wake, owners) = (Arc::new(Notify::new()), owners.to_vec());
        let number = self.lines.join(connection, &closed, named, from, Arc::clone(&wake));
        let (stopped, news, got) = (false, true, Vec::new());
        self.clients.push(Client { number, connection, closed, owners, from, stuck, wake, stopped, news, got });
        self.walk();
        self.clients.len() - 1
    }

    pub(super) fn join(&mut self, owner: &'static str) -> usize {
        self.join_as(&[owner], 0, false)
    }

    /// Unsubscribes, or closes.
    pub(super) fn leave(&mut self, client: usize, closes: bool) -> Client {
        let gone = self.clients.remove(client);
        if closes {
            gone.closed.cancel();
        }
        for notice in &mut self.notices {
            notice.out = notice.out.filter(|out| out.watcher != gone.number);
        }
        self.lines.leave(gone.number, self.at());
        self.walk();
        gone
    }

    pub(super) fn acknowledge(&mut self, client: usize, up_to: Option<u64>, seqs: &[u64]) -> Vec<u64> {
        let Client { connection, owners, .. } = &self.clients[client];
        self.acknowledge_as(*connection, &owners.clone(), up_to, seqs)
    }

    pub(super) fn acknowledge_as(
        &mut self,
        connection: u64,
        owners: &[&'static str],
        up_to: Option<u64>,
        seqs: &[u64],
    ) -> Vec<u64> {
        let names: Vec<String> = owners.iter().map(|owner| (*owner).to_owned()).collect();
        let (number, covered) = self.lines.acknowledge(connection, &names, up_to, seqs.iter().copied().collect());
        // Nothing of it is offered before the database has it, nor after.
        self.walk();
        for seq in &covered {
            let notice = &mut self.notices[*seq as usize - 1];
            notice.acknowledged |= owners.contains(&notice.owner);
        }
        self.lines.acknowledged(number, true);
        self.walk();
        covered
    }

    pub(super) fn pass(&mut self, time: Duration) {
        // As timers would, nobody sleeps beyond the end of an offer.
        let end = self.now + time;
        loop {
            let awake = self.clients.iter().filter(|client| !client.stuck);
            let firsts = awake.filter_map(|client| self.lines.until_first(client.number));
            let first = firsts.min().map(|first| first - self.start);
            self.now = first.filter(|first| *first > self.now).map_or(end, |first| first.min(end));
            self.walk();
            if self.now == end {
                return;
            }
        }
    }

    pub(super) fn rows(&self, owners: &[&str], after: u64) -> Vec<(u64, &'static str)> {
        let open = (1..).zip(&self.notices).filter(|(_, notice)| !notice.acknowledged);
        let own = open.filter(|(seq, notice)| *seq > after && owners.contains(&notice.owner));
        own.map(|(seq, notice)| (seq, notice.owner)).take(ROWS).collect()
    }

    /// Everybody reads what there is for whom there may be something, until nobody has anything to do.
    pub(super) fn walk(&mut self) {
        for _round in 0..100 {
            let mut busy = false;
            for client in 0..self.clients.len() {
                if !self.clients[client].stuck && self.has_reason(client) {
                    busy = true;
                    while self.page(client) {}
                }
            }
            if !busy {
                self.look();
                return;
            }
        }
        self.problems.push("they never come to rest".to_owned());
    }

    /// News, or it is woken and has something to do then.
    fn has_reason(&mut self, client: usize) -> bool {
        let at = self.at();
        let Client { number, stopped, ref wake, ref mut news, .. } = self.clients[client];
        let over = self.lines.until_first(number).is_some_and(|until| until <= at);
        let woken = std::pin::pin!(wake.notified()).as_mut().enable() || over;
        std::mem::take(news) || woken && (stopped || self.lines.walk(number, at).again)
    }

    fn page(&mut self, client: usize) -> bool {
        let (number, owners) = (self.clients[client].number, self.clients[client].owners.clone());
        let walk = self.lines.walk(number, self.at());
        let rows = self.rows(&owners, walk.after);
        if walk.again && rows.first().is_none_or(|row| row.0 != walk.after + 1) {
            self.lines.forget(number, walk.after + 1);
        }
        let full = rows.len() == ROWS;
        for (seq, owner) in rows {
            let Notice { made, run, .. } = self.notices[seq as usize - 1];
            let notice = Stored { owner, run: run_id(run), seq, age: self.now - made };
            match self.lines.turn(number, notice, self.at()) {
                Turn::Send => self.take(client, seq),
                Turn::Pass => {}
                Turn::Stop => {
                    self.clients[client].stopped = true;
                    return walk.again;
                }
            }
        }
        self.clients[client].stopped = false;
        walk.again || full
    }

    pub(super) fn take(&mut self, client: usize, seq: u64) {
        let now = self.now;
        let kept = self.is_kept(seq);
        let in_order = !self.awaited.contains(&self.notices[seq as usize - 1].run);
        let (client, notice) = (&mut self.clients[client], &mut self.notices[seq as usize - 1]);
        let mut wrong = |what: &str| self.problems.push(format!("{seq} to {} at {now:?}: {what}", client.number));
        if notice.acknowledged {
            wrong("acknowledged");
        }
        if kept {
            wrong("kept for a foreground wait");
        }
        if seq <= client.from {
            wrong("not above its cursor");
        }
        if notice.out.is_some_and(|out| now < out.at + PERIOD) {
            wrong(&format!("out with {:?}", notice.out));
        }
        match client.got.iter().rev().find(|got| got.0 == seq) {
            Some(before) if now < before.1 + PERIOD => wrong("again too soon"),
            Some(_) => {}
            None if in_order && client.got.iter().any(|got| got.0 > seq) => wrong("out of order"),
            None => {}
        }
        client.got.push((seq, now));
        notice.out = Some(Out { watcher: client.number, at: now });
        notice.waits = None;
    }

    /// Notices how long each one has been with nobody while somebody alive wanted it.
    pub(super) fn look(&mut self) {
        let now = self.now;
        let kept: Vec<bool> = (1..=self.notices.len() as u64).map(|seq| self.is_kept(seq)).collect();
        for ((seq, notice), kept) in (1..).zip(&mut self.notices).zip(kept) {
            let wants = |client: &Client| !client.stuck && client.from < seq && client.owners.contains(&notice.owner);
            let free = !kept && !notice.acknowledged && notice.out.is_none_or(|out| now >= out.at + PERIOD);
            match free && self.clients.iter().any(wants) {
                true => drop(notice.waits.get_or_insert(now)),
                false => notice.waits = None,
            }
        }
    }

    pub(super) fn waits(&self) -> Duration {
        self.notices.iter().filter_map(|notice| notice.waits).map(|since| self.now - since).max().unwrap_or_default()
    }

    /// What a client that takes something wants and has never had, by the client's number.
    pub(super) fn missing(&self) -> Vec<(u64, u64)> {
        let alive = self.clients.iter().filter(|client| !client.stuck);
        let missing = alive.flat_map(|client| {
            let wanted = (1..).zip(&self.notices).filter(|(seq, notice)| {
                !notice.acknowledged && *seq > client.from && client.owners.contains(&notice.owner)
            });
            let missing = wanted.filter(|(seq, _)| client.got.iter().all(|got| got.0 != *seq));
            missing.map(|(seq, _)| (client.number, seq))
        });
        missing.collect()
    }

    pub(super) fn got(&self, client: usize) -> Vec<u64> {
        self.clients[client].got.iter().map(|got| got.0).collect()
    }

    pub(super) fn is_sound(&self) {
        assert!(self.problems.is_empty(), "{:#?}", self.problems);
    }
}
