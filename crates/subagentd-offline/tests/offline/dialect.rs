use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::child::{Child, answer, command, refused, shape, wait};

fn work() -> TempDir {
    let work = TempDir::new().unwrap();
    fs::write(work.path().join("a.rs"), "/// Opens the gate.\nfn open_gate() {}\n").unwrap();
    work
}

/// A child that is in the middle of a prompt.
fn busy(work: &TempDir, sleep: &str) -> Child {
    let script = work.path().join("script");
    fs::write(&script, format!("{{\"say\":\"so far\"}}\n{{\"sleep\":{sleep}}}\n{{\"say\":\" and on\"}}\n")).unwrap();
    let mut child = Child::start(work.path(), &["--script", script.to_str().unwrap()]);
    child.prompt("go");
    child.until(|record| record["type"] == "message_end");
    child
}

#[test]
fn the_tool_probe_comes_first_and_reports_every_asked_built_in() {
    let work = work();
    let mut child = Child::start(work.path(), &["--mode", "rpc", "--tools", "read,made_up,grep,ls"]);
    child.send(&json!({ "type": "get_state" }));
    let probe = child.next();
    assert_eq!(probe["type"], "extension_ui_request", "{probe}");
    assert_eq!((&probe["method"], &probe["statusKey"]), (&json!("setStatus"), &json!("subagentd.tools")));
    assert_eq!(probe["statusText"], "[\"read\",\"grep\",\"ls\"]");
    assert_eq!(child.finish(), Some(0));
}

#[test]
fn state_and_models_have_pis_shapes() {
    let work = work();
    let mut child = Child::start(work.path(), &["--session-id", "s-1", "--model", "m", "--thinking", "high"]);
    child.send(&json!({ "type": "get_state", "id": "1" }));
    child.send(&json!({ "type": "get_available_models", "id": "2" }));
    let records = child.until(|record| record["id"] == "2");
    let state = &records[1];
    assert_eq!(
        (&state["type"], &state["id"], &state["success"]),
        (&json!("response"), &json!("1"), &json!(true)),
        "{state}"
    );
    let data = &state["data"];
    assert_eq!(
        (&data["model"]["provider"], &data["model"]["id"], &data["thinkingLevel"], &data["sessionId"]),
        (&json!("offline"), &json!("search"), &json!("off"), &json!("s-1"))
    );
    for key in ["isStreaming", "isCompacting", "autoCompactionEnabled"] {
        assert_eq!(data[key], false, "{key}");
    }
    for key in ["messageCount", "pendingMessageCount"] {
        assert_eq!(data[key], 0, "{key}");
    }
    let models = records[2]["data"]["models"].as_array().unwrap();
    assert_eq!(models.len(), 1);
    assert_eq!(models[0], data["model"]);
    assert_eq!(models[0]["reasoning"], false);
    for key in ["name", "api", "baseUrl", "input", "contextWindow", "maxTokens", "cost"] {
        assert!(models[0].get(key).is_some(), "{key}");
    }
}

#[test]
fn a_prompt_runs_in_pis_order() {
    let work = work();
    let mut child = Child::start(work.path(), &[]);
    child.prompt("where is open_gate?");
    let records = child.settle();
    assert_eq!(
        shape(&records),
        [
            "extension_ui_request",
            "response",
            "agent_start",
            "turn_start",
            "message_start user",
            "message_end user",
            "message_start assistant",
            "message_end assistant",
            "tool_execution_start",
            "tool_execution_end",
            "message_start toolResult",
            "message_end toolResult",
            "turn_end assistant",
            "turn_start",
            "message_start assistant",
            "message_end assistant",
            "turn_end assistant",
            "agent_end",
            "agent_settled",
        ]
    );
    assert_eq!(records[1]["data"]["disposition"], "started");
    let (text, stop) = answer(&records);
    assert_eq!(stop, "stop");
    assert!(text.contains("a.rs:"), "{text}");
    let message = &records[records.len() - 3]["message"];
    assert_eq!((&message["provider"], &message["model"]), (&json!("offline"), &json!("search")));
    assert_eq!(message["usage"]["totalTokens"], 0);
    let end = &records[records.len() - 2];
    assert_eq!(end["willRetry"], false);
    assert_eq!(end["messages"].as_array().unwrap().len(), 4, "{end}");
    assert_eq!(records[records.len() - 1]["aborted"], false);
    assert_eq!(child.finish(), Some(0));
}

