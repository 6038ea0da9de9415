//! `run/get`: one run, whole.

use serde::{Deserialize, Serialize};

use super::{Decisions, State, SteerView, Waits};

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
    /// What was asked of it and has not happened yet: `cancel` or `pause`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
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
    /// What it was told since its launch, the newest 32.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steers: Vec<SteerView>,
    /// Why `run/resume` would be refused now; absent if it would not (G34).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_refusal: Option<String>,
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
