//! Which watcher is offered which notice: bookkeeping without a clock, a database or a client.
//!
//! The watchers of an owner stand in a line, the newest last. A notice is out with one of them at a time. It goes round:
//! the newest that has not had a chance comes first; it loses the notice when it leaves or when the period is over, then
//! the next older one has it, and after the oldest the newest again.
//!
//! Each watcher walks through the stored notices of all its owners upwards and stops before the first that is out with
//! another. So its order is never changed and the last number it was sent is a good cursor; only what it has had comes
//! again out of order. A newcomer is waited for while it is held up like this, for a period at most: then one that is not
//! held up has the notice. With several owners, watchers can hold each other up for some periods, never for ever.
//!
//! What a foreground wait keeps from the watchers is passed over; set free, it comes behind higher numbers (see
//! [`foreground`]).
//!
//! An owner without watchers has no line: what was not acknowledged is in the database, where the next watcher finds it.

mod foreground;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use subagentd_core::id::RunId;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use foreground::Foreground;

/// Notices sent to one connection and not yet acknowledged by anybody. At the bound it is sent no further ones, until
/// some are acknowledged; the rest goes to the owner's next watcher, a period later.
const UNACKNOWLEDGED: usize = 1_024;

/// An owner's name.
pub(super) type Owner = Arc<str>;

/// A notice as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored<'a> {
    pub(super) owner: &'a str,
    pub(super) run: RunId,
    pub(super) seq: u64,
    pub(super) age: Duration,
}

/// What to do with a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Turn {
    /// Send it.
    Send,
    /// Leave it out: this watcher has had it, or it is kept from all watchers.
    Pass,
    /// Stop before it until something has changed.
    Stop,
}

/// Where a watcher reads on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Walk {
    /// The number before the first that is wanted.
    pub(in super::super) after: u64,
    /// Whether that first one was sent before and has to be sent again.
    pub(in super::super) again: bool,
}

/// The lines of all owners.
pub(super) struct Lines {
    period: Option<Duration>,
    watchers: Watchers,
    lines: HashMap<Owner, Line>,
    /// By connection.
    sent: HashMap<u64, Sent>,
    acknowledging: HashMap<u64, Acknowledged>,
    foreground: Foreground,
    next: u64,
}

/// By number: a newer one has a higher number, in every line it stands in.
type Watchers = BTreeMap<u64, Watcher>;

struct Watcher {
    connection: u64,
    owners: Vec<Owner>,
    /// It wants notices above this number.
    from: u64,
    /// It has had every notice up to this number that was not acknowledged before, or kept from it.
    reach: u64,
    /// What it read may have been acknowledged since.
    stale: bool,
    wake: Arc<Notify>,
}

#[derive(Default)]
struct Line {
    watchers: BTreeSet<u64>,
    /// By the notice's number. Gone when acknowledged.
    offers: BTreeMap<u64, Offer>,
    /// Passed over by a watcher, by the notice's number. Gone when acknowledged or set free.
    kept: BTreeMap<u64, RunId>,
}

#[derive(Clone)]
struct Offer {
    holder: u64,
    /// Who had a chance before, in this round.
    before: BTreeSet<u64>,
    /// Nothing kept the holder from taking it when it was chosen, or it has taken it: its chance in this round.
    free: bool,
    /// Not yet while the holder is busy with earlier ones.
    sent: bool,
    /// Never without a period.
    until: Option<Instant>,
}

/// Unacknowledged notices that a connection was sent, whoever has them now.
struct Sent {
    closed: CancellationToken,
    seqs: BTreeMap<u64, Owner>,
}

struct Acknowledged {
    owners: Vec<Owner>,
    seqs: BTreeSet<u64>,
}

impl Acknowledged {
    fn has(&self, owner: &str, seq: u64) -> bool {
        self.seqs.contains(&seq) && self.owners.iter().any(|own| **own == *owner)
    }
}

