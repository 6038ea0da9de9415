//! What the resolver decided for one child, as it is stored and handed to the runtime.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::definition::Thinking;
use crate::route::NOT_APPLICABLE;
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
    /// What the host states about the parent.
    Capture,
    /// A flag of the command line, in a host's place.
    Flag,
    /// A family's ladder of models.
    Profile,
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
            Self::Capture => "capture",
            Self::Flag => "flag",
            Self::Profile => "profile",
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
    /// Why it is this model, as a stable word.
    #[serde(default)]
    pub model_kind: String,
    /// Thinking level, or `not-applicable` for a model that cannot think.
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
    /// What it takes over of where it was launched from.
    #[serde(default)]
    pub captured: Captured,
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
    /// Digest of everything in it and of the task, hex; `None` in plans of before launches had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl Plan {
    /// The level that the runtime is told: a model that cannot think is at off.
    #[must_use]
    pub fn thinking_argument(&self) -> &str {
        match self.thinking.value.as_str() {
            NOT_APPLICABLE => Thinking::Off.word(),
            level => level,
        }
    }
}

/// What a child takes over of where it was launched from. `None` in plans of before a launch stated it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Captured {
    /// Whether the project is trusted.
    pub trusted: Option<Decision<bool>>,
    /// sha256 of the conversation it starts from, hex; `None` when it starts fresh.
    pub conversation: Option<String>,
    /// sha256 of the standing instructions of its directory, hex, if there are any.
    pub standing: Option<Decision<Option<String>>>,
    /// What supplies its tools and its provider beside the runtime itself; nothing else is loaded.
    pub suppliers: Vec<Supplier>,
    /// Tools that these suppliers bring besides, which it must not have.
    pub withheld: Vec<String>,
}

/// What brings a tool or a provider into a runtime.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", content = "name", rename_all = "kebab-case")]
pub enum Supplier {
    /// An extension's file.
    File(String),
    /// A package, as its source is written.
    Package(String),
    /// An extension that is part of the runtime and loaded by name.
    Builtin(String),
}

impl Supplier {
    /// Its file, source or name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::File(name) | Self::Package(name) | Self::Builtin(name) => name,
        }
    }
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
