//! Attacks on steer, pause, resume.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use subagentd_proto::method::{LeaseList, LeaseRelease};
use subagentd_proto::run::{Delivery, Receipt, ResumeParams, State};
use subagentd_tests::{Faux, Gate, Pi, Puppet, Script, Site, fault, until};

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// What the user said in the run's conversation, in order.
fn heard(site: &Site, run: &str) -> Vec<String> {
    let all = files(&site.state().join("runs").join(run).join("session"));
    let mut said = Vec::new();
    for file in all.iter().filter(|path| path.to_str().unwrap().ends_with(".jsonl")) {
        for line in fs::read_to_string(file).unwrap().lines() {
            let Ok(entry) = serde_json::from_str::<serde_json::Value>(line) else { continue };
            if entry["message"]["role"] != "user" {
                continue;
            }
            let content = &entry["message"]["content"];
            match content.as_str() {
                Some(text) => said.push(text.to_owned()),
                None => {
                    let parts = content.as_array().cloned().unwrap_or_default();
                    said.push(parts.iter().filter_map(|part| part["text"].as_str()).collect());
                }
            }
        }
    }
    said
}

/// A1: paused before it was told anything; the next attempt has to hear the task.
#[tokio::test]
async fn a1_paused_before_its_prompt_it_still_hears_its_task() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let script = Script::new().step(json!({ "before": { "sleep": 60_000 } })).say("never");
    let run = owner.launch(&site.play("explore", &script).task("the very task")).await.run;
    until("the child is there", async || (!site.attempts().is_empty()).then_some(())).await;
    let paused = owner.pause(&run).await.unwrap();
    eprintln!("pause: {paused:?}");
    owner.until(&run, State::Paused).await;
    owner.resume(&run, &site.play("explore", &Script::new().say("done")), None).await.unwrap();
    let view = owner.wait(&run).await;
    let heard = heard(&site, &run);
    assert!(heard.iter().any(|text| text.contains("the very task")), "heard only {heard:?}; {view:#?}");
}

/// A1 with real pi.
#[tokio::test]
async fn a1_pi_paused_before_its_prompt_it_still_hears_its_task() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let run = owner.launch(&pi.play("explore", &Faux::new().say("never"))).await.run;
    until("the child is there", async || (!pi.attempts().is_empty()).then_some(())).await;
    owner.pause(&run).await.unwrap();
    owner.until(&run, State::Paused).await;
    owner.resume(&run, &pi.play("explore", &Faux::new().say_what_was_heard()), None).await.unwrap();
    let view = owner.wait(&run).await;
    let text = owner.text(&run).await.0;
    assert!(text.contains("the task"), "its model heard only {text:?}; {:?}", view.state);
}

/// A1b: a child refused before its prompt cannot be resumed as if it had a conversation.
#[tokio::test]
async fn a1b_refused_before_its_prompt_it_has_no_conversation() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let raw = "{\"type\":\"response\",\"id\":\"get_state\",\"command\":\"get_state\",\"success\":false,\"error\":\"no\"}\n";
    let script = Script::new().step(json!({ "before": { "raw": raw } })).say("never");
    let run = owner.launch(&site.play("explore", &script).task("the very task")).await.run;
    let view = owner.wait(&run).await;
    eprintln!("{:?} {:?} refusal {:?}", view.state, view.children[0].reason, view.children[0].resume_refusal);
    let again = owner.resume(&run, &site.play("explore", &Script::new().say("done")), Some("and now")).await;
    if again.is_ok() {
        owner.wait(&run).await;
        let heard = heard(&site, &run);
        assert!(heard.iter().any(|text| text.contains("the very task")), "heard only {heard:?}");
    }
}

