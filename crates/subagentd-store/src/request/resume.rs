//! How a child goes on.

use std::collections::BTreeMap;
use std::fmt;

use subagentd_core::id::ChildId;
use subagentd_core::life::State;

/// A child that has settled goes back to the queue.
#[derive(Clone)]
pub struct NewContinuation {
    /// Which child.
    pub child: ChildId,
    /// What it is told, at most 64 KiB; the caller sees to that. `None`: it just goes on, or is told what an earlier
    /// continuation was to tell it and no attempt got as far as telling.
    pub text: Option<String>,
    /// Digest of the client's environment; `None` when the client named none.
    pub environment: Option<String>,
    /// The client's file mode mask.
    pub umask: Option<u32>,
    /// The client's soft resource limits, by their lower-case names.
    pub limits: BTreeMap<String, u64>,
    /// Whether the caller will not wait; `None` leaves it as it was.
    pub background: Option<bool>,
    /// Who takes the run over; `None` leaves it its owner. The launch's key belonged to the old owner and is given up.
    pub owner: Option<String>,
    /// State of the run from then on.
    pub run_state: State,
    /// When.
    pub at_ms: u64,
}

impl fmt::Debug for NewContinuation {
    // The text is the client's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewContinuation")
            .field("child", &self.child)
            .field("text_bytes", &self.text.as_ref().map(String::len))
            .field("owner", &self.owner)
            .field("run_state", &self.run_state)
            .finish_non_exhaustive()
    }
}

/// Whether a child goes on. In every case but the first nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumed {
    /// It is queued.
    Queued {
        /// Number of the attempt to come.
        attempt: u32,
    },
    /// It waits or works already.
    NotSettled {
        /// Where it stands.
        state: State,
    },
    /// It is paused and a cancel is stored.
    Cancelling,
    /// It left something behind that keeps its scope; a person gives that up.
    Detained,
}
