//! `list` without options: groups, each bounded.

use serde_json::{Value, json};

use crate::peer::{Peer, Reply};

fn row(n: u64, state: &str, owner: &str) -> Value {
    json!({
        "run": format!("01998c1e-7a4b-7c3d-9e1f-{n:012x}"), "state": state, "agent": "explore", "children": 1,
        "title": format!("title {n}"), "owner": owner, "directory": "/w", "runtime": "offline",
        "createdAtMs": 1_700_000_000_000_u64,
        "notice": {"seq": n, "acknowledged": n.is_multiple_of(2)},
    })
}

/// Thirty runs of each group; every second one was seen.
fn busy(method: &str, params: &Value) -> Reply {
    assert_eq!(method, "run/list");
    let states: Vec<&str> = params["states"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let owner = params["owner"].as_str().unwrap_or("pi:other");
    let known = ["queued", "running", "paused", "succeeded", "failed"];
    let place = known.into_iter().position(|state| states.contains(&state)).unwrap();
    let first = 1_000 * u64::try_from(place).unwrap();
    let rows: Vec<Value> = (first..first + 30).map(|n| row(n, known[place], owner)).collect();
    Reply::Result(json!({"runs": rows, "nextCursor": "9"}))
}

#[test]
fn many_runs_make_a_short_screen() {
    let peer = Peer::scripted(busy);
    let seen = peer.run(&["list", "--owner", "cli:test"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    for line in [
        "  over 5 more: subagentd-cli inbox",
        "  over 20 more: subagentd-cli list --state paused",
        "  over 20 more: subagentd-cli list --state starting,running",
        "  over 20 more: subagentd-cli list --state queued",
        "  over 25 more: subagentd-cli list --all",
    ] {
        assert!(seen.out.lines().any(|shown| shown == line), "{line:?} is not in\n{}", seen.out);
    }
    assert!(seen.out.lines().count() < 60, "{}", seen.out);
    let owners: Vec<Value> = peer.asked("run/list").into_iter().map(|params| params["owner"].clone()).collect();
    let asked_for_own = owners.iter().filter(|owner| **owner == "cli:test").count();
    assert_eq!((asked_for_own, owners.len()), (1, 5), "only what needs somebody is asked for by owner: {owners:?}");
}

#[test]
fn who_comes_first_stands_on_top_of_the_queue() {
    let peer = Peer::scripted(|_, params| {
        let queued = params["states"].as_array().unwrap().contains(&json!("queued"));
        let place = |n: u64| {
            let mut row = row(n, "queued", "cli:test");
            row["waits"] = json!({"on": "slot", "place": 13 - n});
            row
        };
        let rows: Vec<Value> = if queued { (1..=12).map(place).collect() } else { Vec::new() };
        Reply::Result(json!({"runs": rows}))
    });
    let seen = peer.run(&["list"]);
    let places: Vec<&str> =
        seen.out.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('#'))).collect();
    assert_eq!(places, ["#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8", "#9", "#10"], "{seen:?}");
    assert!(seen.out.contains("  2 more: subagentd-cli list --state queued\n"), "{seen:?}");
    assert_eq!(seen.err, "Next: subagentd-cli show 0000000c   on whom it waits\n");
}

#[test]
fn an_idle_place_says_how_to_begin() {
    let peer = Peer::scripted(|_, _| Reply::Result(json!({"runs": []})));
    let seen = peer.run(&["list"]);
    assert_eq!((seen.code, seen.out.as_str()), (Some(0), "No runs.\n"), "{seen:?}");
    assert!(
        seen.err.starts_with("Next: subagentd-cli agents   ") || seen.err.starts_with("Next: subagentd-cli agents ")
    );
    let seen = peer.run(&["list", "--state", "paused"]);
    assert_eq!((seen.out.as_str(), seen.err.as_str()), ("No such runs.\n", ""), "{seen:?}");
}

/// Between two looks a run is paused, and then ends.
#[test]
fn a_run_that_goes_on_meanwhile_is_shown_once_where_it_is_now() {
    for last in ["running", "paused", "succeeded"] {
        let peer = Peer::scripted(move |_, params| {
            let states = params["states"].as_array().unwrap();
            let reached = ["running", "paused", "succeeded"].into_iter();
            let passed = reached.take_while(|state| *state != last).chain([last]);
            let found = passed.filter(|state| states.contains(&json!(state))).map(|state| row(1, state, "cli:test"));
            Reply::Result(json!({"runs": found.collect::<Vec<_>>()}))
        });
        let seen = peer.run(&["list", "--owner", "cli:test"]);
        let shown: Vec<&str> = seen.out.lines().filter(|line| line.contains("title 1")).collect();
        assert!(shown.len() == 1 && shown[0].contains(last), "{last}: {seen:?}");
        let first: Vec<Value> = peer.asked("run/list").iter().map(|params| params["states"][0].clone()).collect();
        assert_eq!(first[..3], ["queued", "starting", "paused"], "a run could slip through between two looks");
    }
}