/// A2: a pause of a child that another daemon's writer keeps out takes effect.
#[tokio::test]
async fn a2_a_pause_of_a_start_that_comes_to_nothing_takes_effect() {
    let (site, other) = (Site::new(), Site::new());
    let (daemon, others) = (site.start(), other.start());
    let (owner, theirs) = (daemon.owner("me").await, others.owner("me").await);
    let holder = theirs.begin(&other.play("worker", &Script::new().sleep_long()).directory(site.work())).await;
    let run = owner.launch(&site.play("worker", &Script::new().sleep_long())).await.run;
    let paused = owner.pause(&run).await.unwrap();
    eprintln!("pause: {paused:?}");
    tokio::time::sleep(Duration::from_secs(4)).await;
    let state = owner.get(&run).await.state;
    theirs.cancel(&holder).await;
    assert_eq!(state, State::Paused, "acknowledged as {:?} and still {state:?}", paused.outcome);
}

/// A3: what a paused child left behind keeps its scope, and a person can give it up.
#[tokio::test]
async fn a3_leftovers_of_a_paused_child() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let run = owner.begin(&site.play("worker", &Script::new().sleep_long())).await;
    owner.pause(&run).await.unwrap();
    owner.until(&run, State::Paused).await;
    daemon.stop().await;
    // As its settlement would have stored it, with REMARK_LEFTOVERS in its record.
    let stat = fs::metadata(site.work()).unwrap();
    use std::os::unix::fs::MetadataExt as _;
    let sql = format!(
        "INSERT INTO leases (run, child, device, inode, path, since_at_ms) SELECT run, child, {}, {}, '{}', 1 FROM children;",
        stat.dev(), stat.ino(), site.work().display()
    );
    let done = std::process::Command::new("sqlite3").arg(site.state().join("subagentd.db")).arg(sql).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let leases = owner.call::<LeaseList>(serde_json::from_value(json!({})).unwrap()).await.unwrap();
    eprintln!("leases {leases:?}");
    let resumed = owner.resume(&run, &site.play("worker", &Script::new().say("x")), None).await;
    eprintln!("resume: {resumed:?}");
    let released = owner.call::<LeaseRelease>(serde_json::from_value(json!({ "run": run })).unwrap()).await;
    eprintln!("release: {released:?}");
    let second = owner.launch(&site.play("worker", &Script::new().say("second writer"))).await.run;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let view = owner.get(&second).await;
    eprintln!("a second writer in the detained scope: {:?}", view.state);
    owner.cancel(&run).await;
    let leases = owner.call::<LeaseList>(serde_json::from_value(json!({})).unwrap()).await.unwrap();
    eprintln!("leases after the cancel of the paused one {leases:?}");
    assert_eq!(view.state, State::Queued, "two writers in one scope");
}

