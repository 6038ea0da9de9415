//! Jobs: values bound for one query, and how its last row reads.

mod values;

use std::path::Path;

use serde_json::json;
use sqlx::Row;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use subagentd_core::id::{AttemptId, ChildId};
use subagentd_core::life::State;
use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::request::{
    Acknowledge, Begun, Intended, Intent, IntentKind, NewAttempt, NewContinuation, NewIntent, NewRun, Requeue, Resumed,
    Settled, Settlement, Spawned, SteerReceipt, Submitted, Task, delivery, receipt,
};
use crate::sql::jobs::{self, Statement};
use crate::words::tail;
use values::Values;

/// A job and who waits for it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) prepared: Prepared,
    pub(crate) reply: oneshot::Sender<Result<Answer, StoreError>>,
}

/// A job's query, ready to be sent as often as it takes.
pub(crate) struct Prepared {
    pub(crate) kind: Kind,
    pub(crate) arguments: SqliteArguments,
    /// What it is about, for errors.
    subject: Subject,
}

impl std::fmt::Debug for Prepared {
    // The arguments hold task texts.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("kind", &self.kind).field("subject", &self.subject).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Submit,
    BeginAttempt,
    Spawned,
    Running,
    Requeue,
    Intend(IntentKind),
    Confirm,
    Receipt,
    Release,
    Resume,
    Settle,
    Acknowledge,
}

#[derive(Debug, Clone, Copy)]
enum Subject {
    Launch,
    Child(ChildId),
    Attempt(AttemptId),
    Notices,
}

/// Every answer of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Submitted(Submitted),
    Begun(Begun),
    Intended(Intended),
    Resumed(Resumed),
    Settled(Settled),
    Count(u64),
    Done,
}

/// The answers that a receipt can promise.
pub trait FromAnswer: Sized {
    #[doc(hidden)]
    fn from_answer(answer: Answer) -> Option<Self>;
}

macro_rules! from_answer {
    ($($type:ty: $pattern:pat => $value:expr;)+) => {
        $(impl FromAnswer for $type {
            fn from_answer(answer: Answer) -> Option<Self> {
                if let $pattern = answer { Some($value) } else { None }
            }
        })+
    };
}

from_answer! {
    Submitted: Answer::Submitted(submitted) => submitted;
    Begun: Answer::Begun(begun) => begun;
    Intended: Answer::Intended(intended) => intended;
    Resumed: Answer::Resumed(resumed) => resumed;
    Settled: Answer::Settled(settled) => settled;
    u64: Answer::Count(count) => count;
    (): Answer::Done => ();
}

impl Kind {
    /// Whether a job may be dropped with an answer when the storage fails: nobody was told yet that it holds, and a
    /// client waits that can ask again.
    pub(crate) const fn is_launch(self) -> bool {
        matches!(self, Self::Submit | Self::Resume | Self::Intend(_))
    }

    pub(crate) const fn statement(self) -> &'static Statement {
        match self {
            Self::Submit => &jobs::SUBMIT,
            Self::BeginAttempt => &jobs::BEGIN_ATTEMPT,
            Self::Spawned => &jobs::SPAWNED,
            Self::Running => &jobs::RUNNING,
            Self::Requeue => &jobs::REQUEUE,
            Self::Intend(_) => &jobs::INTEND,
            Self::Confirm => &jobs::CONFIRM,
            Self::Receipt => &jobs::RECEIPT,
            Self::Release => &jobs::RELEASE,
            Self::Resume => &jobs::RESUME,
            Self::Settle => &jobs::SETTLE,
            Self::Acknowledge => &jobs::ACKNOWLEDGE,
        }
    }
}

impl Prepared {
    /// Reads the job's answer from its rows.
    pub(crate) fn answer(&self, rows: &[SqliteRow]) -> Result<Answer, StoreError> {
        let row = rows.last().ok_or_else(|| StoreError::Unknown(self.subject()))?;
        let answer = match self.kind {
            Kind::Submit => Answer::Submitted(submitted(row)?),
            Kind::Acknowledge => Answer::Count(number(row, "acknowledged")?),
            kind => {
                if row.try_get::<Option<i64>, _>("run").map_err(StoreError::read)?.is_none() {
                    return Err(StoreError::Unknown(self.subject()));
                }
                let state = state(row)?;
                let applies = row.try_get::<Option<bool>, _>("applies").map_err(StoreError::read)?.unwrap_or_default();
                match kind {
                    Kind::BeginAttempt if applies => Answer::Begun(Begun::Started),
                    Kind::BeginAttempt => Answer::Begun(Begun::Elsewhere { state }),
                    Kind::Settle if applies => Answer::Settled(Settled::Stored { notice: optional(row, "notice")? }),
                    Kind::Settle => Answer::Settled(Settled::AlreadyEnded { state }),
                    Kind::Intend(kind) => Answer::Intended(intended(row, kind, state, applies)?),
                    Kind::Resume => Answer::Resumed(resumed(row, state, applies)?),
                    Kind::Submit
                    | Kind::Acknowledge
                    | Kind::Spawned
                    | Kind::Running
                    | Kind::Requeue
                    | Kind::Confirm
                    | Kind::Receipt
                    | Kind::Release => Answer::Done,
                }
            }
        };
        Ok(answer)
    }

