//! Files of earlier programs.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use subagentd_core::id::{AttemptId, ChildId, RunId};
use subagentd_core::life::{Reason, State};
use tempfile::TempDir;

use super::resume::continuation;
use super::{Bench, NOW, new_id, notice, outcome, plan, root};
use crate::words::tail;
use crate::{AttemptEnd, FILE, Intent, IntentKind, NoticeMark, NoticeQuery, Resumed, Store, Task, file};

/// What the first program left: as many runs, each ended but the last, which is at work and has a stored cancel.
async fn first_program(runs: &[RunId], header: i64) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteConnectOptions::new().filename(directory.path().join(FILE)).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    for (pragma, value) in [("application_id", i64::from(file::APPLICATION)), ("user_version", header)] {
        connection.execute(AssertSqlSafe(format!("PRAGMA {pragma} = {value}"))).await.unwrap();
    }
    let first = file::MIGRATIONS.iter().min_by_key(|migration| migration.version).unwrap().clone();
    let migrator = Migrator { migrations: Cow::Owned(vec![first]), ..Migrator::DEFAULT };
    migrator.run(&mut connection).await.unwrap();
    connection.execute("INSERT INTO store VALUES (1, 'the identity', 5); BEGIN").await.unwrap();
    for (run, position) in runs.iter().zip(1_u32..) {
        let live = position as usize == runs.len();
        insert(&mut connection, *run, i64::from(position), live).await;
    }
    connection.execute("COMMIT").await.unwrap();
    connection.close().await.unwrap();
    directory
}

async fn insert(connection: &mut sqlx::SqliteConnection, run: RunId, position: i64, live: bool) {
    let state = if live { "running" } else { "succeeded" };
    let ended = (!live).then_some(NOW.cast_signed() + 9);
    sqlx::query("INSERT INTO runs VALUES ($1, $2, $3, 'single', 'ada', NULL, $4, 1, $5, $5, $6, NULL, NULL)")
        .bind(position)
        .bind(run.to_string())
        .bind(tail(run))
        .bind(state)
        .bind(NOW.cast_signed())
        .bind(ended)
        .execute(&mut *connection)
        .await
        .unwrap();
    sqlx::query("INSERT INTO children VALUES ($1, 0, 'explore', $2, $3, NULL, NULL, 1, 0)")
        .bind(position)
        .bind(state)
        .bind((!live).then_some("completed"))
        .execute(&mut *connection)
        .await
        .unwrap();
    sqlx::query("INSERT INTO plans VALUES ($1, 0, $2)")
        .bind(position)
        .bind(serde_json::to_string(&plan("explore")).unwrap())
        .execute(&mut *connection)
        .await
        .unwrap();
    sqlx::query("INSERT INTO tasks VALUES ($1, 0, 'find it')").bind(position).execute(&mut *connection).await.unwrap();
    sqlx::query(
        "INSERT INTO attempts (run, child, number, kind, boot, begun_at_ms, running_at_ms, ended, ended_at_ms, outcome) \
         VALUES ($1, 0, 1, 'first', '5c1f', $2, $2, iif($3 IS NULL, NULL, 'settled'), $3, $4)",
    )
    .bind(position)
    .bind(NOW.cast_signed())
    .bind(ended)
    .bind((!live).then(|| serde_json::to_string(&outcome(Reason::Completed)).unwrap()))
    .execute(&mut *connection)
    .await
    .unwrap();
    if live {
        let lease = root();
        sqlx::query("INSERT INTO leases VALUES ($1, 0, $2, $3, '/home/ada/project', '[]', $4)")
            .bind(position)
            .bind(lease.device.cast_signed())
            .bind(lease.inode.cast_signed())
            .bind(NOW.cast_signed())
            .execute(&mut *connection)
            .await
            .unwrap();
        sqlx::query("INSERT INTO intents VALUES ($1, 0, 1, 'cancel', $2, NULL, 0)")
            .bind(position)
            .bind(NOW.cast_signed())
            .execute(&mut *connection)
            .await
            .unwrap();
    } else {
        sqlx::query("INSERT INTO notices VALUES (NULL, 'ada', $1, $2, $3, NULL)")
            .bind(position)
            .bind(serde_json::to_string(&notice(Reason::Completed)).unwrap())
            .bind(NOW.cast_signed())
            .execute(&mut *connection)
            .await
            .unwrap();
    }
}

