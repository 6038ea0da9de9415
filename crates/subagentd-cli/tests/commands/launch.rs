//! `run`.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use crate::peer::{Peer, Reply, finish, launched, waited};

fn taken() -> Peer {
    Peer::scripted(|_, _| launched())
}

#[test]
fn a_detached_launch_returns_at_once_and_hands_over_what_the_shell_is() {
    let peer = taken();
    let line = [
        "run",
        "explore",
        "find it",
        "--detach",
        "--owner",
        "cli:test",
        "--title",
        "t",
        "--model",
        "a/b",
        "--thinking",
        "low",
        "--runtime",
        "offline",
        "--timeout",
        "1h30m",
        "--idle-timeout",
        "0",
        "--key",
        "k",
    ];
    let child = peer.command(&line).env("PLANTED", "väl=ue").spawn().unwrap();
    let seen = finish(child);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.out.starts_with("Run 1a2b3c4d accepted: explore.\n"), "{seen:?}");
    assert!(seen.err.contains("subagentd-cli wait 1a2b3c4d"), "{seen:?}");
    assert_eq!(peer.asked("daemon/hello")[0]["owner"], "cli:test");
    let mut params = peer.asked("run/launch").remove(0);
    let environment = params["capture"]["environment"].take();
    assert_eq!(environment["variables"]["PLANTED"], "väl=ue");
    assert!(environment["umask"].is_u64(), "{:?}", environment["umask"]);
    assert_eq!(
        params,
        json!({
            "agent": "explore", "task": "find it", "directory": peer.place.path(), "title": "t", "model": "a/b",
            "thinking": "low", "background": true, "runtime": "offline", "timeout": 5_400_000, "idleTimeout": 0,
            "key": "k", "capture": {"environment": null},
        })
    );
    assert!(peer.asked("run/wait").is_empty());
}

#[test]
fn the_task_can_come_from_standard_input() {
    let peer = taken();
    let task = format!("--not-a-flag\n@{}\n", "ä".repeat(100_000));
    let mut child = peer.command(&["run", "explore", "-", "--detach"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(task.as_bytes()).unwrap();
    let seen = finish(child);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let sent = peer.asked("run/launch")[0]["task"].as_str() == Some(&task);
    assert!(sent, "the task was changed on its way");
}

#[test]
fn a_waited_for_run_ends_with_its_state_reference_and_code() {
    let table = [
        ("succeeded", 0),
        ("failed", 1),
        ("rejected", 1),
        ("timed_out", 5),
        ("budget_exhausted", 6),
        ("interrupted", 7),
        ("cancelled", 8),
        ("moonstruck", 1),
    ];
    for (state, code) in table {
        let peer = Peer::scripted(move |method, _| match method {
            "run/launch" => launched(),
            "run/wait" => waited(state, true),
            _ => Reply::Result(json!({"acknowledged": 1})),
        });
        let seen = peer.run(&["run", "explore", "find it", "--owner", "cli:test"]);
        assert_eq!(seen.code, Some(code), "{state}: {seen:?}");
        let word = if state == "moonstruck" { "unknown" } else { state };
        assert!(seen.out.starts_with(&format!("Run 1a2b3c4d {word}: explore, 2.0s\n")), "{seen:?}");
        let reference = seen.out.contains("\nOutput saved to: /s/result.md (2.0 KB, 9 lines)\n");
        assert_eq!(reference, state == "succeeded", "{seen:?}");
        if state != "moonstruck" {
            assert_eq!(peer.asked("inbox/ack"), [json!({"seqs": [7]})], "{state}");
        }
    }
}

#[test]
fn with_json_there_is_one_document_and_no_hint() {
    let peer = Peer::scripted(|method, _| match method {
        "run/launch" => launched(),
        "run/wait" => waited("succeeded", true),
        _ => Reply::Result(json!({"acknowledged": 1})),
    });
    let seen = peer.run(&["--json", "run", "explore", "find it"]);
    assert_eq!(seen.document()["run"]["state"], "succeeded");
    assert_eq!(seen.err, "");
    let seen = peer.run(&["--json", "run", "explore", "find it", "--detach"]);
    assert_eq!(seen.document()["decisions"]["runtime"]["value"], "offline");
    assert_eq!(seen.err, "");
}

#[test]
fn a_refusal_is_told_to_people_and_to_programs() {
    let peer = Peer::scripted(|_, _| Reply::Fault(-33_001, "unknownAgent", "There is no agent \"explroe\"."));
    let seen = peer.run(&["run", "explroe", "find it"]);
    assert_eq!((seen.code, seen.out.as_str()), (Some(3), ""), "{seen:?}");
    assert_eq!(seen.err, "error: There is no agent \"explroe\".\n`subagentd-cli agents` tells what each is for.\n");
    let seen = peer.run(&["run", "explroe", "find it", "--json"]);
    assert_eq!(seen.code, Some(3));
    assert_eq!(seen.document()["error"]["kind"], "unknownAgent");
}

#[test]
fn a_connection_that_breaks_leaves_the_launch_open_and_says_so() {
    let peer = Peer::scripted(|_, _| Reply::Close);
    let seen = peer.run(&["run", "explore", "find it", "--detach"]);
    assert_eq!(seen.code, Some(9), "{seen:?}");
    assert!(seen.err.contains("may or may not have been accepted"), "{seen:?}");
}

#[test]
fn a_wrong_line_is_a_document_too() {
    let peer = Peer::absent();
    let seen = peer.run(&["run", "explore", "x", "--timeout", "90", "--json"]);
    assert_eq!(seen.code, Some(2));
    assert_eq!(seen.document()["error"]["kind"], "usage");
    assert!(seen.err.contains("say the unit: 90s, 90m or 90h"), "{seen:?}");
}
