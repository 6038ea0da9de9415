//! What the driver tells its owner.

use std::fmt;
use std::ops::Deref;

use serde_json::value::RawValue;
use subagentd_core::life::Reason;
use subagentd_core::outcome::{Reported, Usage, error_line};

use crate::format::Receipt;

/// Bytes of a tool call's arguments in [`Event::ToolStarted`]; longer ones are cut and flagged (decision N4).
pub const ARGS_BYTES: usize = 4 * 1024;
/// Bytes of an id, tool name or stop reason taken over from the child; longer ones are cut, at the start and at the end of
/// a call alike, so that the two still match.
pub const NAME_BYTES: usize = 200;

/// One thing that happened.
#[derive(Clone, PartialEq)]
pub enum Event {
    /// Model, thinking level and tools are as asked; the prompt is on its way.
    Verified {
        /// What the child says of itself.
        reported: Reported,
        /// Asked extension tools that it does not have (G1).
        tools_missing: Vec<String>,
    },
    /// The child accepted the prompt.
    Prompted,
    /// Some of the missing tools came after the prompt, as those of servers do that connect meanwhile.
    ToolsCame {
        /// Those that are still missing.
        tools_missing: Vec<String>,
    },
    /// A sign of life that is nothing else.
    Activity,
    /// A tool call began.
    ToolStarted {
        /// Counts the calls of this child from 1.
        seq: u64,
        /// The child's id of the call.
        id: String,
        /// The call that made this one.
        parent: Option<String>,
        /// Tool.
        name: String,
        /// Arguments as JSON text, at most [`ARGS_BYTES`].
        args: String,
        /// Whether `args` was cut.
        clipped: bool,
    },
    /// A tool call ended.
    ToolEnded {
        /// The child's id of the call.
        id: String,
        /// Exit code of a command; absent for other tools and for a command that was stopped.
        exit_code: Option<i64>,
        /// Whether the child calls it a failure.
        is_error: bool,
        /// The child's own measurement.
        duration_ms: Option<u64>,
    },
    /// The model finished a message.
    Message {
        /// What this message cost.
        usage: Usage,
        /// Why it stopped, in the dialect's word.
        stop: String,
    },
    /// A steer came so far, or was asked for again and has come so far.
    Steered {
        /// Its number.
        intent: u32,
        /// How far.
        receipt: Receipt,
    },
    /// The child is done, or was refused. Comes at most once.
    Settled(Settlement),
    /// A record for `events.jsonl`. Comes before the events that it means.
    /// Left out: what is streamed (its content comes whole at the end of the message or call) and the responses to the
    /// verification, whose model objects may carry a provider's secret headers.
    Record {
        /// The dialect's type of the record; empty when it has none.
        kind: String,
        /// The record.
        raw: Line,
    },
    /// Bytes of a line that is no record. Comes for the first [`super::NOISE_EVENTS`] such lines.
    Noise {
        /// Length of the line.
        bytes: usize,
    },
    /// Standard output ended before the child settled. The exit status says what that means.
    EndOfOutput,
}

impl Event {
    /// Whether the child itself must have done something.
    #[must_use]
    pub fn is_sign_of_life(&self) -> bool {
        !matches!(self, Self::Noise { .. } | Self::EndOfOutput | Self::Steered { .. })
    }
}

/// A record as the child wrote it, made valid where JavaScript is laxer than the standard. Never a line end in it.
#[derive(Clone)]
pub struct Line(Box<RawValue>);

impl Line {
    /// `None` for text that is not JSON.
    pub(super) fn new(text: String) -> Option<Self> {
        RawValue::from_string(text).ok().map(Self)
    }
}

impl Deref for Line {
    type Target = RawValue;

    fn deref(&self) -> &RawValue {
        &self.0
    }
}

impl PartialEq for Line {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

/// How the child's work ended.
#[derive(Clone, PartialEq)]
pub struct Settlement {
    /// Why.
    pub reason: Reason,
    /// One line of the provider or of the driver, never the child's prose (G5).
    pub error: Option<String>,
    /// Text of the last message, if it is more than blanks.
    pub answer: Option<String>,
    /// Whether the model ended that text of its own will. True for a cancelled child that had just finished, too.
    pub complete: bool,
}

impl Settlement {
    pub(super) fn without_answer(reason: Reason, error: Option<&str>) -> Self {
        Self { reason, error: error.map(error_line), answer: None, complete: false }
    }
}

/// Sums over everything seen so far, for the exit record.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// Assistant messages.
    pub turns: u64,
    /// Finished tool calls.
    pub tool_calls: u64,
    /// Usage of the assistant messages, of tools that asked a model, and of summaries.
    pub usage: Usage,
    /// Bytes of lines that were no records.
    pub noise_bytes: u64,
}

// By hand, because these may end up in a log: what the child wrote shows as its length only.

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToolsCame { tools_missing } => {
                f.debug_struct("ToolsCame").field("tools_missing", tools_missing).finish()
            }
            Self::Verified { reported, tools_missing } => {
                f.debug_struct("Verified").field("reported", reported).field("tools_missing", tools_missing).finish()
            }
            Self::Prompted => f.write_str("Prompted"),
            Self::Activity => f.write_str("Activity"),
            Self::ToolStarted { seq, id, parent, name, args, clipped } => f
                .debug_struct("ToolStarted")
                .field("seq", seq)
                .field("id", id)
                .field("parent", parent)
                .field("name", name)
                .field("args_bytes", &args.len())
                .field("clipped", clipped)
                .finish(),
            Self::ToolEnded { id, exit_code, is_error, duration_ms } => f
                .debug_struct("ToolEnded")
                .field("id", id)
                .field("exit_code", exit_code)
                .field("is_error", is_error)
                .field("duration_ms", duration_ms)
                .finish(),
            Self::Message { usage, stop } => {
                f.debug_struct("Message").field("usage", usage).field("stop", stop).finish()
            }
            Self::Steered { intent, receipt } => {
                f.debug_struct("Steered").field("intent", intent).field("receipt", receipt).finish()
            }
            Self::Settled(settlement) => settlement.fmt(f),
            Self::Record { kind, raw } => f.debug_struct("Record").field("kind", kind).field("raw", raw).finish(),
            Self::Noise { bytes } => write!(f, "Noise({bytes} bytes)"),
            Self::EndOfOutput => f.write_str("EndOfOutput"),
        }
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.get().len())
    }
}

impl fmt::Debug for Settlement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settlement")
            .field("reason", &self.reason)
            .field("error", &self.error)
            .field("answer_bytes", &self.answer.as_ref().map(String::len))
            .field("complete", &self.complete)
            .finish()
    }
}