#[test]
fn an_abort_is_answered_after_the_run_has_settled() {
    let work = work();
    let mut child = busy(&work, "60000");
    child.send(&json!({ "type": "abort", "id": "a" }));
    let records = child.until(|record| record["command"] == "abort");
    let settled = &records[records.len() - 2];
    assert_eq!((&settled["type"], &settled["aborted"]), (&json!("agent_settled"), &json!(true)), "{records:#?}");
    assert_eq!(answer(&records), ("so far".to_owned(), "aborted".to_owned()));
    child.send(&json!({ "type": "abort", "id": "idle" }));
    assert_eq!(child.next()["id"], "idle");
    assert_eq!(child.finish(), Some(0));
}

#[test]
fn an_abort_ends_a_search() {
    let work = work();
    for at in 0..400 {
        fs::write(work.path().join(format!("f{at}.rs")), "fn open_gate() { gate(); }\n".repeat(200)).unwrap();
    }
    let mut child = Child::start(work.path(), &[]);
    child.send_raw(b"{\"type\":\"prompt\",\"message\":\"where is open_gate?\"}\n{\"type\":\"abort\",\"id\":\"a\"}\n");
    let records = child.until(|record| record["command"] == "abort");
    assert_eq!(answer(&records).1, "aborted");
    let tool = records.iter().find(|record| record["type"] == "tool_execution_end").unwrap();
    assert_eq!(tool["isError"], true);
    child.prompt("where is open_gate?");
    assert_eq!(answer(&child.settle()).1, "stop", "the next prompt is not aborted");
}

#[test]
fn prompts_while_busy_are_queued_or_refused() {
    let work = work();
    let mut child = busy(&work, "60000");
    for (behaviour, success) in
        [(Value::Null, false), (json!("later"), false), (json!("steer"), true), (json!("followUp"), true)]
    {
        child.send(&json!({ "type": "prompt", "id": "q", "message": format!("more {behaviour}"), "streamingBehavior": behaviour }));
        let response = child.until(|record| record["id"] == "q").pop().unwrap();
        assert_eq!(response["success"], success, "{behaviour}: {response}");
        if success {
            assert_eq!(response["data"]["disposition"], "queued");
        }
    }
    child.send(&json!({ "type": "get_state" }));
    let state = child.next();
    assert_eq!((&state["data"]["isStreaming"], &state["data"]["pendingMessageCount"]), (&json!(true), &json!(2)));
    child.send(&json!({ "type": "clear_queue", "id": "c" }));
    let records = child.until(|record| record["id"] == "c");
    assert_eq!(records[0], json!({ "type": "queue_update", "steering": [], "followUp": [] }));
    assert_eq!(records[1]["data"], json!({ "steering": ["more \"steer\""], "followUp": ["more \"followUp\""] }));
    child.send(&json!({ "type": "abort" }));
    child.settle();
}

#[test]
fn steering_adds_to_the_run_and_a_follow_up_has_its_own_answer() {
    let work = work();
    let mut child = busy(&work, "300");
    child.send(&json!({ "type": "prompt", "message": "steered", "streamingBehavior": "steer" }));
    child.send(&json!({ "type": "prompt", "message": "followed", "streamingBehavior": "followUp" }));
    let records = child.settle();
    let users: Vec<&Value> = records
        .iter()
        .filter(|record| record["type"] == "message_end" && record["message"]["role"] == "user")
        .map(|record| &record["message"]["content"][0]["text"])
        .collect();
    assert_eq!(users, [&json!("steered"), &json!("followed")]);
    let steered = records.iter().position(|record| record["message"]["content"][0]["text"] == "steered").unwrap();
    assert_eq!(answer(&records[steered..]).1, "stop");
    assert!(records[steered..].iter().any(|record| record["message"]["content"][0]["text"] == "so far and on"));
}

