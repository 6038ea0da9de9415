//! What the store gives back.

use std::fmt;

use subagentd_core::deliver::Notice;
use subagentd_core::id::{ChildId, RunId};
use subagentd_core::life::{Reason, State};
use subagentd_core::outcome::Outcome;
use subagentd_core::plan::Plan;

use crate::request::{AttemptKind, IntentKind, Lease, RunKind};
use crate::words::words;

/// One run, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRow {
    /// Its place among all runs.
    pub position: u64,
    /// Its id.
    pub id: RunId,
    /// What it is made of.
    pub kind: RunKind,
    /// Who launched it.
    pub owner: String,
    /// The caller's title.
    pub title: Option<String>,
    /// Its state.
    pub state: State,
    /// Whether the caller did not wait.
    pub background: bool,
    /// When it was accepted.
    pub created_at_ms: u64,
    /// When its first child started.
    pub started_at_ms: Option<u64>,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// Its children in flat order.
    pub children: Vec<ChildRow>,
    /// Its newest notice.
    pub notice: Option<NoticeMark>,
}

/// One child.
#[derive(Clone, PartialEq)]
pub struct ChildRow {
    /// Its number in the run, from 0.
    pub index: u32,
    /// The agent.
    pub agent: String,
    /// What was decided.
    pub plan: Plan,
    /// The beginning of its task: up to 4 KiB for one run, a line for a list. `None`: the task is a file.
    pub task_head: Option<String>,
    /// Its state.
    pub state: State,
    /// Why it ended.
    pub reason: Option<Reason>,
    /// The error line of its end.
    pub error: Option<String>,
    /// Not to be started before.
    pub not_before_ms: Option<u64>,
    /// How many attempts it had.
    pub attempts: u32,
    /// How many of the newest ones in a row never started the child.
    pub never_ran: u32,
    /// The newest.
    pub attempt: Option<AttemptRow>,
    /// Intents that no end has closed, in order. One that a shim confirmed still decides the end.
    pub intents: Vec<IntentRow>,
}

impl fmt::Debug for ChildRow {
    // The task's text is the client's, plan and outcome hold instructions and paths: none of it belongs into a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildRow")
            .field("index", &self.index)
            .field("agent", &self.agent)
            .field("state", &self.state)
            .field("reason", &self.reason)
            .field("attempts", &self.attempts)
            .field("never_ran", &self.never_ran)
            .field("intents", &self.intents)
            .finish_non_exhaustive()
    }
}

/// One attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRow {
    /// From 1.
    pub number: u32,
    /// Why it was made.
    pub kind: AttemptKind,
    /// Boot of the machine.
    pub boot: String,
    /// Its shim's process, once known.
    pub pid: Option<u32>,
    /// When that process started, in the clock ticks of `/proc`.
    pub pid_start: Option<u64>,
    /// When it was committed.
    pub begun_at_ms: u64,
    /// When the child was verified.
    pub running_at_ms: Option<u64>,
    /// How it ended; `None` while it is open.
    pub ended: Option<AttemptEnd>,
    /// When.
    pub ended_at_ms: Option<u64>,
    /// Why it never ran.
    pub why: Option<String>,
    /// How the child ended.
    pub outcome: Option<Outcome>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptEnd {
    /// With the child's end.
    Settled,
    /// Without having started the child.
    NeverRan,
}

words!(AttemptEnd {
    Settled = "settled",
    NeverRan = "never-ran",
});

/// An open intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntentRow {
    /// Its number among the child's.
    pub number: u32,
    /// What.
    pub kind: IntentKind,
    /// When it was stored.
    pub at_ms: u64,
    /// Whether a shim has it; otherwise it is sent again.
    pub confirmed: bool,
}

/// A run's notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoticeMark {
    /// Its number.
    pub seq: u64,
    /// Whether the owner acknowledged it.
    pub acknowledged: bool,
}

/// One notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeRow {
    /// Its number: rises, never repeats.
    pub seq: u64,
    /// Whose.
    pub owner: String,
    /// The run.
    pub run: RunId,
    /// What it says.
    pub notice: Notice,
    /// Whether the owner acknowledged it.
    pub acknowledged: bool,
}

/// One held scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRow {
    /// Who holds it.
    pub child: ChildId,
    /// What.
    pub lease: Lease,
    /// Since when.
    pub since_at_ms: u64,
}

/// Runs by an ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// No run ends like that.
    None,
    /// Exactly one.
    One(RunId),
    /// Several; see [`crate::MOST_MATCHES`].
    Many(Vec<RunId>),
}
