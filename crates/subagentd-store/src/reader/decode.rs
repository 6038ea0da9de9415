//! From rows to our types.

use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use subagentd_core::id::{ChildId, RunId};
use subagentd_core::life::{Reason, State};
use subagentd_core::plan::{PLAN_FORMAT, Plan};
use subagentd_core::workspace::RootIdentity;

use crate::error::StoreError;
use crate::request::{AttemptKind, IntentKind, Lease, RunKind, delivery, receipt};
use crate::row::{
    AttemptEnd, AttemptRow, ChildRow, Continuation, IntentRow, LeaseRow, NoticeMark, NoticeRow, OpenSteer, Past,
    RunRow, SteerRow,
};

/// Runs from one row for each child, those of a run one after another.
pub(super) fn runs(rows: &[SqliteRow]) -> Result<Vec<RunRow>, StoreError> {
    let mut runs: Vec<RunRow> = Vec::with_capacity(rows.len());
    for row in rows {
        let position = row.number("position")?;
        match runs.last_mut() {
            Some(run) if run.position == position => run.children.push(child(row)?),
            _ => {
                let mut run = run(row, position)?;
                run.children.push(child(row)?);
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

fn run(row: &SqliteRow, position: u64) -> Result<RunRow, StoreError> {
    let notice = match row.maybe_number("seq")? {
        Some(seq) => Some(NoticeMark { seq, acknowledged: row.flag("acknowledged")? }),
        None => None,
    };
    Ok(RunRow {
        position,
        id: row.run("id")?,
        kind: row.word("kind", RunKind::from_word)?,
        owner: row.text("owner")?,
        title: row.maybe_text("title")?,
        state: row.word("state", State::from_word)?,
        background: row.flag("background")?,
        created_at_ms: row.number("created_at_ms")?,
        started_at_ms: row.maybe_number("started_at_ms")?,
        ended_at_ms: row.maybe_number("ended_at_ms")?,
        children: Vec::new(),
        notice,
    })
}

fn child(row: &SqliteRow) -> Result<ChildRow, StoreError> {
    let plan: Plan = row.json("plan")?;
    if plan.format > PLAN_FORMAT {
        let reason = format!("format {} is newer than {PLAN_FORMAT}", plan.format);
        return Err(row.unreadable("plan", reason));
    }
    Ok(ChildRow {
        index: row.small("child")?,
        agent: row.text("agent")?,
        plan,
        task_head: row.maybe_text("task_head")?,
        state: row.word("child_state", State::from_word)?,
        reason: row.maybe_word("reason", Reason::from_code)?,
        error: row.maybe_text("error")?,
        not_before_ms: row.maybe_number("not_before_ms")?,
        attempts: row.small("attempts")?,
        never_ran: row.small("never_ran")?,
        attempt: attempt(row)?,
        intents: intents(row)?,
        steers: steers(row)?,
    })
}

fn attempt(row: &SqliteRow) -> Result<Option<AttemptRow>, StoreError> {
    if row.maybe_number("number")?.is_none() {
        return Ok(None);
    }
    let outcome = match row.maybe_text("outcome")? {
        Some(_) => Some(row.json("outcome")?),
        None => None,
    };
    Ok(Some(AttemptRow {
        number: row.small("number")?,
        kind: row.word("attempt_kind", AttemptKind::from_word)?,
        boot: row.text("boot")?,
        pid: row.maybe_number("pid")?.map(|pid| u32::try_from(pid).unwrap_or(u32::MAX)),
        pid_start: row.maybe_number("pid_start")?,
        begun_at_ms: row.number("begun_at_ms")?,
        running_at_ms: row.maybe_number("running_at_ms")?,
        ended: row.maybe_word("ended", AttemptEnd::from_word)?,
        ended_at_ms: row.maybe_number("attempt_ended_at_ms")?,
        why: row.maybe_text("why")?,
        outcome,
    }))
}

fn intents(row: &SqliteRow) -> Result<Vec<IntentRow>, StoreError> {
    let stored: Vec<(u32, String, u64, u8)> = row.json("intents")?;
    stored
        .into_iter()
        .map(|(number, word, at_ms, confirmed)| match IntentKind::from_word(&word) {
            Some(kind) => Ok(IntentRow { number, kind, at_ms, confirmed: confirmed != 0 }),
            None => Err(row.unreadable("intent", format!("unknown word `{word}`"))),
        })
        .collect()
}

fn steers(row: &SqliteRow) -> Result<Vec<SteerRow>, StoreError> {
    let stored: Vec<(u32, u64, String, Option<String>)> = row.json("steers")?;
    stored
        .into_iter()
        .map(|(number, at_ms, delivered, received)| {
            let unknown = |word: &str| row.unreadable("steer", format!("unknown word `{word}`"));
            let delivery = delivery::from_word(&delivered).ok_or_else(|| unknown(&delivered))?;
            let receipt = match received {
                Some(word) => Some(receipt::from_word(&word).ok_or_else(|| unknown(&word))?),
                None => None,
            };
            Ok(SteerRow { number, at_ms, delivery, receipt })
        })
        .collect()
}

pub(super) fn open_steer(row: &SqliteRow) -> Result<OpenSteer, StoreError> {
    let steer = SteerRow {
        number: row.small("number")?,
        at_ms: row.number("at_ms")?,
        delivery: row.word("delivery", delivery::from_word)?,
        receipt: row.maybe_word("receipt", receipt::from_word)?,
    };
    Ok(OpenSteer { steer, text: row.text("text")? })
}

pub(super) fn past(row: &SqliteRow) -> Result<Past, StoreError> {
    let continuation = match row.maybe_small("number")? {
        Some(number) => Some(Continuation {
            number,
            text: row.maybe_text("text")?,
            environment: row.maybe_text("environment")?,
            umask: row.maybe_small("umask")?,
            limits: row.json("limits")?,
        }),
        None => None,
    };
    Ok(Past { continuation, answered: row.maybe_small("answered")?, conversation: row.flag("conversation")? })
}

pub(super) fn notice(row: &SqliteRow) -> Result<NoticeRow, StoreError> {
    Ok(NoticeRow {
        seq: row.number("seq")?,
        owner: row.text("owner")?,
        run: row.run("id")?,
        notice: row.json("body")?,
        acknowledged: row.flag("acknowledged")?,
    })
}

pub(super) fn lease(row: &SqliteRow) -> Result<LeaseRow, StoreError> {
    Ok(LeaseRow {
        child: ChildId { run: row.run("id")?, index: row.small("child")? },
        lease: Lease {
            identity: RootIdentity { device: row.number("device")?, inode: row.number("inode")? },
            path: row.text("path")?.into(),
            paths: row.json("paths")?,
        },
        since_at_ms: row.number("since_at_ms")?,
    })
}

/// Columns by name. Numbers are stored by their bits.
pub(super) trait Columns {
    fn text(&self, column: &'static str) -> Result<String, StoreError>;
    fn maybe_text(&self, column: &'static str) -> Result<Option<String>, StoreError>;
    fn number(&self, column: &'static str) -> Result<u64, StoreError>;
    fn maybe_number(&self, column: &'static str) -> Result<Option<u64>, StoreError>;
    fn small(&self, column: &'static str) -> Result<u32, StoreError>;
    fn maybe_small(&self, column: &'static str) -> Result<Option<u32>, StoreError>;
    fn flag(&self, column: &'static str) -> Result<bool, StoreError>;
    fn run(&self, column: &'static str) -> Result<RunId, StoreError>;
    fn word<T>(&self, column: &'static str, read: impl Fn(&str) -> Option<T>) -> Result<T, StoreError>;
    fn maybe_word<T>(&self, column: &'static str, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, StoreError>;
    fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, StoreError>;
    fn unreadable(&self, what: &'static str, reason: String) -> StoreError;
}

impl Columns for SqliteRow {
    fn text(&self, column: &'static str) -> Result<String, StoreError> {
        self.try_get(column).map_err(StoreError::read)
    }

    fn maybe_text(&self, column: &'static str) -> Result<Option<String>, StoreError> {
        self.try_get(column).map_err(StoreError::read)
    }

    fn number(&self, column: &'static str) -> Result<u64, StoreError> {
        let number: i64 = self.try_get(column).map_err(StoreError::read)?;
        Ok(number.cast_unsigned())
    }

    fn maybe_number(&self, column: &'static str) -> Result<Option<u64>, StoreError> {
        let number: Option<i64> = self.try_get(column).map_err(StoreError::read)?;
        Ok(number.map(i64::cast_unsigned))
    }

    fn small(&self, column: &'static str) -> Result<u32, StoreError> {
        u32::try_from(self.number(column)?).map_err(|error| self.unreadable(column, error.to_string()))
    }

    fn maybe_small(&self, column: &'static str) -> Result<Option<u32>, StoreError> {
        self.maybe_number(column)?.map(|_| self.small(column)).transpose()
    }

    fn flag(&self, column: &'static str) -> Result<bool, StoreError> {
        self.try_get(column).map_err(StoreError::read)
    }

    fn run(&self, column: &'static str) -> Result<RunId, StoreError> {
        self.text(column)?.parse().map_err(|error: uuid::Error| self.unreadable(column, error.to_string()))
    }

    fn word<T>(&self, column: &'static str, read: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
        let word = self.text(column)?;
        read(&word).ok_or_else(|| self.unreadable(column, format!("unknown word `{word}`")))
    }

    fn maybe_word<T>(&self, column: &'static str, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, StoreError> {
        match self.maybe_text(column)? {
            Some(_) => self.word(column, read).map(Some),
            None => Ok(None),
        }
    }

    fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, StoreError> {
        let text: &str = self.try_get(column).map_err(StoreError::read)?;
        // Only the place: serde's own words may quote the value.
        serde_json::from_str(text).map_err(|error| {
            let (line, place) = (error.line(), error.column());
            self.unreadable(column, format!("{:?} error at {line}:{place}", error.classify()))
        })
    }

    fn unreadable(&self, what: &'static str, reason: String) -> StoreError {
        StoreError::Unreadable { what, run: self.try_get("id").unwrap_or_default(), reason }
    }
}
