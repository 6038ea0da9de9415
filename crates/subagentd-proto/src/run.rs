//! `run/*`: launches and what becomes of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where a run or child stands. Daemons may add words: clients need a default branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits for a slot or for its scope.
    Queued,
    /// Its shim is being started.
    Starting,
    /// At work.
    Running,
    /// Settled and resumable.
    Paused,
    /// Ended well.
    Succeeded,
    /// Ended without a usable answer.
    Failed,
    /// Ended by a client.
    Cancelled,
    /// Ended by a time limit.
    TimedOut,
    /// Ended by a turn or tool-call limit.
    BudgetExhausted,
    /// Its shim or the machine went away.
    Interrupted,
    /// Not accepted by the review gate.
    Rejected,
    /// A word this client does not know.
    #[serde(other)]
    Unknown,
}

impl State {
    /// Whether nothing more will happen by itself.
    #[must_use]
    pub const fn is_end(self) -> bool {
        match self {
            Self::Queued | Self::Starting | Self::Running | Self::Paused | Self::Unknown => false,
            Self::Succeeded
            | Self::Failed
            | Self::Cancelled
            | Self::TimedOut
            | Self::BudgetExhausted
            | Self::Interrupted
            | Self::Rejected => true,
        }
    }
}

/// Parameters of `run/launch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LaunchParams {
    /// The agent's name.
    pub agent: String,
    /// What it shall do. Not blank, no NUL byte.
    pub task: String,
    /// Where: an absolute path. The workspace is derived from it.
    pub directory: String,
    /// A few words for lists, at most 120 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Exact `provider/id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `off`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Whether the caller will not wait. A stored decision; the reply comes after the commit in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// The runtime; absent means the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Total time of the child in milliseconds; waiting is not counted. 0 means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Time without any event in milliseconds, not counted while a tool call is open. 0 means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<u64>,
    /// Makes a repeated call harmless: the same key and request give the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What the host states about itself.
    #[serde(default)]
    pub capture: Capture,
}

/// What the host states at request time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Capture {
    /// The client's environment for the child. Absent: a short list of the daemon's own variables, with a remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<CapturedEnvironment>,
}

/// The client's environment.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CapturedEnvironment {
    /// Variables by name.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// Names of variables whose values are not UTF-8 and were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
    /// File mode mask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub umask: Option<u32>,
}

impl std::fmt::Debug for CapturedEnvironment {
    // Values are secrets: names only.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CapturedEnvironment")
            .field("variables", &self.variables.keys())
            .field("omitted", &self.omitted)
            .field("umask", &self.umask)
            .finish()
    }
}

/// A value, where it came from and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision<T> {
    /// What holds.
    pub value: T,
    /// Who said so.
    pub source: String,
    /// Why.
    pub reason: String,
    /// What fell through on the way.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
}

/// A choice that was looked at and not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Alternative {
    /// The choice.
    pub value: String,
    /// Why it was not taken.
    pub reason: String,
}

/// Everything that was decided about a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decisions {
    /// Layer of the agent's definition.
    pub agent_source: String,
    /// The runtime.
    pub runtime: Decision<String>,
    /// Exact `provider/id`.
    pub model: Decision<String>,
    /// Thinking level.
    pub thinking: Decision<String>,
    /// Effective tools.
    pub tools: Decision<Vec<String>>,
    /// `fresh` or `parent`.
    pub context: Decision<String>,
    /// `shared` or `exclusive`.
    pub class: Decision<String>,
    /// Whether the caller wants to wait.
    pub background: Decision<bool>,
    /// Where it works, as the caller named it.
    pub directory: String,
    /// The root that a writer locks.
    pub workspace: String,
    /// Total time limit in milliseconds; 0 means none.
    pub timeout_ms: u64,
    /// Idle limit in milliseconds; 0 means none.
    pub idle_timeout_ms: u64,
}

/// Response of `run/launch`, after the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaunchResponse {
    /// The run.
    pub run: String,
    /// Its state at the time of the reply.
    pub state: State,
    /// Whether the key named a run that was already there.
    pub repeated: bool,
    /// Where it stands if it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// What was decided.
    pub decisions: Decisions,
    /// Remarks: stable codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// Why and behind whom a child waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waits {
    /// `slot` (the limit of children at once), `scope` (another writer), `elsewhere` (a writer of another daemon),
    /// `not-before` (the next try of a start that failed), or `closed` (nothing is admitted now).
    pub on: String,
    /// Its place among those that wait, from 1.
    pub place: u32,
    /// The run that holds the scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder_since_ms: Option<u64>,
}

/// Parameters of `run/get`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetParams {
    /// The run's id, or a unique ending of it of at least 6 hex digits.
    pub run: String,
}

/// One run, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    /// Its id.
    pub run: String,
    /// `single` for now.
    pub kind: String,
    /// Who launched it.
    pub owner: String,
    /// The caller's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its state, derived from its children.
    pub state: State,
    /// When it was accepted.
    pub created_at_ms: u64,
    /// When its first child started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at_ms: Option<u64>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<u64>,
    /// Its children, in flat order.
    pub children: Vec<ChildView>,
    /// The notice of its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<NoticeRef>,
}

