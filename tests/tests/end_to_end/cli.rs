//! The command line against the real daemon.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};
use subagentd_tests::{Puppet, Said, Script, Site};

/// The environment of a command line whose children play a script.
fn playing(script: &Script) -> Site {
    let mut site = Site::with(&[("limits.grace", "100ms")]);
    let path = script.write(&site);
    site.set("SUBAGENTD_OFFLINE_SCRIPT", path);
    site
}

fn ending(document: &Value) -> String {
    let run = document["run"].as_str().unwrap_or_else(|| panic!("no run: {document}"));
    run[run.len() - 8..].to_owned()
}

#[tokio::test]
async fn a_run_from_the_first_command_to_the_last() {
    let site = playing(&Script::new().say("the answer\n"));
    assert_eq!(site.cli(&["daemon", "status"]).await.code, Some(9), "none runs");
    let said = site.cli(&["run", "explore", "find it", "--title", "a title"]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("succeeded") && said.out.contains("result.md"), "{said:?}");
    assert_eq!(site.daemons().len(), 1, "started by the command");

    let list = site.cli(&["list", "--json"]).await.document();
    assert_eq!(list["runs"].as_array().unwrap().len(), 1);
    let run = ending(&list["runs"][0]);
    let result = site.cli(&["result", &run]).await;
    assert_eq!((result.code, result.out.as_str()), (Some(0), "the answer\n"));
    let path = site.cli(&["result", &run, "--path"]).await.out;
    assert_eq!(std::fs::read_to_string(path.trim_end()).unwrap(), "the answer\n");
    for (args, words) in [
        (vec!["show", &run], "a title"),
        (vec!["list"], "a title"),
        (vec!["wait", &run], "succeeded"),
        (vec!["cancel", &run], "already ended"),
        (vec!["inbox"], "Nothing new"),
        (vec!["inbox", "--all"], "explore"),
        (vec!["agents"], "researcher"),
        (vec!["daemon", "status"], "the daemon runs"),
    ] {
        let said = site.cli(&args).await;
        assert_eq!(said.code, Some(0), "{args:?} {said:?}");
        assert!(said.out.to_lowercase().contains(&words.to_lowercase()), "{args:?} lacks {words}: {said:?}");
        let mut args = args;
        args.push("--json");
        assert!(site.cli(&args).await.document().is_object());
    }
    let stopped = site.cli(&["daemon", "stop"]).await;
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert!(site.daemons().is_empty());
    let started = site.cli(&["daemon", "start", "--json"]).await;
    assert_eq!((started.code, started.document()["live"].as_u64()), (Some(0), Some(0)));
}

/// Decision N6.
#[tokio::test]
async fn the_exit_code_tells_how_a_run_ended() {
    let ends = [
        (Script::new().say("well"), vec![], 0),
        (Script::new().step(json!({ "exit": 3 })), vec![], 1),
        (Script::new().sleep_long(), vec!["--timeout", "200ms"], 5),
    ];
    for (script, more, code) in ends {
        let site = playing(&script);
        let said = site.cli(&[&["run", "explore", "x", "--json"], more.as_slice()].concat()).await;
        assert_eq!(said.code, Some(code), "{said:?}");
        let run = ending(&said.document()["run"]);
        assert_eq!(site.cli(&["wait", &run]).await.code, Some(code), "wait tells the same");
    }
}

#[tokio::test]
async fn the_exit_code_tells_of_runs_that_were_ended_or_go_on() {
    let site = playing(&Script::new().sleep_long());
    let detached = async || {
        let said = site.cli(&["run", "explore", "x", "--detach", "--json"]).await;
        assert_eq!(said.code, Some(0), "{said:?}");
        ending(&said.document())
    };
    let run = detached().await;
    let waited = site.cli(&["wait", &run, "--timeout", "50ms"]).await;
    assert_eq!(waited.code, Some(11), "{waited:?}");
    assert_eq!(site.cli(&["cancel", &run]).await.code, Some(0));
    assert_eq!(site.cli(&["wait", &run]).await.code, Some(8));

    let run = detached().await;
    subagentd_tests::until("the child", async || (!site.attempts().is_empty()).then_some(())).await;
    site.processes().iter().filter(|process| process.is_shim()).for_each(|shim| shim.signal(Signal::TERM));
    let waited = site.cli(&["wait", &run]).await;
    assert_eq!(waited.code, Some(7), "{waited:?}");
    site.until_no_attempts().await;
}

