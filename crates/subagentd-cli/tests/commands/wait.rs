//! Waiting: Ctrl-C, limits, a daemon that goes away.

use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::{SIGINT, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::peer::{Peer, RUN, Reply, finish, launched, view, waited};

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
    assert_eq!(seen.document()["error"]["kind"], "waitInterrupted");
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
    assert_eq!(asked[2]["run"], RUN);
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
    assert!(seen.err.contains("The daemon was stopped. This waits 10s for the next one;"), "{seen:?}");
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

#[test]
fn a_daemon_that_is_stopping_is_no_refusal_of_a_run_that_was_accepted() {
    let waits = AtomicU32::new(0);
    let peer = Peer::scripted(move |method, _| match method {
        "run/launch" => launched(),
        "run/wait" if waits.fetch_add(1, Ordering::Relaxed) < 8 => Reply::Fault(-33_006, "draining", "It is stopping."),
        "run/wait" => waited("succeeded", true),
        _ => Reply::Result(json!({"acknowledged": 1})),
    });
    let seen = peer.run(&["run", "explore", "find it", "--owner", "cli:test"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(seen.err.matches("The daemon was stopped").count(), 1, "it is told once: {seen:?}");
}

#[test]
fn what_goes_wrong_under_a_wait_names_the_run_and_is_no_refusal() {
    for (kind, code, exit) in [("draining", -33_006, 9), ("storage", -33_009, 9), ("internal", -32_603, 1)] {
        let peer = Peer::scripted(move |_, _| Reply::Fault(code, kind, "It cannot now."));
        let seen = peer.run(&["wait", RUN, "--timeout", "300ms", "--json"]);
        assert_eq!(seen.code, Some(exit), "{kind}: {seen:?}");
        assert_eq!(seen.document()["error"]["run"], RUN, "{kind}: {seen:?}");
        assert_eq!(seen.err.lines().count(), 1, "{kind}: what to do is in the document: {seen:?}");
    }
}

/// Its `daemon.json` names a process that does not live any more.
#[test]
fn a_daemon_that_crashed_is_started_again() {
    let serving = Peer::scripted(|method, _| match method {
        "run/wait" => waited("succeeded", true),
        _ => Reply::Result(json!({"acknowledged": 1})),
    });
    let crashing = Peer::crashing();
    std::fs::create_dir(crashing.state()).unwrap();
    std::fs::set_permissions(crashing.state(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let left = json!({"socket": crashing.socket(), "pid": 2_000_000_000, "start": 1, "boot": "b", "version": "0"});
    std::fs::write(crashing.state().join("daemon.json"), left.to_string()).unwrap();
    let script = format!("echo \"ready {}\"\n", serving.socket().display());
    std::fs::write(crashing.place.path().join("serve"), script).unwrap();
    let seen = finish(crashing.command(&["wait", "1a2b3c4d"]).env("SUBAGENTD_DAEMON", "/bin/sh").spawn().unwrap());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.err.contains("The daemon crashed; starting the next one."), "{seen:?}");
}

#[test]
fn several_runs_are_waited_for_in_order_and_the_first_bad_end_tells() {
    let peer = Peer::scripted(|method, params| match (method, params["run"].as_str()) {
        ("run/wait", Some("aaaaaa")) => waited("succeeded", true),
        ("run/wait", Some("bbbbbb")) => Reply::Fault(-33_004, "notFound", "no run ends with bbbbbb"),
        ("run/wait", Some("cccccc")) => waited("timed_out", true),
        ("run/wait", _) => waited("failed", true),
        _ => Reply::Result(json!({"acknowledged": 1})),
    });
    let table: [(&[&str], i32); 4] = [
        (&["aaaaaa", "aaaaaa"], 0),
        (&["aaaaaa", "bbbbbb", "cccccc"], 4),
        (&["cccccc", "bbbbbb"], 5),
        (&["aaaaaa", "dddddd", "cccccc"], 1),
    ];
    for (runs, code) in table {
        let seen = peer.run(&[&["wait"], runs].concat());
        assert_eq!(seen.code, Some(code), "{runs:?}: {seen:?}");
        let found = runs.iter().filter(|run| **run != "bbbbbb").count();
        assert_eq!(seen.out.matches("\n  runtime  ").count(), found, "{seen:?}");
        let seen = peer.run(&[&["wait"], runs, &["--json"]].concat());
        assert_eq!((seen.code, seen.out.lines().count()), (Some(code), runs.len()), "a line for each: {seen:?}");
    }
}

#[test]
fn several_runs_are_cancelled_and_one_that_is_not_there_stops_nothing() {
    let peer = Peer::scripted(|_, params| match params["run"].as_str() {
        Some("bbbbbb") => Reply::Fault(-33_004, "notFound", "no run ends with bbbbbb"),
        _ => Reply::Result(json!({"run": RUN, "state": "running", "outcome": "cancelling"})),
    });
    let seen = peer.run(&["cancel", "aaaaaa", "bbbbbb", "cccccc"]);
    assert_eq!(seen.code, Some(4), "{seen:?}");
    assert_eq!(seen.out, "Run 1a2b3c4d is being cancelled.\n".repeat(2));
    assert!(seen.err.ends_with("Next: subagentd-cli wait 1a2b3c4d 1a2b3c4d   until they have ended\n"), "{seen:?}");
}
