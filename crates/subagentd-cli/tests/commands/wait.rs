//! Waiting: Ctrl-C, limits, a daemon that goes away.

use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::{SIGINT, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::peer::{Peer, Reply, finish, launched, view, waited};

#[test]
fn ctrl_c_ends_the_wait_and_tells_that_the_run_goes_on() {
    let lines: [&[&str]; 2] = [&["run", "explore", "find it"], &["wait", "1a2b3c4d"]];
    for line in lines {
        let peer = Peer::scripted(|method, _| match method {
            "run/launch" => launched(),
            _ => Reply::Silence,
        });
        let child = peer.command(line).spawn().unwrap();
        peer.until("run/wait");
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), SIGINT).unwrap();
        let seen = finish(child);
        assert_eq!(seen.code, Some(130), "{seen:?}");
        assert_eq!(seen.out, "");
        assert!(
            seen.err.ends_with(
                "Run 1a2b3c4d goes on.\nNext: subagentd-cli wait 1a2b3c4d     wait for its end\n      \
                 subagentd-cli cancel 1a2b3c4d   end it\n"
            ),
            "{seen:?}"
        );
        assert!(peer.asked("run/cancel").is_empty());
    }
}

#[test]
fn ctrl_c_twice_ends_a_launch_that_is_not_answered() {
    let peer = Peer::scripted(|_, _| Reply::Silence);
    let child = peer.command(&["run", "explore", "find it", "--json"]).spawn().unwrap();
    peer.until("run/launch");
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
    kill(pid, SIGINT).unwrap();
    kill(pid, SIGINT).unwrap();
    let seen = finish(child);
    assert_eq!(seen.code, Some(130), "{seen:?}");
    assert_eq!(seen.document()["error"]["kind"], "interrupted");
    assert!(seen.err.contains("may have been accepted"), "{seen:?}");
}

#[test]
fn a_wait_that_runs_out_leaves_the_run_alone() {
    let peer = Peer::scripted(|_, _| waited("running", false));
    let seen = peer.run(&["wait", "1a2b3c4d", "--timeout", "0"]);
    assert_eq!(seen.code, Some(11), "{seen:?}");
    assert!(seen.out.starts_with("Run 1a2b3c4d running: explore, "), "{seen:?}");
    assert!(seen.err.starts_with("The time is up; the run goes on."), "{seen:?}");
    assert_eq!(peer.asked("run/wait"), [json!({"run": "1a2b3c4d", "timeoutMs": 0, "foreground": true})]);
    assert!(peer.asked("inbox/ack").is_empty());
}

#[test]
fn slices_follow_each_other_by_the_full_name() {
    let slices = AtomicU32::new(0);
    let peer = Peer::scripted(move |method, _| match method {
        "run/wait" if slices.fetch_add(1, Ordering::Relaxed) < 2 => waited("running", false),
        "run/wait" => waited("succeeded", true),
        _ => Reply::Result(json!({"acknowledged": 1})),
    });
    let seen = peer.run(&["wait", "1a2b3c4d"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let asked = peer.asked("run/wait");
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0], json!({"run": "1a2b3c4d", "timeoutMs": 50_000, "foreground": true}));
    assert_eq!(asked[2]["run"], crate::peer::RUN);
}

#[test]
fn a_paused_run_is_not_waited_for_and_tells_how_to_go_on() {
    let peer = Peer::scripted(|_, _| waited("paused", false));
    let seen = peer.run(&["wait", "1a2b3c4d", "--owner", "cli:test"]);
    assert_eq!(seen.code, Some(11), "{seen:?}");
    assert!(seen.err.ends_with(
        "It is paused.\nNext: subagentd-cli resume 1a2b3c4d   let it go on\n      subagentd-cli cancel 1a2b3c4d   end it\n"
    ), "{seen:?}");
}

#[test]
fn a_daemon_that_comes_back_is_waited_with_again() {
    let waits = AtomicU32::new(0);
    let peer = Peer::scripted(move |method, _| match method {
        "run/wait" if waits.fetch_add(1, Ordering::Relaxed) == 0 => Reply::Close,
        "run/wait" => waited("succeeded", true),
        _ => Reply::Result(json!({"acknowledged": 1})),
    });
    let seen = peer.run(&["wait", "1a2b3c4d", "--owner", "cli:test"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.err.contains("The daemon went away"), "{seen:?}");
    assert_eq!(peer.asked("daemon/hello").len(), 2);
    assert_eq!(peer.asked("inbox/ack"), [json!({"seqs": [7]})]);
}

#[test]
fn a_daemon_that_always_hangs_up_is_given_up() {
    let peer = Peer::scripted(|_, _| Reply::Close);
    let seen = peer.run(&["wait", "1a2b3c4d"]);
    assert_eq!(seen.code, Some(9), "{seen:?}");
    assert!(peer.asked("run/wait").len() > 1, "{:?}", peer.calls());
}

#[test]
fn a_notice_that_cannot_be_acknowledged_is_a_warning() {
    let peer = Peer::scripted(|method, _| match method {
        "run/wait" => waited("succeeded", true),
        _ => Reply::Fault(-33_009, "storage", "The disk is full."),
    });
    let seen = peer.run(&["wait", "1a2b3c4d", "--owner", "cli:test"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.err.contains("warning: notice 7 could not be marked as seen: The disk is full."), "{seen:?}");
}

#[test]
fn notices_of_others_are_left_to_them() {
    let peer = Peer::scripted(|_, _| Reply::Result(json!({"ended": true, "run": view("succeeded", "pi:other")})));
    let seen = peer.run(&["wait", "1a2b3c4d", "--owner", "cli:test"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(peer.asked("inbox/ack").is_empty());
}
