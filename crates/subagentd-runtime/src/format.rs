//! What daemon and shim tell each other. Every form carries a number: a daemon reads all of them since 1.0, because
//! shims of an older build may still run (design 2).

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use subagentd_core::id::AttemptId;
use subagentd_core::outcome::Outcome;
pub use subagentd_core::outcome::{Delivery, Receipt};
use subagentd_core::plan::{Program, TimeLimits};
use subagentd_core::workspace::RootIdentity;

/// Number of [`Request`].
pub const REQUEST_FORMAT: u32 = 1;
/// Number of [`Record`].
pub const RECORD_FORMAT: u32 = 1;
/// Number of [`Started`].
pub const STARTED_FORMAT: u32 = 1;
/// Number of [`Order`] and [`Word`].
pub const CONTROL_FORMAT: u32 = 1;

/// An exit record, in bytes (N4). What does not fit is left out in the order remarks, tools, missing
/// tools, half of the receipts.
pub const RECORD_BYTES: usize = 32 * 1024;
/// Bytes kept free for it from before the child starts, so that a full disk cannot lose the end.
pub const RECORD_SPACE: usize = 64 * 1024;
/// Remark: processes of the attempt could not be ended. Their scope stays locked until a person releases it.
pub const REMARK_LEFTOVERS: &str = "leftovers";
/// A line of the control protocol, in bytes; a longer one ends the connection. A steer's text of [`STEER_BYTES`] fits
/// whatever of it has to be escaped.
pub const CONTROL_LINE: usize = 512 * 1024;
/// Text of one steer, in bytes; the daemon refuses a longer one.
pub const STEER_BYTES: usize = 64 * 1024;

/// `request.json`: everything the shim needs to run one attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// [`REQUEST_FORMAT`] of the writer.
    pub format: u32,
    /// Which attempt this is.
    pub attempt: AttemptId,
    /// The child program.
    pub program: Program,
    /// Working directory of the child.
    pub directory: PathBuf,
    /// Root of its workspace.
    pub root: PathBuf,
    /// The root's device and inode at launch.
    pub identity: RootIdentity,
    /// Whether the root is locked against writers of other daemons.
    pub exclusive: bool,
    /// The file with the client's environment; none means an empty one.
    pub environment: Option<PathBuf>,
    /// The client's file mode mask.
    pub umask: Option<u32>,
    /// Open files that the daemon was started with; it raised its own limit, which is nothing for a child.
    #[serde(default)]
    pub open_files: Option<u64>,
    /// The client's soft limits by their lower-case names (`nofile`, `core`, …), set as far as the hard ones allow.
    #[serde(default)]
    pub resource_limits: BTreeMap<String, u64>,
    /// Provider of the model.
    pub provider: String,
    /// The model's id at that provider.
    pub model: String,
    /// Thinking level.
    pub thinking: String,
    /// Effective tools.
    pub tools: Vec<String>,
    /// What is loaded into the child beside what is ours: an extension's absolute path, a package's source, or
    /// `builtin:NAME`. Nothing else is.
    #[serde(default)]
    pub extensions: Vec<String>,
    /// Tools that these bring besides, which the child must not have.
    #[serde(default)]
    pub excluded_tools: Vec<String>,
    /// The task. The child is told it unless it stands in its conversation already.
    pub task: TaskText,
    /// What a resume says to a child that has its task, and after it to one that has not.
    #[serde(default)]
    pub resume: Option<Resume>,
    /// Its conversation.
    #[serde(default)]
    pub conversation: Conversation,
    /// Name of the answer's file in the run's folder, or below `outputs/`.
    pub answer: PathBuf,
    /// The earlier attempt whose answer has that name now. It is kept as `<name>.<attempt>.<extension>`.
    #[serde(default)]
    pub earlier_answer: Option<u32>,
    /// Directory for exit records, on the same file system.
    pub spool: PathBuf,
    /// Time limits.
    pub limits: TimeLimits,
}

impl Request {
    /// The name of the child's conversation.
    #[must_use]
    pub fn conversation_id(&self) -> String {
        let id = &self.conversation.id;
        if id.is_empty() { self.attempt.child.run.to_string() } else { id.clone() }
    }
}

