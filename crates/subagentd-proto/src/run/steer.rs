//! `run/steer`, `run/pause`, `run/resume`.

use serde::{Deserialize, Serialize};

use super::{Capture, State, Waits};

/// Parameters of `run/steer`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SteerParams {
    /// The run's id or a unique ending.
    pub run: String,
    /// Which child; absent means the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<u32>,
    /// What to say. Not blank, no NUL byte, at most 65,536 bytes.
    pub text: String,
    /// When the child shall hear it; absent means `steer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
}

/// When a child hears what it is told while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// After the tool calls under way.
    Steer,
    /// When it would otherwise be done.
    FollowUp,
    /// A word this client does not know.
    #[serde(other)]
    Unknown,
}

/// How far a steer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Receipt {
    /// It is stored and goes to the child when there is one, also after a restart of the daemon.
    Stored,
    /// The child took it into its queue.
    Accepted,
    /// It is part of the conversation.
    Delivered,
    /// The child settled or ended without it.
    Undelivered,
    /// A word this client does not know.
    #[serde(other)]
    Unknown,
}

/// Response of `run/steer`, after the commit, and after the child's own word if that comes within two seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SteerResponse {
    /// The run.
    pub run: String,
    /// The child.
    pub child: u32,
    /// Its number among what the child was told; `run/get` has its newest receipt.
    pub number: u32,
    /// How far it came.
    pub receipt: Receipt,
    /// The child's state.
    pub state: State,
}

/// One thing that a child was told, in `run/get`. Its text is the client's own and not repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SteerView {
    /// Its number.
    pub number: u32,
    /// When it was stored.
    pub at_ms: u64,
    /// When the child shall hear it.
    pub delivery: Delivery,
    /// How far it came.
    pub receipt: Receipt,
}

/// Parameters of `run/pause`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PauseParams {
    /// The run's id or a unique ending.
    pub run: String,
}

/// Response of `run/pause`, after the commit of the intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PauseResponse {
    /// The run.
    pub run: String,
    /// Its state.
    pub state: State,
    /// `paused` (it waited, or was paused before), `pausing` (it will be), or `already-ended`.
    pub outcome: String,
}

/// Parameters of `run/resume`. Model, thinking level, tools and workspace stay those of the launch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResumeParams {
    /// The run's id or a unique ending.
    pub run: String,
    /// Which child; absent means the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<u32>,
    /// What to say. Needed for a child that has ended; a paused or interrupted one can also just go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Must be the stored agent, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Take over a run of another owner; it is then the caller's. Recorded.
    #[serde(default)]
    pub takeover: bool,
    /// Whether the caller will not wait; absent leaves the decision of the launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// What the host states about itself; its environment is the child's from now on.
    #[serde(default)]
    pub capture: Capture,
}

/// Response of `run/resume`, after the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumeResponse {
    /// The run.
    pub run: String,
    /// The child.
    pub child: u32,
    /// Number of the attempt to come.
    pub attempt: u32,
    /// The run's state at the time of the reply.
    pub state: State,
    /// Where it stands if it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// Remarks: stable codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}
