//! Questions, answered by a small read-only pool. Each is one statement, so that its answer is of one moment.

mod decode;

use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteRow};
use subagentd_core::id::{ChildId, RunId};
use subagentd_core::life::State;

use crate::error::StoreError;
use crate::request::{ListQuery, NoticeQuery, Task};
use crate::row::{Found, LeaseRow, NoticeRow, RunRow};
use crate::sql::reads;
use crate::words::{reversed, tail};
use decode::Columns;

/// Rows of one list; a larger wish is lowered to it.
pub const MOST_ROWS: u32 = 1_024;
/// Runs that [`Reader::find`] names when an ending is not unique; more are left out.
pub const MOST_MATCHES: u32 = 8;
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
        let before = query.before.map_or(i64::MAX, u64::cast_signed);
        let mut question = sqlx::query(statement).bind(LINE).bind(before).bind(i64::from(query.limit.min(MOST_ROWS)));
        // One parameter for each state, so that a state named twice gives no run twice.
        for state in State::ALL {
            let wanted = query.states.is_empty() || query.states.contains(&state);
            question = question.bind(wanted.then_some(state.word()));
        }
        let rows = question.bind(query.owner).fetch_all(&self.pool).await.map_err(StoreError::read)?;
        decode::runs(&rows)
    }

    /// Every run with a child that is not at an end, oldest first. Their number is bounded by the queue's limit.
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
                .bind(query.after.cast_signed())
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
