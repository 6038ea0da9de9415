//! `steer`, `pause`, `resume`: what is sent, told and exited with.

use std::io::Write;
use std::process::Stdio;

use nix::sys::signal::{SIGINT, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::documents::everything;
use crate::peer::{Peer, RUN, Reply, Seen, finish, view, waited};

const ENDED: &str = "run 01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d has ended as succeeded; `run/resume` goes on with it in \
                     its conversation";

fn piped(peer: &Peer, line: &[&str], text: &[u8]) -> Seen {
    let mut child = peer.command(line).stdin(Stdio::piped()).spawn().unwrap();
    // The program need not read all of it.
    child.stdin.take().unwrap().write_all(text).ok();
    finish(child)
}

/// Refuses every call but `run/get`, which shows a run in `state`.
fn refusing(method: &'static str, fault: (i64, &'static str, &'static str), run: Value) -> Peer {
    Peer::scripted(move |called, _| match called {
        "run/get" => Reply::Result(run.clone()),
        called if called == method => Reply::Fault(fault.0, fault.1, fault.2),
        _ => Reply::Result(json!({"acknowledged": 1})),
    })
}

#[test]
fn a_text_is_said_from_the_line_or_from_standard_input() {
    let peer = Peer::scripted(everything);
    let sent = |text: &str, delivery: &str| json!({"run": "1a2b3c4d", "text": text, "delivery": delivery});
    peer.run(&["steer", "1A2B3C4D", "use the new API"]);
    peer.run(&["steer", "1a2b3c4d", "then run the tests", "--after"]);
    piped(&peer, &["steer", "1a2b3c4d"], b"--- a/x\n+ y\n");
    piped(&peer, &["steer", "1a2b3c4d", "-", "--after"], "ä\n".as_bytes());
    assert_eq!(
        peer.asked("run/steer"),
        [
            sent("use the new API", "steer"),
            sent("then run the tests", "followUp"),
            sent("--- a/x\n+ y\n", "steer"),
            sent("ä\n", "followUp"),
        ]
    );
    peer.run(&["steer", "1a2b3c4d", "x", "--child", "2"]);
    assert_eq!(peer.asked("run/steer")[4]["child"], 2);
}

#[test]
fn a_text_that_cannot_be_said_starts_nothing() {
    let peer = Peer::absent();
    for (text, wanted) in [(&b""[..], "no text on standard input"), (&[b'x'; 65_537], "larger than 64.0 KB")] {
        let seen = piped(&peer, &["steer", "1a2b3c4d"], text);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.err.contains(wanted), "{seen:?}");
    }
}

#[test]
fn only_a_text_that_is_not_heard_fails() {
    for (receipt, state, code) in [
        ("stored", "queued", 0),
        ("accepted", "running", 0),
        ("delivered", "running", 0),
        ("undelivered", "succeeded", 1),
        ("moonstruck", "running", 0),
    ] {
        let peer = Peer::scripted(move |_, _| {
            Reply::Result(json!({"run": RUN, "child": 0, "number": 1, "receipt": receipt, "state": state}))
        });
        let seen = peer.run(&["steer", "1a2b3c4d", "x"]);
        assert_eq!(seen.code, Some(code), "{receipt}: {seen:?}");
        assert!(seen.err.starts_with("Next: subagentd-cli "), "{receipt}: {seen:?}");
        let seen = peer.run(&["steer", "1a2b3c4d", "x", "--json"]);
        assert_eq!((seen.code, seen.err.as_str()), (Some(code), ""), "{receipt}: {seen:?}");
    }
}

#[test]
fn a_refusal_comes_with_a_command_to_copy() {
    let mut begun_by_another = view("failed", "pi:other");
    begun_by_another["children"][0]["resumeRefusal"] = json!(null);
    let mut without_conversation = view("failed", "cli:test");
    without_conversation["children"][0]["resumeRefusal"] = json!("it ended before it had a conversation");
    let wrong = |text: &'static str| (-33_003, "wrongState", text);
    let table: [(&str, _, Value, &[&str], i32, &str); 8] = [
        (
            "run/steer",
            wrong(ENDED),
            view("succeeded", "cli:test"),
            &["steer", "1a2b3c4d", "x"],
            3,
            "resume 1a2b3c4d \"TEXT\"",
        ),
        (
            "run/steer",
            wrong("it is being cancelled"),
            view("running", "cli:test"),
            &["steer", "1a2b3c4d", "x"],
            3,
            "wait 1a2b3c4d",
        ),
        (
            "run/pause",
            wrong("it is being cancelled"),
            view("running", "cli:test"),
            &["pause", "1a2b3c4d"],
            3,
            "wait 1a2b3c4d",
        ),
        (
            "run/resume",
            wrong("it is at work"),
            view("running", "cli:test"),
            &["resume", "1a2b3c4d"],
            3,
            "steer 1a2b3c4d \"TEXT\"",
        ),
        ("run/resume", wrong("it cannot"), without_conversation, &["resume", "1a2b3c4d", "x"], 3, "show 1a2b3c4d"),
        (
            "run/resume",
            wrong("it left processes"),
            view("failed", "cli:test"),
            &["resume", "1a2b3c4d", "x"],
            3,
            "lease list",
        ),
        (
            "run/resume",
            (-32_602, "invalidParams", "say in `text` what its agent shall do now"),
            view("failed", "cli:test"),
            &["resume", "1a2b3c4d", "--detach"],
            2,
            "resume 1a2b3c4d \"TEXT\"",
        ),
        (
            "run/resume",
            (-33_002, "refused", "it belongs to pi:other; resume it with `takeover: true` to make it yours"),
            begun_by_another,
            &["resume", "1a2b3c4d", "x"],
            3,
            "resume 1a2b3c4d --take-over \"TEXT\"",
        ),
    ];
    for (method, fault, run, line, code, command) in table {
        let peer = refusing(method, fault, run);
        let line = [line, &["--owner", "cli:test"]].concat();
        let seen = peer.run(&line);
        assert_eq!((seen.code, seen.out.as_str()), (Some(code), ""), "{seen:?}");
        assert!(seen.err.starts_with("error: ") && !seen.err.contains("`run/"), "{seen:?}");
        assert!(!seen.err.contains("takeover"), "{seen:?}");
        let told = seen
            .err
            .lines()
            .any(|told| told.split("subagentd-cli ").nth(1).is_some_and(|told| told.starts_with(command)));
        assert!(told, "{command} is not in {seen:?}");
        let document = peer.run(&[&line[..], &["--json"]].concat()).document();
        assert_eq!((&document["error"]["kind"], &document["error"]["run"]), (&json!(fault.1), &json!(RUN)));
    }
}

