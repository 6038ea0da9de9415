//! How the end of a run is told: references to answers, and notices.

mod lines;
mod notice;
mod slice;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::life::{Reason, State};

pub use lines::{LineCounter, count_lines, size_text};
pub use notice::{Ended, NOTICE_AGENT_BYTES, NOTICE_TITLE_BYTES};
pub use slice::{CHARACTER_BYTES, character_start, whole_characters};

/// A notice in its stored form, in bytes (design 8).
pub const NOTICE_BYTES: usize = 1_024;
/// A path longer than this is left out of a notice (N5); `run/get` has it.
pub const NOTICE_PATH_BYTES: usize = 400;

/// Where a child's final answer is (design 4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The answer's file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its lines by G11: those ended by LF, CRLF or CR, an unfinished last one too.
    pub lines: u64,
    /// Its digest, hex.
    pub sha256: String,
}

impl Reference {
    /// The reference of an answer whose file holds exactly this text.
    #[must_use]
    pub fn of(path: PathBuf, text: &[u8]) -> Self {
        Self { path, bytes: text.len() as u64, lines: count_lines(text), sha256: digest(text) }
    }
}

/// sha256, hex.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One inbox row, without its number: the store gives that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// What it is about.
    pub kind: NoticeKind,
    /// State of the run.
    pub state: State,
    /// Why.
    pub reason: Reason,
    /// The agent of the first child.
    pub agent: String,
    /// The caller's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How many children, when there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children: Option<u32>,
    /// Where the answer is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<NoticeReference>,
    /// When it was made.
    pub at_ms: u64,
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeKind {
    /// The run reached an end.
    Ended,
}

impl NoticeKind {
    /// The word on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ended => "ended",
        }
    }
}

/// A reference inside a notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeReference {
    /// The answer's file, unless its path is too long for a notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Its size.
    pub bytes: u64,
    /// Its lines.
    pub lines: u64,
    /// Its digest, hex.
    pub sha256: String,
}

/// The line that stands for an answer wherever its text does not (G11).
#[must_use]
pub fn reference_line(reference: &Reference) -> String {
    format!("Output saved to: {} ({}, {} lines)", reference.path.display(), size_text(reference.bytes), reference.lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_line_reads_the_same_everywhere() {
        let mut reference = Reference {
            path: PathBuf::from("/state/runs/r/result.md"),
            bytes: 1_586,
            lines: 42,
            sha256: String::new(),
        };
        assert_eq!(reference_line(&reference), "Output saved to: /state/runs/r/result.md (1.5 KB, 42 lines)");
        reference.bytes = 5;
        reference.lines = 1;
        assert_eq!(reference_line(&reference), "Output saved to: /state/runs/r/result.md (5 B, 1 lines)");
    }
}
