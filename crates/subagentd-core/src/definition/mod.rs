//! Agents: what a definition file says, and which agents there are.
//!
//! A file is parsed alone and always gives a [`Definition`]; what is wrong with it is listed in it. A fault surfaces
//! when somebody launches that agent or lists the agents, never earlier and never for another agent.

mod builtin;
mod catalog;
mod fence;
mod field;
mod parse;
mod yaml;

#[cfg(test)]
mod tests;

pub(crate) use catalog::edits;
pub use catalog::{Catalog, Missing};
pub use field::{Access, Field, Role, Thinking, Tools};

/// Problems kept of one file. Later ones are not listed; an error among them still breaks the definition.
pub const PROBLEMS: usize = 20;

/// Where a definition comes from. A later one of this list overrides an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Shipped with the program.
    Builtin,
}

impl Layer {
    /// The word in the database and on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
        }
    }
}

/// One agent as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Normalised identifier: the file's name without `.md`, in lower case.
    pub identifier: String,
    /// Where it comes from.
    pub layer: Layer,
    /// The file, for people.
    pub file: String,
    /// What it is for.
    pub description: Field<String>,
    /// Its name for people; never part of its identity.
    pub display_name: Field<String>,
    /// Which tools it gets.
    pub tools: Field<Tools>,
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
    /// Standing instructions, trimmed. Empty means that the file says none.
    pub instructions: String,
    /// The first [`PROBLEMS`] things that are wrong with the file.
    pub problems: Vec<Problem>,
    /// Whether an error is among all problems: such an agent is listed and cannot be launched.
    pub broken: bool,
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

    /// The problem that a refusal names.
    #[must_use]
    pub fn first_error(&self) -> Option<&Problem> {
        self.problems.iter().find(|problem| problem.severity == Severity::Error)
    }

    fn report(&mut self, problem: Problem) {
        self.broken |= problem.severity == Severity::Error;
        if self.problems.len() < PROBLEMS {
            self.problems.push(problem);
        } else if problem.severity == Severity::Error && self.first_error().is_none() {
            // A broken definition always shows why.
            self.problems.pop();
            self.problems.push(problem);
        }
    }
}

/// Something that is wrong with a definition file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether the agent can still be launched.
    pub severity: Severity,
    /// Line in the file, from 1.
    pub line: u64,
    /// Column, from 1.
    pub column: u64,
    /// What is wrong and what to write instead.
    pub message: String,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The rest of the file holds.
    Warning,
    /// The agent cannot be launched until the file is mended.
    Error,
}
