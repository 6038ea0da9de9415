//! `run/launch`, and what it decides.

use serde::{Deserialize, Serialize};

use super::{Capture, State};

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
    /// `fresh` or `parent` (with [`Capture::conversation`]); absent leaves it to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
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
    /// How the model was found: `explicit.call`, `explicit.file`, `routed`, or `retained.…` with the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_reason: Option<String>,
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
    /// Whether the project counts as trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<Decision<bool>>,
    /// Standing instructions of its directory: their digest, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Decision<Option<String>>>,
    /// What is loaded into it beside the runtime itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppliers: Vec<super::Supplier>,
    /// Tools of those that it must not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// The files that its definition is made of, lowest layer first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub definition: Vec<DefinitionPart>,
    /// Total time limit in milliseconds; 0 means none.
    pub timeout_ms: u64,
    /// Idle limit in milliseconds; 0 means none.
    pub idle_timeout_ms: u64,
    /// From the start to the first event, in milliseconds; 0 means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_event_timeout_ms: Option<u64>,
    /// One tool call, in milliseconds; 0 means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_timeout_ms: Option<u64>,
    /// Who set the limits: the one of them that stands nearest to the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits_source: Option<String>,
    /// Who set which limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits_reason: Option<String>,
}

/// One file that a definition is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DefinitionPart {
    /// `builtin`, `package`, `user` or `project`.
    pub source: String,
    /// The file.
    pub file: String,
    /// The fields it mentions. The word of a file further up hides its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

/// Response of `run/preflight`: what a launch with these parameters would decide now. Nothing is stored or started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreflightResponse {
    /// The agent, by its identifier.
    pub agent: String,
    /// What was decided.
    pub decisions: Decisions,
    /// Where the answer would be stored: below the run's folder.
    pub output: String,
    /// Digest over every resolved value and the digests of task, conversation and instructions (W3). The launch stores
    /// the same.
    pub digest: String,
    /// Remarks: stable codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What is wrong in the settings files that were read and does not keep the launch from being made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<crate::agent::ProblemView>,
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
    /// Digest of the decisions, as `run/preflight` gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
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