#[test]
fn a_connection_that_breaks_leaves_open_what_was_done() {
    let peer = Peer::scripted(|_, _| Reply::Close);
    for line in [&["steer", "1a2b3c4d", "x"][..], &["resume", "1a2b3c4d"], &["resume", "1a2b3c4d", "--detach"]] {
        let seen = peer.run(line);
        assert_eq!(seen.code, Some(9), "{seen:?}");
        assert!(seen.err.contains(" may or may not have been "), "{seen:?}");
        assert!(seen.err.contains("subagentd-cli show 1a2b3c4d"), "{seen:?}");
    }
}

#[test]
fn a_resume_hands_over_what_the_shell_is_and_waits_like_a_run() {
    for (state, code) in [("succeeded", 0), ("failed", 1), ("interrupted", 7)] {
        let peer = Peer::scripted(move |method, params| match method {
            "run/wait" => waited(state, true),
            _ => everything(method, params),
        });
        let line = ["resume", "1a2b3c4d", "try again", "--owner", "cli:test"];
        let seen = finish(peer.command(&line).env("PLANTED", "väl=ue").spawn().unwrap());
        assert_eq!(seen.code, Some(code), "{seen:?}");
        assert!(seen.err.starts_with("Run 1a2b3c4d goes on: attempt 2.\n"), "{seen:?}");
        assert!(seen.out.starts_with(&format!("Run 1a2b3c4d {state}: explore")), "{seen:?}");
        assert_eq!(peer.asked("inbox/ack"), [json!({"seqs": [7]})]);
        let mut params = peer.asked("run/resume").remove(0);
        let environment = params["capture"]["environment"].take();
        assert_eq!(environment["variables"]["PLANTED"], "väl=ue");
        assert!(environment["umask"].is_u64() && environment["limits"]["nofile"].is_u64(), "{}", environment["limits"]);
        assert_eq!(
            params,
            json!({
                "run": "1a2b3c4d", "text": "try again", "takeover": false, "background": false,
                "capture": {"environment": null},
            })
        );
    }
}

#[test]
fn a_detached_resume_returns_at_once() {
    let peer = Peer::scripted(everything);
    let seen = piped(&peer, &["resume", "1a2b3c4d", "-", "--detach", "--take-over", "--child", "0"], b"more\n");
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let params = peer.asked("run/resume").remove(0);
    assert_eq!((&params["text"], &params["takeover"], &params["child"]), (&json!("more\n"), &json!(true), &json!(0)));
    assert_eq!(params["background"], true);
    assert!(peer.asked("run/wait").is_empty());
}

#[test]
fn what_is_on_standard_input_is_not_said_unasked() {
    let peer = Peer::scripted(everything);
    let mut child = peer.command(&["resume", "1a2b3c4d"]).stdin(Stdio::piped()).spawn().unwrap();
    // Left open: a script's own input must neither be read nor waited for.
    let input = child.stdin.take().unwrap();
    let seen = finish(child);
    drop(input);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(peer.asked("run/resume")[0].get("text"), None);
}

#[test]
fn ctrl_c_ends_the_wait_for_a_resumed_run_and_never_the_run() {
    let waits = Peer::scripted(|method, params| match method {
        "run/wait" => Reply::Silence,
        _ => everything(method, params),
    });
    let silent = Peer::scripted(|_, _| Reply::Silence);
    for (peer, until, presses, told) in [
        (&waits, "run/wait", 1, "Run 1a2b3c4d goes on.\n"),
        (&silent, "run/resume", 2, "The resume was on its way: the run may go on.\n"),
    ] {
        let child = peer.command(&["resume", "1a2b3c4d"]).spawn().unwrap();
        peer.until(until);
        for _ in 0..presses {
            kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), SIGINT).unwrap();
        }
        let seen = finish(child);
        assert_eq!((seen.code, seen.out.as_str()), (Some(130), ""), "{seen:?}");
        assert!(seen.err.contains(told), "{seen:?}");
        assert!(peer.asked("run/cancel").is_empty() && peer.asked("run/pause").is_empty());
    }
}
