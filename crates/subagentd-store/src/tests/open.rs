//! Opening, refusing and closing.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use tempfile::TempDir;

use super::{bench, new_run};
use crate::{FILE, OpenError, Store};

fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

/// A closed store with some rows.
async fn made() -> TempDir {
    let bench = bench().await;
    for _ in 0..20 {
        bench.submitted(new_run("cli:ada")).await;
    }
    bench.store.close().await.unwrap();
    bench.directory
}

/// Changes a closed store as another program would, and leaves no log.
async fn changed(directory: &TempDir, statement: &'static str) {
    let mut connection = SqliteConnectOptions::new().filename(directory.path().join(FILE)).connect().await.unwrap();
    connection.execute(statement).await.unwrap();
    connection.close().await.unwrap();
    assert_eq!(contents(directory.path()).len(), 1);
}

/// Opening fails, names the file, and leaves everything as it is.
async fn refused(directory: &TempDir) -> OpenError {
    let before = contents(directory.path());
    let error = Store::open(directory.path()).await.expect_err("it was opened");
    assert!(contents(directory.path()) == before, "something was changed: {error}");
    let path = directory.path().join(FILE);
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    assert!(error.to_string().contains("; "), "it does not say what to do: {error}");
    error
}

#[tokio::test]
async fn files_are_private_and_closing_leaves_one() {
    let bench = bench().await;
    bench.submitted(new_run("cli:ada")).await;
    let identity = bench.store.identity().to_owned();
    for name in [FILE, "subagentd.db-wal", "subagentd.db-shm"] {
        let mode = fs::metadata(bench.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let directory = bench.path().to_owned();
    let bench = bench.reopened().await;
    assert_eq!(bench.store.identity(), identity);
    assert_eq!(identity.len(), 36);
    bench.store.close().await.unwrap();
    assert_eq!(contents(&directory).into_keys().collect::<Vec<_>>(), [FILE]);
}

#[tokio::test]
async fn two_stores_differ() {
    assert_ne!(bench().await.store.identity(), bench().await.store.identity());
}

#[tokio::test]
async fn an_unfinished_file_of_an_earlier_start_is_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("subagentd.db.new"), "half").unwrap();
    Store::open(directory.path()).await.unwrap().close().await.unwrap();
    assert_eq!(contents(directory.path()).into_keys().collect::<Vec<_>>(), [FILE]);
}

#[tokio::test]
async fn rows_survive_a_crash() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    // The log is copied as a killed daemon leaves it: not merged, and without the shared memory file.
    let after = tempfile::tempdir().unwrap();
    for name in [FILE, "subagentd.db-wal"] {
        fs::copy(bench.path().join(name), after.path().join(name)).unwrap();
    }
    let store = Store::open(after.path()).await.unwrap();
    assert!(store.reader.run(child.run).await.unwrap().is_some());
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    for statement in [
        "PRAGMA user_version = 9999",
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (99991231000000, 'later', 1, x'00', 0)",
    ] {
        let directory = made().await;
        changed(&directory, statement).await;
        let error = refused(&directory).await;
        assert!(matches!(error, OpenError::Newer { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_newer_schema_that_is_only_in_the_log_is_refused() {
    let bench = bench().await;
    let mut connection = crate::file::options(&bench.path().join(FILE)).connect().await.unwrap();
    connection
        .execute(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             VALUES (99991231000000, 'later', 1, x'00', 0)",
        )
        .await
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    for name in [FILE, "subagentd.db-wal"] {
        fs::copy(bench.path().join(name), directory.path().join(name)).unwrap();
    }
    let error = refused(&directory).await;
    assert!(matches!(error, OpenError::Newer { .. }), "{error:?}");
}

#[tokio::test]
async fn a_database_of_another_program_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut connection = SqliteConnectOptions::new()
        .filename(directory.path().join(FILE))
        .create_if_missing(true)
        .connect()
        .await
        .unwrap();
    connection.execute("CREATE TABLE songs (title TEXT)").await.unwrap();
    connection.close().await.unwrap();
    let error = refused(&directory).await;
    assert!(matches!(error, OpenError::Foreign { found: 0, .. }), "{error:?}");
}

#[tokio::test]
async fn what_is_no_database_is_refused() {
    for bytes in [&b""[..], b"SQLite form", b"SQLite format 3\0short", &[b'x'; 8_192]] {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(FILE), bytes).unwrap();
        let error = refused(&directory).await;
        assert!(matches!(error, OpenError::NotDatabase { .. }), "{error:?}");
    }
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join(FILE)).unwrap();
    let error = Store::open(directory.path()).await.unwrap_err();
    assert!(matches!(error, OpenError::NotDatabase { .. }), "{error:?}");
}

#[tokio::test]
async fn a_damaged_file_is_refused() {
    let whole = made().await;
    let pages = fs::metadata(whole.path().join(FILE)).unwrap().len() / 4_096;
    assert!(pages > 20, "{pages} pages");
    for page in 0..pages {
        let directory = tempfile::tempdir().unwrap();
        fs::copy(whole.path().join(FILE), directory.path().join(FILE)).unwrap();
        let mut file = fs::OpenOptions::new().write(true).open(directory.path().join(FILE)).unwrap();
        // The head of the file stays: it is what says whose it is.
        file.seek(SeekFrom::Start(page * 4_096 + if page == 0 { 100 } else { 0 })).unwrap();
        file.write_all(&[0xA5; 3_000]).unwrap();
        let error = refused(&directory).await;
        assert!(matches!(error, OpenError::Damaged { .. }), "page {page}: {error:?}");
    }
}

#[tokio::test]
async fn a_shortened_file_is_refused() {
    let directory = made().await;
    let file = fs::OpenOptions::new().write(true).open(directory.path().join(FILE)).unwrap();
    file.set_len(3 * 4_096).unwrap();
    let error = refused(&directory).await;
    assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");
}