    fn subject(&self) -> String {
        match self.subject {
            Subject::Launch => "the launch".to_owned(),
            Subject::Child(child) => format!("child {child}"),
            Subject::Attempt(attempt) => format!("attempt {attempt}"),
            Subject::Notices => "the notices".to_owned(),
        }
    }
}

fn submitted(row: &SqliteRow) -> Result<Submitted, StoreError> {
    if row.try_get("accepted").map_err(StoreError::read)? {
        return Ok(Submitted::Accepted { position: number(row, "position")? });
    }
    let id: String = row.try_get("id").map_err(StoreError::read)?;
    let run = id.parse().map_err(|error: uuid::Error| StoreError::Unreadable {
        what: "id",
        run: id,
        reason: error.to_string(),
    })?;
    Ok(if row.try_get("same").map_err(StoreError::read)? {
        Submitted::Repeated { run }
    } else {
        Submitted::KeyConflict { run }
    })
}

/// Why an intent does not apply is told apart here; that it does not is decided by the statement alone.
fn intended(row: &SqliteRow, kind: IntentKind, state: State, applies: bool) -> Result<Intended, StoreError> {
    Ok(match kind {
        _ if state.is_end() => Intended::Ended { state },
        IntentKind::Pause | IntentKind::Steer if flag(row, "cancelling")? => Intended::Cancelling { state },
        IntentKind::Pause if state == State::Paused => Intended::Paused,
        IntentKind::Steer if !applies => Intended::TooMany { state },
        IntentKind::Cancel | IntentKind::Pause | IntentKind::Steer => {
            Intended::Stored { number: small(row, "number")? }
        }
    })
}

fn resumed(row: &SqliteRow, state: State, applies: bool) -> Result<Resumed, StoreError> {
    Ok(if applies {
        Resumed::Queued { attempt: small(row, "attempt")? }
    } else if !state.may_resume() {
        Resumed::NotSettled { state }
    } else if flag(row, "cancelling")? {
        Resumed::Cancelling
    } else {
        Resumed::Detained
    })
}

fn flag(row: &SqliteRow, column: &str) -> Result<bool, StoreError> {
    row.try_get(column).map_err(StoreError::read)
}

fn small(row: &SqliteRow, column: &str) -> Result<u32, StoreError> {
    Ok(u32::try_from(number(row, column)?).unwrap_or(u32::MAX))
}

fn state(row: &SqliteRow) -> Result<State, StoreError> {
    let word: String = row.try_get("state").map_err(StoreError::read)?;
    State::from_word(&word).ok_or_else(|| StoreError::Read(format!("unknown state `{word}`")))
}

fn number(row: &SqliteRow, column: &str) -> Result<u64, StoreError> {
    Ok(optional(row, column)?.unwrap_or_default())
}

fn optional(row: &SqliteRow, column: &str) -> Result<Option<u64>, StoreError> {
    Ok(row.try_get::<Option<i64>, _>(column).map_err(StoreError::read)?.map(i64::cast_unsigned))
}

pub(super) fn submit(run: &NewRun) -> Result<Prepared, StoreError> {
    let [first, others @ ..] = run.children.as_slice() else {
        return Err(StoreError::Unstorable { what: "the launch", reason: "a run without children".to_owned() });
    };
    let others = match others {
        [] => None,
        others => Some(json_text(
            "the children",
            &others
                .iter()
                .map(|child| json!({"agent": child.agent, "plan": child.plan, "task": task(&child.task)}))
                .collect::<Vec<_>>(),
        )?),
    };
    let (key, digest) = run.key.clone().map(|key| (key.key, key.digest)).unzip();
    Values::new()
        .text(run.id.to_string())
        .text(tail(run.id))
        .text(run.kind.word())
        .text(&run.owner)
        .optional(run.title.clone())
        .flag(run.background)
        .number(run.created_at_ms)
        .optional(key)
        .optional(digest)
        .text(&first.agent)
        .text(json_text("the plan", &first.plan)?)
        .optional(task(&first.task).map(str::to_owned))
        .optional(others)
        .prepared(Kind::Submit, Subject::Launch)
}

fn task(task: &Task) -> Option<&str> {
    match task {
        Task::Text(text) => Some(text),
        Task::File => None,
    }
}

