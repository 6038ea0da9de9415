//! All SQL, seen by SQLite.

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, Row, SqlSafeStr};
use subagentd_core::life::State;

use super::{bench, new_run};
use crate::{file, sql};

async fn connection() -> (super::Bench, SqliteConnection) {
    let bench = bench().await;
    let mut connection = file::options(&bench.path().join(crate::FILE)).connect().await.unwrap();
    connection.execute(sql::JOB_TABLE).await.unwrap();
    (bench, connection)
}

#[tokio::test]
async fn every_statement_can_be_prepared() {
    let (_bench, mut connection) = connection().await;
    let all = sql::all();
    assert!(all.len() > 35, "{} statements", all.len());
    for statement in all {
        if let Err(error) = (&mut connection).prepare(statement.into_sql_str()).await {
            panic!("{error}\n{statement}");
        }
    }
}

/// A bound number that is missing would read as NULL, and a nameless parameter as some other one.
#[test]
fn parameters_are_dollar_numbers() {
    for statement in sql::all() {
        assert!(!statement.contains('?'), "{statement}");
    }
}

#[test]
fn the_open_states_are_those_of_the_life_table() {
    let open: Vec<String> =
        State::ALL.iter().filter(|state| !state.is_end()).map(|state| format!("'{state}'")).collect();
    let list = format!("IN ({})", open.join(", "));
    for statement in sql::all().into_iter().filter(|statement| statement.contains("'paused'")) {
        assert!(statement.contains(&list), "{statement}");
    }
    let migration = include_str!("../../../../migrations/20261130090000_runs.sql");
    assert!(migration.contains(&list));
}

/// With many runs a walk over a whole table is what makes a list slow.
#[tokio::test]
async fn no_statement_walks_a_whole_table() {
    let (bench, mut connection) = connection().await;
    for _ in 0..50 {
        bench.submitted(new_run("cli:ada")).await;
    }
    let jobs = sql::jobs::ALL
        .iter()
        .flat_map(|job| job.alone.split(';'))
        .map(str::trim)
        .filter(|statement| !matches!(*statement, "BEGIN IMMEDIATE" | "COMMIT"));
    let mut seen = 0;
    for statement in jobs.chain(sql::reads::ALL) {
        let rows = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}")))
            .fetch_all(&mut connection)
            .await
            .unwrap();
        for row in rows {
            let step: String = row.get("detail");
            seen += 1;
            let whole = [
                "runs",
                "children",
                "plans",
                "tasks",
                "attempts",
                "intents",
                "notices",
                "continuations",
                "n",
                "i",
                "a",
                "c",
            ]
            .iter()
            .any(|table| step == format!("SCAN {table}"));
            // Positions downwards with a limit are no walk, and leases are few.
            assert!(!whole || statement == sql::reads::LIST, "{step}\n{statement}");
        }
    }
    assert!(seen > 100, "{seen} steps");
}
