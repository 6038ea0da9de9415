//! What encloses a line: the definition around it, the comment above that, a block of tests.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{file, line};

/// Definitions named around a place: the nearest and the one around it.
const OUTER: usize = 2;

/// Lines of a comment above a definition that count as its description.
const COMMENT_LINES: usize = 40;

/// A file read again to look around its best places.
pub(crate) struct Text {
    lines: Vec<String>,
    extension: String,
    /// First line of the tests inside a source file, counted from 0.
    tests_from: Option<usize>,
}

/// The surroundings of a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Block {
    /// Enclosing definitions, the outer one first.
    pub(crate) names: Vec<String>,
    /// The nearest definition's line, from 0.
    pub(crate) defined_at: Option<usize>,
    /// The place is that definition itself or the comment above it.
    pub(crate) heads: bool,
    pub(crate) in_tests: bool,
}

impl Text {
    /// Reads at most `bytes`; a file that cannot be read any more has no lines.
    pub(crate) fn read(path: &Path, shown: &str, bytes: u64) -> Self {
        let mut raw = Vec::new();
        if let Ok(file) = File::open(path)
            && file.take(bytes).read_to_end(&mut raw).is_err()
        {
            raw.clear();
        }
        Self::of(&String::from_utf8_lossy(&raw), shown)
    }

    fn of(text: &str, shown: &str) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let tests_from = lines.iter().position(|line| line.trim() == "#[cfg(test)]");
        Self { lines, extension: file::extension(shown), tests_from }
    }

    pub(crate) fn line(&self, at: usize) -> Option<&str> {
        self.lines.get(at).map(String::as_str)
    }

    /// The surroundings of a line, counted from 0.
    pub(crate) fn block(&self, at: usize) -> Block {
        let in_tests = self.tests_from.is_some_and(|from| at > from);
        let Some(nearest) = self.described_by(at).or_else(|| self.enclosing(at)) else {
            return Block { in_tests, ..Block::default() };
        };
        let mut names = vec![self.name(nearest)];
        let mut inner = nearest;
        while names.len() < OUTER {
            let Some(outer) = self.enclosing(inner) else { break };
            names.insert(0, self.name(outer));
            inner = outer;
        }
        Block { names, defined_at: Some(nearest), heads: nearest >= at, in_tests }
    }

    /// The definition's own line and the comment above it, as one text.
    pub(crate) fn head(&self, defined_at: usize) -> String {
        let above = self
            .lines
            .iter()
            .take(defined_at)
            .rev()
            .take(COMMENT_LINES)
            .take_while(|line| line::is_comment(line, &self.extension) || line::is_attribute(line));
        let mut head = self.line(defined_at).unwrap_or_default().to_owned();
        for line in above {
            head.push('\n');
            head.push_str(line);
        }
        head
    }

    /// The definition that a line is, or that a comment or attribute stands above.
    fn described_by(&self, at: usize) -> Option<usize> {
        for (offset, line) in self.lines.iter().skip(at).take(COMMENT_LINES).enumerate() {
            if line::definition(line, &self.extension).is_some() {
                return Some(at.saturating_add(offset));
            }
            // A Markdown paragraph belongs to the heading above it.
            if !(line::is_comment(line, &self.extension) || line::is_attribute(line)) {
                return None;
            }
        }
        None
    }

    fn enclosing(&self, at: usize) -> Option<usize> {
        let flat = matches!(self.extension.as_str(), "md" | "markdown" | "toml" | "ini");
        let inside = self.line(at)?;
        // An empty line has no indent of its own; take the nearest one above.
        let inside = if inside.trim().is_empty() {
            self.lines.iter().take(at).rev().find(|line| !line.trim().is_empty())?
        } else {
            inside
        };
        let mut level = self.level(inside);
        for (above, line) in self.lines.iter().enumerate().take(at).rev() {
            if line.trim().is_empty() {
                continue;
            }
            let own = self.level(line);
            // A definition on one line, such as a constant, encloses nothing.
            let one_line = !flat && line.trim_end().ends_with(';');
            if own < level && !one_line && line::definition(line, &self.extension).is_some() {
                return Some(above);
            }
            // Any other line further left ends what is open above it, unless it belongs to the head of a definition.
            if !(flat || belongs_to_head(line, &self.extension)) {
                level = level.min(own);
            }
        }
        None
    }

    /// Depth of a line: its indent, or for headings their rank.
    fn level(&self, line: &str) -> usize {
        let flat = matches!(self.extension.as_str(), "md" | "markdown" | "toml" | "ini");
        if !flat {
            return line::indent(line);
        }
        match line::definition(line, &self.extension) {
            Some(heading) if heading.starts_with('#') => heading.chars().take_while(|letter| *letter == '#').count(),
            Some(_) => 1,
            None => usize::MAX,
        }
    }

    fn name(&self, at: usize) -> String {
        self.line(at).and_then(|line| line::definition(line, &self.extension)).unwrap_or_default().to_owned()
    }
}

/// Lines that stand as far left as the definition they belong to, or anywhere.
fn belongs_to_head(line: &str, extension: &str) -> bool {
    let text = line.trim_start();
    text.starts_with(['{', ')', '#'])
        || text.starts_with("where")
        || line::is_comment(text, extension)
        || line::is_attribute(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUST: &str = "\
/// Holds the door.
struct Door;

impl Door {
    /// Opens it.
    #[must_use]
    fn open(&self) {
        let x = 1;

        go(x);
    }

    fn shut(
        &self,
    ) {
        stop();
    }
}

static LIMIT: u8 = 1;

#[cfg(test)]
mod tests {
    fn check() {
        a();
    }
}
";

    #[test]
    fn finds_the_definition_around_a_line() {
        let text = Text::of(RUST, "src/door.rs");
        for (at, names, heads) in [
            (0, &["struct Door"][..], true),
            (4, &["impl Door", "fn open(&self)"], true),
            (6, &["impl Door", "fn open(&self)"], true),
            (7, &["impl Door", "fn open(&self)"], false),
            (8, &["impl Door", "fn open(&self)"], false),
            (9, &["impl Door", "fn open(&self)"], false),
            (15, &["impl Door", "fn shut"], false),
            (24, &["mod tests", "fn check()"], false),
        ] {
            let block = text.block(at);
            assert_eq!(block.names, names, "line {at}");
            assert_eq!(block.heads, heads, "line {at}");
        }
        assert!(text.block(24).in_tests && !text.block(9).in_tests);
        assert!(text.head(6).contains("Opens it."), "{}", text.head(6));
    }

    #[test]
    fn a_paragraph_belongs_to_its_heading() {
        let text = Text::of("# A\n\n## B\n\ntext\n\n# C\n", "x.md");
        assert_eq!(text.block(4).names, ["# A", "## B"]);
        assert_eq!(text.block(6).names, ["# C"]);
    }
}
