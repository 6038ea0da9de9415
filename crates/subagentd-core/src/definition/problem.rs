//! What is wrong with a definition.

use super::{Definition, Key};

/// Problems kept of one agent. Later ones are not listed; an error among them still breaks the definition.
pub const PROBLEMS: usize = 20;

/// Something that is wrong with a definition file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether the agent can still be launched.
    pub severity: Severity,
    /// What part of the file it is about.
    pub about: About,
    /// The file.
    pub file: String,
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

/// What part of a file a problem is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum About {
    /// Its name.
    Name,
    /// All of it.
    File,
    /// The front matter as a whole.
    Header,
    /// A key that has no effect.
    Key,
    /// The value of a field.
    Field(Key),
}

impl Definition {
    /// The problem that a refusal names.
    #[must_use]
    pub fn first_error(&self) -> Option<&Problem> {
        self.problems.iter().find(|problem| problem.severity == Severity::Error)
    }

    pub(super) fn report(&mut self, problem: Problem) {
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
