//! `inbox`.

use serde_json::{Value, json};

use crate::peer::{Peer, RUN, Reply};

fn notice(seq: u64) -> Value {
    json!({"seq": seq, "kind": "ended", "run": RUN, "state": "succeeded", "reason": "completed", "agent": "explore",
           "atMs": 1_700_000_000_000_u64})
}

/// Five notices in pages of two.
fn pages(method: &str, params: &Value) -> Reply {
    if method == "inbox/ack" {
        let count = params["seqs"].as_array().unwrap().len();
        return Reply::Result(json!({"acknowledged": count}));
    }
    let after = params["after"].as_u64().unwrap_or(0);
    let notices: Vec<Value> = (after + 1..=5).take(2).map(notice).collect();
    let next = (after + 2 < 5).then_some(after + 2);
    Reply::Result(json!({"notices": notices, "nextAfter": next}))
}

#[test]
fn all_are_acknowledged_page_by_page() {
    let peer = Peer::scripted(pages);
    let seen = peer.run(&["inbox", "ack", "--all"]);
    assert_eq!(seen.out, "Marked 5 notices as seen.\n", "{seen:?}");
    let seqs: Vec<Value> = peer.asked("inbox/ack").into_iter().map(|params| params["seqs"].clone()).collect();
    assert_eq!(seqs, [json!([1, 2]), json!([3, 4]), json!([5])]);
}

#[test]
fn single_ones_go_by_number() {
    let peer = Peer::scripted(pages);
    let seen = peer.run(&["inbox", "ack", "4", "2", "--json"]);
    assert_eq!(seen.document(), json!({"acknowledged": 2}));
    assert_eq!(peer.asked("inbox/ack"), [json!({"seqs": [4, 2]})]);
}

#[test]
fn a_number_that_is_none_of_yours_is_told() {
    // Three is known and was seen before.
    let peer = Peer::scripted(|method, params| match method {
        "inbox/ack" => Reply::Result(json!({"acknowledged": 1})),
        _ => pages("inbox/list", params),
    });
    let seen = peer.run(&["inbox", "ack", "2", "3", "99", "98"]);
    assert_eq!((seen.code, seen.out.as_str()), (Some(4), ""), "{seen:?}");
    assert!(
        seen.err.starts_with("error: There is no notice 98, 99 of yours. 1 other one was marked as seen.\n"),
        "{seen:?}"
    );
    let seen = peer.run(&["inbox", "ack", "2", "3"]);
    assert_eq!((seen.code, seen.out.as_str()), (Some(0), "Marked 1 notice as seen.\n"), "{seen:?}");
    assert_eq!(Peer::absent().run(&["inbox", "ack", "1"]).code, Some(4), "nothing was ever stored");
}

#[test]
fn looking_acknowledges_nothing() {
    let peer = Peer::scripted(pages);
    let seen = peer.run(&["inbox", "list", "--all"]);
    assert_eq!(seen.out, peer.run(&["inbox", "--all"]).out);
    assert!(seen.out.starts_with("NO  RUN       STATE"), "{seen:?}");
    assert_eq!(peer.asked("inbox/list")[0], json!({"limit": 500, "acknowledged": true}));
    assert!(peer.asked("inbox/ack").is_empty());
}
