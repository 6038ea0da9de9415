//! What can go wrong, with the place and what to do.

use std::path::{Path, PathBuf};

use sqlx::error::DatabaseError;

/// Why the database was not opened. In every case but the last two the file is exactly as it was.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A newer program has written it.
    #[error(
        "{path} was written by a newer subagentd (schema {found}, this program knows {known}); start the newer \
         program, or name another state directory"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest one known here.
        known: i64,
    },
    /// It is an SQLite database of another program.
    #[error(
        "{path} is an SQLite database of another program (application id {found:#010x}); move it away, or name another \
         state directory"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Its application id.
        found: u32,
    },
    /// It is no SQLite database.
    #[error("{path} is not an SQLite database ({what}); move it away, or name another state directory")]
    NotDatabase {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: String,
    },
    /// It is damaged.
    #[error(
        "{path} is damaged ({what}); put a backup in its place, or move it away with its -wal file and start anew: \
         answers stay in the runs folder"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// It lies where its log cannot work.
    #[error(
        "{path} is on a network file system ({system}), where SQLite's log does not work; name a state directory on a \
         local disk"
    )]
    Network {
        /// The directory.
        path: PathBuf,
        /// The kind of file system.
        system: &'static str,
    },
    /// The system failed.
    #[error("{path} could not be {action}: {source}; check its owner, its mode and the free space")]
    System {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The system's words.
        source: std::io::Error,
    },
    /// The database failed.
    #[error("{path} could not be opened: {source}; check the free space and that no other program has it open")]
    Database {
        /// The file.
        path: PathBuf,
        /// The database's words.
        source: sqlx::Error,
    },
}

/// Why a job or a question failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The disk or the database cannot store now. Launches are refused with it, everything else is tried again.
    #[error("{path} cannot be written: {reason}; free some space or repair the disk, then try again")]
    Unavailable {
        /// The file.
        path: PathBuf,
        /// The database's words.
        reason: String,
    },
    /// The job contradicts what is stored; only it was taken back.
    #[error("the database refused this: {0}")]
    Refused(String),
    /// No such child or attempt.
    #[error("{0} is not stored")]
    Unknown(String),
    /// A stored value that this program cannot read.
    #[error("the stored {what} of run {run} cannot be read: {reason}; a newer program may have written it")]
    Unreadable {
        /// Which value.
        what: &'static str,
        /// Whose.
        run: String,
        /// Why.
        reason: String,
    },
    /// A value that has no stored form.
    #[error("{what} cannot be stored: {reason}")]
    Unstorable {
        /// Which value.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// A question failed.
    #[error("the database could not be read: {0}; `subagentd-cli daemon status` shows whether it is well")]
    Read(String),
    /// The writer has ended.
    #[error("the store is closed; the daemon is stopping")]
    Closed,
}

impl StoreError {
    pub(crate) fn unavailable(path: &Path, reason: impl Into<String>) -> Self {
        Self::Unavailable { path: path.to_owned(), reason: reason.into() }
    }

    // By value: it stands behind `map_err`.
    #[allow(clippy::needless_pass_by_value)]
    pub(crate) fn read(error: sqlx::Error) -> Self {
        Self::Read(words(&error))
    }
}

/// Primary result codes of SQLite (sqlite3.h) that a job brings on itself.
const OWN_FAULTS: [i32; 5] = [
    1,  // SQLITE_ERROR: the statement and its values do not fit
    18, // SQLITE_TOOBIG
    19, // SQLITE_CONSTRAINT
    20, // SQLITE_MISMATCH
    25, // SQLITE_RANGE
];
/// Primary result codes that say, in a file that says it is ours, that it is not whole.
const DAMAGES: [i32; 3] = [
    1,  // SQLITE_ERROR: a table is not there
    11, // SQLITE_CORRUPT
    26, // SQLITE_NOTADB
];

/// Whether a failure is the job's own: another try would fail again, and other jobs are not concerned. What is in doubt
/// counts as the storage's, since only that is tried again.
pub(crate) fn own_fault(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(error) => primary(error.as_ref()).is_some_and(|code| OWN_FAULTS.contains(&code)),
        sqlx::Error::Encode(_)
        | sqlx::Error::Decode(_)
        | sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::ColumnNotFound(_) => true,
        _ => false,
    }
}

pub(crate) fn damaged(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(error)
        if primary(error.as_ref()).is_some_and(|code| DAMAGES.contains(&code)))
}

/// The low byte of SQLite's extended code.
fn primary(error: &dyn DatabaseError) -> Option<i32> {
    Some(error.code()?.parse::<i32>().ok()? & 0xff)
}

/// The database's own words: they name columns and codes, never values.
pub(crate) fn words(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => match error.code() {
            Some(code) => format!("{} (SQLite {code})", error.message()),
            None => error.message().to_owned(),
        },
        error => error.to_string(),
    }
}
