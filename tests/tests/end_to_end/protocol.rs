//! The wire, byte by byte.

use serde_json::{Value, json};
use subagentd_tests::{Script, Site};

fn kind(answer: &Value) -> (&str, i64) {
    let error = &answer["error"];
    (error["data"]["kind"].as_str().unwrap_or_else(|| panic!("no error: {answer}")), error["code"].as_i64().unwrap())
}

#[tokio::test]
async fn hello_comes_first_and_the_frozen_methods_need_none() {
    let site = Site::new();
    let daemon = site.start();
    let mut raw = daemon.raw();
    for (method, params) in
        [("run/list", json!({})), ("run/launch", json!({})), ("agent/catalog", json!({})), ("inbox/watch", json!({}))]
    {
        assert_eq!(kind(&raw.call(method, &params)), ("notHello", -33_007), "{method}");
    }
    let status = raw.call("daemon/status", &json!({ "unknown": [1] }));
    assert_eq!(status["result"]["pid"], daemon.pid(), "{status}");
    assert_eq!(kind(&raw.call("daemon/hello", &json!({ "protocol": 99, "owner": "me" }))).0, "protocol");
    assert_eq!(raw.call("daemon/status", &json!({}))["result"]["live"], 0, "after a refused greeting too");
    assert_eq!(raw.call("daemon/stop", &json!({ "unknown": true }))["result"], json!({ "live": 0, "queued": 0 }));
    assert!(subagentd_tests::until("its end", async || site.daemons().is_empty().then_some(true)).await);
}

#[tokio::test]
async fn unknown_members_are_refused_except_in_the_frozen_methods() {
    let site = Site::new();
    let daemon = site.start();
    let mut raw = daemon.raw();
    let hello = json!({ "protocol": subagentd_proto::PROTOCOL, "owner": "me", "later": { "addition": 1 } });
    let answer = raw.call("daemon/hello", &hello);
    assert_eq!(answer["result"]["protocol"], subagentd_proto::PROTOCOL, "{answer}");
    let launch = |extra: Value| {
        let mut params = serde_json::to_value(site.play("explore", &Script::new().say("x")).params).unwrap();
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        params
    };
    let answer = raw.call("run/launch", &launch(json!({ "taks": "slip" })));
    assert_eq!(kind(&answer), ("invalidParams", -32_602));
    assert!(answer["error"]["message"].as_str().unwrap().contains("taks"), "{answer}");
    let nested = launch(json!({ "capture": { "environment": { "variables": {}, "valiables": {} } } }));
    assert_eq!(kind(&raw.call("run/launch", &nested)).0, "invalidParams");
    assert_eq!(raw.call("run/list", &json!({}))["result"]["runs"], json!([]));
    assert_eq!(kind(&raw.call("run/lunch", &json!({}))).0, "methodNotFound");
    assert!(raw.call("run/launch", &launch(json!({})))["result"]["run"].is_string());
}

#[tokio::test]
async fn editors_frames_work_on_the_same_socket() {
    let site = Site::new();
    let daemon = site.start();
    let mut raw = daemon.raw().with_headers();
    let hello = raw.hello("editor");
    assert!(hello["result"]["features"].as_array().unwrap().contains(&json!("run/launch")), "{hello}");
    let params = serde_json::to_value(site.play("explore", &Script::new().say("framed")).params).unwrap();
    let run = raw.call("run/launch", &params)["result"]["run"].clone();
    assert_eq!(raw.call("run/wait", &json!({ "run": run }))["result"]["run"]["state"], "succeeded");
    let text = raw.call("run/result", &json!({ "run": run, "offset": 0 }));
    assert_eq!(text["result"]["text"]["text"], "framed");
    let watch = raw.call("inbox/watch", &json!({}));
    assert!(watch["result"].is_number() || watch["result"].is_string(), "{watch}");
    let notice = raw.read();
    assert_eq!((&notice["method"], &notice["params"]["result"]["run"]), (&json!("inbox/notice"), &run), "{notice}");
}
