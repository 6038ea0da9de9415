//! `result`, `show`, `list`: what is stored.

use std::io::Read;

use serde_json::{Value, json};

use crate::peer::{Peer, RUN, Reply, finish, reference, view};

/// An answer in three parts.
fn parts(method: &str, params: &Value) -> Reply {
    if method == "inbox/ack" {
        return Reply::Result(json!({"acknowledged": 1}));
    }
    let mut result = json!({
        "run": RUN, "child": 0, "state": "succeeded", "complete": true, "reference": reference(),
        "notice": {"seq": 7, "acknowledged": false},
    });
    let part = |offset: u64, text: &str, next: Option<u64>| json!({"offset": offset, "text": text, "nextOffset": next});
    match params["offset"].as_u64() {
        Some(0) => result["text"] = part(0, "eins\n", Some(5)),
        Some(5) => result["text"] = part(5, "zwei\u{1b}[0m\r\n", Some(15)),
        Some(15) => result["text"] = part(15, "drei", None),
        _ => {}
    }
    Reply::Result(result)
}

#[test]
fn an_answer_is_printed_whole_and_alone() {
    let peer = Peer::scripted(parts);
    let seen = peer.run(&["result", "1a2b3c4d", "--child", "0"]);
    assert_eq!(seen.out, "eins\nzwei\u{1b}[0m\r\ndrei", "{seen:?}");
    assert_eq!((seen.code, seen.err.as_str()), (Some(0), ""));
    assert_eq!(peer.asked("run/result")[1], json!({"run": "1a2b3c4d", "child": 0, "offset": 5, "limit": 262_144}));
    assert_eq!(peer.asked("inbox/ack"), [json!({"seqs": [7]})]);
}

#[test]
fn the_path_can_be_had_without_the_text() {
    let peer = Peer::scripted(parts);
    let seen = peer.run(&["result", "1a2b3c4d", "--path"]);
    assert_eq!(seen.out, "/s/result.md\n", "{seen:?}");
    assert_eq!(peer.asked("run/result"), [json!({"run": "1a2b3c4d"})]);
}

#[test]
fn a_reader_that_has_enough_ends_the_program_quietly_and_unacknowledged() {
    let peer = Peer::scripted(|method, params| match method {
        "run/result" => {
            let offset = params["offset"].as_u64().unwrap();
            Reply::Result(json!({
                "run": RUN, "child": 0, "state": "succeeded", "complete": true, "reference": reference(),
                "notice": {"seq": 7, "acknowledged": false},
                "text": {"offset": offset, "text": "x".repeat(200_000), "nextOffset": offset + 200_000},
            }))
        }
        _ => Reply::Result(json!({"acknowledged": 1})),
    });
    let mut child = peer.command(&["result", "1a2b3c4d"]).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 1000]).unwrap();
    drop(out);
    let seen = finish(child);
    assert_eq!((seen.code, seen.err.as_str()), (Some(0), ""), "{seen:?}");
    assert!(peer.asked("inbox/ack").is_empty());
}

#[test]
fn an_unfinished_answer_is_marked_beside_the_text() {
    let peer = Peer::scripted(|_, _| {
        Reply::Result(json!({
            "run": RUN, "child": 0, "state": "failed", "complete": false, "reference": reference(),
            "text": {"offset": 0, "text": "half"},
        }))
    });
    let seen = peer.run(&["result", "1a2b3c4d"]);
    assert_eq!((seen.code, seen.out.as_str()), (Some(1), "half"));
    assert_eq!(seen.err, "This answer is not finished: run 1a2b3c4d failed.\n");
}

#[test]
fn an_answer_of_a_run_that_did_not_succeed_has_its_exit_code() {
    for (state, code) in [("succeeded", 0), ("cancelled", 1), ("timed_out", 1), ("interrupted", 1), ("running", 1)] {
        let peer = Peer::scripted(move |_, _| {
            Reply::Result(json!({
                "run": RUN, "child": 0, "state": state, "complete": true, "reference": reference(),
                "text": {"offset": 0, "text": "whole"},
            }))
        });
        let seen = peer.run(&["result", "1a2b3c4d"]);
        assert_eq!((seen.code, seen.out.as_str()), (Some(code), "whole"), "{state}: {seen:?}");
        assert_eq!(seen.err.is_empty(), code == 0, "{state}: {seen:?}");
        let seen = peer.run(&["result", "1a2b3c4d", "--json"]);
        assert_eq!((seen.code, seen.err.as_str()), (Some(code), ""), "{state}: {seen:?}");
    }
}

#[test]
fn an_answer_of_who_could_only_search_says_so() {
    let peer = Peer::scripted(|method, _| match method {
        "run/get" => {
            let mut run = view("succeeded", "cli:test");
            run["children"][0]["decisions"]["class"]["value"] = json!("exclusive");
            Reply::Result(run)
        }
        "run/result" => Reply::Result(json!({
            "run": RUN, "child": 0, "state": "succeeded", "complete": true, "reference": reference(),
            "text": {"offset": 0, "text": "whole"},
        })),
        _ => Reply::Result(json!({"acknowledged": 1})),
    });
    let seen = peer.run(&["result", "1a2b3c4d"]);
    assert_eq!(seen.err, "No model was used: `offline` only searches, nothing was changed.\n");
}

