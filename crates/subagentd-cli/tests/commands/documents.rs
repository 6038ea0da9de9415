//! `--json`: every command prints the document that its `--help` names, whole.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use subagentd_proto::{agent, daemon, inbox, lease, run};

use crate::daemon::status;
use crate::peer::{Peer, RUN, Reply, launched, reference, view, waited};

/// Answers every method, each with all the members it can have as far as these tests know.
pub(crate) fn everything(method: &str, params: &Value) -> Reply {
    Reply::Result(match method {
        "run/launch" => return launched(),
        "run/wait" => return waited("succeeded", true),
        "daemon/status" => return status(),
        "run/get" => view("succeeded", "cli:test"),
        "run/list" => json!({"runs": rows(params)}),
        "run/steer" => json!({"run": RUN, "child": 0, "number": 3, "receipt": "delivered", "state": "running"}),
        "run/pause" => json!({"run": RUN, "state": "running", "outcome": "pausing"}),
        "run/resume" => json!({
            "run": RUN, "child": 0, "attempt": 2, "state": "queued", "remarks": ["environment.daemon"],
            "waits": {"on": "slot", "place": 2},
        }),
        "run/cancel" => json!({"run": RUN, "state": "running", "outcome": "cancelling"}),
        "run/result" => json!({
            "run": RUN, "child": 0, "state": "succeeded", "complete": true, "reference": reference(),
            "text": {"offset": 0, "text": "the answer\n"}, "notice": {"seq": 7, "acknowledged": false},
        }),
        "inbox/list" => json!({"notices": [{
            "seq": 7, "kind": "ended", "run": RUN, "state": "succeeded", "reason": "completed", "agent": "explore",
            "title": "t", "reference": reference(), "atMs": 1_700_000_003_000_u64,
        }]}),
        "inbox/ack" => json!({"acknowledged": 1}),
        "agent/list" => json!({"text": "Executable agents:\n- explore (builtin): Finds"}),
        "agent/catalog" => json!({
            "agents": [{
                "name": "explore", "description": "Finds", "source": "builtin", "tools": ["read"], "class": "shared",
                "background": false, "launchable": true,
            }],
            "runtimes": [{"name": "offline", "default": true, "reason": "it is there"}],
            "faults": ["agents.user names /a, which is not there"],
        }),
        "lease/list" => json!({"leases": [{
            "run": RUN, "child": 0, "state": "running", "workspace": "/w", "sinceMs": 1_700_000_000_000_u64,
        }]}),
        "lease/release" => json!({"released": 1}),
        "daemon/stop" => json!({"live": 1, "queued": 0}),
        _ => return Reply::Fault(-32_601, "methodNotFound", "There is no such method."),
    })
}

