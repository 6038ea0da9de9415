//! Every screen as it is printed, against stored ones: `INSTA_UPDATE=always cargo test -p subagentd-cli` stores new ones,
//! to be read like code.

use serde_json::json;

use crate::documents::everything;
use crate::peer::{Peer, Reply, view, waited};

/// Both streams and the exit code, without the peer's place, which is another one each time.
fn screen(peer: &Peer, line: &[&str]) -> String {
    let seen = peer.run(line);
    let text = format!(
        "$ subagentd-cli {}\n{}--- standard error\n{}--- exit code {}\n",
        line.join(" "),
        seen.out,
        seen.err,
        seen.code.unwrap()
    );
    text.replace(&peer.place.path().display().to_string(), "/place")
}

fn screens(peer: &Peer, lines: &[&[&str]]) -> String {
    lines.iter().map(|line| screen(peer, line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn help() {
    let peer = Peer::absent();
    let lines: [&[&str]; 22] = [
        &["--help"],
        &["run", "--help"],
        &["explain", "--help"],
        &["profiles", "--help"],
        &["list", "--help"],
        &["show", "--help"],
        &["wait", "--help"],
        &["steer", "--help"],
        &["pause", "--help"],
        &["resume", "--help"],
        &["cancel", "--help"],
        &["result", "--help"],
        &["inbox", "--help"],
        &["inbox", "ack", "--help"],
        &["agents", "--help"],
        &["lease", "--help"],
        &["lease", "list", "--help"],
        &["lease", "release", "--help"],
        &["daemon", "--help"],
        &["daemon", "start", "--help"],
        &["daemon", "stop", "--help"],
        &["daemon", "status", "--help"],
    ];
    insta::assert_snapshot!(screens(&peer, &lines));
}

#[test]
fn what_went_well() {
    let peer = Peer::scripted(everything);
    let lines: [&[&str]; 20] = [
        &["run", "explore", "where is it?"],
        &["run", "explore", "where is it?", "--detach"],
        &["list", "--owner", "cli:test"],
        &["list", "--all"],
        &["show", "1a2b3c4d"],
        &["wait", "1a2b3c4d"],
        &["steer", "1a2b3c4d", "use the new API"],
        &["pause", "1a2b3c4d"],
        &["resume", "1a2b3c4d"],
        &["resume", "1a2b3c4d", "now the tests"],
        &["resume", "1a2b3c4d", "now the tests", "--detach"],
        &["cancel", "1a2b3c4d"],
        &["result", "1a2b3c4d"],
        &["inbox"],
        &["inbox", "ack", "7"],
        &["agents"],
        &["lease", "list"],
        &["lease", "release", "1a2b3c4d"],
        &["daemon", "status"],
        &["daemon", "stop"],
    ];
    // Of a day that does not come again: times are shown with their date.
    insta::assert_snapshot!(screens(&peer, &lines));
}

#[test]
fn runs_that_did_not_end_well() {
    let mut text = String::new();
    for state in
        ["failed", "rejected", "timed_out", "budget_exhausted", "interrupted", "cancelled", "running", "paused"]
    {
        let ended = !["running", "paused"].contains(&state);
        let peer = Peer::scripted(move |method, params| match method {
            "run/wait" => waited(state, ended),
            _ => everything(method, params),
        });
        let shown = screen(&peer, &["wait", "1a2b3c4d", "--timeout", "0", "--owner", "cli:test"]);
        // What has lasted until now is another time each time.
        let steady = shown.lines().map(|line| match line.split_once(": explore, ") {
            Some((head, _)) if !ended => format!("{head}: explore, TIME\n"),
            _ => format!("{line}\n"),
        });
        text.push_str(&steady.collect::<String>());
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

/// Told a few things and interrupted; one that cannot go on; one that is paused.
#[test]
fn a_run_with_a_history() {
    let steer = |number: u32, delivery: &str, receipt: &str| json!({"number": number, "atMs": 1_700_000_002_000_u64, "delivery": delivery, "receipt": receipt});
    let mut run = view("interrupted", "cli:test");
    let child = &mut run["children"][0];
    child["attempt"] = json!(3);
    child["steers"] = json!([steer(1, "steer", "delivered"), steer(2, "followUp", "undelivered")]);
    let mut refused = run.clone();
    refused["children"][0]["resumeRefusal"] = json!("it ended before it had a conversation; launch it anew");
    let mut paused = view("paused", "cli:test");
    // What has lasted until now is another time each time.
    paused["startedAtMs"] = json!(1_700_000_001_000_u64);
    paused["endedAtMs"] = json!(1_700_000_003_000_u64);
    paused["children"][0]["endedAtMs"] = json!(1_700_000_003_000_u64);
    let text = [run, refused, paused].map(|run| {
        let peer = Peer::scripted(move |method, params| match method {
            "run/get" => Reply::Result(run.clone()),
            _ => everything(method, params),
        });
        screen(&peer, &["show", "1a2b3c4d", "--owner", "cli:test"])
    });
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn what_went_wrong() {
    let absent = Peer::absent();
    let mut text = screens(
        &absent,
        &[
            &["lst"],
            &["kill", "1a2b3c4d"],
            &["run", "explore"],
            &["run", "explore", "where", "is", "it"],
            &["run", "explore", "x", "--timeout", "90"],
            &["run", "explore", "x", "--detatch"],
            &["run", "explore", "-"],
            &["run", "explore", "x"],
            &["steer", "1a2b3c4d"],
            &["steer", "1a2b3c4d", "use", "it"],
            &["show", "abc"],
            &["show", "1a2b3c4d"],
            &["list", "--state", "done"],
            &["inbox", "ack", "x"],
            &["run", "explore", "x", "--title", ""],
            &["result", "1a2b3c4d", "--child", "x"],
            &["daemon", "status"],
        ],
    );
    let refusals: [(&str, i64, &str, &[&str]); 8] = [
        (
            "unknownAgent",
            -33_001,
            "there is no agent `where is it?`; agents: explore",
            &["run", "where is it?", "explore"],
        ),
        (
            "modelNotExact",
            -33_002,
            "model `gpt`, which the call names, is not exact",
            &["run", "explore", "x", "--model", "gpt"],
        ),
        (
            "workspaceUnusable",
            -33_002,
            "the workspace /gone cannot be used: it is no directory",
            &["run", "explore", "x"],
        ),
        ("overloaded", -33_005, "the queue is full", &["run", "explore", "x"]),
        (
            "ambiguous",
            -33_003,
            "several runs end with 1a2b3c: 01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d, 01998c1e-7a4b-7c3d-9e1f-00501a2b3c4d; \
             give more digits",
            &["show", "1a2b3c"],
        ),
        (
            "wrongState",
            -33_003,
            "run 01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d is still at work and keeps its workspace; `run/cancel` ends it",
            &["lease", "release", "1a2b3c4d"],
        ),
        (
            "noResult",
            -33_004,
            "run 01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d is queued; `run/wait` waits for it",
            &["result", "1a2b3c4d"],
        ),
        ("protocol", -33_011, "this daemon speaks protocol 2, not 1", &["show", "1a2b3c4d"]),
    ];
    for (kind, code, message, line) in refusals {
        let peer = Peer::scripted(move |_, _| Reply::Fault(code, kind, message));
        text.push('\n');
        text.push_str(&screen(&peer, line));
    }
    insta::assert_snapshot!(text);
}