#[tokio::test]
async fn the_exit_code_tells_why_nothing_was_done() {
    let site = playing(&Script::new().say("well"));
    let table: &[(&[&str], i32, &str)] = &[
        (&["run", "explore"], 2, "usage"),
        (&["run", "explore", ""], 2, "invalidParams"),
        (&["run", "nobody", "x"], 3, "unknownAgent"),
        (&["run", "explore", "x", "--directory", "/nonexistent"], 3, "workspaceUnusable"),
        (&["run", "explore", "x", "--runtime", "nothing"], 3, "runtimeUnavailable"),
        (&["show", "abcdef"], 4, "notFound"),
        (&["result", "abcdef"], 4, "notFound"),
        (&["cancel", "abcdef"], 4, "notFound"),
    ];
    for (args, code, kind) in table {
        let said = site.cli(&[args, &["--json"][..]].concat()).await;
        assert_eq!(
            (said.code, said.document()["error"]["kind"].as_str()),
            (Some(*code), Some(*kind)),
            "{args:?} {said:?}"
        );
        assert!(!said.err.is_empty(), "{args:?} says nothing to a person");
    }
}

#[tokio::test]
async fn a_daemon_that_cannot_be_started_is_told() {
    let mut site = Site::new();
    site.set("SUBAGENTD_DAEMON", "/nonexistent/daemon");
    let said = site.cli(&["run", "explore", "x", "--json"]).await;
    assert_eq!((said.code, said.document()["error"]["kind"].as_str()), (Some(9), Some("daemonMissing")), "{said:?}");
    let mut site = Site::new();
    site.set("SUBAGENTD_LIMITS__CHILDREN", "0");
    let said = site.cli(&["run", "explore", "x", "--json"]).await;
    assert_eq!(said.code, Some(9), "{said:?}");
    assert!(said.err.contains("limits.children"), "its last words are told: {said:?}");
}

#[tokio::test]
async fn a_reader_that_has_enough_is_no_error() {
    let site = playing(&Script::new().say(&"a long answer\n".repeat(100_000)));
    let run = ending(&site.cli(&["run", "explore", "x", "--json"]).await.document()["run"]);
    for args in [vec!["result", &run], vec!["result", &run, "--json"], vec!["list"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = site.cli_command(&args);
        let mut process = command.stdout(OwnedFd::from(writer)).stderr(Stdio::piped()).spawn().unwrap();
        drop(command);
        let mut err = String::new();
        process.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((process.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{args:?}");
    }
    let mut command = site.cli_command(&["list"]);
    command.env("TERM", "dumb");
    assert_eq!(Said::of(command).code, Some(0));
}

#[tokio::test]
async fn a_task_comes_from_standard_input_and_waiting_survives_a_restart() {
    let site = Site::with(&[("default_runtime", "offline")]);
    std::fs::write(site.work().join("notes.txt"), "where the needle_in_hay is\n").unwrap();
    let task = site.path("task");
    std::fs::write(&task, "find needle_in_hay").unwrap();
    let mut command = site.cli_command(&["run", "explore", "-", "--json"]);
    command.stdin(std::fs::File::open(&task).unwrap());
    let said = Said::of(command);
    assert_eq!(said.code, Some(0), "{said:?}");
    let answer = site.cli(&["result", &ending(&said.document()["run"])]).await.out;
    assert!(answer.contains("notes.txt:1"), "{answer}");

    site.cli(&["daemon", "stop"]).await;
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "late");
    let run = owner.begin(&site.puppet("explore", &puppet)).await;
    let mut waiting = site.cli_command(&["wait", &run]);
    let mut waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The first line of progress shows that it waits: before that it would start a daemon of its own.
    let mut told = BufReader::new(waiting.stderr.take().unwrap());
    let (mut told, line) = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        told.read_line(&mut line).unwrap();
        (told, line)
    })
    .await
    .unwrap();
    assert!(line.contains("explore"), "{line}");
    let _daemon = daemon.restart(&site).await;
    puppet.open_gate().await;
    let ended = tokio::task::spawn_blocking(move || {
        let mut rest = String::new();
        told.read_to_string(&mut rest).unwrap();
        (waiting.wait().unwrap(), rest)
    });
    let (status, rest) = ended.await.unwrap();
    assert_eq!(status.code(), Some(0), "{rest}");
}