#[test]
fn what_it_does_not_understand_is_answered() {
    let work = work();
    let mut child = Child::start(work.path(), &[]);
    for (line, command, says) in [
        ("{\"type\":\"fly\",\"id\":\"1\"}", "fly", "Unknown command"),
        ("{broken", "parse", "Failed to parse command"),
        ("[1]", "parse", "JSON object"),
        ("{\"type\":\"prompt\"}", "prompt", "message"),
        ("{\"type\":\"prompt\",\"message\":\"\\ud800\"}", "parse", "hex escape"),
    ] {
        child.send_raw(format!("{line}\r\n").as_bytes());
        let response = child.until_type("response").pop().unwrap();
        assert_eq!(
            (&response["command"], &response["success"]),
            (&json!(command), &json!(false)),
            "{line}: {response}"
        );
        assert!(response["error"].as_str().unwrap().contains(says), "{line}: {response}");
    }
    child.send(&json!({ "type": "extension_ui_response", "id": "x", "cancelled": true }));
    child.send_raw(b"\n");
    child.send(&json!({ "type": "get_state", "id": "still" }));
    assert_eq!(child.next()["id"], "still");
}

#[test]
fn a_line_above_the_bound_is_dropped_and_answered() {
    let work = work();
    let mut child = Child::start(work.path(), &[]);
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..17 {
        child.send_raw(&piece);
    }
    child.send_raw(b"\n{\"type\":\"get_state\",\"id\":\"after\"}\n");
    let records = child.until(|record| record["id"] == "after");
    assert_eq!(records[1]["command"], "parse", "{records:#?}");
    assert!(records[1]["error"].as_str().unwrap().contains("16 MiB"));
}

#[test]
fn it_ends_as_pi_does() {
    let work = work();
    let mut idle = Child::start(work.path(), &[]);
    idle.next();
    idle.close_input();
    assert_eq!(idle.end().1.code(), Some(0), "idle, input closed");

    let mut working = busy(&work, "60000");
    working.close_input();
    let (rest, status) = working.end();
    assert_eq!((rest, status.code()), (Vec::new(), Some(0)), "busy, input closed");

    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        let working = busy(&work, "{\"ms\":60000,\"ignoreEnd\":true}");
        working.signal(signal);
        assert_eq!(working.end().1.code(), Some(code), "{signal}");
    }
}

#[test]
fn a_closed_output_ends_it_with_1() {
    let work = work();
    let mut process =
        command(work.path()).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(process.stdout.take());
    assert_eq!(wait(&mut process).code(), Some(1));
}

#[test]
fn a_stalled_reader_does_not_keep_it_from_a_signal() {
    let work = work();
    let script = work.path().join("script");
    // More than a pipe holds.
    fs::write(&script, json!({ "say": "x".repeat(500_000) }).to_string()).unwrap();
    let mut process = command(work.path())
        .args(["--script", script.to_str().unwrap()])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = process.stdout.take().unwrap();
    std::io::Write::write_all(process.stdin.as_mut().unwrap(), b"{\"type\":\"prompt\",\"message\":\"go\"}\n").unwrap();
    // So many bytes are in the middle of the long record, and the pipe has no room for its rest.
    std::io::Read::read_exact(&mut output, &mut [0; 16 * 1024]).unwrap();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(process.id()).unwrap());
    nix::sys::signal::kill(pid, Signal::SIGTERM).unwrap();
    assert_eq!(wait(&mut process).code(), Some(143));
}

#[test]
fn a_wrong_start_says_why() {
    let work = work();
    for (args, says) in [(&["--fly"][..], "unknown argument \"--fly\""), (&["--mode", "json"], "only mode is rpc")] {
        let (code, said) = refused(work.path(), args);
        assert_eq!(code, Some(1), "{args:?}");
        assert!(said.contains(says), "{args:?}: {said}");
    }
}
