//! A full disk: SQLite's own limit of pages stands in for it, with the same error at the same places.

use std::time::Duration;

use subagentd_core::life::{Reason, State};
use tokio::time::timeout;

use super::resume::continuation;
use super::{NOW, bench, new_child, new_run, settlement};
use crate::{NewContinuation, Resumed, Settled, Settlement, StoreError, Submitted};

const PATIENCE: Duration = Duration::from_secs(10);
/// The largest that SQLite takes.
const NO_LIMIT: u32 = 4_294_967_294;

/// An end that needs new pages.
fn large(settlement: Settlement) -> Settlement {
    let mut settlement = settlement;
    settlement.outcome.tools_missing = (0..4_000).map(|n| format!("tool-{n}")).collect();
    settlement
}

#[tokio::test]
async fn on_a_full_disk_launches_are_refused_and_ends_are_kept() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let (one, two) = (bench.run("cli:ada").await, bench.run("cli:ada").await);
    let first = bench.begun(one, 1).await;
    writer.limit_pages(1).await;

    let mut healthy = writer.healthy();
    let mut huge = new_run("cli:ada");
    huge.children[0] = new_child("explore", &"x".repeat(60_000));
    let id = huge.id;
    let launch = writer.submit(huge.clone()).await;
    let end = writer.settle(large(settlement(one, Some(first), Reason::Completed))).await;
    let other = writer.settle(settlement(two, None, Reason::Cancelled)).await;

    let refused = timeout(PATIENCE, launch).await.unwrap().unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused:?}");
    assert!(refused.to_string().contains("full"), "{refused}");
    timeout(PATIENCE, healthy.wait_for(|healthy| !healthy)).await.unwrap().unwrap();
    let at_once = writer.submit(new_run("cli:ada")).await.await;
    assert!(matches!(at_once, Err(StoreError::Unavailable { .. })), "{at_once:?}");
    assert_eq!(bench.row(one.run).await.state, State::Starting, "nothing is stored yet");
    assert_eq!(*writer.newest_notice().borrow(), 0);

    writer.limit_pages(NO_LIMIT).await;
    assert_eq!(timeout(PATIENCE, end).await.unwrap(), Ok(Settled::Stored { notice: Some(1) }));
    assert_eq!(timeout(PATIENCE, other).await.unwrap(), Ok(Settled::Stored { notice: Some(2) }));
    timeout(PATIENCE, healthy.wait_for(|healthy| *healthy)).await.unwrap().unwrap();
    assert_eq!(bench.store.reader.run(id).await.unwrap(), None, "the refused launch left nothing");
    let accepted = bench.submitted(huge).await;
    assert!(matches!(accepted, Submitted::Accepted { .. }), "{accepted:?}");
}

#[tokio::test]
async fn a_launch_alone_is_refused_and_the_next_one_tries_again() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    bench.run("cli:ada").await;
    writer.limit_pages(1).await;
    let mut huge = new_run("cli:ada");
    huge.children[0] = new_child("explore", &"x".repeat(60_000));
    for _ in 0..2 {
        let refused = timeout(PATIENCE, writer.submit(huge.clone()).await).await.unwrap();
        assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    }
    writer.limit_pages(NO_LIMIT).await;
    assert!(matches!(bench.submitted(huge).await, Submitted::Accepted { .. }));
}

/// A resume is a launch again: its client is told, and the child stays as it was.
#[tokio::test]
async fn on_a_full_disk_resumes_are_refused() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let child = bench.run("cli:ada").await;
    bench.paused(child, None).await;
    writer.limit_pages(1).await;
    let huge = NewContinuation { text: Some("x".repeat(60_000)), ..continuation(child) };
    for _ in 0..2 {
        let refused = timeout(PATIENCE, writer.resume(huge.clone()).await).await.unwrap();
        assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    }
    assert_eq!(bench.row(child.run).await.state, State::Paused);
    // Something that is not refused, so that the storage is tried again.
    let end = writer.settle(large(settlement(child, None, Reason::Cancelled))).await;
    let at_once = timeout(PATIENCE, writer.resume(huge.clone()).await).await.unwrap();
    writer.limit_pages(NO_LIMIT).await;
    assert_eq!(timeout(PATIENCE, end).await.unwrap(), Ok(Settled::Stored { notice: Some(1) }));
    assert!(matches!(at_once, Err(StoreError::Unavailable { .. })), "{at_once:?}");
    let resumed = timeout(PATIENCE, writer.resume(huge).await).await.unwrap();
    assert_eq!(resumed, Ok(Resumed::Queued { attempt: 1 }));
}

#[tokio::test]
async fn closing_in_trouble_ends_and_says_what_was_not_stored() {
    let bench = bench().await;
    let writer = bench.store.writer.clone();
    let child = bench.run("cli:ada").await;
    let attempt = bench.begun(child, 1).await;
    writer.limit_pages(1).await;
    let end = writer.settle(large(settlement(child, Some(attempt), Reason::Completed))).await;
    timeout(PATIENCE, writer.healthy().wait_for(|healthy| !healthy)).await.unwrap().unwrap();
    timeout(PATIENCE, bench.store.close()).await.unwrap().unwrap();
    let lost = end.await;
    assert!(matches!(lost, Err(StoreError::Unavailable { .. })), "{lost:?}");
    let after = writer.running(attempt, State::Running, NOW).await.await;
    assert_eq!(after, Err(StoreError::Closed));
}

#[tokio::test]
async fn closing_stores_what_was_queued_before() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    let end = bench.store.writer.settle(settlement(child, None, Reason::Cancelled)).await;
    let bench = bench.reopened().await;
    assert_eq!(end.await, Ok(Settled::Stored { notice: Some(1) }));
    assert_eq!(bench.row(child.run).await.state, State::Cancelled);
}
