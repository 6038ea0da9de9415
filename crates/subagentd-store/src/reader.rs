//! Questions, answered by a small read-only pool. Each is one statement, so that its answer is of one moment.

mod decode;

use std::collections::BTreeSet;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteRow};
use subagentd_core::id::{AttemptId, ChildId, RunId};
use subagentd_core::life::State;

use crate::error::StoreError;
use crate::request::{ListQuery, NoticeQuery, Task};
use crate::row::{Found, LeaseRow, NoticeRow, OpenSteer, Past, RunRow};
use crate::sql::{most_steers, reads};
use crate::words::{cursor, reversed, tail};
use decode::Columns;

/// Rows of one list; a larger wish is lowered to it.
pub const MOST_ROWS: u32 = 1_024;
/// Runs that [`Reader::find`] names when an ending is not unique; more are left out.
pub const MOST_MATCHES: u32 = 8;
/// Steers that a child may have been sent without having got them, and that a row of it shows. The next one is
/// [`crate::Intended::TooMany`]; older ones are not shown.
pub const MOST_STEERS: u32 = most_steers!();
/// Connections. A question beyond them waits for one, at most [`PATIENCE`].
const CONNECTIONS: u32 = 2;
/// After it a question that waits fails.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of a task that one run shows.
const HEAD: i64 = 4_096;
/// Characters of a task that a list shows.
const LINE: i64 = 240;

/// Asks the database.
#[derive(Debug, Clone)]
pub struct Reader {
    pool: SqlitePool,
}

impl Reader {
    pub(crate) fn new(options: SqliteConnectOptions) -> Self {
        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(PATIENCE)
            // A local file needs no ping before each question, and limits of age would wake an idle daemon.
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(options.read_only(true));
        Self { pool }
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// One run.
    ///
    /// # Errors
    ///
    /// The database could not be read, or a stored value not understood; this holds for every question.
    pub async fn run(&self, run: RunId) -> Result<Option<RunRow>, StoreError> {
        let rows =
            sqlx::query(reads::RUN).bind(HEAD).bind(tail(run)).fetch_all(&self.pool).await.map_err(StoreError::read)?;
        Ok(decode::runs(&rows)?.pop())
    }

    /// Runs whose id ends like that; hyphens do not count, and what is not hex ends no id. How short an ending may be is
    /// for the caller to say.
    ///
    /// # Errors
    ///
    /// See [`Reader::run`].
    pub async fn find(&self, ending: &str) -> Result<Found, StoreError> {
        let Some(beginning) = reversed(ending) else {
            return Ok(Found::None);
        };
        // `g` follows the last hex digit.
        let after = format!("{beginning}g");
        let rows = sqlx::query(reads::FIND)
            .bind(beginning)
            .bind(after)
            .bind(i64::from(MOST_MATCHES))
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::read)?;
        let mut runs = rows.iter().map(|row| row.run("id")).collect::<Result<Vec<_>, _>>()?;
        Ok(match runs.len() {
            0 | 1 => runs.pop().map_or(Found::None, Found::One),
            _ => Found::Many(runs),
        })
    }

    /// Runs, newest first.
    ///
    /// # Errors
    ///
    /// See [`Reader::run`].
    pub async fn list(&self, query: ListQuery) -> Result<Vec<RunRow>, StoreError> {
        let statement = match (&query.owner, query.states.is_empty()) {
            (Some(_), _) => reads::LIST_OWNER,
            (None, false) => reads::LIST_STATES,
            (None, true) => reads::LIST,
        };
        let before = query.before.map_or(i64::MAX, cursor);
        let mut question = sqlx::query(statement).bind(LINE).bind(before).bind(i64::from(query.limit.min(MOST_ROWS)));
        // One parameter for each state, so that a state named twice gives no run twice.
        for state in State::ALL {
            let wanted = query.states.is_empty() || query.states.contains(&state);
            question = question.bind(wanted.then_some(state.word()));
        }
        let rows = question.bind(query.owner).fetch_all(&self.pool).await.map_err(StoreError::read)?;
        decode::runs(&rows)
    }

