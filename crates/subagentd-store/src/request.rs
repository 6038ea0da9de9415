//! What is asked of the store, and its answers.

mod intent;
mod resume;

use std::fmt;
use std::path::PathBuf;

use subagentd_core::deliver::Notice;
use subagentd_core::id::{AttemptId, ChildId, RunId};
use subagentd_core::life::State;
use subagentd_core::outcome::Outcome;
use subagentd_core::plan::Plan;
use subagentd_core::workspace::RootIdentity;

use crate::words::words;
pub use intent::{Intended, Intent, IntentKind, NewIntent, SteerReceipt};
pub(crate) use intent::{delivery, receipt};
pub use resume::{NewContinuation, Resumed};

/// What a run is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// One child.
    Single,
}

words!(RunKind { Single = "single" });

/// Why an attempt was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptKind {
    /// The child starts, or starts again because it never had.
    First,
    /// A client resumed it.
    Resume,
    /// The review of another child's work.
    Review,
    /// A correction after a review.
    Fix,
}

words!(AttemptKind {
    First = "first",
    Resume = "resume",
    Review = "review",
    Fix = "fix",
});

/// What a child shall do.
#[derive(Clone, PartialEq, Eq)]
pub enum Task {
    /// The text, at most 64 KiB (design 5); the caller sees to that.
    Text(String),
    /// It is a file in the run's folder.
    File,
}

impl fmt::Debug for Task {
    // The text is the client's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::File => f.write_str("File"),
        }
    }
}

/// Makes a repeated launch harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    /// The client's key; belongs to the owner.
    pub key: String,
    /// Digest of what the caller asked.
    pub digest: String,
}

/// One launch.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// Who launched it.
    pub owner: String,
    /// What it is made of.
    pub kind: RunKind,
    /// The caller's title.
    pub title: Option<String>,
    /// The caller's key.
    pub key: Option<RequestKey>,
    /// Whether the caller will not wait.
    pub background: bool,
    /// When it was accepted.
    pub created_at_ms: u64,
    /// Its children in flat order, at least one.
    pub children: Vec<NewChild>,
}

/// One child of a launch.
#[derive(Debug, Clone)]
pub struct NewChild {
    /// The agent.
    pub agent: String,
    /// What was decided.
    pub plan: Plan,
    /// What it shall do.
    pub task: Task,
}

/// What became of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// It is stored; positions rise and never repeat.
    Accepted {
        /// Its place among all runs.
        position: u64,
    },
    /// The key and the request are those of a stored run.
    Repeated {
        /// That run.
        run: RunId,
    },
    /// The key stands for another request.
    KeyConflict {
        /// Of this run.
        run: RunId,
    },
}

/// A child leaves the queue. Committed before its shim is started.
#[derive(Debug, Clone)]
pub struct NewAttempt {
    /// The child and the next number.
    pub attempt: AttemptId,
    /// Why.
    pub kind: AttemptKind,
    /// The scope that it locks. One that the child kept from an earlier attempt stays as it is.
    pub lease: Option<NewLease>,
    /// Boot of the machine.
    pub boot: String,
    /// State of the run from then on.
    pub run_state: State,
    /// When.
    pub at_ms: u64,
}

/// A root to lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLease {
    /// Which directory.
    pub identity: RootIdentity,
    /// Its path, for people.
    pub path: PathBuf,
}

/// Whether an attempt began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// The child is `starting`.
    Started,
    /// The child is not queued, or cancelled, or the number is not its next; nothing was changed.
    Elsewhere {
        /// Where the child stands.
        state: State,
    },
}

/// A shim was started.
#[derive(Debug, Clone, Copy)]
pub struct Spawned {
    /// Whose.
    pub attempt: AttemptId,
    /// Its process.
    pub pid: u32,
    /// When that process started, in the clock ticks of `/proc`.
    pub pid_start: u64,
}

/// An attempt never started its child: back to the queue.
#[derive(Debug, Clone)]
pub struct Requeue {
    /// Which.
    pub attempt: AttemptId,
    /// State of the run from then on.
    pub run_state: State,
    /// Not to be tried before.
    pub not_before_ms: Option<u64>,
    /// One line for people.
    pub why: String,
    /// When.
    pub at_ms: u64,
}

/// The end or pause of a child and all that follows from it.
#[derive(Debug, Clone)]
pub struct Settlement {
    /// Which child.
    pub child: ChildId,
    /// Its attempt; `None` for a child that settles in the queue or ends while it is paused. Any open attempt ends with
    /// it, one that has ended keeps its outcome.
    pub attempt: Option<AttemptId>,
    /// How it ended, or that it is paused; and what it was told on the way.
    pub outcome: Outcome,
    /// State of the run from then on.
    pub run_state: State,
    /// Whether the run has ended with it. A run with a paused child has not.
    pub run_ended: bool,
    /// The notice for the run's owner.
    pub notice: Option<Notice>,
    /// Whether the scope stays locked: leftovers, or a successor inside a gated sequence.
    pub keep_lease: bool,
}

/// Whether an end was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It is stored.
    Stored {
        /// Number of the notice.
        notice: Option<u64>,
    },
    /// The child, or at least this attempt, had ended or been paused before; nothing was changed.
    AlreadyEnded {
        /// Where the child stands.
        state: State,
    },
}

/// Notices were shown.
#[derive(Debug, Clone, Default)]
pub struct Acknowledge {
    /// Only notices of these owners.
    pub owners: Vec<String>,
    /// By number.
    pub seqs: Vec<u64>,
    /// Also those after the first number and up to the second.
    pub up_to: Option<(u64, u64)>,
    /// When.
    pub at_ms: u64,
}

/// Which runs to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct ListQuery {
    /// Only runs with a smaller position.
    pub before: Option<u64>,
    /// At most so many; see [`crate::MOST_ROWS`].
    pub limit: u32,
    /// Only in one of these states; empty means any.
    pub states: Vec<State>,
    /// Only of this owner.
    pub owner: Option<String>,
}

/// Which notices to list, oldest first.
#[derive(Debug, Clone, Default)]
pub struct NoticeQuery {
    /// Of these owners; empty finds nothing.
    pub owners: Vec<String>,
    /// Only with a higher number.
    pub after: u64,
    /// At most so many; see [`crate::MOST_ROWS`].
    pub limit: u32,
    /// Also those already acknowledged.
    pub acknowledged: bool,
}

/// A scope that a child holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Which directory.
    pub identity: RootIdentity,
    /// Its path when it was taken.
    pub path: PathBuf,
    /// Narrower paths; empty means the whole root.
    pub paths: Vec<PathBuf>,
}
