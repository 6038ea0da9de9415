use serde_json::{Value, json};

use super::rig::{PATIENCE, count, rig, until};
use crate::Limits;

#[tokio::test]
async fn every_document_gets_the_right_answer() {
    let rig = rig(Limits { frame: 4_096, ..Limits::default() });
    let mut raw = rig.greeted().await;
    let max = u64::MAX;
    let table: &[(&str, i64, Value)] = &[
        (r#"{"jsonrpc":"2.0","id":-1,"method":"test/echo"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"test/echo"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"test/echo"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":{},"method":"test/echo"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":true,"method":"test/echo"}"#, -32600, Value::Null),
        (r#"{"id":3,"method":"test/echo"}"#, -32600, json!(3)),
        (r#"{"jsonrpc":"1.0","id":3,"method":"test/echo"}"#, -32600, json!(3)),
        (r#"{"method":"test/echo"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":4}"#, -32600, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":5}"#, -32600, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"id":5,"method":"test/echo"}"#, -32600, Value::Null),
        ("17", -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":4,"method":"#, -32700, Value::Null),
        ("hello", -32700, Value::Null),
        (r#"{} {}"#, -32700, Value::Null),
        (r#" [{"jsonrpc":"2.0","id":4,"method":"test/echo"}]"#, -32005, Value::Null),
        (r#"{"jsonrpc":"2.0","id":"a","method":"no/such"}"#, -32601, json!("a")),
        (r#"{"jsonrpc":"2.0","id":5,"method":"test/echo","params":["x"]}"#, -32602, json!(5)),
        (r#"{"jsonrpc":"2.0","id":5,"method":"test/echo","params":7}"#, -32602, json!(5)),
        (r#"{"jsonrpc":"2.0","id":6,"method":"test/refused"}"#, -33005, json!(6)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"test/panic"}"#, -32603, json!(7)),
        (r#"{"jsonrpc":"2.0","id":8,"method":"test/panicLate"}"#, -32603, json!(8)),
        (r#"{"jsonrpc":"2.0","id":9,"method":"test/large","params":{"bytes":5000}}"#, -33008, json!(9)),
        (r#"{"jsonrpc":"2.0","id":9,"method":"daemon/hello"}"#, -33003, json!(9)),
    ];
    for (document, code, id) in table {
        let answer = raw.ask(document).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), id), "{document}: {answer}");
        assert!(answer["error"]["data"]["kind"].is_string(), "{document}: {answer}");
    }
    for (id, shown) in [(json!(max), json!(max)), (json!("ä"), json!("ä")), (Value::Null, Value::Null)] {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "test/echo", "more": 1});
        let answer = raw.ask(&request.to_string()).await;
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": shown, "result": {"text": "", "inner": null}}));
    }
    let escaped = r#"{"jsonrpc":"2.0","id":1,"method":"test\/echo","params":null}"#;
    assert_eq!(raw.ask(escaped).await["result"]["text"], "");
    let answer = raw.ask(r#"{"jsonrpc":"2.0","id":6,"method":"test/refused"}"#).await;
    assert_eq!(answer["error"]["data"], json!({"kind": "overloaded", "retryable": true}));
}

#[tokio::test]
async fn wrong_parameters_are_named() {
    let rig = rig(Limits::default());
    let mut raw = rig.greeted().await;
    for (params, name) in [
        (json!({"txt": "x"}), "txt"),
        (json!({"text": 5}), "text"),
        (json!({"inner": {"times": "x"}}), "inner.times"),
        (json!({"inner": {}}), "times"),
    ] {
        let answer = raw.call(1, "test/echo", params).await;
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(answer["error"]["code"] == -32602 && message.contains(name), "{name}: {answer}");
    }
    let long = raw.call(1, "test/echo", json!({"inner": "y".repeat(100_000)})).await;
    assert!(long.to_string().len() < 1_000, "an error repeats a whole value");
}

#[tokio::test]
async fn nothing_but_the_frozen_methods_before_hello() {
    let rig = rig(Limits::default());
    let mut raw = rig.raw().await;
    for method in ["test/echo", "test/count", "test/uncount", "no/such"] {
        let answer = raw.call(1, method, json!({})).await;
        assert_eq!(answer["error"]["code"], -33007, "{method}: {answer}");
        assert_eq!(answer["error"]["data"]["kind"], "notHello");
    }
    // Not served by this table, but let through to it.
    assert_eq!(raw.call(1, "daemon/status", json!({})).await["error"]["code"], -32601);
    let hello = raw.call(2, "daemon/hello", json!({"owner": "me", "from": "the future"})).await;
    assert_eq!(hello["result"]["store"], "s");
    assert_eq!(raw.call(3, "test/echo", json!({"text": "x"})).await["result"]["text"], "x");
}

#[tokio::test]
async fn notifications_are_dropped_and_the_connection_goes_on() {
    let rig = rig(Limits::default());
    let mut raw = rig.greeted().await;
    raw.send(r#"{"jsonrpc":"2.0","method":"test/echo"}"#).await;
    raw.send("").await;
    raw.send("   ").await;
    assert_eq!(raw.call(1, "test/echo", json!({})).await["id"], 1);
}

#[tokio::test]
async fn an_oversize_line_is_refused_and_the_connection_kept() {
    let rig = rig(Limits { frame: 1_000, ..Limits::default() });
    let mut raw = rig.greeted().await;
    for bytes in [1_001, 300_000] {
        let answer = raw.ask(&"x".repeat(bytes)).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32007), &Value::Null), "{answer}");
    }
    assert_eq!(raw.call(1, "test/echo", json!({})).await["id"], 1);
}

#[tokio::test]
async fn headers_are_answered_with_headers_and_an_oversize_frame_closes() {
    let rig = rig(Limits { frame: 1_000, ..Limits::default() });
    let mut raw = rig.raw().await;
    let framed = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let hello = framed(r#"{"jsonrpc":"2.0","id":1,"method":"daemon/hello"}"#);
    let echo = framed("{\"jsonrpc\":\"2.0\",\n\"id\":2,\"method\":\"test/echo\"}");
    let large = "Content-Length: 1001\r\n\r\n{";
    tokio::io::AsyncWriteExt::write_all(&mut raw.0, format!("{hello}{echo}{large}").as_bytes()).await.unwrap();
    let seen = raw.rest().await;
    let bodies: Vec<Value> = seen
        .split("Content-Length: ")
        .skip(1)
        .map(|frame| {
            let (length, body) = frame.split_once("\r\n\r\n").unwrap();
            assert_eq!(length.parse::<usize>().unwrap(), body.len(), "{seen}");
            serde_json::from_str(body).unwrap()
        })
        .collect();
    assert_eq!(bodies.len(), 3, "{seen}");
    assert_eq!((&bodies[0]["id"], &bodies[1]["id"]), (&json!(1), &json!(2)));
    assert_eq!(bodies[2]["error"]["code"], -32007);
    assert_eq!(rig.finish().await.cut_off, 1);
}

#[tokio::test]
async fn requests_run_side_by_side_up_to_the_limit() {
    let rig = rig(Limits { in_flight: 3, ..Limits::default() });
    let mut raw = rig.greeted().await;
    for id in 1..=5 {
        raw.post(id, "test/held").await;
    }
    raw.post(9, "test/echo").await;
    until("calls under way", 3, || count(&rig.shared.running)).await;
    // Nothing else may start while three are held; the fast one behind them has to wait too.
    let early = tokio::time::timeout(std::time::Duration::from_millis(50), raw.line()).await;
    assert!(early.is_err(), "{early:?}");
    assert_eq!(count(&rig.shared.running), 3);
    rig.shared.gate.add_permits(5);
    let mut ids: Vec<u64> = Vec::new();
    for _ in 0..6 {
        ids.push(raw.line().await["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4, 5, 9]);
}

#[tokio::test]
async fn a_fast_call_overtakes_a_slow_one() {
    let rig = rig(Limits::default());
    let mut raw = rig.greeted().await;
    raw.post(1, "test/held").await;
    raw.post(2, "test/echo").await;
    assert_eq!(raw.line().await["id"], 2);
    rig.shared.gate.add_permits(1);
    assert_eq!(raw.line().await["id"], 1);
}

#[tokio::test]
async fn bytes_that_are_not_text_are_answered() {
    let rig = rig(Limits::default());
    let mut raw = rig.greeted().await;
    tokio::io::AsyncWriteExt::write_all(&mut raw.0, b"{\"jsonrpc\":\"2.0\",\"x\":\"\xff\"}\n").await.unwrap();
    let answer = tokio::time::timeout(PATIENCE, raw.line()).await.unwrap();
    assert_eq!(answer["error"]["code"], -32700, "{answer}");
}
