//! Runs, leases and notices in SQLite: the only place with SQL.
//!
//! One task owns the only write connection ([`Writer`]) and stores waiting jobs in groups, each job whole or not at all;
//! questions go to a small read-only pool ([`Reader`]). Whatever an end brings about is stored with it.

mod error;
mod file;
mod network;
mod reader;
mod request;
mod row;
mod sql;
mod words;
mod writer;

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Row};
use tokio::task::JoinHandle;

pub use error::{OpenError, StoreError};
pub use file::FILE;
pub use reader::{MOST_MATCHES, MOST_ROWS, MOST_STEERS, Reader};
pub use request::{
    Acknowledge, AttemptKind, Begun, Intended, Intent, IntentKind, Lease, ListQuery, NewAttempt, NewChild,
    NewContinuation, NewIntent, NewLease, NewRun, NoticeQuery, RequestKey, Requeue, Resumed, RunKind, Settled,
    Settlement, Spawned, SteerReceipt, Submitted, Task,
};
pub use row::{
    AttemptEnd, AttemptRow, ChildRow, Continuation, Found, IntentRow, LeaseRow, NoticeMark, NoticeRow, OpenSteer, Past,
    RunRow, SteerRow,
};
pub use writer::{QUEUE, Receipt, Writer};

/// The database of one daemon.
#[derive(Debug)]
pub struct Store {
    /// Changes it.
    pub writer: Writer,
    /// Asks it.
    pub reader: Reader,
    identity: String,
    task: JoinHandle<Option<SqliteConnection>>,
}

impl Store {
    /// Opens the database in a state directory, or makes it there. The caller holds the directory's lock.
    ///
    /// # Errors
    ///
    /// The file is newer, foreign, damaged or on a network file system: it is left exactly as it is. Or the system failed.
    pub async fn open(directory: &Path) -> Result<Self, OpenError> {
        let path = directory.join(FILE);
        file::prepare(directory, &path).await?;
        let mut connection = connect(&path).await?;
        let (identity, newest) =
            facts(&mut connection).await.map_err(|source| OpenError::Database { path: path.clone(), source })?;
        let reader = Reader::new(file::options(&path));
        let (writer, task) = writer::start(connection, path, newest);
        Ok(Self { writer, reader, identity, task })
    }

    /// The store's identity, made with it: cursors of another store are void.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Stores what is queued, refreshes the planner's statistics, empties the log and closes the file. Jobs that cannot
    /// be stored now are answered with the reason, and so are those of [`Writer`]s that go on.
    ///
    /// # Errors
    ///
    /// The database failed; what had been committed stays.
    pub async fn close(self) -> Result<(), StoreError> {
        let Self { writer, reader, task, .. } = self;
        writer.finish().await;
        let connection = task.await.ok().flatten();
        // First the readers: the log cannot be emptied below one that still looks at it.
        reader.close().await;
        let Some(mut connection) = connection else {
            return Err(StoreError::Closed);
        };
        // Only statistics: a full disk must not keep the file from being closed.
        if let Err(error) = sqlx::query(sql::OPTIMIZE).execute(&mut connection).await {
            tracing::debug!(error = error::words(&error), "no statistics");
        }
        let emptied = sqlx::query(sql::CHECKPOINT).execute(&mut connection).await;
        let closed = connection.close().await;
        emptied.map(drop).and(closed).map_err(StoreError::read)
    }
}

/// The write connection, with the schema up to date.
async fn connect(path: &Path) -> Result<SqliteConnection, OpenError> {
    let options: SqliteConnectOptions = file::options(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("journal_size_limit", "67108864")
        .pragma("temp_store", "MEMORY");
    let failed = |source| OpenError::Database { path: path.to_owned(), source };
    let mut connection = options.connect().await.map_err(failed)?;
    file::migrate(path, &mut connection).await?;
    sqlx::query(sql::JOB_TABLE).execute(&mut connection).await.map_err(failed)?;
    Ok(connection)
}

async fn facts(connection: &mut SqliteConnection) -> Result<(String, u64), sqlx::Error> {
    let identity = sqlx::query(sql::IDENTITY).fetch_one(&mut *connection).await?.try_get(0)?;
    let newest: i64 = sqlx::query(sql::NEWEST_NOTICE).fetch_one(&mut *connection).await?.try_get(0)?;
    Ok((identity, newest.cast_unsigned()))
}

#[cfg(test)]
mod tests;
