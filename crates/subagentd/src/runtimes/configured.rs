//! A runtime that only the configuration knows.

use subagentd_core::plan::Environment;

use super::{Findings, Look, Runtime};

/// Any program of pi's dialect, by `runtimes.NAME.command`.
pub(crate) struct Configured {
    /// NAME.
    pub(crate) name: String,
    /// The program and its first arguments.
    pub(crate) command: Vec<String>,
}

impl Runtime for Configured {
    fn name(&self) -> &str {
        &self.name
    }

    /// Nothing is asked: its own list decides, in the child, before the first prompt.
    fn look(&self, _environment: &Environment) -> Look {
        let reason = format!("`runtimes.{}.command` in the configuration names its program", self.name);
        Look::Known(Findings { command: self.command.clone(), ..Findings::usable(&reason) })
    }
}
