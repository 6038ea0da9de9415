//! `explain` and `profiles`: what they ask, and what they print.

use serde_json::{Value, json};

use crate::peer::{Peer, Reply};

fn decisions() -> Value {
    let decision = |value: Value| json!({"value": value, "source": "default", "reason": "nobody said anything"});
    json!({
        "agentSource": "builtin", "runtime": decision(json!("pi")), "model": decision(json!("acme/small-1")),
        "modelReason": "routed", "thinking": decision(json!("low")), "tools": decision(json!(["read"])),
        "context": decision(json!("fresh")), "class": decision(json!("shared")), "background": decision(json!(false)),
        "directory": "/w", "workspace": "/w", "trusted": decision(json!(false)), "standing": decision(Value::Null),
        "definition": [{"source": "builtin", "file": "builtin/explore.md", "fields": ["tools"]}],
        "timeoutMs": 0, "idleTimeoutMs": 600_000,
    })
}

fn preflight() -> Value {
    json!({"agent": "explore", "decisions": decisions(), "output": "result.md", "digest": "ab".repeat(32)})
}

fn peer() -> Peer {
    Peer::scripted(|method, _| {
        Reply::Result(match method {
            "run/preflight" => preflight(),
            "profile/list" => json!({
                "profiles": [{
                    "family": "gpt", "source": "user", "group": "size", "tiers": [{"name": "", "label": "M"}],
                }],
                "problems": [{"severity": "warning", "file": "/w/c.toml", "line": 2, "column": 1, "message": "x: y"}],
            }),
            _ => return Reply::Fault(-32_601, "methodNotFound", "There is no such method."),
        })
    })
}

#[test]
fn it_asks_what_run_asks_and_prints_the_tree() {
    let peer = peer();
    let line = [
        "explain",
        "explore",
        "find it",
        "--detach",
        "--trust-project",
        "--parent-tools",
        "read,grep",
        "--context",
        "fresh",
        "--model",
        "a/b",
        "--timeout",
        "1m",
    ];
    let seen = peer.run(&line);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.out.starts_with("explore (builtin)\n├ definition: 1 file\n"), "{seen:?}");
    assert!(seen.out.contains("├ model: acme/small-1 [routed]\n│   default: nobody said anything\n"), "{seen:?}");
    assert!(seen.out.ends_with("└ digest: abababababababab…\n"), "{seen:?}");
    let mut asked = peer.asked("run/preflight").remove(0);
    let launch = Peer::scripted(|_, _| Reply::Fault(-33_002, "refused", "no"));
    launch.run(&[&["run"], &line[1..]].concat());
    let mut launched = launch.asked("run/launch").remove(0);
    for (params, peer) in [(&mut asked, &peer), (&mut launched, &launch)] {
        assert_eq!(params["directory"].take(), json!(peer.place.path().to_str().unwrap()));
        assert!(params["capture"]["environment"].take().is_object());
    }
    assert_eq!(asked, launched, "the same call, but for its name");
    assert_eq!(
        asked["capture"],
        json!({
            "environment": null, "tools": [{"name": "read"}, {"name": "grep"}], "trusted": true, "statedBy": "flag",
        })
    );
    assert_eq!((&asked["context"], &asked["background"]), (&json!("fresh"), &json!(true)));
}

#[test]
fn without_a_task_there_is_no_digest_but_in_the_document() {
    let peer = peer();
    let seen = peer.run(&["explain", "explore"]);
    assert!(seen.code == Some(0) && !seen.out.contains("digest"), "{seen:?}");
    let capture = &peer.asked("run/preflight")[0]["capture"];
    assert!(capture.get("statedBy").is_none() && capture.get("trusted").is_none(), "{capture}");
    let seen = peer.run(&["explain", "explore", "--json"]);
    assert_eq!(seen.document(), preflight());
    let seen = peer.run(&["explain", "explore", "--context", "half"]);
    assert_eq!(seen.code, Some(2), "{seen:?}");
}

#[test]
fn profiles_are_those_of_the_place_that_is_meant() {
    let peer = peer();
    let seen = peer.run(&["profiles"]);
    assert!(seen.out.contains("gpt     user    size   (unnamed) M\n\n/w/c.toml, line 2: x: y\n"), "{seen:?}");
    peer.run(&["profiles", "--trust-project"]);
    let place = peer.place.path().to_str().unwrap();
    assert_eq!(peer.asked("profile/list"), [json!({}), json!({"directory": place, "trusted": true})]);
    assert_eq!(peer.run(&["profiles", "--json"]).document()["profiles"][0]["family"], "gpt");
}
