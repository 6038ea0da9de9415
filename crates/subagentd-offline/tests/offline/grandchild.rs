//! What scripts start.

use std::collections::HashSet;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpgid, getsid};
use serde_json::{Value, json};

use crate::child::{answer, command, wait};
use crate::stage::{Stage, eventually};

/// A grandchild that leaves a stamp and stays.
fn stray(options: &Value) -> Value {
    let steps = json!([{ "touch": { "path": "stamps", "label": "stray $PID" } }, { "sleep": 60_000 }]);
    let mut values = options.as_object().unwrap().clone();
    values.insert("steps".to_owned(), steps);
    json!({ "fork": values })
}

#[test]
fn a_grandchild_has_the_manner_it_was_given() {
    for (name, options) in [
        ("plain", json!({})),
        ("setsid", json!({ "setsid": true })),
        ("group", json!({ "group": true })),
        ("both", json!({ "group": true, "setsid": true })),
        ("double", json!({ "double": true })),
        ("double setsid", json!({ "double": true, "setsid": true })),
        ("clear", json!({ "clearMark": true, "double": true })),
        ("pipes", json!({ "holdPipes": true, "double": true })),
    ] {
        let has = |word: &str| options[word] == true;
        let stage = Stage::of(&[stray(&options), json!({ "say": "started" })]);
        let mut child = stage.start_with(&[("SUBAGENTD_ATTEMPT", "r/0.1")]);
        child.prompt("go");
        assert_eq!(answer(&child.settle()).0, "started", "{name}");
        let stray = stage.process("stray");
        assert_eq!(stray.parent() == child.pid(), !has("double"), "{name}: parent {}", stray.parent());
        let (session, group) = (getsid(Some(stray.0)).unwrap(), getpgid(Some(stray.0)).unwrap());
        assert_eq!(session == stray.0, has("setsid"), "{name}: session {session}");
        assert_eq!(group == stray.0, has("setsid") || has("group"), "{name}: group {group}");
        assert_eq!(stray.has_variable("SUBAGENTD_ATTEMPT"), !has("clearMark"), "{name}");
        let input = stray.descriptor(0).unwrap();
        assert_eq!(input == Path::new("/dev/null"), !has("holdPipes"), "{name}: {}", input.display());
        let blocked = u64::from_str_radix(&stray.field("SigBlk").unwrap(), 16).unwrap();
        assert_eq!(blocked, 0, "{name}: {blocked:x}");
        child.close_input();
        assert_eq!(child.await_exit().code(), Some(0), "{name}");
        assert!(stray.is_alive(), "{name}: it outlives the child");
        stray.signal(Signal::SIGTERM);
        stray.await_end();
    }
}

#[test]
fn held_pipes_keep_the_output_open_past_the_end_of_the_child() {
    for holds in [false, true] {
        let stage = Stage::of(&[stray(&json!({ "holdPipes": holds })), json!({ "exit": 4 })]);
        let mut child = stage.start();
        child.prompt("go");
        let stray = stage.process("stray");
        if holds {
            let status = child.await_exit();
            assert_eq!(status.code(), Some(4));
            assert!(!child.is_output_closed(), "the grandchild has it");
            stray.signal(Signal::SIGKILL);
        }
        assert_eq!(child.end().1.code(), Some(4));
    }
}

#[test]
fn close_tree_leaves_the_standard_descriptors_only() {
    for closes in [false, true] {
        let stage = Stage::of(&[stray(&json!({ "closeTree": closes, "double": true }))]);
        let mut child = stage.start_through("exec 9<script.jsonl; exec \"$@\"");
        child.prompt("go");
        child.settle();
        let stray = stage.process("stray");
        assert_eq!(stray.descriptor(9).is_some(), !closes, "closeTree {closes}");
        for standard in 0..3 {
            assert!(stray.descriptor(standard).is_some(), "closeTree {closes}: {standard}");
        }
    }
}

#[test]
fn wait_ends_with_the_grandchild_or_an_abort() {
    let ends = json!({ "fork": [{ "touch": { "path": "stamps", "label": "inner" } }, { "exit": 7 }], "wait": true });
    let outer = json!({ "touch": { "path": "stamps", "label": "outer" } });
    let stage = Stage::of(&[ends, outer]);
    let mut child = stage.start();
    child.prompt("go");
    child.settle();
    assert_eq!(stage.labels(), ["inner", "outer"]);

    let stage = Stage::of(&[stray(&json!({ "wait": true })), json!({ "touch": "never" })]);
    let mut child = stage.start();
    child.prompt("go");
    let stray = stage.process("stray");
    child.send(&json!({ "type": "abort" }));
    let (_, stop) = answer(&child.settle());
    assert_eq!((stop.as_str(), stage.read("never").as_str()), ("aborted", ""));
    assert!(stray.is_alive());
}