/// A child's conversation, which attempts of one child share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// Its name in the child's own folder of conversations. Empty means the run's id.
    pub id: String,
    /// The copy of a parent's conversation that it begins as. Not looked at once it was begun.
    pub fork: Option<PathBuf>,
}

/// What a child is told that goes on.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// The caller's words; none just lets it go on.
    pub text: Option<String>,
}

impl std::fmt::Debug for Resume {
    // The text is the client's.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Resume({:?} bytes)", self.text.as_ref().map(String::len))
    }
}

/// A task, or where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskText {
    /// The text.
    Inline(String),
    /// A file that holds it.
    File(PathBuf),
}

/// `started`: the child is about to run. From here on it is never started again by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// [`STARTED_FORMAT`] of the writer.
    pub format: u32,
    /// Which attempt.
    pub attempt: AttemptId,
    /// When.
    pub at_ms: u64,
}

/// The exit record: how an attempt ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`RECORD_FORMAT`] of the writer.
    pub format: u32,
    /// Which attempt.
    pub attempt: AttemptId,
    /// How it ended.
    pub end: End,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The attempt is over.
    Ended(Box<Outcome>),
    /// The child was not started, and may be later: another daemon's writer holds the workspace (N16).
    BusyElsewhere,
}

impl Record {
    /// The record's bytes, never more than [`RECORD_BYTES`].
    ///
    /// # Errors
    /// When a field cannot be written as JSON, such as a path that is not UTF-8.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut record = self.clone();
        let mut bytes = serde_json::to_vec(&record)?;
        for shed in [shed_remarks, shed_tools, shed_missing, shed_told] {
            if bytes.len() <= RECORD_BYTES {
                break;
            }
            if let End::Ended(outcome) = &mut record.end {
                shed(outcome);
            }
            bytes = serde_json::to_vec(&record)?;
        }
        Ok(bytes)
    }

    /// Reads a record.
    ///
    /// # Errors
    /// When the bytes are no record of a known format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordFault> {
        if bytes.len() > RECORD_SPACE {
            return Err(RecordFault::TooLarge);
        }
        // A shim that was killed between writing and cutting its record left the rest of the space behind it.
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let written = bytes.get(..end).unwrap_or_default();
        let record: Self = serde_json::from_slice(written).map_err(RecordFault::Json)?;
        if record.format == RECORD_FORMAT { Ok(record) } else { Err(RecordFault::Format(record.format)) }
    }
}

fn shed_remarks(outcome: &mut Outcome) {
    // This one decides about the scope.
    outcome.remarks.retain(|remark| remark == REMARK_LEFTOVERS);
    outcome.remarks.push("record.shortened".to_owned());
}

fn shed_tools(outcome: &mut Outcome) {
    outcome.reported.tools = None;
}

fn shed_missing(outcome: &mut Outcome) {
    outcome.tools_missing.clear();
}

/// The oldest half: the daemon has most likely heard of those.
fn shed_told(outcome: &mut Outcome) {
    let half = outcome.told.len() / 2;
    outcome.told.drain(..half);
}

/// Why a file is no exit record.
#[derive(Debug, thiserror::Error)]
pub enum RecordFault {
    /// Larger than any record.
    #[error("larger than {RECORD_SPACE} bytes")]
    TooLarge,
    /// Not the JSON of a record.
    #[error("not an exit record: {0}")]
    Json(serde_json::Error),
    /// A format this program does not know.
    #[error("format {0} is not known to this program")]
    Format(u32),
}

/// What the daemon tells a shim, one JSON document per line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Order {
    /// End the child. Repeats of a number are confirmed and otherwise dropped.
    Cancel {
        /// Number of the stored intent.
        intent: u32,
    },
    /// Let the child settle where it is, resumable. Repeats of a number are confirmed and otherwise dropped.
    Pause {
        /// Number of the stored intent.
        intent: u32,
    },
    /// Say this to the child. Each number is said once; a repeat is answered with its newest receipt.
    Steer {
        /// Number of the stored intent.
        intent: u32,
        /// What to say, at most [`STEER_BYTES`].
        text: String,
        /// When the child shall hear it.
        delivery: Delivery,
    },
}

