//! What is wrong in a settings file.

use std::fmt;

use subagentd_core::outcome::error_line;
use subagentd_core::route::Segment;

/// Something wrong in a settings file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The file.
    pub file: String,
    /// The key, as a path; empty if it is the whole file.
    pub key: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
    /// What it is, and what to write.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: ", self.file, self.line)?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

impl Problem {
    /// What it is, with its key and without its place.
    #[must_use]
    pub(crate) fn sentence(&self) -> String {
        if self.key.is_empty() { self.message.clone() } else { format!("{}: {}", self.key, self.message) }
    }
}

/// A key as it is written in a file.
pub(super) fn spelled(path: &[Segment]) -> String {
    let bare = |key: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        !key.is_empty() && key.bytes().all(plain)
    };
    let mut text = String::new();
    for segment in path {
        let dot = if text.is_empty() { "" } else { "." };
        match segment {
            Segment::Key(key) if bare(key) => text.push_str(&format!("{dot}{key}")),
            Segment::Key(key) => text.push_str(&format!("{dot}{:?}", error_line(key))),
            Segment::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}
