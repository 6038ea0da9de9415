//! What the place of a launch is like, as of the request. Later changes there touch nothing that was captured.

use std::collections::BTreeMap;

use crate::plan::{Source, Supplier};
use crate::route::{Parent, Registry};

/// A value and who states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stated<T> {
    /// The value.
    pub value: T,
    /// Who states it.
    pub source: Source,
}

impl<T: Default> Default for Stated<T> {
    fn default() -> Self {
        Self { value: T::default(), source: Source::Default }
    }
}

/// What the host states of the session that launches. The default is a caller without a host: no parent, no
/// conversation, a project that is not trusted, and the runtime's own tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capture {
    /// The model that launches.
    pub parent: Option<Parent>,
    /// Every model that can be run, credentials and restrictions considered.
    pub models: Option<Registry>,
    /// The tools that are active.
    pub tools: Option<Stated<Vec<ActiveTool>>>,
    /// The host's own extension: whatever it supplies manages subagents.
    pub host: Option<Supplier>,
    /// Providers that an extension registered, and what supplies each.
    pub providers: BTreeMap<String, Supplier>,
    /// sha256 of the conversation, if there is one.
    pub conversation: Option<String>,
    /// sha256 of the standing instructions of the child's directory, if there are any.
    pub standing: Stated<Option<String>>,
    /// Whether the project is trusted.
    pub trusted: Stated<bool>,
}

/// One active tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActiveTool {
    /// Its name.
    pub name: String,
    /// What supplies it; `None` for the runtime itself.
    pub supplier: Option<Supplier>,
    /// What it does to the workspace, if the host says so.
    pub effect: Option<Effect>,
    /// Whether the tool calls itself read-only.
    pub read_only: Option<bool>,
    /// Whether the tool calls itself destructive.
    pub destructive: Option<bool>,
}

impl ActiveTool {
    /// A tool of the runtime itself.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Whether the tool gives itself away as one that changes things.
    pub(super) fn hints_at_change(&self) -> bool {
        self.read_only == Some(false) || self.destructive == Some(true)
    }
}

/// What a tool does to the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It does not touch it.
    None,
    /// It reads.
    Read,
    /// It writes.
    Write,
}

impl Effect {
    /// Every effect.
    pub const ALL: [Self; 3] = [Self::None, Self::Read, Self::Write];

    /// The word on the wire and in settings.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}
