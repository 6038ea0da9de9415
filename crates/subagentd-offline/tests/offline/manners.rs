//! Children that misbehave by themselves.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::child::{Child, answer, command, wait};
use crate::stage::{Stage, eventually};

const STAMP: &str = "stamps";

fn touch(label: &str) -> Value {
    json!({ "touch": { "path": STAMP, "label": label } })
}

/// Starts the script and waits until it sleeps after its last stamp.
fn running(stage: &Stage, label: &str) -> Child {
    let mut child = stage.start();
    child.prompt("go");
    eventually(|| stage.labels().iter().any(|found| found == label).then_some(())).expect("the stamp");
    child
}

#[test]
fn ignored_signals_leave_a_sleep_whole() {
    let stage = Stage::of(&[
        json!({ "ignore": ["TERM", "HUP", "INT"] }),
        touch("deaf"),
        json!({ "sleep": 300 }),
        json!({ "say": "slept" }),
    ]);
    let mut child = running(&stage, "deaf");
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM] {
        child.signal(signal);
    }
    assert_eq!(answer(&child.settle()).0, "slept");
    child.signal(Signal::SIGTERM);
    child.send(&json!({ "type": "get_state", "id": "still" }));
    child.until(|record| record["id"] == "still");
    child.close_input();
    assert_eq!(child.end().1.code(), Some(0));
}

#[test]
fn signals_that_are_not_ignored_still_end_it() {
    for (ignored, sent, code) in [("TERM", Signal::SIGHUP, 129), ("HUP", Signal::SIGTERM, 143)] {
        let stage = Stage::of(&[json!({ "ignore": [ignored] }), touch("ready"), json!({ "sleep": 60_000 })]);
        let child = running(&stage, "ready");
        child.signal(sent);
        assert_eq!(child.end().1.code(), Some(code), "{ignored}");
    }
}

#[test]
fn a_beat_does_not_take_signals_from_the_player() {
    // INT is blocked by the player after the beat's thread has begun.
    let stage = Stage::of(&[
        json!({ "beat": STAMP, "label": "beat", "ms": 1 }),
        json!({ "ignore": ["INT", "USR1"] }),
        touch("deaf"),
        json!({ "sleep": 200 }),
        json!({ "say": "slept" }),
    ]);
    let child = running(&stage, "deaf");
    child.signal(Signal::SIGINT);
    child.signal(Signal::SIGUSR1);
    assert_eq!(answer(&child.settle()).0, "slept");
}