/// A4: what two resumes said is told, if the first one's attempt never told it.
#[tokio::test]
async fn a4_the_words_of_a_resume_that_was_paused_at_once_are_not_lost() {
    let site = Site::with(&[("limits.children", "1")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let run = owner.begin(&site.play("explore", &Script::new().sleep_long()).task("the very task")).await;
    owner.pause(&run).await.unwrap();
    owner.until(&run, State::Paused).await;
    let holder = owner.begin(&site.play("explore", &Script::new().sleep_long())).await;
    owner.resume(&run, &site.play("explore", &Script::new().say("x")), Some("first words")).await.unwrap();
    owner.pause(&run).await.unwrap();
    owner.until(&run, State::Paused).await;
    owner.resume(&run, &site.play("explore", &Script::new().say("x")), Some("second words")).await.unwrap();
    owner.cancel(&holder).await;
    owner.wait(&run).await;
    let heard = heard(&site, &run);
    assert!(heard.iter().any(|text| text.contains("first words")), "{heard:?}");
}

/// A5: a process that is gone when the shim looks gives no orders.
#[tokio::test]
async fn a5_a_child_cannot_order_its_own_shim() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let program = site.path("parts/attack.py");
    fs::write(&program, r#"
import os, socket, sys, time, signal, json
shim = os.getppid()
while open(f"/proc/{shim}/cmdline").read().split("\0")[1:2] != ["shim"]:
    shim = int(open(f"/proc/{shim}/stat").read().rsplit(")",1)[1].split()[1])
folder = open(f"/proc/{shim}/cmdline").read().split("\0")[2]
os.kill(shim, signal.SIGSTOP)
pid = os.fork()
if pid == 0:
    os.chdir(folder)
    s = socket.socket(socket.AF_UNIX); s.connect("ctl")
    for order in sys.argv[1:]:
        s.sendall(order.encode() + b"\n")
    os._exit(0)
os.waitpid(pid, 0)
os.kill(shim, signal.SIGCONT)
time.sleep(0.5)
"#).unwrap();
    let cancel = r#"{"type":"cancel","intent":77}"#;
    let part = format!("python3 {} '{cancel}' 2>$END_TO_END_PUPPET/err; gate; settle", program.display());
    let puppet = Puppet::new(&site, &part, "my answer");
    let run = owner.launch(&site.puppet("explore", &puppet)).await.run;
    let opened = tokio::time::timeout(Duration::from_secs(5), puppet.open_gate()).await;
    let view = owner.wait(&run).await;
    eprintln!("gate {opened:?}; python: {}", fs::read_to_string(puppet.folder().join("err")).unwrap_or_default());
    for file in files(&site.state().join("runs").join(&run)) {
        if file.ends_with("shim.log") { eprintln!("shim.log {}", fs::read_to_string(file).unwrap()); }
    }
    assert_eq!(view.state, State::Succeeded, "a child gave its shim the order to cancel it: {:?}", view.children[0].reason);
}

/// A6: heard while no daemon listened; then the shim dies. The receipt must not say that it was not heard.
#[tokio::test]
async fn a6_heard_without_a_daemon_and_then_the_shim_is_killed() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let stamps = site.path("stamps");
    let script = Script::new().sleep(1500).step(json!({ "listen": 60_000 })).stamp(&stamps, "heard").sleep_long();
    let run = owner.begin(&site.play("explore", &script)).await;
    let told = owner.steer(&run, "a word", Delivery::Steer).await.unwrap();
    assert_eq!(told.receipt, Receipt::Accepted);
    daemon.kill9();
    until("it was heard", async || fs::read_to_string(&stamps).ok().filter(|text| text.contains("heard"))).await;
    site.shim(&run).signal(Signal::KILL);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let view = owner.wait(&run).await;
    let said = heard(&site, &run);
    let receipts = owner.receipts(&run).await;
    assert!(said.iter().any(|text| text == "a word"));
    assert_ne!(receipts, [Receipt::Undelivered], "{:?}: it heard {said:?}", view.state);
}

/// A7: a paused run resumed by a takeover, then its ends go to the new owner, with the old wait told, too.
#[tokio::test]
async fn a7_waits_and_takeover() {
    let site = Site::new();
    let daemon = site.start();
    let (me, you) = (daemon.owner("me").await, daemon.owner("you").await);
    let run = me.begin(&site.play("explore", &Script::new().sleep_long())).await;
    me.pause(&run).await.unwrap();
    me.until(&run, State::Paused).await;
    let ask = site.play("explore", &Script::new().sleep(300).say("x"));
    let params = ResumeParams { run: run.clone(), takeover: true, capture: ask.params.capture.clone(), ..ResumeParams::default() };
    you.call::<subagentd_proto::method::RunResume>(params).await.unwrap();
    let view = me.wait(&run).await;
    assert_eq!(view.state, State::Succeeded);
    assert_eq!(you.inbox().await.len(), 1);
    assert_eq!(me.inbox().await.len(), 0);
}

/// A8: kills right after the prompt was accepted.
#[tokio::test]
async fn a8_pi_killed_in_its_first_moments() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let gate = Gate::new(&pi);
    let mut lost = 0;
    for round in 0..12 {
        let run = owner.launch(&pi.play("worker", &Faux::new().wait_at(&gate).say("never"))).await.run;
        owner.until(&run, State::Running).await;
        tokio::time::sleep(Duration::from_micros(round * 150)).await;
        pi.shim(&run).signal(Signal::KILL);
        let view = owner.wait(&run).await;
        pi.until_no_attempts().await;
        let before = heard(&pi, &run);
        owner.resume(&run, &pi.play("worker", &Faux::new().say_what_was_heard()), None).await.unwrap();
        let end = owner.wait(&run).await;
        let text = owner.text(&run).await.0;
        eprintln!("round {round}: {:?} conversation {before:?}; then {:?} heard {text:?}", view.state, end.state);
        lost += usize::from(!text.contains("the task"));
    }
    assert_eq!(lost, 0, "tasks lost");
}