/// The notice of a run's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeRef {
    /// Its number.
    pub seq: u64,
    /// Whether the owner acknowledged it.
    pub acknowledged: bool,
}

/// One child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildView {
    /// Its number in the run.
    pub index: u32,
    /// The agent.
    pub agent: String,
    /// Its task as the caller wrote it, cut at 4 KiB.
    pub task: String,
    /// Its state.
    pub state: State,
    /// Why it ended, a stable code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// One line of the daemon, the system or the provider, at most 300 bytes (G5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its newest attempt, from 1; 0 before the first.
    pub attempt: u32,
    /// When that attempt began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at_ms: Option<u64>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<u64>,
    /// Where it stands if it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// Where its answer is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// Whether the answer is known to be whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_complete: Option<bool>,
    /// What was decided.
    pub decisions: Decisions,
    /// What the child reported of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Reported>,
    /// Finished tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
    /// Usage, summed over its assistant messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Listed tools that the child does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools_missing: Vec<String>,
    /// Remarks: stable codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The attempt's folder: events, facts, logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// Where a final answer is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    /// Its file.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its lines: those ended by LF, CRLF or CR, an unfinished last one too.
    pub lines: u64,
    /// Its digest, hex.
    pub sha256: String,
}

/// What a child reported of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reported {
    /// `provider/id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Thinking level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Active tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
}

/// Tokens and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Input tokens, without cached ones.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
    /// US dollars by the runtime's price table.
    pub cost: f64,
}

// Costs are finite sums of prices; they are compared in tests only.
impl Eq for Usage {}

/// Parameters of `run/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListParams {
    /// From an earlier page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most so many (default 50, at most 500).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only runs in one of these states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<State>,
    /// Only runs of this owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

/// Response of `run/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResponse {
    /// Runs, newest first.
    pub runs: Vec<RunSummary>,
    /// For the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// Its id.
    pub run: String,
    /// Its state.
    pub state: State,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The agent of its first child.
    pub agent: String,
    /// How many children it has.
    pub children: u32,
    /// The caller's title, else the task's first line, cut.
    pub title: String,
    /// Who launched it.
    pub owner: String,
    /// Where it works.
    pub directory: String,
    /// The runtime of its first child.
    pub runtime: String,
    /// When it was accepted.
    pub created_at_ms: u64,
    /// When its first child started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at_ms: Option<u64>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<u64>,
    /// Where it stands if it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// The notice of its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<NoticeRef>,
}

/// Parameters of `run/wait`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitParams {
    /// The run's id or a unique ending.
    pub run: String,
    /// At most so long; 50,000 is the most and the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// Response of `run/wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitResponse {
    /// Whether the run has ended; otherwise the time was up.
    pub ended: bool,
    /// The run as it stands.
    pub run: RunView,
}

/// Parameters of `run/cancel`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancelParams {
    /// The run's id or a unique ending.
    pub run: String,
}

/// Response of `run/cancel`, after the commit of the intent or of the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelResponse {
    /// The run.
    pub run: String,
    /// Its state: an end if it had ended before or never started, else the state it is cancelled in.
    pub state: State,
    /// `cancelled` (it never started), `cancelling` (it will end as cancelled), or `already-ended`.
    pub outcome: String,
}

/// Parameters of `run/result`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResultParams {
    /// The run's id or a unique ending.
    pub run: String,
    /// Which child; the first one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<u32>,
    /// Ask for text: from this byte. A place inside a character is moved to its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// At most so many bytes of text (at most and by default 262,144, at least 4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Response of `run/result`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultResponse {
    /// The run.
    pub run: String,
    /// The child.
    pub child: u32,
    /// The child's state.
    pub state: State,
    /// Whether the answer is known to be whole.
    pub complete: bool,
    /// Where the answer is.
    pub reference: Reference,
    /// The asked slice; absent unless `offset` or `limit` was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextSlice>,
    /// The notice of the run's end, to acknowledge once shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<NoticeRef>,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextSlice {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// The part; whole characters.
    pub text: String,
    /// Where the next part begins; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
}

/// Parameters of `run/progress`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProgressParams {
    /// The run's id or a unique ending.
    pub run: String,
}

/// How far a run is. Nothing of it is stored; nothing of it is what the child wrote but the names of its tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunProgress {
    /// The run.
    pub run: String,
    /// Its state. An end is the last item.
    pub state: State,
    /// Its children, in flat order.
    pub children: Vec<ChildProgress>,
}

/// How far a child is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildProgress {
    /// Its number in the run.
    pub index: u32,
    /// The agent.
    pub agent: String,
    /// Its state.
    pub state: State,
    /// Finished tool calls.
    pub tool_calls: u64,
    /// Assistant messages.
    pub turns: u64,
    /// Tokens read and written.
    pub tokens: u64,
    /// The tool call that has been open longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// When it last gave a sign of life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event_at_ms: Option<u64>,
    /// Where it stands if it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
}