pub(super) fn begin_attempt(new: &NewAttempt) -> Result<Prepared, StoreError> {
    let (device, inode, path) = match &new.lease {
        Some(lease) => (Some(lease.identity.device), Some(lease.identity.inode), Some(path_text(&lease.path)?)),
        None => (None, None, None),
    };
    attempt(new.attempt)
        .text(new.kind.word())
        .text(&new.boot)
        .number(new.at_ms)
        .text(new.run_state.word())
        .optional_number(device)
        .optional_number(inode)
        .optional(path)
        .prepared(Kind::BeginAttempt, Subject::Attempt(new.attempt))
}

pub(super) fn spawned(spawned: Spawned) -> Result<Prepared, StoreError> {
    attempt(spawned.attempt)
        .number(u64::from(spawned.pid))
        .number(spawned.pid_start)
        .prepared(Kind::Spawned, Subject::Attempt(spawned.attempt))
}

pub(super) fn running(id: AttemptId, run_state: State, at_ms: u64) -> Result<Prepared, StoreError> {
    attempt(id).text(run_state.word()).number(at_ms).prepared(Kind::Running, Subject::Attempt(id))
}

pub(super) fn requeue(requeue: Requeue) -> Result<Prepared, StoreError> {
    attempt(requeue.attempt)
        .text(requeue.run_state.word())
        .optional_number(requeue.not_before_ms)
        .text(requeue.why)
        .number(requeue.at_ms)
        .prepared(Kind::Requeue, Subject::Attempt(requeue.attempt))
}

pub(super) fn intend(new: NewIntent) -> Result<Prepared, StoreError> {
    let kind = new.intent.kind();
    let (text, delivery) = match new.intent {
        Intent::Cancel | Intent::Pause => (None, None),
        Intent::Steer { text, delivery } => (Some(text), Some(delivery::word(delivery).to_owned())),
    };
    Values::about(new.child)
        .text(kind.word())
        .number(new.at_ms)
        .optional(text)
        .optional(delivery)
        .prepared(Kind::Intend(kind), Subject::Child(new.child))
}

pub(super) fn confirm(child: ChildId, number: u32, at_ms: u64) -> Result<Prepared, StoreError> {
    Values::about(child).number(u64::from(number)).number(at_ms).prepared(Kind::Confirm, Subject::Child(child))
}

pub(super) fn receipt(steer: SteerReceipt) -> Result<Prepared, StoreError> {
    Values::about(steer.child)
        .number(u64::from(steer.number))
        .text(receipt::word(steer.receipt))
        .number(steer.at_ms)
        .prepared(Kind::Receipt, Subject::Child(steer.child))
}

pub(super) fn resume(new: NewContinuation) -> Result<Prepared, StoreError> {
    Values::about(new.child)
        .optional(new.text)
        .optional(new.environment)
        .optional_number(new.umask.map(u64::from))
        .text(json_text("the limits", &new.limits)?)
        .optional_flag(new.background)
        .optional(new.owner)
        .text(new.run_state.word())
        .number(new.at_ms)
        .prepared(Kind::Resume, Subject::Child(new.child))
}

pub(super) fn release(child: ChildId) -> Result<Prepared, StoreError> {
    Values::about(child).prepared(Kind::Release, Subject::Child(child))
}

pub(super) fn settle(settlement: &Settlement) -> Result<Prepared, StoreError> {
    let outcome = &settlement.outcome;
    let notice = settlement.notice.as_ref().map(|notice| json_text("the notice", notice)).transpose()?;
    Values::about(settlement.child)
        .optional_number(settlement.attempt.map(|attempt| u64::from(attempt.number)))
        .text(json_text("the outcome", outcome)?)
        .text(outcome.reason.state().word())
        .text(outcome.reason.code())
        .optional(outcome.error.clone())
        .number(outcome.ended_at_ms)
        .text(settlement.run_state.word())
        .flag(settlement.run_ended)
        .flag(settlement.keep_lease)
        .optional(notice)
        .optional_number(settlement.notice.as_ref().map(|notice| notice.at_ms))
        .optional_number(outcome.started_at_ms)
        .prepared(Kind::Settle, Subject::Child(settlement.child))
}

pub(super) fn acknowledge(acknowledge: &Acknowledge) -> Result<Prepared, StoreError> {
    let (after, up_to) = acknowledge.up_to.unzip();
    Values::new()
        .number(acknowledge.at_ms)
        .text(json_text("the owners", &acknowledge.owners)?)
        .text(json_text("the numbers", &acknowledge.seqs)?)
        .optional_cursor(after)
        .optional_cursor(up_to)
        .prepared(Kind::Acknowledge, Subject::Notices)
}

fn attempt(attempt: AttemptId) -> Values {
    Values::about(attempt.child).number(u64::from(attempt.number))
}

fn json_text(what: &'static str, value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unstorable { what, reason: error.to_string() })
}

fn path_text(path: &Path) -> Result<String, StoreError> {
    let text = path.to_str().ok_or_else(|| StoreError::Unstorable {
        what: "the path of the workspace",
        reason: format!("{} is not UTF-8", path.display()),
    })?;
    Ok(text.to_owned())
}