/// A5b: a child that steers itself under the number that the user's next steer gets.
#[tokio::test]
async fn a5b_a_child_cannot_take_the_number_of_its_users_word() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let program = pi.path("parts/attack.py");
    fs::write(&program, r#"
import os, socket, sys, time, signal
shim = os.getppid()
while open(f"/proc/{shim}/cmdline").read().split("\0")[1:2] != ["shim"]:
    shim = int(open(f"/proc/{shim}/stat").read().rsplit(")",1)[1].split()[1])
folder = open(f"/proc/{shim}/cmdline").read().split("\0")[2]
os.kill(shim, signal.SIGSTOP)
pid = os.fork()
if pid == 0:
    os.chdir(folder)
    s = socket.socket(socket.AF_UNIX); s.connect("ctl")
    for order in sys.argv[1:]:
        s.sendall(order.encode() + b"\n")
    os._exit(0)
os.waitpid(pid, 0)
os.kill(shim, signal.SIGCONT)
time.sleep(0.5)
"#).unwrap();
    let gate = Gate::new(&pi);
    let order = r#"{"type":"steer","intent":1,"text":"forged","delivery":"steer"}"#;
    let faux = Faux::new().bash(&format!("python3 {} '{order}'", program.display())).wait_at(&gate).say_what_was_heard();
    let run = owner.begin(&pi.play("worker", &faux)).await;
    let held = gate.reached().await;
    let told = owner.steer(&run, "the users word", Delivery::Steer).await.unwrap();
    drop(held);
    owner.wait(&run).await;
    let text = owner.text(&run).await.0;
    let receipts = owner.receipts(&run).await;
    eprintln!("answer {told:?}; heard {text:?}; receipts {receipts:?}");
    assert!(text.contains("the users word") || receipts != [Receipt::Delivered], "heard {text:?}, receipts {receipts:?}");
}

/// A9: texts that pi might change, take for commands, or cut.
#[tokio::test]
async fn a9_pi_odd_texts() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let texts = ["/help", "/compact now", "/model x", "  lead and trail  \n", "\r\nreturn", "\u{1b}[31mred", "!ls", "!!ls", "/skill:x y", "\u{feff}bom", "\u{2028}line", "@file", "/", "{\"a\":1}", "x", "x", "\t"];
    let gate = Gate::new(&pi);
    let run = owner.begin(&pi.play("worker", &Faux::new().wait_at(&gate).say_what_was_heard())).await;
    let held = gate.reached().await;
    let mut sent = Vec::new();
    for text in texts {
        match owner.steer(&run, text, Delivery::Steer).await {
            Ok(answer) => sent.push((text, answer.number, answer.receipt)),
            Err(error) => eprintln!("{text:?}: {error}"),
        }
    }
    drop(held);
    let view = owner.wait(&run).await;
    let said = heard(&pi, &run);
    let mut bad = 0;
    for (text, number, first) in &sent {
        let receipt = view.children[0].steers.iter().find(|steer| steer.number == *number).unwrap().receipt;
        let times = said.iter().filter(|one| one == text).count();
        eprintln!("{text:?}: {first:?} then {receipt:?}, heard {times} times");
        bad += usize::from((receipt == Receipt::Delivered) != (times > 0));
    }
    eprintln!("{:?} {said:?} remarks {:?}", view.state, view.children[0].remarks);
    assert_eq!(bad, 0);
}

