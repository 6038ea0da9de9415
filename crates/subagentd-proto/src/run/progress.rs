//! `run/progress`.

use serde::{Deserialize, Serialize};

use super::{State, Waits};

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
