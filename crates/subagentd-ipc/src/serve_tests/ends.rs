use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::rig::{count, rig, rig_for, until};
use crate::Limits;
use crate::socket::bind_private;

#[tokio::test]
async fn half_closed_connections_with_subscriptions_all_go() {
    let rig = rig(Limits::default());
    let mut clients = Vec::new();
    for _ in 0..200 {
        let mut raw = rig.greeted().await;
        assert!(raw.call(1, "test/count", json!({"to": 1})).await["result"].is_string());
        clients.push(raw);
    }
    until("subscriptions", 200, || count(&rig.shared.subscribed)).await;
    assert_eq!(rig.handle.connections(), 200);
    for raw in &mut clients {
        raw.half_close().await;
    }
    until("connections", 0, || rig.handle.connections()).await;
    until("subscriptions", 0, || count(&rig.shared.subscribed)).await;
    for raw in &mut clients {
        let rest = raw.rest().await;
        assert!(rest.lines().count() <= 1, "{rest}");
    }
}

#[tokio::test]
async fn a_half_closed_connection_still_gets_its_answers() {
    let rig = rig(Limits::default());
    let mut raw = rig.greeted().await;
    raw.post(1, "test/held").await;
    raw.post(2, "test/held").await;
    // The last line has no end, as from a careless script.
    tokio::io::AsyncWriteExt::write_all(&mut raw.0, br#"{"jsonrpc":"2.0","id":3,"method":"test/echo"}"#).await.unwrap();
    raw.half_close().await;
    until("calls under way", 2, || count(&rig.shared.running)).await;
    assert_eq!(raw.line().await["id"], 3);
    rig.shared.gate.add_permits(2);
    let rest = raw.rest().await;
    assert_eq!(rest.lines().count(), 2, "{rest}");
    until("connections", 0, || rig.handle.connections()).await;
}

#[tokio::test]
async fn a_client_that_is_gone_ends_what_waits_for_it() {
    let rig = rig(Limits::default());
    let mut raw = rig.greeted().await;
    raw.post(1, "test/waiting").await;
    raw.post(2, "test/held").await;
    until("calls under way", 2, || count(&rig.shared.running)).await;
    drop(raw);
    until("connections", 0, || rig.handle.connections()).await;
    // Only the one that looks at `closed` ends; a launch, say, has to go on.
    until("calls under way", 1, || count(&rig.shared.running)).await;
    rig.shared.gate.add_permits(1);
    until("calls under way", 0, || count(&rig.shared.running)).await;
}

#[tokio::test]
async fn a_client_that_goes_after_its_half_close_is_noticed() {
    let rig = rig(Limits::default());
    let mut raw = rig.greeted().await;
    raw.post(1, "test/waiting").await;
    raw.half_close().await;
    until("calls under way", 1, || count(&rig.shared.running)).await;
    assert_eq!(rig.handle.connections(), 1);
    drop(raw);
    until("connections", 0, || rig.handle.connections()).await;
    until("calls under way", 0, || count(&rig.shared.running)).await;
}

#[tokio::test]
async fn a_stop_answers_what_is_under_way_and_closes_the_rest() {
    let rig = rig(Limits::default());
    let mut busy = rig.greeted().await;
    let mut idle = rig.greeted().await;
    busy.post(1, "test/held").await;
    until("calls under way", 1, || count(&rig.shared.running)).await;
    rig.stop.cancel();
    assert_eq!(idle.rest().await, "");
    rig.shared.gate.add_permits(1);
    let rest: Value = serde_json::from_str(&busy.rest().await).unwrap();
    assert_eq!(rest, json!({"jsonrpc": "2.0", "id": 1, "result": 7}));
    assert!(UnixStream::connect(&rig.socket).await.is_err(), "still accepting");
    let report = rig.finish().await;
    assert_eq!((report.served, report.abandoned, report.cut_off), (2, 0, 0), "{report:?}");
}

#[tokio::test]
async fn a_stop_does_not_wait_for_ever() {
    let rig = rig(Limits { grace: Duration::from_millis(100), ..Limits::default() });
    let mut raw = rig.greeted().await;
    raw.post(1, "test/held").await;
    until("calls under way", 1, || count(&rig.shared.running)).await;
    let mut stalled = rig.greeted().await;
    stalled.call(1, "test/count", json!({"to": 1_000_000})).await;
    let began = Instant::now();
    let report = rig.finish().await;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(raw.rest().await, "", "{report:?}");
}

#[tokio::test]
async fn another_user_is_closed_without_a_word() {
    let rig = rig_for(nix::unistd::geteuid().as_raw() + 1, Limits::default());
    let mut raw = rig.raw().await;
    assert_eq!(raw.rest().await, "");
    assert_eq!(rig.handle.connections(), 0);
    let report = rig.finish().await;
    assert_eq!((report.foreign, report.served), (1, 0));
}

#[tokio::test]
async fn a_connection_too_many_is_closed() {
    let rig = rig(Limits { connections: 2, ..Limits::default() });
    let first = rig.greeted().await;
    let mut second = rig.greeted().await;
    assert_eq!(rig.raw().await.rest().await, "");
    drop(first);
    until("connections", 1, || rig.handle.connections()).await;
    let mut third = rig.greeted().await;
    assert_eq!(third.call(1, "test/echo", json!({})).await["id"], 1);
    assert_eq!(second.call(1, "test/echo", json!({})).await["id"], 1);
    assert_eq!(rig.finish().await.refused, 1);
}

#[tokio::test]
async fn a_new_listener_takes_over_and_open_connections_stay() {
    let rig = rig(Limits::default());
    let mut old = rig.greeted().await;
    std::fs::remove_file(&rig.socket).unwrap();
    let bound = bind_private(&rig.socket).unwrap();
    assert!(rig.handle.rebind(bound.listener).await);
    let mut new = rig.greeted().await;
    assert_eq!(new.call(1, "test/echo", json!({})).await["id"], 1);
    assert_eq!(old.call(2, "test/echo", json!({})).await["id"], 2);
    assert_eq!(rig.handle.connections(), 2);
    rig.finish().await;
}