fn bytes(directory: &Path) -> u64 {
    fs::metadata(directory.join(FILE)).unwrap().len()
}

/// Small ones are checked whole, large ones in part; and a program may have died between the header and the migration.
#[tokio::test]
async fn a_file_of_the_first_program_opens_and_keeps_its_rows() {
    for (runs, header) in [(3, 1), (3, 2), (700, 1), (700, 2)] {
        let runs: Vec<RunId> = (0..runs).map(|_| new_id()).collect();
        let directory = first_program(&runs, header).await;
        assert_eq!(bytes(directory.path()) > 2 * 1024 * 1024, runs.len() > 3, "{} bytes", bytes(directory.path()));
        let store = Store::open(directory.path()).await.unwrap();
        let bench = Bench { directory, store };
        assert_eq!(bench.store.identity(), "the identity");
        let (live, ended) = (runs[runs.len() - 1], runs[0]);
        kept(&bench, live, ended, runs.len()).await;
        goes_on(&bench, live, ended).await;
        let bench = bench.reopened().await;
        assert_eq!(bench.child(ChildId { run: ended, index: 0 }).await.steers.len(), 1);
    }
}

async fn kept(bench: &Bench, live: RunId, ended: RunId, runs: usize) {
    let row = bench.row(ended).await;
    assert_eq!((row.position, row.state, row.background), (1, State::Succeeded, true));
    assert_eq!(row.notice, Some(NoticeMark { seq: 1, acknowledged: false }));
    let child = &row.children[0];
    assert_eq!((&child.plan, child.task_head.as_deref()), (&plan("explore"), Some("find it")));
    let attempt = child.attempt.clone().unwrap();
    assert_eq!((attempt.ended, attempt.outcome), (Some(AttemptEnd::Settled), Some(outcome(Reason::Completed))));
    assert_eq!((child.intents.len(), child.steers.len()), (0, 0));
    let row = bench.row(live).await;
    let intents: Vec<_> = row.children[0].intents.iter().map(|intent| (intent.number, intent.kind)).collect();
    assert_eq!((row.state, intents), (State::Running, vec![(1, IntentKind::Cancel)]));
    let task = bench.store.reader.task(ChildId { run: live, index: 0 }).await.unwrap();
    assert_eq!(task, Some(Task::Text("find it".to_owned())));
    let leases = bench.store.reader.leases().await.unwrap();
    assert_eq!((leases.len(), leases[0].child.run, leases[0].lease.identity), (1, live, root()));
    let query = NoticeQuery { owners: vec!["ada".to_owned()], limit: 1_000, ..NoticeQuery::default() };
    assert_eq!(bench.store.reader.notices(query).await.unwrap().len(), runs - 1);
    assert_eq!(*bench.store.writer.newest_notice().borrow(), runs as u64 - 1);
    assert_eq!(bench.store.reader.open_runs().await.unwrap().len(), 1);
}

/// What the first program did not know works with its rows.
async fn goes_on(bench: &Bench, live: RunId, ended: RunId) {
    let (live, ended) = (ChildId { run: live, index: 0 }, ChildId { run: ended, index: 0 });
    let state = State::Running;
    assert_eq!(bench.intended(live, Intent::Pause).await, crate::Intended::Cancelling { state });
    let resumed = bench.store.writer.resume(continuation(ended)).await.await;
    assert_eq!(resumed, Ok(Resumed::Queued { attempt: 2 }));
    let past = bench.store.reader.past(AttemptId { child: ended, number: 2 }).await.unwrap().unwrap();
    assert_eq!((past.answered, past.conversation), (Some(1), true));
    assert_eq!(bench.told(ended, "go").await, 1);
}