impl Lines {
    pub(super) fn new(period: Option<Duration>) -> Self {
        Self {
            period,
            watchers: Watchers::new(),
            lines: HashMap::new(),
            sent: HashMap::new(),
            acknowledging: HashMap::new(),
            foreground: Foreground::new(period),
            next: 0,
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// The end of an offer whose time runs for a while already.
    fn until(&self, now: Instant, runs: Duration) -> Option<Instant> {
        self.period.and_then(|period| now.checked_add(period.saturating_sub(runs)))
    }

    /// A new watcher, the newest in the lines of its owners.
    pub(super) fn join(
        &mut self,
        connection: u64,
        closed: &CancellationToken,
        owners: Vec<Owner>,
        from: u64,
        wake: Arc<Notify>,
    ) -> u64 {
        self.sweep();
        let number = self.number();
        for owner in &owners {
            self.lines.entry(Arc::clone(owner)).or_default().watchers.insert(number);
        }
        self.sent_to(connection, closed);
        self.watchers.insert(number, Watcher { connection, owners, from, reach: from, stale: false, wake });
        number
    }

    /// What it has goes to the next at once. What its connection was sent stays known: it may unsubscribe first and
    /// acknowledge then.
    pub(super) fn leave(&mut self, number: u64, now: Instant) {
        let Some(gone) = self.watchers.remove(&number) else { return };
        for owner in &gone.owners {
            let Some(line) = self.lines.get_mut(owner) else { continue };
            line.watchers.remove(&number);
            if line.watchers.is_empty() {
                self.lines.remove(owner);
                continue;
            }
            line.wake(&self.watchers);
            self.pass_on(owner, now, |offer| offer.holder == number);
        }
        self.sweep();
    }

    fn sent_to(&mut self, connection: u64, closed: &CancellationToken) -> &mut Sent {
        let new = || Sent { closed: closed.clone(), seqs: BTreeMap::new() };
        self.sent.entry(connection).or_insert_with(new)
    }

    /// Forgets closed connections.
    fn sweep(&mut self) {
        self.sent.retain(|_, sent| !sent.closed.is_cancelled());
    }

    /// Where this watcher reads on: at what it has to be sent again, else after all that it has had.
    pub(super) fn walk(&mut self, number: u64, now: Instant) -> Walk {
        let Some(watcher) = self.watchers.get_mut(&number) else { return Walk { after: u64::MAX, again: false } };
        watcher.stale = false;
        let (reach, connection, owners) = (watcher.reach, watcher.connection, watcher.owners.clone());
        let mut first = None;
        for owner in &owners {
            self.pass_on(owner, now, |offer| offer.is_over(now));
            self.set_free(owner, now);
        }
        let full = self.sent.get(&connection).filter(|sent| sent.seqs.len() >= UNACKNOWLEDGED);
        for owner in &owners {
            let Some(line) = self.lines.get(owner) else { continue };
            let due = line.offers.range(..=reach).filter(|(_, offer)| offer.holder == number && !offer.sent);
            // One that was set free it has never had: at the bound it cannot have that one now.
            let mut due = due.filter(|(seq, _)| full.is_none_or(|sent| sent.seqs.contains_key(seq)));
            let due = due.find(|(seq, _)| !self.acknowledging.values().any(|marked| marked.has(owner, **seq)));
            first = due.map(|(seq, _)| *seq).into_iter().chain(first).min();
        }
        match first {
            Some(seq) => Walk { after: seq.saturating_sub(1), again: true },
            None => Walk { after: reach, again: false },
        }
    }

    /// Whether this watcher is to send a notice that it read.
    pub(super) fn turn(&mut self, number: u64, notice: Stored<'_>, now: Instant) -> Turn {
        let Stored { owner, seq, age, .. } = notice;
        let until = self.until(now, Duration::ZERO);
        let Some(watcher) = self.watchers.get(&number) else { return Turn::Stop };
        let fresh = seq > watcher.reach;
        let not_now = if fresh { Turn::Stop } else { Turn::Pass };
        if fresh && watcher.stale || self.acknowledging.values().any(|marked| marked.has(owner, seq)) {
            return not_now;
        }
        let (reach, connection) = (watcher.reach, watcher.connection);
        if self.lines.get(owner).and_then(|line| line.offers.get(&seq)).is_some_and(|offer| offer.is_over(now)) {
            self.pass_on(&owner.into(), now, |offer| offer.is_over(now));
        }
        if self.is_kept(notice, now) {
            return self.pass_over(number, notice, now);
        }
        if self.lines.get(owner).is_some_and(|line| line.kept.contains_key(&seq)) {
            self.set_free(&owner.into(), now);
        }
        let Some(line) = self.lines.get(owner) else { return not_now };
        let offer = match line.offers.get(&seq) {
            // Acknowledged since it was read.
            None if !fresh => return Turn::Pass,
            None => self.next(line, seq, None, age, now),
            Some(_) => None,
        };
        let Some(line) = self.lines.get_mut(owner) else { return not_now };
        if let Some(offer) = offer {
            line.offers.insert(seq, offer);
        }
        let Some(entry) = line.offers.get_mut(&seq) else { return not_now };
        if entry.holder != number || entry.sent {
            return not_now;
        }
        let Some(sent) = self.sent.get_mut(&connection) else { return not_now };
        if sent.seqs.len() >= UNACKNOWLEDGED && !sent.seqs.contains_key(&seq) {
            return not_now;
        }
        sent.seqs.insert(seq, owner.into());
        (entry.sent, entry.free, entry.until) = (true, true, until);
        if let Some(watcher) = self.watchers.get_mut(&number) {
            watcher.reach = reach.max(seq);
        }
        Turn::Send
    }

    /// A notice that this watcher was to send again is not in the database, or acknowledged there.
    pub(super) fn forget(&mut self, number: u64, seq: u64) {
        let Some(watcher) = self.watchers.get(&number) else { return };
        for owner in &watcher.owners {
            self.lines.get_mut(owner).and_then(|line| line.offers.remove(&seq));
        }
    }

    /// When the first notice in this watcher's lines has been out, or kept, long enough.
    pub(super) fn until_first(&self, number: u64) -> Option<Instant> {
        let lines = self.watchers.get(&number)?.owners.iter().filter_map(|owner| self.lines.get(owner));
        let ends = lines.flat_map(|line| {
            let kept = line.kept.iter().filter_map(|(seq, run)| self.foreground.kept_until(*run, *seq));
            line.offers.values().filter_map(|offer| offer.until).chain(kept)
        });
        ends.min()
    }

    /// Begins an acknowledgement. Gives its number and all that it covers.
    pub(super) fn acknowledge(
        &mut self,
        connection: u64,
        owners: &[String],
        up_to: Option<u64>,
        mut seqs: BTreeSet<u64>,
    ) -> (u64, Vec<u64>) {
        if let Some((sent, up_to)) = self.sent.get(&connection).zip(up_to) {
            seqs.extend(sent.seqs.range(..=up_to).map(|(seq, _)| *seq));
        }
        let number = self.number();
        let covered = seqs.iter().copied().collect();
        let owners = owners.iter().map(|owner| owner.as_str().into()).collect();
        self.acknowledging.insert(number, Acknowledged { owners, seqs });
        (number, covered)
    }

    /// Ends an acknowledgement, with the notices gone or as they were.
    pub(super) fn acknowledged(&mut self, number: u64, committed: bool) {
        let Some(marked) = self.acknowledging.remove(&number) else { return };
        for owner in &marked.owners {
            let Some(line) = self.lines.get_mut(owner) else { continue };
            if committed {
                line.offers.retain(|seq, _| !marked.seqs.contains(seq));
                line.kept.retain(|seq, _| !marked.seqs.contains(seq));
                for number in &line.watchers {
                    let watcher = self.watchers.get_mut(number);
                    if let Some(watcher) = watcher.filter(|watcher| marked.seqs.last() > Some(&watcher.reach)) {
                        watcher.stale = true;
                    }
                }
            }
            line.wake(&self.watchers);
        }
        if committed {
            self.foreground.acknowledged(&marked);
            for sent in self.sent.values_mut() {
                for seq in &marked.seqs {
                    // A number of somebody else's was not acknowledged, whoever named it.
                    if sent.seqs.get(seq).is_some_and(|owner| marked.owners.contains(owner)) {
                        sent.seqs.remove(seq);
                    }
                }
            }
        }
    }

    /// Offers to others what has been offered long enough, or to one that has gone.
    fn pass_on(&mut self, owner: &Owner, now: Instant, from: impl Fn(&Offer) -> bool) {
        let Some(line) = self.lines.get_mut(owner) else { return };
        let moving: Vec<(u64, Offer)> =
            line.offers.iter().filter(|(_, offer)| from(offer)).map(|(seq, offer)| (*seq, offer.clone())).collect();
        // The lowest first: whether a watcher is free for a notice depends on where those below it are.
        for (seq, offer) in moving {
            let Some(line) = self.lines.get(owner) else { return };
            let next = self.next(line, seq, Some(offer), Duration::MAX, now);
            let Some(line) = self.lines.get_mut(owner) else { return };
            match next {
                Some(offer) => line.offers.insert(seq, offer),
                // Those that are left began behind it.
                None => line.offers.remove(&seq),
            };
        }
    }

    /// The next offer of a notice; whoever has it then is told.
    fn next(&self, line: &Line, seq: u64, last: Option<Offer>, age: Duration, now: Instant) -> Option<Offer> {
        let late = self.period.is_some_and(|period| age >= period);
        let held_up = last.as_ref().is_some_and(|last| !last.free);
        let mut before = BTreeSet::new();
        if let Some(last) = last {
            before = last.before;
            before.extend(last.free.then_some(last.holder));
        }
        let newest_first = line.watchers.iter().rev().filter_map(|number| self.watchers.get_key_value(number));
        let willing = newest_first.filter(|(_, watcher)| watcher.from < seq).map(|(number, _)| *number);
        let left = willing.clone().filter(|number| !before.contains(number));
        // The newest is waited for until it is free for the notice, but not longer than a period.
        let free_one = left.clone().find(|number| late && self.is_free(*number, seq));
        let this_round = free_one.or_else(|| left.clone().next().filter(|_| !held_up));
        let holder = match this_round {
            Some(holder) => holder,
            None => {
                before.clear();
                willing.clone().find(|number| self.is_free(*number, seq)).or_else(|| willing.clone().next())?
            }
        };
        self.watchers.get(&holder)?.wake.notify_one();
        let free = self.is_free(holder, seq);
        let runs = if free || late { Duration::ZERO } else { age };
        Some(Offer { holder, before, free, sent: false, until: self.until(now, runs) })
    }

    /// Whether nothing below a notice, that this watcher has to have first, is out with another.
    fn is_free(&self, number: u64, seq: u64) -> bool {
        let Some(watcher) = self.watchers.get(&number).filter(|watcher| watcher.reach < seq) else { return true };
        let lines = watcher.owners.iter().filter_map(|owner| self.lines.get(owner));
        let mut below = lines.flat_map(|line| line.offers.range(watcher.reach.saturating_add(1)..seq));
        below.all(|(_, offer)| offer.holder == number)
    }
}

impl Offer {
    fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

impl Line {
    fn wake(&self, watchers: &Watchers) {
        self.watchers.iter().filter_map(|number| watchers.get(number)).for_each(|watcher| watcher.wake.notify_one());
    }
}

#[cfg(test)]
#[path = "tests/mod.rs"]
mod tests;
