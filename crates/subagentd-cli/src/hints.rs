//! What fits next: commands to copy, each on a line of its own.

use crate::render::fit;

/// Stands before the first one, so that the block is told from what is above it.
pub(crate) const MARK: &str = "Next:";

/// Commands with what they do, aligned. Written by hand into code, so their number is small.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hints(Vec<(String, &'static str)>);

impl Hints {
    /// `arguments` as they stand behind `subagentd-cli`.
    #[must_use]
    pub(crate) fn and(mut self, arguments: impl std::fmt::Display, what: &'static str) -> Self {
        self.0.push((format!("subagentd-cli {arguments}"), what));
        self
    }

    /// The lines, without a line feed behind the last one. Where they do not fit, the commands alone.
    pub(crate) fn text(&self, columns: usize) -> String {
        let full = self.lines(true);
        if full.iter().all(|line| fit::width(line) <= columns) { full.join("\n") } else { self.lines(false).join("\n") }
    }

    /// The same as a sentence, for a document.
    pub(crate) fn sentence(&self) -> String {
        let steps = self.0.iter().map(|(command, what)| format!("`{command}`: {what}"));
        steps.collect::<Vec<_>>().join("; ")
    }

    fn lines(&self, explained: bool) -> Vec<String> {
        let width = self.0.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
        let marks = std::iter::once(MARK).chain(std::iter::repeat("     "));
        let line = |(mark, (command, what)): (&str, &(String, &str))| {
            if explained { format!("{mark} {command:width$}   {what}") } else { format!("{mark} {command}") }
        };
        marks.zip(&self.0).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_one_a_line() {
        let hints = Hints::default().and("wait 1a2b3c4d", "wait for it").and("list", "all runs");
        assert_eq!(
            hints.text(80),
            "Next: subagentd-cli wait 1a2b3c4d   wait for it\n      subagentd-cli list            all runs"
        );
        assert_eq!(hints.text(40), "Next: subagentd-cli wait 1a2b3c4d\n      subagentd-cli list");
        assert_eq!(hints.sentence(), "`subagentd-cli wait 1a2b3c4d`: wait for it; `subagentd-cli list`: all runs");
    }
}
