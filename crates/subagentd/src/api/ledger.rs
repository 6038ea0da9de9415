//! The ledger behind one lock, and a watcher's place in it. The rules are in [`lines`].

mod lines;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use subagentd_core::id::RunId;
use subagentd_ipc::connection::Connection;
use subagentd_store::NoticeRow;
use tokio::sync::Notify;

use super::Api;
use crate::clock::now_ms;
use lines::{Lines, Owner, Stored};
pub(super) use lines::{Turn, Walk};

/// Who watches which inbox, and which notices are out with whom (design 8, inbox rules).
pub(crate) struct Ledger {
    // Held for a few operations on maps, never across an await.
    lines: Mutex<Lines>,
}

impl Ledger {
    /// An empty one. A watcher that does not acknowledge a notice within `period` loses it to the next; without a
    /// period only when it goes.
    pub(crate) fn new(period: Option<Duration>) -> Self {
        Self { lines: Mutex::new(Lines::new(period)) }
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        // A panic in here left the maps as they are: still usable.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the lines of one connection's owners; left when dropped.
pub(super) struct Place {
    api: Arc<Api>,
    number: u64,
    wake: Arc<Notify>,
}

impl Place {
    /// Joins as the newest, for notices with a number above `from`.
    pub(super) fn take(api: &Arc<Api>, connection: &Connection, owners: &[String], from: u64) -> Self {
        let wake = Arc::new(Notify::new());
        let owners: Vec<Owner> = owners.iter().map(|owner| owner.as_str().into()).collect();
        let number = api.ledger.lock().join(connection.id, &connection.closed, owners, from, Arc::clone(&wake));
        Self { api: Arc::clone(api), number, wake }
    }

    /// Where the next read of rows begins. What was acknowledged before it is not among them.
    pub(super) fn walk(&self) -> Walk {
        self.api.ledger.lock().walk(self.number, Instant::now())
    }

    /// Whether a notice that was read is to be sent now. It counts as sent then: its acknowledgement may come before
    /// the caller goes on.
    pub(super) fn turn(&self, row: &NoticeRow) -> Turn {
        let age = Duration::from_millis(now_ms().saturating_sub(row.notice.at_ms));
        let notice = Stored { owner: &row.owner, run: row.run, seq: row.seq, age };
        self.api.ledger.lock().turn(self.number, notice, Instant::now())
    }

    /// Takes a notice out that is not to be acknowledged any more.
    pub(super) fn forget(&self, seq: u64) {
        self.api.ledger.lock().forget(self.number, seq);
    }

    /// Completes when the lines have changed, or the first of the notices that are out has been out long enough.
    pub(super) async fn changed(&self) {
        let until = self.api.ledger.lock().until_first(self.number);
        match until {
            Some(until) => drop(tokio::time::timeout_at(until.into(), self.wake.notified()).await),
            None => self.wake.notified().await,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.api.ledger.lock().leave(self.number, Instant::now());
    }
}

/// A wait for a run where its outcome will be shown: keeps the run's notice from the owner's watchers, also after this
/// wait (see `lines::foreground`).
pub(super) struct Foreground<'a> {
    api: &'a Arc<Api>,
    connection: &'a Connection,
    owner: String,
    run: RunId,
}

impl<'a> Foreground<'a> {
    /// On a connection of the run's owner.
    pub(super) fn begin(api: &'a Arc<Api>, connection: &'a Connection, owner: String, run: RunId) -> Self {
        if api.ledger.lock().keep(connection.id, &owner, run, Instant::now()) {
            let (api, id, closed) = (Arc::clone(api), connection.id, connection.closed.clone());
            // Between two waits nothing else would see the connection's end.
            tokio::spawn(async move {
                closed.cancelled().await;
                api.ledger.lock().close(id, Instant::now());
            });
        }
        Self { api, connection, owner, run }
    }

    /// The reply carries this notice. It counts as sent then.
    pub(super) fn told(&self, seq: u64) {
        let notice = Stored { owner: &self.owner, run: self.run, seq, age: Duration::ZERO };
        self.api.ledger.lock().told(self.connection.id, &self.connection.closed, notice, Instant::now());
    }
}

/// A connection does not show the outcome of a run, or not any more.
pub(super) fn give_back(api: &Api, connection: u64, run: RunId) {
    api.ledger.lock().give_back(connection, run, Instant::now());
}

/// Notices that are being acknowledged. Nobody is offered them meanwhile; dropped without a commit they are offered
/// again.
pub(super) struct Acknowledging {
    api: Arc<Api>,
    number: u64,
    /// Those named, and those that the range covers.
    pub(super) seqs: Vec<u64>,
    committed: bool,
}

impl Acknowledging {
    /// `up_to` covers what this connection was sent.
    pub(super) fn begin(
        api: &Arc<Api>,
        connection: u64,
        owners: &[String],
        up_to: Option<u64>,
        seqs: Vec<u64>,
    ) -> Self {
        let seqs = seqs.into_iter().collect::<BTreeSet<u64>>();
        let (number, seqs) = api.ledger.lock().acknowledge(connection, owners, up_to, seqs);
        Self { api: Arc::clone(api), number, seqs, committed: false }
    }

    /// The database has it.
    pub(super) fn committed(mut self) {
        self.committed = true;
    }
}

impl Drop for Acknowledging {
    fn drop(&mut self) {
        self.api.ledger.lock().acknowledged(self.number, self.committed);
    }
}
