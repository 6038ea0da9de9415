//! What happened, as seen from outside: what clients were told, what the killer did, what the children wrote down, and
//! what was there in the end. The checker works from nothing else.

use std::collections::BTreeMap;

use subagentd_proto::run::State;

/// Everything that the checker gets.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// What clients asked for and were told.
    pub launches: Vec<Launch>,
    /// What the killer did.
    pub kills: Vec<Kill>,
    /// What children and grandchildren wrote down.
    pub stamps: Vec<Stamp>,
    /// Notices as they were pushed, in the order of their arrival.
    pub offers: Vec<Offer>,
    /// Observations that are violations as they stand.
    pub troubles: Vec<String>,
    /// Calls whose connection was lost before the answer.
    pub lost_calls: u32,
    /// Launches that were answered as known already.
    pub repeated_launches: u32,
    /// Daemons that found the lock of the one before them still held and went.
    pub busy_starts: u32,
    /// What was there once everything had time to end.
    pub aftermath: Aftermath,
}

/// Who told of an end: the answer to `run/wait`.
pub(super) const BY_WAIT: &str = "run/wait";

/// One launch, by its key.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// The request key; also the title, so that a stored run names it.
    pub key: String,
    /// Who launched.
    pub owner: String,
    /// Number of the workspace.
    pub root: usize,
    /// Whether the child has to have the workspace for itself.
    pub exclusive: bool,
    /// The name of the script's course.
    pub life: &'static str,
    /// How it ends if nobody interferes.
    pub expected: Expected,
    /// Run ids of the answers that came.
    pub acknowledged: Vec<String>,
    /// Cancels that were sent.
    pub cancels: Vec<Cancel>,
    /// Ends that clients were told of: state, and by what.
    pub told: Vec<(State, &'static str)>,
}

/// How a script ends if nobody interferes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The stable code.
    pub reason: &'static str,
    /// The whole answer of one that succeeds.
    pub answer: Option<String>,
}

/// A cancel, and the answer if one came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel {
    /// `None` when the connection was lost before the answer.
    pub answer: Option<CancelAnswer>,
}

/// An answer to a cancel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelAnswer {
    /// `cancelled`, `cancelling` or `already-ended`.
    pub outcome: String,
    /// The state that it named.
    pub state: State,
    /// When it came.
    pub at_ns: u64,
}

/// One attempt of a run's only child.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt {
    /// The run.
    pub run: String,
    /// Its number, from 1.
    pub number: u32,
}

impl Attempt {
    /// Reads `<run>/<child>.<number>`, the form of the mark and the end of the attempt's folder.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (run, attempt) = text.rsplit_once('/')?;
        let (_, number) = attempt.split_once('.')?;
        let run = run.rsplit('/').next()?;
        uuid::Uuid::try_parse(run).ok()?;
        Some(Self { run: run.to_owned(), number: number.parse().ok()? })
    }
}

/// One kill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kill {
    /// When.
    pub at_ns: u64,
    /// Who was hit.
    pub victim: Victim,
}

/// Who was hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Victim {
    /// The daemon, in this phase of its life.
    Daemon(Phase),
    /// A shim; whether a daemon lived at that moment.
    Shim(Attempt, bool),
    /// A child or one of its descendants.
    Child(Attempt),
}

/// Where a daemon stood when it was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It did not serve yet.
    Boot,
    /// It served, in its first second.
    FirstSecond,
    /// With the answer to a launch under way.
    Launching,
    /// Later.
    Serving,
}

/// A line that a child wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// When, by the wall clock.
    pub at_ns: u64,
    /// The word: `begin`, `beat` or `end`.
    pub word: String,
    /// Who.
    pub attempt: Attempt,
    /// Its process, if it said so.
    pub pid: Option<u32>,
    /// Number of the workspace.
    pub root: usize,
}

impl Stamp {
    /// Reads `<ns> <word>:<mark> [<pid>]`.
    #[must_use]
    pub fn parse(line: &str, root: usize) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let at_ns = fields.next()?.parse().ok()?;
        let (word, mark) = fields.next()?.split_once(':')?;
        let pid = fields.next().and_then(|field| field.parse().ok());
        Some(Self { at_ns, word: word.to_owned(), attempt: Attempt::parse(mark)?, pid, root })
    }
}

/// A notice as it was pushed to a watcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Its number.
    pub seq: u64,
    /// Whose inbox.
    pub owner: String,
    /// The run.
    pub run: String,
    /// The state it tells.
    pub state: State,
    /// Whether the client had been told, before it opened this watch, that the notice was acknowledged.
    pub after_acknowledgement: bool,
}

/// What was there in the end.
#[derive(Debug, Clone, Default)]
pub struct Aftermath {
    /// Stored runs by id.
    pub runs: BTreeMap<String, StoredRun>,
    /// Stored notices.
    pub notices: Vec<StoredNotice>,
    /// Attempts' folders.
    pub folders: BTreeMap<Attempt, Folder>,
    /// Processes of this state directory that still lived.
    pub processes: Vec<String>,
    /// Files in the spool, `bad` apart.
    pub spool: Vec<String>,
    /// Files in `spool/bad`.
    pub bad: Vec<String>,
    /// Workspaces that are still held, and by whom.
    pub leases: Vec<String>,
    /// Children with a shim, and waiting ones, as the daemon counts them.
    pub live_and_queued: (u32, u32),
    /// Lines of the daemon's log that must not be there.
    pub log: Vec<String>,
}

/// A stored run.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// The key of its launch, which is its title.
    pub key: String,
    /// Who launched.
    pub owner: String,
    /// Its state.
    pub state: State,
    /// Why it ended.
    pub reason: String,
    /// The newest attempt's number; 0 before the first.
    pub attempt: u32,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// The text behind its reference, as it stands on disk.
    pub answer: Option<String>,
    /// Remarks: stable codes.
    pub remarks: Vec<String>,
}

/// A stored notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredNotice {
    /// Its number.
    pub seq: u64,
    /// Whose inbox.
    pub owner: String,
    /// The run.
    pub run: String,
    /// The state it tells.
    pub state: State,
    /// The reason it tells.
    pub reason: String,
}

/// What an attempt's folder shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folder {
    /// Whether its child was about to run.
    pub started: bool,
    /// Its exit record.
    pub record: Record,
}

/// The exit record that a shim keeps in its folder until it publishes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// Published, or never made: see `started`.
    Gone,
    /// Space without a record.
    Space,
    /// Written and not published.
    Written,
    /// Written, and its space not yet cut off.
    Half,
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    #[test]
    fn marks_and_folders_name_attempts() {
        let attempt = Attempt { run: RUN.to_owned(), number: 3 };
        assert_eq!(Attempt::parse(&format!("{RUN}/0.3")), Some(attempt.clone()));
        assert_eq!(Attempt::parse(&format!("/state/runs/{RUN}/0.3")), Some(attempt));
        for wrong in ["", "x/0.1", RUN, "/a/b.c"] {
            assert_eq!(Attempt::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn stamps_are_read_with_and_without_a_process() {
        let stamp = Stamp::parse(&format!("12 begin:{RUN}/0.1 77"), 2).unwrap();
        assert_eq!((stamp.at_ns, stamp.word.as_str(), stamp.pid, stamp.root), (12, "begin", Some(77), 2));
        assert_eq!(Stamp::parse(&format!("12 beat:{RUN}/0.1"), 0).unwrap().pid, None);
        assert_eq!(Stamp::parse("12 begin:$ATTEMPT 77", 0), None);
    }
}