#[test]
fn a_beginning_in_place_of_an_ending_is_seen() {
    let peer = Peer::scripted(|method, _| match method {
        "run/list" => Reply::Result(json!({"runs": [{
            "run": RUN, "state": "succeeded", "agent": "explore", "children": 1, "title": "t", "owner": "o",
            "directory": "/w", "runtime": "offline", "createdAtMs": 1_700_000_000_000_u64,
        }]})),
        _ => Reply::Fault(-33_004, "notFound", "no run ends like that"),
    });
    for command in ["show", "wait", "cancel", "result", "pause"] {
        let seen = peer.run(&[command, "01998c1e-7a"]);
        assert_eq!(seen.code, Some(4), "{seen:?}");
        assert!(
            seen.err.ends_with("Did you mean one of these?\nNext: subagentd-cli show 1a2b3c4d   succeeded\n"),
            "{seen:?}"
        );
    }
    let seen = peer.run(&["show", "123456"]);
    assert_eq!(seen.err, "error: No run ends like that.\n", "nothing begins so");
}

#[test]
fn a_run_that_is_not_there_has_its_code() {
    let peer = Peer::scripted(|_, _| Reply::Fault(-33_004, "notFound", "No run ends like that."));
    for command in ["show", "wait", "cancel", "result"] {
        let seen = peer.run(&[command, "1a2b3c4d"]);
        assert_eq!(seen.code, Some(4), "{command}: {seen:?}");
    }
}

#[test]
fn show_prints_everything_and_acknowledges() {
    let peer = Peer::scripted(|method, _| match method {
        "run/get" => Reply::Result(view("succeeded", "cli:test")),
        _ => Reply::Result(json!({"acknowledged": 1})),
    });
    let seen = peer.run(&["show", "1A2B3C4D", "--owner", "cli:test"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.out.contains("runtime    offline (by default: nobody said anything)\n"), "{seen:?}");
    assert_eq!(peer.asked("inbox/ack"), [json!({"seqs": [7]})]);
}

#[test]
fn a_list_reads_as_many_pages_as_it_takes() {
    let peer = Peer::scripted(|_, params| {
        let row = |n: u64| {
            json!({
                "run": format!("01998c1e-7a4b-7c3d-9e1f-{n:012x}"), "state": "succeeded", "agent": "explore",
                "children": 1, "title": "t", "owner": "o", "directory": "/w", "runtime": "offline",
                "createdAtMs": 1_700_000_000_000_u64,
            })
        };
        let from: u64 = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        let count = params["limit"].as_u64().unwrap();
        let rows: Vec<Value> = (from..from + count).map(row).collect();
        Reply::Result(json!({"runs": rows, "nextCursor": (from + count).to_string()}))
    });
    let seen = peer.run(&["list", "--limit", "620", "--state", "succeeded,failed"]);
    assert_eq!(seen.out.lines().count(), 621, "{}", seen.err);
    assert!(seen.err.contains("add --all"), "{}", seen.err);
    let asked = peer.asked("run/list");
    assert_eq!(asked[0], json!({"limit": 500, "states": ["succeeded", "failed"]}));
    assert_eq!(asked[1], json!({"cursor": "500", "limit": 120, "states": ["succeeded", "failed"]}));
    let seen = peer.run(&["list", "--json"]);
    assert_eq!(seen.document()["runs"].as_array().map(Vec::len), Some(20));
    assert_eq!(seen.document()["nextCursor"], "20");
}

#[test]
fn one_agents_runs_are_found_among_others() {
    let peer = Peer::scripted(|_, params| {
        let row = |n: u64| {
            json!({
                "run": format!("01998c1e-7a4b-7c3d-9e1f-{n:012x}"), "state": "succeeded",
                "agent": if n.is_multiple_of(3) { "worker" } else { "explore" },
                "children": 1, "title": format!("title {n}"), "owner": "o", "directory": "/w", "runtime": "offline",
                "createdAtMs": 1_700_000_000_000_u64,
            })
        };
        let from: u64 = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        let to = (from + params["limit"].as_u64().unwrap()).min(100);
        let next = (to < 100).then(|| to.to_string());
        Reply::Result(json!({"runs": (from..to).map(row).collect::<Vec<_>>(), "nextCursor": next}))
    });
    let seen = peer.run(&["ls", "--agent", "Worker", "--limit", "7"]);
    let shown: Vec<&str> = seen.out.lines().skip(1).filter_map(|line| line.split("title ").nth(1)).collect();
    assert_eq!(shown, ["0", "3", "6", "9", "12", "15", "18"], "{seen:?}");
    let seen = peer.run(&["list", "--agent", "worker", "--all"]);
    assert_eq!(seen.out.lines().count(), 35, "{seen:?}");
    assert_eq!(peer.run(&["list", "--agent", "nobody"]).out, "No such runs.\n");
}