    /// Every run with a child that is not at an end, oldest first. Those that wait or work are bounded by the queue's
    /// limit; paused ones count among them and nothing bounds those here.
    ///
    /// # Errors
    ///
    /// See [`Reader::run`].
    pub async fn open_runs(&self) -> Result<Vec<RunRow>, StoreError> {
        let rows = sqlx::query(reads::OPEN).bind(LINE).fetch_all(&self.pool).await.map_err(StoreError::read)?;
        decode::runs(&rows)
    }

    /// A child's task.
    ///
    /// # Errors
    ///
    /// See [`Reader::run`].
    pub async fn task(&self, child: ChildId) -> Result<Option<Task>, StoreError> {
        let row = sqlx::query(reads::TASK)
            .bind(tail(child.run))
            .bind(i64::from(child.index))
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::read)?;
        row.map(|row| Ok(row.maybe_text("text")?.map_or(Task::File, Task::Text))).transpose()
    }

    /// What a child was told and has not got, in order; see [`MOST_STEERS`].
    ///
    /// # Errors
    ///
    /// See [`Reader::run`].
    pub async fn open_steers(&self, child: ChildId) -> Result<Vec<OpenSteer>, StoreError> {
        let rows = sqlx::query(reads::OPEN_STEERS)
            .bind(tail(child.run))
            .bind(i64::from(child.index))
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::read)?;
        rows.iter().map(decode::open_steer).collect()
    }

    /// What an attempt goes on from, also one that is still to come; `None` when its child is not stored.
    ///
    /// # Errors
    ///
    /// See [`Reader::run`].
    pub async fn past(&self, attempt: AttemptId) -> Result<Option<Past>, StoreError> {
        let row = sqlx::query(reads::PAST)
            .bind(tail(attempt.child.run))
            .bind(i64::from(attempt.child.index))
            .bind(i64::from(attempt.number))
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::read)?;
        row.as_ref().map(decode::past).transpose()
    }

    /// Digests of the environments that children which are not at an end were launched or resumed with. A launch or
    /// resume that is not stored yet is not among them.
    ///
    /// # Errors
    ///
    /// See [`Reader::run`].
    pub async fn environments(&self) -> Result<BTreeSet<String>, StoreError> {
        let rows = sqlx::query(reads::ENVIRONMENTS).fetch_all(&self.pool).await.map_err(StoreError::read)?;
        rows.iter().map(|row| row.text("environment")).collect()
    }

    /// The run and the digest that an owner's key stands for.
    ///
    /// # Errors
    ///
    /// See [`Reader::run`].
    pub async fn run_by_key(&self, owner: &str, key: &str) -> Result<Option<(RunId, String)>, StoreError> {
        let row = sqlx::query(reads::BY_KEY)
            .bind(owner)
            .bind(key)
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::read)?;
        row.map(|row| Ok((row.run("id")?, row.text("key_digest")?))).transpose()
    }

    /// Notices, oldest first. One question for each owner: a walk along one index each.
    ///
    /// # Errors
    ///
    /// See [`Reader::run`].
    pub async fn notices(&self, query: NoticeQuery) -> Result<Vec<NoticeRow>, StoreError> {
        let statement = if query.acknowledged { reads::ALL_NOTICES } else { reads::NOTICES };
        let limit = query.limit.min(MOST_ROWS);
        let mut owners = query.owners;
        owners.sort_unstable();
        owners.dedup();
        let mut notices = Vec::new();
        for owner in owners {
            let rows: Vec<SqliteRow> = sqlx::query(statement)
                .bind(owner)
                .bind(cursor(query.after))
                .bind(i64::from(limit))
                .fetch_all(&self.pool)
                .await
                .map_err(StoreError::read)?;
            for row in &rows {
                notices.push(decode::notice(row)?);
            }
        }
        notices.sort_unstable_by_key(|notice| notice.seq);
        notices.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(notices)
    }

    /// Every held scope, oldest first. Their number is bounded by the children that run at once.
    ///
    /// # Errors
    ///
    /// See [`Reader::run`].
    pub async fn leases(&self) -> Result<Vec<LeaseRow>, StoreError> {
        let rows = sqlx::query(reads::LEASES).fetch_all(&self.pool).await.map_err(StoreError::read)?;
        rows.iter().map(decode::lease).collect()
    }
}
