//! What the resolver decided for one child, as it is stored and handed to the runtime.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::workspace::Workspace;

/// Number of the stored form of [`Plan`]. Raised when a field changes its meaning; old numbers stay readable.
pub const PLAN_FORMAT: u32 = 1;

/// A value, where it came from and why (design 4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision<T> {
    /// What holds.
    pub value: T,
    /// Who said so.
    pub source: Source,
    /// Why, in one sentence for people.
    pub reason: String,
    /// What fell through on the way, with the reason of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
}

/// A choice that was looked at and not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternative {
    /// The choice.
    pub value: String,
    /// Why it was not taken.
    pub reason: String,
}

/// Who set a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The call itself.
    Call,
    /// The agent's definition.
    Definition,
    /// The configuration.
    Configuration,
    /// What holds when nobody says anything.
    Default,
    /// The runtime's own choice.
    Runtime,
    /// The daemon's own environment or observation.
    Daemon,
}

impl Source {
    /// The word on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Definition => "definition",
            Self::Configuration => "configuration",
            Self::Default => "default",
            Self::Runtime => "runtime",
            Self::Daemon => "daemon",
        }
    }
}

/// Whether a child may run beside others in its scope (design 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// It cannot write: it runs beside anything.
    Shared,
    /// It may write: one at a time in a scope.
    Exclusive,
}

impl Class {
    /// The word in the database and on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Exclusive => "exclusive",
        }
    }
}

/// Time limits of one attempt, in milliseconds of the monotonic clock (decision N12). Zero means none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeLimits {
    /// From the start of the child to its first event.
    pub first_event_ms: u64,
    /// Between two events, while no tool call is open.
    pub idle_ms: u64,
    /// For one tool call.
    pub tool_call_ms: u64,
    /// For the whole attempt.
    pub total_ms: u64,
    /// From the end of the answer, or from a cancel, to the next stronger means.
    pub grace_ms: u64,
}

/// Everything that is settled about a child before it is queued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_FORMAT`] of the writer.
    pub format: u32,
    /// Normalised identifier of the agent.
    pub agent: String,
    /// The layer its definition came from.
    pub agent_source: String,
    /// Which runtime runs it.
    pub runtime: Decision<String>,
    /// Exact `provider/id`.
    pub model: Decision<String>,
    /// Thinking level.
    pub thinking: Decision<String>,
    /// Effective tools, ordered, without repeats.
    pub tools: Decision<Vec<String>>,
    /// `fresh` or `parent`.
    pub context: Decision<String>,
    /// Whether the caller wants to wait (G36).
    pub background: Decision<bool>,
    /// Shared or exclusive.
    pub class: Decision<Class>,
    /// Where it works.
    pub workspace: Workspace,
    /// Time limits.
    pub limits: Decision<TimeLimits>,
    /// The agent's standing instructions (the body of its definition).
    pub instructions: String,
    /// sha256 of the environment file, hex; `None` when the client named no environment.
    pub environment: Option<String>,
    /// The client's file mode mask for the child.
    pub umask: Option<u32>,
    /// The client's soft resource limits for the child, by their lower-case names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resource_limits: BTreeMap<String, u64>,
    /// Names of environment variables that could not be taken over (not UTF-8, N10).
    #[serde(default)]
    pub environment_omitted: Vec<String>,
    /// Remarks made at launch: stable codes.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The runtime's program as it was found for the client; `None` leaves it to the configuration at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
}

/// The environment of a client, by name.
pub type Environment = BTreeMap<String, String>;

/// A program and its first arguments, as configured (`runtimes.NAME.command`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The program: an absolute path, or a name looked up in the child's `PATH`.
    pub path: PathBuf,
    /// Arguments before those of the dialect.
    pub args: Vec<String>,
}
