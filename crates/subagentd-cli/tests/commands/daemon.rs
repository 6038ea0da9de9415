//! With and without a daemon.

use std::fs;
use std::os::unix::net::UnixListener;
use std::process::Command;

use serde_json::json;

use crate::peer::{Peer, Reply, finish};

/// Its process number is above what the kernel gives, so that it counts as gone.
pub(crate) fn status() -> Reply {
    Reply::Result(json!({
        "version": "0.1.0", "protocol": 1, "pid": 2_000_000_000, "startedAtMs": 1_700_000_000_000_u64,
        "stateDirectory": "/s", "socket": "/r/rpc.sock", "stopping": false, "live": 0, "queued": 0, "maxChildren": 4,
        "defaultRuntime": {"value": "offline", "source": "default", "reason": "no pi was found"},
    }))
}

#[test]
fn where_nothing_was_ever_stored_no_daemon_is_started() {
    let peer = Peer::absent();
    let table: [(&[&str], i32, &str); 11] = [
        (&["list"], 0, "No runs.\n"),
        (&["list", "--json"], 0, "{\"runs\":[]}\n"),
        (&["lease", "list"], 0, "No workspace is held.\n"),
        (&["lease", "release", "1a2b3c4d"], 4, ""),
        (&["inbox"], 0, "Nothing new.\n"),
        (&["inbox", "ack", "--all", "--json"], 0, "{\"acknowledged\":0}\n"),
        (&["show", "1a2b3c4d"], 4, ""),
        (&["wait", "1a2b3c4d"], 4, ""),
        (&["cancel", "1a2b3c4d"], 4, ""),
        (&["result", "1a2b3c4d"], 4, ""),
        (&["daemon", "status"], 9, ""),
    ];
    for (line, code, out) in table {
        let seen = peer.run(line);
        assert_eq!((seen.code, seen.out.as_str()), (Some(code), out), "{line:?}: {seen:?}");
        assert!(!peer.state().exists(), "{line:?} made the state directory");
    }
}

#[test]
fn what_needs_the_daemon_says_how_to_get_one() {
    let peer = Peer::absent();
    for line in [&["run", "explore", "x"][..], &["agents"], &["daemon", "start"]] {
        let seen = peer.run(line);
        assert_eq!(seen.code, Some(9), "{line:?}: {seen:?}");
        assert!(seen.err.contains("SUBAGENTD_DAEMON"), "{line:?}: {seen:?}");
    }
    // Stored runs can be read only through the daemon.
    fs::create_dir(peer.state()).unwrap();
    let seen = peer.run(&["list", "--json"]);
    assert_eq!(seen.code, Some(9), "{seen:?}");
    assert_eq!(seen.document()["error"]["kind"], "daemonMissing");
}

/// What the shell does in the daemon's place: it is started as `sh serve` and so runs this file.
fn stand_in(peer: &Peer, script: &str) -> Command {
    fs::write(peer.place.path().join("serve"), script).unwrap();
    let mut command = peer.command(&["daemon", "start"]);
    command.env("SUBAGENTD_DAEMON", "/bin/sh");
    command
}

#[test]
fn a_daemon_that_does_not_run_is_started() {
    let serving = Peer::scripted(|_, _| status());
    let peer = Peer::absent();
    let script = format!("echo \"ready {}\"\n", serving.socket().display());
    let seen = finish(stand_in(&peer, &script).spawn().unwrap());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.out.starts_with("The daemon runs: "), "{seen:?}");
    assert!(!seen.err.contains("already"), "{seen:?}");
}

#[test]
fn a_daemon_that_cannot_start_is_told_with_its_own_words() {
    let peer = Peer::absent();
    let seen = finish(stand_in(&peer, "echo 'no space left' >&2\nexit 1\n").spawn().unwrap());
    assert_eq!(seen.code, Some(9), "{seen:?}");
    assert!(seen.err.contains("no space left"), "{seen:?}");
    assert!(seen.err.contains("daemon.log"), "{seen:?}");
}

#[test]
fn inside_a_run_no_daemon_is_started() {
    let peer = Peer::absent();
    let mut command = peer.command(&["run", "explore", "x"]);
    let seen = finish(command.env("SUBAGENTD_ATTEMPT", "01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d/0.1").spawn().unwrap());
    assert_eq!(seen.code, Some(9), "{seen:?}");
    assert!(seen.err.contains("inside a run"), "{seen:?}");
}

#[test]
fn status_and_start_tell_of_a_running_daemon() {
    let peer = Peer::scripted(|_, _| status());
    let seen = peer.run(&["daemon", "status"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.out.starts_with("The daemon runs: version 0.1.0, pid 2000000000, since "), "{seen:?}");
    let seen = peer.run(&["daemon", "start"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.err.contains("was running already"), "{seen:?}");
    let seen = peer.run(&["daemon", "status", "--json"]);
    assert_eq!(seen.document()["pid"], 2_000_000_000);
    // Status and stop have to work with a daemon that refuses our greeting.
    assert!(peer.asked("daemon/hello").is_empty());
}

#[test]
fn stop_without_a_daemon_removes_what_a_dead_one_left() {
    let peer = Peer::absent();
    fs::create_dir(peer.state()).unwrap();
    fs::write(peer.state().join("daemon.json"), "{}").unwrap();
    drop(UnixListener::bind(peer.socket()).unwrap());
    assert!(peer.socket().exists());
    let seen = peer.run(&["daemon", "stop"]);
    assert_eq!((seen.code, seen.out.as_str()), (Some(0), "No daemon is running.\n"), "{seen:?}");
    assert!(!peer.socket().exists(), "the socket is still there");
    assert!(!peer.state().join("daemon.json").exists(), "daemon.json is still there");
    let seen = peer.run(&["daemon", "stop", "--json"]);
    assert_eq!(seen.document(), json!({"running": false}));
}

#[test]
fn stop_of_a_running_daemon_tells_what_goes_on() {
    let peer = Peer::scripted(|method, _| match method {
        "daemon/status" => status(),
        _ => Reply::Result(json!({"live": 1, "queued": 0})),
    });
    let seen = peer.run(&["daemon", "stop"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.out.starts_with("The daemon stopped. 1 child works on, "), "{seen:?}");
}