/// What a shim tells the daemon, one JSON document per line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Word {
    /// First on every connection.
    Hello {
        /// [`CONTROL_FORMAT`] of the shim.
        format: u32,
        /// Which attempt.
        attempt: AttemptId,
        /// Where it stands.
        phase: Phase,
    },
    /// The phase changed.
    Phase {
        /// Where it stands now.
        phase: Phase,
        /// Since when.
        at_ms: u64,
    },
    /// How far the child is. At most a few times a second, the newest only.
    Progress(Progress),
    /// A cancel or a pause was taken.
    Confirmed {
        /// Its number.
        intent: u32,
    },
    /// A steer came so far.
    Steered {
        /// Its number.
        intent: u32,
        /// How far.
        receipt: Receipt,
    },
}

/// How far a child is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Finished tool calls.
    pub tool_calls: u64,
    /// Assistant messages.
    pub turns: u64,
    /// Tokens read and written, cached ones included.
    pub tokens: u64,
    /// The tool call that has been open longest.
    pub tool: Option<String>,
    /// When the child last gave a sign of life.
    pub last_event_at_ms: Option<u64>,
}

/// Where an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Before the prompt.
    Starting,
    /// The child was verified and has its prompt.
    Running,
    /// The answer is stored, the tree is being ended.
    Ending,
}

#[cfg(test)]
mod tests {
    use super::*;
    use subagentd_core::id::ChildId;
    use subagentd_core::life::Reason;

    fn record() -> Record {
        let run = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        let outcome = Outcome::bare(Reason::ShimTerminated, Some("told to end".to_owned()), 7);
        Record {
            format: RECORD_FORMAT,
            attempt: AttemptId { child: ChildId { run, index: 0 }, number: 1 },
            end: End::Ended(Box::new(outcome)),
        }
    }

    /// The form of 1.0: a later daemon must still read exactly these bytes.
    const FORMAT_1: &str = r#"{"format":1,"attempt":{"child":{"run":"01890a5d-ac96-774b-bcce-b302099a8057","index":0},"number":1},"end":{"ended":{"reason":"shim.terminated","error":"told to end","reported":{},"tool_calls":0,"turns":0,"usage":{"input":0,"output":0,"cache_read":0,"cache_write":0,"cost":0.0},"ended_at_ms":7}}}"#;

    #[test]
    fn the_first_format_is_read_and_written() {
        assert_eq!(Record::from_bytes(FORMAT_1.as_bytes()).unwrap(), record());
        let uncut = [FORMAT_1.as_bytes(), &[0; 300]].concat();
        assert_eq!(Record::from_bytes(&uncut).unwrap(), record());
        assert_eq!(String::from_utf8(record().to_bytes().unwrap()).unwrap(), FORMAT_1);
    }

    #[test]
    fn unknown_formats_and_other_files_are_refused() {
        let newer = FORMAT_1.replacen("\"format\":1", "\"format\":2", 1);
        assert!(matches!(Record::from_bytes(newer.as_bytes()), Err(RecordFault::Format(2))));
        assert!(matches!(Record::from_bytes(b""), Err(RecordFault::Json(_))));
        assert!(matches!(Record::from_bytes(&vec![0; RECORD_SPACE + 1]), Err(RecordFault::TooLarge)));
    }

    #[test]
    fn a_large_record_sheds_lists_and_keeps_the_end() {
        let mut large = record();
        if let End::Ended(outcome) = &mut large.end {
            outcome.remarks = vec!["x".repeat(1000); 40];
            outcome.reported.tools = Some(vec!["t".repeat(100); 400]);
            outcome.tools_missing = vec!["m".repeat(100); 400];
        }
        let bytes = large.to_bytes().unwrap();
        assert!(bytes.len() <= RECORD_BYTES, "{}", bytes.len());
        let End::Ended(outcome) = Record::from_bytes(&bytes).unwrap().end else { panic!("not an end") };
        assert_eq!((outcome.reason, outcome.remarks), (Reason::ShimTerminated, vec!["record.shortened".to_owned()]));
    }
}
