//! What the store gives back.

use std::collections::BTreeMap;
use std::fmt;

use subagentd_core::deliver::Notice;
use subagentd_core::id::{ChildId, RunId};
use subagentd_core::life::{Reason, State};
use subagentd_core::outcome::{Delivery, Outcome, Receipt as Receipted};
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
    /// Why it ended, or that it was paused.
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
    /// The cancel and the pause that nothing has closed, in order. One that a shim confirmed still decides the end.
    pub intents: Vec<IntentRow>,
    /// What it was told since its launch, in order: the newest, see [`crate::MOST_STEERS`].
    pub steers: Vec<SteerRow>,
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
            .field("steers", &self.steers)
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

/// An open cancel or pause.
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

/// A steer, without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SteerRow {
    /// Its number among the child's intents.
    pub number: u32,
    /// When it was stored.
    pub at_ms: u64,
    /// When the child shall hear it.
    pub delivery: Delivery,
    /// How far it came; `None`: it is stored.
    pub receipt: Option<Receipted>,
}

/// A steer that the child has not got.
#[derive(Clone, PartialEq, Eq)]
pub struct OpenSteer {
    /// Which.
    pub steer: SteerRow,
    /// What it says.
    pub text: String,
}

impl fmt::Debug for OpenSteer {
    // The text is the client's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSteer").field("steer", &self.steer).field("text_bytes", &self.text.len()).finish()
    }
}

/// What an attempt goes on from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// The newest resume that the attempt belongs to; `None`: the launch is all there is.
    pub continuation: Option<Continuation>,
    /// The newest earlier attempt with a stored answer.
    pub answered: Option<u32>,
    /// Whether an earlier attempt was told its task: there is a conversation to go on with.
    pub conversation: bool,
}

/// What a resume brought.
#[derive(Clone, PartialEq, Eq)]
pub struct Continuation {
    /// The first attempt that it holds for.
    pub number: u32,
    /// What the child is told; `None`: it just goes on.
    pub text: Option<String>,
    /// Digest of the client's environment; `None` when the client named none.
    pub environment: Option<String>,
    /// The client's file mode mask.
    pub umask: Option<u32>,
    /// The client's soft resource limits, by their lower-case names.
    pub limits: BTreeMap<String, u64>,
}

impl fmt::Debug for Continuation {
    // The text is the client's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Continuation")
            .field("number", &self.number)
            .field("text_bytes", &self.text.as_ref().map(String::len))
            .field("environment", &self.environment)
            .field("umask", &self.umask)
            .field("limits", &self.limits)
            .finish()
    }
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
