use std::time::Duration;

use serde_json::json;

use super::rig::{count, rig, until};
use crate::Limits;

#[tokio::test]
async fn the_answer_comes_first_and_items_in_order() {
    let rig = rig(Limits { outbox: 2, ..Limits::default() });
    let mut raw = rig.greeted().await;
    let opened = raw.call(1, "test/count", json!({"to": 100})).await;
    let id = opened["result"].as_str().unwrap_or_else(|| panic!("no string: {opened}")).to_owned();
    for n in 1..=100 {
        let item = raw.line().await;
        assert_eq!(item["method"], "test/number");
        assert_eq!((&item["params"]["subscription"], &item["params"]["result"]["n"]), (&json!(id), &json!(n)));
    }
    let other = raw.call(2, "test/uncount", json!({"subscription": "nobody's"})).await;
    assert_eq!(other["result"], false);
    assert_eq!(raw.call(3, "test/uncount", json!({"id": id})).await["error"]["code"], -32602);
    assert_eq!(count(&rig.shared.subscribed), 1);
    assert_eq!(raw.call(4, "test/uncount", json!({"subscription": id})).await["result"], true);
    until("subscriptions", 0, || count(&rig.shared.subscribed)).await;
}

#[tokio::test]
async fn parameters_and_number_are_checked() {
    let rig = rig(Limits { subscriptions: 2, ..Limits::default() });
    let mut raw = rig.greeted().await;
    let wrong = raw.call(1, "test/count", json!({"until": 1})).await;
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let first = raw.call(2, "test/count", json!({"to": 0})).await;
    assert!(raw.call(3, "test/count", json!({"to": 0})).await["result"].is_string());
    let third = raw.call(4, "test/count", json!({"to": 0})).await;
    assert_eq!(third["error"]["code"], -32006, "{third}");
    raw.call(5, "test/uncount", json!([first["result"]])).await;
    until("subscriptions", 1, || count(&rig.shared.subscribed)).await;
    assert!(raw.call(6, "test/count", json!({"to": 0})).await["result"].is_string());
}

#[tokio::test]
async fn the_client_is_told_when_the_daemon_ends_a_subscription() {
    let rig = rig(Limits::default());
    let mut raw = rig.greeted().await;
    for then in ["end", "panic"] {
        let opened = raw.call(1, "test/count", json!({"to": 0, "then": then})).await;
        let last = raw.line().await;
        assert_eq!(last["params"]["subscription"], opened["result"], "{last}");
        assert_eq!(last["params"]["error"]["code"], -32603, "{last}");
    }
    assert_eq!(raw.call(2, "test/echo", json!({})).await["id"], 2);
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_cut_off_and_costs_little() {
    let rig = rig(Limits { outbox: 8, stall: Duration::from_millis(150), ..Limits::default() });
    let mut raw = rig.greeted().await;
    raw.call(1, "test/count", json!({"to": 1_000_000})).await;
    let mut other = rig.greeted().await;
    until("connections", 1, || rig.handle.connections()).await;
    until("subscriptions", 0, || count(&rig.shared.subscribed)).await;
    let sent = count(&rig.shared.sent);
    assert!(sent < 2_000, "{sent} items were taken for a client that reads nothing");
    assert_eq!(other.call(1, "test/echo", json!({})).await["id"], 1);
    drop(raw);
    assert_eq!(rig.finish().await.cut_off, 1);
}

#[tokio::test]
async fn a_slow_client_is_not_cut_off() {
    let rig = rig(Limits { outbox: 2, stall: Duration::from_millis(400), ..Limits::default() });
    let mut raw = rig.greeted().await;
    // One answer far larger than the socket's buffer, taken in small bites: longer than the limit in all.
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "test/large", "params": {"bytes": 2_000_000}}).to_string())
        .await;
    let mut taken = 0;
    let mut bite = vec![0; 200_000];
    while taken < 2_000_000 {
        tokio::time::sleep(Duration::from_millis(60)).await;
        let read = tokio::io::AsyncReadExt::read(raw.0.get_mut(), &mut bite).await.unwrap();
        assert!(read > 0, "cut off after {taken} bytes");
        taken += read;
    }
}
