//! Every statement of the store.
//!
//! Parameters are written `$N`, never `?N`: sqlx binds each statement of a query by itself, and a `?N` that leaves out a
//! number of an earlier statement makes SQLite count nameless parameters in between, which sqlx fills by position and
//! may run out of. A `$N` is a name to SQLite and an absolute number to sqlx.

/// Bound of a list of steers, for statements and code alike.
macro_rules! most_steers {
    () => {
        32
    };
}
pub(crate) use most_steers;

/// Whether the attempt `a` told its child what it was to be told: it ran, or ended before that was seen.
macro_rules! told {
    () => {
        "(a.running_at_ms IS NOT NULL OR a.outcome ->> '$.turns' > 0)"
    };
}

pub(crate) mod jobs;
pub(crate) mod reads;

/// Starts a batch. Immediate: a deferred transaction that reads first may not become a writer later.
pub(crate) const BEGIN: &str = "BEGIN IMMEDIATE";
/// Writes, and changes nothing: whether commits succeed.
pub(crate) const TRY: &str = "BEGIN IMMEDIATE; UPDATE store SET identity = identity; COMMIT";
/// How long another program's lock is waited for, in general and while commits fail.
pub(crate) const PATIENT: &str = "PRAGMA busy_timeout = 5000";
/// See [`PATIENT`].
pub(crate) const IMPATIENT: &str = "PRAGMA busy_timeout = 50";
/// Ends a batch.
pub(crate) const COMMIT: &str = "COMMIT";
/// Ends a failed batch.
pub(crate) const ROLLBACK: &str = "ROLLBACK";
/// Takes back one job of a batch.
pub(crate) const UNDO_JOB: &str = "ROLLBACK TO job; RELEASE job";

/// What a job is about and whether it applies. Lives in the write connection's memory: the first statement of a job
/// fills its one row, the others follow it, so that a rule is written once and cannot be read differently later on.
pub(crate) const JOB_TABLE: &str = "CREATE TEMP TABLE job \
    (one INTEGER PRIMARY KEY, run INTEGER, child INTEGER, state TEXT, applies INTEGER)";

/// Moves the log into the database and empties it.
pub(crate) const CHECKPOINT: &str = "PRAGMA wal_checkpoint(TRUNCATE)";
/// Refreshes the planner's statistics where they are worth it.
pub(crate) const OPTIMIZE: &str = "PRAGMA optimize";

/// The store's identity.
pub(crate) const IDENTITY: &str = "SELECT identity FROM store";
/// Makes the store's identity.
pub(crate) const NEW_IDENTITY: &str = "INSERT INTO store (one, identity, created_at_ms) VALUES (1, $1, $2)";
/// The highest number that a notice ever had.
pub(crate) const NEWEST_NOTICE: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'notices'";
/// The newest migration of a file.
pub(crate) const NEWEST_MIGRATION: &str = "SELECT max(version) FROM _sqlx_migrations";
/// Checks a small file whole.
pub(crate) const QUICK_CHECK: &str = "PRAGMA quick_check(1)";
/// Reads the way to the newest row of every table of a large file, by the migration that made the table.
pub(crate) const ROOTS_CHECKS: [(i64, &str); 2] = [
    (
        20_261_130_090_000,
        "SELECT 1 FROM store LIMIT 1; \
         SELECT 1 FROM (SELECT tail FROM runs ORDER BY position DESC LIMIT 1); \
         SELECT 1 FROM (SELECT agent FROM children ORDER BY run DESC LIMIT 1); \
         SELECT 1 FROM (SELECT run FROM plans ORDER BY run DESC LIMIT 1); \
         SELECT 1 FROM (SELECT run FROM tasks ORDER BY run DESC LIMIT 1); \
         SELECT 1 FROM (SELECT number FROM attempts ORDER BY run DESC LIMIT 1); \
         SELECT 1 FROM (SELECT number FROM intents ORDER BY run DESC LIMIT 1); \
         SELECT 1 FROM (SELECT path FROM leases ORDER BY run DESC LIMIT 1); \
         SELECT 1 FROM (SELECT owner FROM notices ORDER BY seq DESC LIMIT 1)",
    ),
    (20_261_130_150_000, "SELECT 1 FROM (SELECT number FROM continuations ORDER BY run DESC LIMIT 1)"),
];

/// All of it, for the test that prepares every statement.
#[cfg(test)]
pub(crate) fn all() -> Vec<&'static str> {
    let mut all = vec![
        CHECKPOINT,
        OPTIMIZE,
        IDENTITY,
        NEW_IDENTITY,
        NEWEST_NOTICE,
        NEWEST_MIGRATION,
        QUICK_CHECK,
        BEGIN,
        COMMIT,
        ROLLBACK,
        UNDO_JOB,
    ];
    all.extend(ROOTS_CHECKS.map(|(_, statements)| statements));
    all.extend(jobs::ALL.iter().flat_map(|job| [job.together, job.alone]));
    all.extend(reads::ALL);
    all
}
