//! Agents: what a definition file says, what the files of one agent add up to, and which agents there are.
//!
//! A file is parsed alone and always gives a [`Definition`]; what is wrong with it is listed in it. Definitions of one
//! name are laid over each other field by field and give a [`Definition`] again. A fault surfaces when somebody
//! launches that agent or lists the agents, never earlier and never for another agent; and it always surfaces, since a
//! broken file on top of a sound one breaks the agent.

mod aliases;
mod catalog;
mod convert;
mod fence;
mod field;
mod find;
mod key;
mod layered;
mod name;
mod nearest;
mod parse;
mod problem;
mod shipped;
mod source;
mod yaml;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use catalog::Catalog;
pub use fence::{FILE_BYTES, FRONT_BYTES};
pub use field::{Access, Field, InheritTools, Output, Role, Thinking, Tools};
pub use find::Missing;
pub use key::Key;
pub use name::{BadName, NAME_BYTES};
pub(crate) use nearest::edits;
pub use problem::{About, PROBLEMS, Problem, Severity};
pub use shipped::PACKAGES;
pub use source::{AgentScope, Content, SourceFile, Sources, Unread};

/// Where a definition comes from. A later one of this list overrides an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Shipped with the program.
    Builtin,
    /// A package that is switched on. All of them are one layer.
    Package,
    /// The user's own files.
    User,
    /// The project's files.
    Project,
}

impl Layer {
    /// Every layer, lowest first.
    pub const ALL: [Self; 4] = [Self::Builtin, Self::Package, Self::User, Self::Project];

    /// The word in the database and on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Package => "package",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// The place that a field's value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Its layer.
    pub layer: Layer,
    /// The file.
    pub file: String,
    /// The line of the key, from 1; of the body, where it begins to count is not told and this is 1.
    pub line: u64,
}

/// One file that an agent is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its layer.
    pub layer: Layer,
    /// The file.
    pub file: String,
    /// The fields it mentions.
    pub keys: Vec<Key>,
}

/// One agent, as its file or its files describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Normalised identifier: the file's name without `.md`, in lower case.
    pub identifier: String,
    /// The highest layer that has a file of it.
    pub layer: Layer,
    /// The file in that layer, for people.
    pub file: String,
    /// What it is for.
    pub description: Field<String>,
    /// Its name for people; never part of its identity.
    pub display_name: Field<String>,
    /// Other names that a call may use, in lower case.
    pub aliases: Field<Vec<String>>,
    /// Which tools it gets.
    pub tools: Field<Tools>,
    /// Which of its parent's tools it gets beside a list.
    pub inherit_tools: Field<InheritTools>,
    /// Tools it never gets: names, or beginnings of names with `*` behind them.
    pub exclude_tools: Field<Vec<String>>,
    /// Exact `provider/id`, as written.
    pub model: Field<String>,
    /// Thinking level, as written: an unknown word is refused only when it would hold.
    pub thinking: Field<String>,
    /// Turns at most; 0 means no limit.
    pub max_turns: Field<u32>,
    /// Whether it starts from the parent's conversation.
    pub inherit_context: Field<bool>,
    /// Whether a launch returns at once unless it says otherwise.
    pub run_in_background: Field<bool>,
    /// Whether it can be launched.
    pub enabled: Field<bool>,
    /// Its declared role.
    pub acceptance_role: Field<Role>,
    /// What of the workspace it may write.
    pub access: Field<Access>,
    /// Total time limit in milliseconds; 0 means none.
    pub timeout_ms: Field<u64>,
    /// Idle limit in milliseconds; 0 means none.
    pub idle_timeout_ms: Field<u64>,
    /// Where the final answer is stored.
    pub output: Field<Output>,
    /// The runtime it is made for.
    pub runtime: Field<String>,
    /// Whether it may write plan files although it may write nothing else.
    pub allow_plan_files: Field<bool>,
    /// Standing instructions, trimmed. Empty means that no file says any.
    pub instructions: String,
    /// For each field that a file mentions, the place whose word holds.
    pub origins: BTreeMap<Key, Origin>,
    /// The files it is made of, lowest layer first.
    pub parts: Vec<Part>,
    /// The first [`PROBLEMS`] things that are wrong.
    pub problems: Vec<Problem>,
    /// Whether an error is among all problems: such an agent is listed and cannot be launched.
    pub broken: bool,
    /// Files of one layer that claim the same name, by path; empty if none do.
    pub claimants: Vec<String>,
}

impl Definition {
    /// What it is for; its identifier if the file does not say.
    #[must_use]
    pub fn described(&self) -> &str {
        self.description.set().map_or(&self.identifier, String::as_str)
    }

    /// Whether it can be launched, as far as `enabled` goes.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enabled.set().copied().unwrap_or(true)
    }

    /// Whether a launch returns at once when the call says nothing.
    #[must_use]
    pub fn in_background(&self) -> bool {
        self.run_in_background.set().copied().unwrap_or(true)
    }

    /// The place whose word holds for a field; `None` if no file mentions it.
    #[must_use]
    pub fn origin(&self, key: Key) -> Option<&Origin> {
        self.origins.get(&key)
    }

    /// The files that others of this agent lie over, lowest first, each with the fields that no longer hold.
    pub fn hidden(&self) -> impl Iterator<Item = Part> + '_ {
        let covered = self.parts.split_last().map_or([].as_slice(), |(_, below)| below);
        covered.iter().map(|part| Part {
            keys: part.keys.iter().copied().filter(|key| !self.holds(*key, part)).collect(),
            ..part.clone()
        })
    }

    fn holds(&self, key: Key, part: &Part) -> bool {
        self.origin(key).is_some_and(|origin| origin.layer == part.layer && origin.file == part.file)
    }
}