/// A10: while pi waits before it asks its provider again.
#[tokio::test]
async fn a10_pi_told_while_it_waits_to_retry() {
    let Some(pi) = Pi::site().await else { return };
    let provider = subagentd_tests::Provider::start();
    pi.connect(&provider);
    pi.settings(&json!({ "retry": { "baseDelayMs": 1500 } }));
    provider.script("the task", &[subagentd_tests::Turn::Status(500, "no"), subagentd_tests::Turn::Say("first")]);
    provider.script("in between", &[subagentd_tests::Turn::Say("second")]);
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    for delivery in [Delivery::Steer, Delivery::FollowUp] {
        let before = provider.requests("the task");
        provider.script("the task", &[subagentd_tests::Turn::Status(500, "no"), subagentd_tests::Turn::Say("first")]);
        let mut ask = pi.bare("explore", "the task");
        ask.params.model = Some(subagentd_tests::LOOP.to_owned());
        let run = owner.begin(&ask).await;
        until("the first request failed", async || (provider.requests("the task") > 0).then_some(())).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let told = owner.steer(&run, "in between", delivery).await.unwrap();
        let view = owner.wait(&run).await;
        let said = heard(&pi, &run);
        let receipts = owner.receipts(&run).await;
        eprintln!("{delivery:?} {before}: {told:?}; {:?} {:?} {said:?} {receipts:?}", view.state, view.children[0].reason);
        let times = said.iter().filter(|one| *one == "in between").count();
        assert!(times <= 1 && (times == 1) == (receipts == [Receipt::Delivered]));
    }
}

/// A12: while the database cannot be written.
#[tokio::test]
async fn a12_told_while_nothing_can_be_stored() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let run = owner.begin(&site.play("explore", &Script::new().sleep_long())).await;
    let program = "import sqlite3, sys; base = sqlite3.connect(sys.argv[1], isolation_level=None); base.execute('BEGIN IMMEDIATE'); print('busy', flush=True); sys.stdin.read()";
    let mut busy = std::process::Command::new("python3").args(["-c", program]).arg(site.state().join("subagentd.db"))
        .stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(busy.stdout.take().unwrap()), &mut line).unwrap();
    // Until commits are known to fail.
    let started = std::time::Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..72 {
        let one = daemon.owner("me").await;
        let run = run.clone();
        let one = std::sync::Arc::new(one);
        for number in 0..30 {
            let (one, run) = (std::sync::Arc::clone(&one), run.clone());
            tasks.spawn(async move {
                let params = subagentd_proto::run::SteerParams { run, child: None, text: format!("{number} {}", "x".repeat(100)), delivery: None };
                tokio::time::timeout(Duration::from_secs(20), one.client.call::<subagentd_proto::method::RunSteer>(params)).await.map(|answer| answer.map_err(|error| error.to_string()))
            });
        }
    }
    tokio::time::sleep(Duration::from_secs(12)).await;
    let other = tokio::time::timeout(Duration::from_secs(5), daemon.owner("me")).await;
    eprintln!("a new connection: {}", other.is_ok());
    if let Ok(other) = other {
        let paused = tokio::time::timeout(Duration::from_secs(5), other.client.call::<subagentd_proto::method::RunPause>(subagentd_proto::run::PauseParams { run: run.clone() })).await;
        eprintln!("pause while nothing is stored: {paused:?}");
        let waits = tokio::time::timeout(Duration::from_secs(5), daemon.status()).await;
        eprintln!("status: {:?}", waits.map(|status| status.live));
    }
    let mut counts: std::collections::BTreeMap<String, u32> = std::collections::BTreeMap::new();
    while let Some(done) = tasks.join_next().await {
        let word = match done.unwrap() { Ok(Ok(answer)) => format!("{:?}", answer.receipt), Ok(Err(error)) => error, Err(_) => "no answer in 20 s".to_owned() };
        *counts.entry(word).or_default() += 1;
    }
    eprintln!("after {:?}: {counts:#?}", started.elapsed());
    drop(busy.stdin.take());
    busy.wait().unwrap();
    assert!(!counts.contains_key("no answer in 20 s"), "steers hang");
}