/// One run of each kind, those in the states that are asked for.
fn rows(params: &Value) -> Vec<Value> {
    let row = |run: &str, state: &str, owner: &str, more: Value| {
        let mut row = json!({
            "run": run, "state": state, "agent": "explore", "children": 1, "title": "where is it?", "owner": owner,
            "directory": "/w", "runtime": "offline", "createdAtMs": 1_700_000_000_000_u64,
        });
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    let ended = |reason: &str| {
        json!({
            "reason": reason, "startedAtMs": 1_700_000_001_000_u64, "endedAtMs": 1_700_000_003_000_u64,
            "notice": {"seq": 7, "acknowledged": false},
        })
    };
    let waits = json!({"waits": {"on": "scope", "place": 1, "holder": RUN, "holderSinceMs": 1_700_000_000_000_u64}});
    let rows = [
        row("01998c1e-7a4b-7c3d-9e1f-000000000006", "paused", "pi:other", json!({})),
        row("01998c1e-7a4b-7c3d-9e1f-000000000005", "paused", "cli:test", json!({})),
        row("01998c1e-7a4b-7c3d-9e1f-000000000004", "queued", "cli:test", waits),
        row("01998c1e-7a4b-7c3d-9e1f-000000000003", "starting", "cli:test", json!({})),
        row("01998c1e-7a4b-7c3d-9e1f-000000000002", "succeeded", "cli:test", ended("completed")),
        row("01998c1e-7a4b-7c3d-9e1f-000000000001", "timed_out", "pi:other", ended("timeout.idle")),
        row(RUN, "failed", "cli:test", ended("child.exited")),
    ];
    let states = params["states"].as_array();
    let wanted = |row: &Value| {
        states.is_none_or(|states| states.contains(&row["state"]))
            && (params["owner"].is_null() || params["owner"] == row["owner"])
    };
    rows.into_iter().filter(wanted).collect()
}

/// Reads the document as a wire type and writes it again: nothing may be lost or added.
fn is<T: Serialize + DeserializeOwned>(document: &Value) -> Result<(), String> {
    let read: T = serde_json::from_value(document.clone()).map_err(|error| error.to_string())?;
    let again = serde_json::to_value(read).map_err(|error| error.to_string())?;
    if again == *document { Ok(()) } else { Err(format!("read as {again}")) }
}

type Check = fn(&Value) -> Result<(), String>;

#[test]
fn every_document_is_the_wire_type_that_help_names() {
    let table: &[(&[&str], &str, Check)] = &[
        (&["run", "explore", "x"], "WaitResponse", is::<run::WaitResponse>),
        (&["run", "explore", "x", "--detach"], "LaunchResponse", is::<run::LaunchResponse>),
        (&["list"], "ListResponse", is::<run::ListResponse>),
        (&["list", "--all", "--state", "failed"], "ListResponse", is::<run::ListResponse>),
        (&["show", "1a2b3c4d"], "RunView", is::<run::RunView>),
        (&["wait", "1a2b3c4d"], "WaitResponse", is::<run::WaitResponse>),
        (&["steer", "1a2b3c4d", "x"], "SteerResponse", is::<run::SteerResponse>),
        (&["pause", "1a2b3c4d"], "PauseResponse", is::<run::PauseResponse>),
        (&["resume", "1a2b3c4d"], "WaitResponse", is::<run::WaitResponse>),
        (&["resume", "1a2b3c4d", "x", "--detach"], "ResumeResponse", is::<run::ResumeResponse>),
        (&["cancel", "1a2b3c4d"], "CancelResponse", is::<run::CancelResponse>),
        (&["result", "1a2b3c4d"], "ResultResponse", is::<run::ResultResponse>),
        (&["result", "1a2b3c4d", "--path"], "ResultResponse", is::<run::ResultResponse>),
        (&["inbox"], "ListResponse", is::<inbox::ListResponse>),
        (&["inbox", "ack", "7"], "AckResponse", is::<inbox::AckResponse>),
        (&["agents"], "CatalogResponse", is::<agent::CatalogResponse>),
        (&["agents", "--task", "look into this"], "ListResponse", is::<agent::ListResponse>),
        (&["lease", "list"], "ListResponse", is::<lease::ListResponse>),
        (&["lease", "release", "1a2b3c4d"], "ReleaseResponse", is::<lease::ReleaseResponse>),
        (&["daemon", "start"], "StatusResponse", is::<daemon::StatusResponse>),
        (&["daemon", "status"], "StatusResponse", is::<daemon::StatusResponse>),
        (&["daemon", "stop"], "StopResponse", is::<daemon::StopResponse>),
    ];
    let peer = Peer::scripted(everything);
    for (line, name, check) in table {
        let seen = peer.run(&[line, &["--json"][..]].concat());
        assert_eq!((seen.code, seen.err.as_str()), (Some(0), ""), "{line:?}: {seen:?}");
        if let Err(told) = check(&seen.document()) {
            panic!("{line:?} is no {name}: {told}: {seen:?}");
        }
        let words: Vec<&str> = line.iter().copied().take_while(|word| !word.starts_with('-')).collect();
        let help = peer.run(&[&words, &["--help"][..]].concat());
        assert!(help.out.contains(&format!("({name})")), "{line:?} does not name {name}: {}", help.out);
    }
}

/// It has one member more, which tells that none ran.
#[test]
fn a_stop_where_none_ran_reads_as_one_that_left_nothing() {
    let seen = Peer::absent().run(&["daemon", "stop", "--json"]);
    let read: daemon::StopResponse = serde_json::from_value(seen.document()).unwrap();
    assert_eq!(read, daemon::StopResponse { live: 0, queued: 0 });
}

/// Documents for errors have one shape, whoever refuses: the parser, this program or the daemon.
#[test]
fn every_error_is_a_document_of_one_shape() {
    let peer = Peer::scripted(|_, _| Reply::Fault(-33_004, "notFound", "No run ends like that."));
    let absent = Peer::absent();
    let table: [(&Peer, &[&str], &str); 5] = [
        (&peer, &["show", "1a2b3c4d"], "notFound"),
        (&peer, &["show", "x"], "usage"),
        (&peer, &["lst"], "usage"),
        (&absent, &["daemon", "status"], "notRunning"),
        (&absent, &["agents"], "daemonMissing"),
    ];
    for (peer, line, kind) in table {
        let seen = peer.run(&[line, &["--json"][..]].concat());
        let document = seen.document();
        let error = document["error"].as_object().unwrap_or_else(|| panic!("{line:?}: {seen:?}"));
        assert_eq!(error["kind"], kind, "{seen:?}");
        assert!(error["message"].is_string() && error["retryable"].is_boolean(), "{seen:?}");
        assert!(!seen.err.is_empty(), "{line:?} tells a person nothing");
        let hint = error.get("hint").and_then(Value::as_str);
        assert!(hint.is_none_or(|hint| hint.lines().count() == 1), "a hint is one line: {seen:?}");
    }
}