#[test]
fn a_writer_that_ignores_closed_pipes_goes_on() {
    let stage = Stage::of(&[
        json!({ "ignore": { "ignoreInput": true } }),
        touch("ready"),
        json!({ "sleep": 200 }),
        json!({ "tool": "ls" }),
        json!({ "say": "into the void" }),
        json!({ "after": touch("after") }),
        json!({ "after": { "beat": STAMP, "label": "beat", "ms": 5 } }),
    ]);
    let mut process = command(stage.work.path())
        .args(["--script", stage.script.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.as_mut().unwrap().write_all(b"{\"type\":\"prompt\",\"message\":\"go\"}\n").unwrap();
    eventually(|| stage.labels().contains(&"ready".to_owned()).then_some(())).expect("ready");
    drop((process.stdin.take(), process.stdout.take()));
    let beating = stage.process("beat");
    let beats = stage.labels().len();
    eventually(|| (stage.labels().len() > beats + 5).then_some(())).expect("it beats on");
    assert!(stage.labels().contains(&"after".to_owned()));
    // It waits; it does not spin.
    let spent = cpu_ticks(beating.0.as_raw());
    std::thread::sleep(Duration::from_millis(300));
    assert!(cpu_ticks(beating.0.as_raw()) - spent < 20, "it spins");
    beating.signal(Signal::SIGTERM);
    assert_eq!(wait(&mut process).code(), Some(143));
}

/// Processor time in hundredths of a second.
fn cpu_ticks(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn a_goodbye_ends_the_open_run_with_its_words() {
    let farewell = json!([{ "say": "as far " }, touch("bye"), { "say": "as I came", "stop": "length" }]);
    let stage = Stage::of(&[
        json!({ "onTerm": farewell }),
        json!({ "say": "lost" }),
        touch("ready"),
        json!({ "sleep": 60_000 }),
    ]);
    let child = running(&stage, "ready");
    child.signal(Signal::SIGTERM);
    let (records, status) = child.end();
    assert_eq!(status.code(), Some(143));
    assert_eq!(answer(&records), ("as far as I came".to_owned(), "length".to_owned()));
    assert_eq!(records.last().unwrap()["type"], "agent_settled");
    assert_eq!(stage.labels(), ["ready", "bye"]);
}

#[test]
fn a_goodbye_without_a_run_or_a_reader_says_nothing() {
    let farewell = json!([{ "say": "unheard" }, touch("bye")]);
    // Before the first prompt.
    let stage = Stage::of(&[json!({ "before": { "onTerm": farewell } })]);
    let child = stage.start();
    child.next();
    child.signal(Signal::SIGTERM);
    let (records, status) = child.end();
    assert_eq!((records.len(), status.code()), (0, Some(143)), "{records:#?}");
    assert_eq!(stage.labels(), ["bye"]);

    // In the middle of a record that nobody takes.
    let stage = Stage::of(&[json!({ "onTerm": farewell }), touch("ready"), json!({ "raw": "x", "times": 4_000_000 })]);
    let mut process = command(stage.work.path())
        .args(["--script", stage.script.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.as_mut().unwrap().write_all(b"{\"type\":\"prompt\",\"message\":\"go\"}\n").unwrap();
    let mut output = process.stdout.take().unwrap();
    let mut taken = vec![0; 100_000];
    output.read_exact(&mut taken).unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(i32::try_from(process.id()).unwrap()), Signal::SIGTERM).unwrap();
    let status = wait(&mut process);
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).unwrap();
    assert_eq!(status.code(), Some(143));
    assert!(rest.ends_with(b"xxx"), "{}", String::from_utf8_lossy(&rest[rest.len().saturating_sub(200)..]));
    assert_eq!(stage.labels(), ["ready", "bye"]);
}

#[test]
fn a_goodbye_is_not_disturbed_and_may_end_by_itself() {
    for (last, code, signal) in [
        (json!({ "touch": STAMP }), Some(143), None),
        (json!({ "exit": 5 }), Some(5), None),
        (json!({ "die": "KILL" }), None, Some(9)),
    ] {
        let farewell = json!([touch("begun"), { "sleep": 150 }, touch("done"), last]);
        let stage = Stage::of(&[json!({ "onTerm": farewell }), touch("ready"), json!({ "sleep": 60_000 })]);
        let mut child = running(&stage, "ready");
        child.signal(Signal::SIGTERM);
        eventually(|| stage.labels().contains(&"begun".to_owned()).then_some(())).expect("begun");
        child.signal(Signal::SIGTERM);
        child.signal(Signal::SIGHUP);
        child.send(&json!({ "type": "get_state", "id": "unheard" }));
        child.close_input();
        let (records, status) = child.end();
        assert!(!records.iter().any(|record| record["id"] == "unheard"), "{last}: {records:#?}");
        assert_eq!((status.code(), status.signal()), (code, signal), "{last}");
        assert!(stage.labels().contains(&"done".to_owned()), "{last}");
    }
}

#[test]
fn the_later_of_ignore_and_goodbye_holds() {
    let farewell = json!({ "onTerm": [touch("bye")] });
    let ignore = json!({ "ignore": ["TERM"] });
    for (first, second, said) in [(&farewell, &ignore, false), (&ignore, &farewell, true)] {
        let stage = Stage::of(&[first.clone(), second.clone(), touch("ready"), json!({ "sleep": 200 })]);
        let child = running(&stage, "ready");
        child.signal(Signal::SIGTERM);
        if said {
            assert_eq!(child.end().1.code(), Some(143));
        } else {
            child.settle();
            assert_eq!(child.finish(), Some(0));
        }
        assert_eq!(stage.labels().contains(&"bye".to_owned()), said);
    }
}

#[test]
fn raw_and_stderr_write_what_they_are_given() {
    let stage = Stage::of(&[
        json!({ "before": { "raw": "\\x00\\xff\\\\n", "times": 2 } }),
        json!({ "before": { "stderr": "half a line" } }),
        json!({ "before": { "raw": { "bytes": "{\"type\":" } } }),
        json!({ "before": { "exit": 0 } }),
    ]);
    let output = command(stage.work.path()).args(["--script", stage.script.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.stdout, b"\x00\xff\\n\x00\xff\\n{\"type\":");
    assert_eq!(output.stderr, b"half a line");
}

#[test]
fn a_grandchild_writes_into_the_pipes_it_holds() {
    let stage = Stage::of(&[
        json!({ "before": { "fork": [{ "raw": "from below" }, { "stderr": "and beside" }], "holdPipes": true, "wait": true } }),
        json!({ "before": { "exit": 0 } }),
    ]);
    let output = command(stage.work.path()).args(["--script", stage.script.to_str().unwrap()]).output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"from below"[..], &b"and beside"[..]));
}

#[test]
fn a_hung_child_answers_nothing_until_it_is_ended() {
    for phase in ["before", "prompt"] {
        let place = |step: Value| if phase == "before" { json!({ "before": step }) } else { step };
        let steps = |ms: u64| [place(touch("hung")), place(json!({ "hang": ms }))];
        let stage = Stage::of(&steps(60_000));
        let mut child = stage.start();
        child.prompt("go");
        eventually(|| (!stage.labels().is_empty()).then_some(())).expect("hung");
        child.send(&json!({ "type": "get_state", "id": "unheard" }));
        child.send(&json!({ "type": "abort", "id": "unheard" }));
        child.close_input();
        std::thread::sleep(Duration::from_millis(50));
        child.signal(Signal::SIGTERM);
        let (records, status) = child.end();
        assert_eq!(status.code(), Some(143), "{phase}");
        assert!(!records.iter().any(|record| record["id"] == "unheard"), "{phase}: {records:#?}");

        let stage = Stage::of(&steps(150));
        let mut child = stage.start();
        child.prompt("go");
        let begun = Instant::now();
        assert_eq!(child.end().1.code(), Some(1), "{phase}: it ends by itself");
        assert!(begun.elapsed() >= Duration::from_millis(100), "{phase}: {:?}", begun.elapsed());
    }
}

#[test]
fn ignoring_bounds_the_life_of_a_child() {
    let stage = Stage::of(&[json!({ "ignore": ["TERM"] }), touch("ready"), json!({ "sleep": 60_000 })]);
    let child = running(&stage, "ready");
    // The bound is ALRM; it has to be able to come.
    child.signal(Signal::SIGALRM);
    assert_eq!(child.end().1.signal(), Some(Signal::SIGALRM as i32));
}
