//! What is written down on disk: shapes and modes.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde_json::{Value, json};
use subagentd_tests::{Puppet, Script, Site};

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Decisions N9 and N17.
#[tokio::test]
async fn events_and_facts_have_their_shapes() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let big = "x".repeat(10_000);
    let script = Script::new()
        .step(json!({ "tool": { "name": "bash", "args": { "command": "false" }, "result": "no", "exitCode": 1 } }))
        .step(json!({ "tool": { "name": "read", "args": { "path": big }, "result": "text" } }))
        .say("two tools");
    let view = owner.run(&site.play("worker", &script)).await;
    let child = &view.children[0];
    assert_eq!(child.tool_calls, Some(2));
    let folder = Path::new(child.folder.as_ref().unwrap());

    let facts = lines(&folder.join("facts.jsonl"));
    assert_eq!(facts.len(), 2);
    for (fact, (seq, name)) in facts.iter().zip([(1, "bash"), (2, "read")]) {
        let names: Vec<&str> = fact.as_object().unwrap().keys().map(String::as_str).collect();
        for name in ["seq", "id", "parent", "name", "args", "exitCode", "isError", "startedMs", "endedMs"] {
            assert!(names.contains(&name), "{name} is missing: {names:?}");
        }
        assert_eq!((&fact["seq"], &fact["name"], &fact["parent"]), (&json!(seq), &json!(name), &Value::Null));
        assert!(fact["startedMs"].as_u64().unwrap() <= fact["endedMs"].as_u64().unwrap());
    }
    assert_eq!(
        (&facts[0]["exitCode"], &facts[0]["isError"], &facts[0]["clipped"]),
        (&json!(1), &json!(true), &json!(false))
    );
    assert_eq!(
        (&facts[1]["exitCode"], &facts[1]["isError"], &facts[1]["clipped"]),
        (&Value::Null, &json!(false), &json!(true))
    );
    assert!(facts[1]["args"].as_str().unwrap().len() <= 4096);

    let events = lines(&folder.join("events.jsonl"));
    for (event, seq) in events.iter().zip(1_u64..) {
        assert_eq!(event["seq"], seq);
        assert!(event["atMs"].as_u64().unwrap() >= view.created_at_ms);
        assert_eq!(event["kind"], event["record"]["type"], "{event}");
    }
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    for kind in ["tool_execution_start", "tool_execution_end", "message_end", "agent_settled"] {
        assert!(kinds.contains(&kind), "{kind} is missing: {kinds:?}");
    }
    assert!(!events.iter().any(|event| event["record"]["assistantMessageEvent"]["type"] == "text_delta"), "no deltas");
}

/// F05, the last sentence: whatever the umask was, all of it is the user's own.
#[tokio::test]
async fn everything_below_the_state_directory_is_private() {
    let site = Site::new();
    let mut command = site.command("sh");
    command.args(["-c", "umask 000; exec \"$0\" serve"]).arg(&subagentd_tests::programs().daemon);
    let daemon = site.try_start(command).unwrap();
    let owner = daemon.owner("me").await;
    let long = "a long task ".repeat(8 * 1024);
    let mut ask = site.play("worker", &Script::new().step(json!({ "tool": "read" })).say("done")).task(&long);
    ask.params.capture.environment.as_mut().unwrap().umask = Some(0);
    owner.run(&ask).await;
    let puppet = Puppet::new(&site, "echo noise >&2; settle", "done");
    let mut live = site.puppet("explore", &Puppet::new(&site, "gate", ""));
    live.params.capture.environment.as_mut().unwrap().umask = Some(0);
    owner.run(&site.puppet("explore", &puppet)).await;
    let run = owner.begin(&live).await;
    let mut seen = Vec::new();
    assert_private(&site.state(), &mut seen);
    for name in [
        "subagentd.db",
        "daemon.json",
        "request.json",
        "lock",
        "tree",
        "started",
        "events.jsonl",
        "facts.jsonl",
        "stderr.log",
        "shim.log",
        "result.md",
        "record",
        "ctl",
    ] {
        assert!(seen.iter().any(|path| path.ends_with(name)), "{name} was not seen: {seen:?}");
    }
    owner.cancel(&run).await;
    owner.wait(&run).await;
}

fn assert_private(path: &Path, seen: &mut Vec<String>) {
    let found = path.symlink_metadata().unwrap();
    let mode = found.mode() & 0o7777;
    // A socket needs no more than a file; the private folder around it closes the moment of its making.
    let expected: &[u32] = match () {
        () if found.is_dir() => &[0o700],
        () if found.is_file() => &[0o600],
        () => &[0o600, 0o700],
    };
    assert!(expected.contains(&mode), "{} has mode {mode:o}", path.display());
    seen.push(path.display().to_string());
    // What stands in its own folder the child has made itself, by its client's mask.
    if found.is_dir() && !path.ends_with("session") {
        for entry in path.read_dir().unwrap() {
            assert_private(&entry.unwrap().path(), seen);
        }
    }
}