#[test]
fn grandchildren_start_their_own_and_take_over_names() {
    let inner = json!({ "background": [{ "beat": { "path": "$WORK/stamps", "label": "$SESSION $ATTEMPT", "ms": 5 } }, { "sleep": 60_000 }], "clearMark": true });
    let stage = Stage::of(&[json!({ "before": { "fork": [inner], "setsid": true, "clearMark": true } })]);
    let child = stage.start_with(&[("SUBAGENTD_ATTEMPT", "r/0.1")]);
    let beating = stage.process("s-9 r/0.1");
    assert!(!beating.has_variable("SUBAGENTD_ATTEMPT"));
    assert_eq!(getpgid(Some(beating.0)).unwrap(), beating.0);
    assert_eq!(child.finish(), Some(0));
    let beats = stage.labels().len();
    eventually(|| (stage.labels().len() > beats + 3).then_some(())).expect("it beats on without the child");
    beating.signal(Signal::SIGKILL);
    beating.await_end();
    let stamps = stage.read("stamps");
    let times: Vec<u128> = stamps.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted() && stamps.ends_with('\n'), "{stamps}");
}

#[test]
fn a_beat_ends_with_its_process() {
    let stage = Stage::of(&[json!({ "beat": "stamps", "label": "child", "ms": 1 }), json!({ "sleep": 60_000 })]);
    let mut child = stage.start();
    child.prompt("go");
    let pid = stage.process("child").0;
    assert_eq!(pid, child.pid());
    child.signal(Signal::SIGKILL);
    assert_eq!(child.end().1.code(), None);
    let before = stage.read("stamps");
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(stage.read("stamps"), before);
}

#[test]
fn a_grandchild_ignores_what_it_is_told_to() {
    let steps = json!([{ "ignore": ["TERM", "HUP"] }, { "beat": { "path": "stamps", "label": "deaf", "ms": 5 } }, { "sleep": 60_000 }]);
    let stage = Stage::of(&[json!({ "fork": steps })]);
    let mut child = stage.start();
    child.prompt("go");
    child.settle();
    let deaf = stage.process("deaf");
    deaf.signal(Signal::SIGTERM);
    deaf.signal(Signal::SIGHUP);
    let beats = stage.labels().len();
    eventually(|| (stage.labels().len() > beats + 3).then_some(())).expect("it beats on after TERM");
    deaf.signal(Signal::SIGKILL);
    deaf.await_end();
}

#[test]
fn a_grandchild_says_goodbye() {
    let farewell = json!([{ "say": "to nobody" }, { "sleep": 20 }, { "touch": { "path": "stamps", "label": "bye" } }]);
    let steps =
        json!([{ "onTerm": farewell }, { "touch": { "path": "stamps", "label": "polite $PID" } }, { "sleep": 60_000 }]);
    let waits = json!({ "fork": steps, "wait": true });
    let stage = Stage::of(&[waits, json!({ "say": "after it" })]);
    let mut child = stage.start();
    child.prompt("go");
    let polite = stage.process("polite");
    polite.signal(Signal::SIGTERM);
    assert_eq!(answer(&child.settle()).0, "after it");
    assert_eq!(stage.labels().last().map(String::as_str), Some("bye"));
}

#[test]
fn a_fork_loop_moves_on_until_its_time_is_over() {
    let stamp = json!({ "path": "stamps", "label": "link $PID" });
    let stage = Stage::of(&[json!({ "forkLoop": { "ms": 400, "width": 2, "eachMs": 5, "stamp": stamp } })]);
    let mut child = stage.start();
    let begun = Instant::now();
    child.prompt("go");
    child.settle();
    let pids = || -> Vec<Pid> {
        stage
            .labels()
            .iter()
            .map(|label| Pid::from_raw(label.strip_prefix("link ").unwrap().parse().unwrap()))
            .collect()
    };
    // Over when no link was added for a while and none that is known is left.
    let mut seen = (0, Instant::now());
    eventually(|| {
        let count = pids().len();
        if count != seen.0 {
            seen = (count, Instant::now());
        }
        (count > 0 && seen.1.elapsed() > Duration::from_millis(300)).then_some(())
    })
    .expect("the loop ends");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let links = pids();
    let different: HashSet<i32> = links.iter().map(|pid| pid.as_raw()).collect();
    assert!(links.len() >= 6 && different.len() == links.len(), "{links:?}");
    assert!(!different.contains(&child.pid().as_raw()));
    assert_eq!(child.finish(), Some(0));
}

#[test]
fn the_time_of_a_grandchild_holds_for_all_that_it_starts_and_is_not_put_off() {
    let stage = Stage::of(&[]);
    let beat = json!({ "beat": "stamps", "label": "below", "ms": 10 });
    let steps = json!([
        { "ignore": ["TERM"] },
        { "fork": [{ "ignore": ["TERM"] }, beat, { "sleep": 60_000 }], "setsid": true, "double": true },
        { "sleep": 60_000 },
    ]);
    let plan = |until: u64| {
        json!({ "until": until, "session": "", "mark": "", "manner": {}, "role": { "steps": steps } }).to_string()
    };
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
    let now: u64 = uptime.split('.').next().unwrap().parse().unwrap();
    for (until, plays) in [(1, false), ((now + 2) * 1000, true)] {
        let mut command = command(stage.work.path());
        let mut process = command.args(["--grandchild", &plan(until)]).spawn().unwrap();
        let below = plays.then(|| stage.process("below"));
        let status = wait(&mut process);
        assert_eq!(status.signal(), plays.then_some(Signal::SIGALRM as i32), "{until}: {status}");
        match below {
            Some(below) => below.await_end(),
            None => assert!(stage.labels().is_empty()),
        }
    }
}
