//! Who watches which inbox, and which notices were sent to which connection (design 8, inbox rules).
//!
//! A notice is offered to one connection of its owner at a time: the newest watcher. When that one goes, the one before
//! it goes on from its own cursor, which has not moved, so that nothing is left out.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Notices sent to one connection and not yet acknowledged. Beyond it the watch waits for acknowledgements.
pub(crate) const UNACKNOWLEDGED: usize = 10_000;

/// The ledger.
#[derive(Default)]
pub(crate) struct Ledger {
    // Held for a few operations on these maps, never across an await.
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Watches of an owner, the newest last.
    watchers: HashMap<String, Vec<Watcher>>,
    /// What connections were sent, by their number.
    sent: HashMap<u64, BTreeMap<u64, ()>>,
    next: u64,
}

struct Watcher {
    number: u64,
    connection: u64,
    turn: watch::Sender<bool>,
}

/// A place in an owner's line of watchers; left when dropped.
pub(crate) struct Place {
    ledger: Arc<crate::api::Api>,
    owner: String,
    number: u64,
    connection: u64,
    turn: watch::Receiver<bool>,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic in here left the maps as they are: still usable.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what a connection was sent.
    pub(crate) fn sent(&self, connection: u64, seq: u64) {
        self.lock().sent.entry(connection).or_default().insert(seq, ());
    }

    /// How many it has not acknowledged.
    pub(crate) fn open(&self, connection: u64) -> usize {
        self.lock().sent.get(&connection).map_or(0, BTreeMap::len)
    }

    /// What a connection was sent up to a number.
    pub(crate) fn sent_up_to(&self, connection: u64, up_to: u64) -> Vec<u64> {
        let inner = self.lock();
        inner.sent.get(&connection).map(|sent| sent.range(..=up_to).map(|(seq, ())| *seq).collect()).unwrap_or_default()
    }

    /// Forgets what was acknowledged, whoever it had been sent to.
    pub(crate) fn acknowledged(&self, seqs: &[u64]) {
        for sent in self.lock().sent.values_mut() {
            for seq in seqs {
                sent.remove(seq);
            }
        }
    }
}

impl Place {
    /// Joins the line as its newest.
    pub(crate) fn take(api: &Arc<crate::api::Api>, owner: &str, connection: u64) -> Self {
        let (sender, turn) = watch::channel(true);
        let mut inner = api.ledger.lock();
        inner.next += 1;
        let number = inner.next;
        let line = inner.watchers.entry(owner.to_owned()).or_default();
        if let Some(before) = line.last() {
            before.turn.send_replace(false);
        }
        line.push(Watcher { number, connection, turn: sender });
        drop(inner);
        Self { ledger: Arc::clone(api), owner: owner.to_owned(), number, connection, turn }
    }

    /// Completes when it is this one's turn: at once for the newest.
    pub(crate) async fn turn(&mut self) {
        // An error means that the line is gone with its daemon; the caller notices by itself.
        self.turn.wait_for(|turn| *turn).await.ok();
    }

    /// Completes when somebody newer has come.
    pub(crate) async fn superseded(&mut self) {
        self.turn.wait_for(|turn| !*turn).await.ok();
    }

    /// Whether it is this one's turn now.
    pub(crate) fn is_newest(&self) -> bool {
        *self.turn.borrow()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut inner = self.ledger.ledger.lock();
        let Some(line) = inner.watchers.get_mut(&self.owner) else {
            return;
        };
        line.retain(|watcher| watcher.number != self.number);
        match line.last() {
            Some(newest) => drop(newest.turn.send_replace(true)),
            None => drop(inner.watchers.remove(&self.owner)),
        }
        // Another watch of the same connection still needs it.
        let others = inner.watchers.values().flatten().any(|watcher| watcher.connection == self.connection);
        if !others {
            inner.sent.remove(&self.connection);
        }
    }
}
