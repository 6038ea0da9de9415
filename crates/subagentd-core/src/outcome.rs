//! What is known of an attempt once it has ended: the content of its exit record, and what the store keeps.

use serde::{Deserialize, Serialize};

use crate::deliver::Reference;
use crate::life::Reason;

/// Bytes of an error line (G5); longer ones are cut.
pub const ERROR_BYTES: usize = 300;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Why; the end state follows from it ([`Reason::state`]).
    pub reason: Reason,
    /// One line of the daemon, the system, the provider, or the child program's last standard-error line (G5, N8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The final answer, if one was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// How the child process ended, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Exit>,
    /// What the child reported of itself.
    #[serde(default)]
    pub reported: Reported,
    /// Listed extension tools that the child does not have (G1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools_missing: Vec<String>,
    /// Finished tool calls.
    #[serde(default)]
    pub tool_calls: u64,
    /// Assistant messages.
    #[serde(default)]
    pub turns: u64,
    /// Usage, summed over the assistant messages.
    #[serde(default)]
    pub usage: Usage,
    /// What the child was told in this attempt and how far it came, the newest: the daemon may have been away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<Told>,
    /// Remarks: stable codes (N10).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// When the child process started; `None` if it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at_ms: Option<u64>,
    /// When the last process of its tree was reaped.
    pub ended_at_ms: u64,
}

impl Outcome {
    /// An end of which nothing more is known than its reason.
    #[must_use]
    pub fn bare(reason: Reason, error: Option<String>, ended_at_ms: u64) -> Self {
        Self {
            reason,
            error: error.map(|line| error_line(&line)),
            answer: None,
            exit: None,
            reported: Reported::default(),
            tools_missing: Vec::new(),
            tool_calls: 0,
            turns: 0,
            usage: Usage::default(),
            told: Vec::new(),
            remarks: Vec::new(),
            started_at_ms: None,
            ended_at_ms,
        }
    }
}

/// When a child hears what it is told while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// After the tool calls under way.
    Steer,
    /// When it would otherwise be done.
    FollowUp,
}

/// How far a steer came. Only ever rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receipt {
    /// The child took it into its queue.
    Accepted,
    /// It is part of the conversation: the model has it before it.
    Delivered,
    /// The child settled or ended without it. One that was only accepted may stand in the child's queue, which ended
    /// with it.
    Undelivered,
}

/// What became of one thing that the child was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Number of the steer's intent.
    pub number: u32,
    /// How far it came.
    pub receipt: Receipt,
}

/// A stored answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Where it is.
    pub reference: Reference,
    /// Whether the child settled with it; a text left by a bad end is kept and marked.
    pub complete: bool,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// What a child reported of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// `provider/id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Thinking level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Active tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
}

/// Tokens and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, without cached ones.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
    /// US dollars by the runtime's price table.
    pub cost: f64,
}

/// Makes one line of at most [`ERROR_BYTES`] out of a text: control characters become spaces, whole characters only.
#[must_use]
pub fn error_line(text: &str) -> String {
    let mut line = String::new();
    for character in text.trim().chars() {
        let character = if character.is_control() { ' ' } else { character };
        if line.len() + character.len_utf8() > ERROR_BYTES {
            break;
        }
        line.push(character);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_short_line_of_whole_characters() {
        assert_eq!(error_line("  no such\tfile\nor\u{1b}[31m directory \n"), "no such file or [31m directory");
        let long = error_line(&"ä".repeat(400));
        assert_eq!(long.len(), 300);
        assert!(long.chars().all(|c| c == 'ä'));
    }
}
