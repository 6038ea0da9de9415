//! What a catalogue is made of.

use super::Layer;

/// A definition file as it was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFile {
    /// Where it comes from.
    pub layer: Layer,
    /// The package it belongs to; `None` in every other layer.
    pub package: Option<String>,
    /// Its path. The name of the file is the name of the agent.
    pub path: String,
    /// What is in it.
    pub content: Content,
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// It is there and could not be read, for this reason. Such an agent is listed as broken: leaving it out would let
    /// a request fall to another file of the same name.
    Unreadable(String),
}

/// A place with definitions that is there and could not be looked through. Nobody knows which agents it has or
/// overrides, so that none is launched: anything else would let a request fall to another file of the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unread {
    /// Whose files it has.
    pub layer: Layer,
    /// The package it belongs to; `None` in every other layer.
    pub package: Option<String>,
    /// Its path.
    pub path: String,
    /// Why it could not be read, and what to do.
    pub reason: String,
}

/// Everything that decides which agents there are. The order of files and packages has no meaning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// Definition files beside the shipped ones, of every package directory that was looked at.
    pub files: Vec<SourceFile>,
    /// Names of the packages that are switched on.
    pub packages: Vec<String>,
    /// Whether the request says that its project is trusted. Otherwise files of the project have no effect at all.
    pub project_trusted: bool,
    /// Which layers take part.
    pub scope: AgentScope,
    /// Places that could not be looked through.
    pub unread: Vec<Unread>,
    /// What else was found wrong on the way, one sentence each.
    pub faults: Vec<String>,
}

/// Which of the layers a person writes take part. Shipped agents and packages belong to every scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum AgentScope {
    /// The user's own, without the project's.
    User,
    /// The project's, without the user's.
    Project,
    /// Both.
    #[default]
    Both,
}

impl AgentScope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Both];

    /// The word on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Both => "both",
        }
    }

    /// Reads a word; case matters.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.word() == word)
    }

    const fn has(self, layer: Layer) -> bool {
        match layer {
            Layer::Builtin | Layer::Package => true,
            Layer::User => !matches!(self, Self::Project),
            Layer::Project => !matches!(self, Self::User),
        }
    }
}

impl Sources {
    /// Whether a file of this layer, and of this package, takes part.
    pub(super) fn admit(&self, layer: Layer, package: Option<&String>) -> bool {
        let readable = match layer {
            Layer::Builtin | Layer::User => true,
            Layer::Package => package.is_some_and(|package| self.packages.contains(package)),
            Layer::Project => self.project_trusted,
        };
        readable && self.scope.has(layer)
    }
}
