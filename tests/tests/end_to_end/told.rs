//! What a child is told: it hears it once, whatever comes in between, and the receipt says whether it did.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use subagentd_proto::daemon::StatusParams;
use subagentd_proto::error::Kind;
use subagentd_proto::method::{DaemonStatus, RunPause, RunSteer};
use subagentd_proto::run::{Delivery, PauseParams, Receipt, State, SteerParams};
use subagentd_tests::{Script, Site, fault, until};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::database::Busy;

/// What the user said in a run's conversations, each text as it is.
pub(crate) fn heard(site: &Site, run: &str) -> Vec<String> {
    let files = files(&site.state().join("runs").join(run).join("session"));
    let conversations = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    let texts = conversations.map(|path| fs::read_to_string(path).unwrap());
    texts.flat_map(|text| text.lines().filter_map(said_by_user).collect::<Vec<_>>()).collect()
}

fn said_by_user(line: &str) -> Option<String> {
    // The last line of a conversation whose child was killed may be half of one.
    let entry: Value = serde_json::from_str(line).ok()?;
    let message = entry.get("message").filter(|message| message["role"] == "user")?;
    match &message["content"] {
        Value::String(text) => Some(text.clone()),
        parts => Some(parts.as_array()?.iter().filter_map(|part| part["text"].as_str()).collect()),
    }
}

/// All files below a folder; none when it is not there.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn a_child_paused_before_its_prompt_hears_its_task_when_it_goes_on() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let script = Script::new().step(json!({ "before": { "sleep": 60_000 } })).say("never");
    let run = owner.launch(&site.play("explore", &script).task("the very task")).await.run;
    until("the child is there", async || (!site.attempts().is_empty()).then_some(())).await;
    owner.pause(&run).await.unwrap();
    owner.until(&run, State::Paused).await;
    assert_eq!(heard(&site, &run), Vec::<String>::new());
    owner.resume(&run, &site.play("explore", &Script::new().say("done")), None).await.unwrap();
    let view = owner.wait(&run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    let said = heard(&site, &run);
    assert_eq!(said.iter().filter(|text| text.contains("the very task")).count(), 1, "it heard {said:?}; {view:#?}");
}

#[tokio::test]
async fn a_child_refused_before_its_prompt_has_no_conversation_to_go_on_with() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let no = json!({ "type": "response", "id": "get_state", "command": "get_state", "success": false, "error": "no" });
    let script = Script::new().step(json!({ "before": { "raw": format!("{no}\n") } })).say("never");
    let run = owner.launch(&site.play("explore", &script)).await.run;
    let view = owner.wait(&run).await;
    assert_eq!((view.state, view.children[0].reason.as_deref()), (State::Failed, Some("child.protocol")), "{view:#?}");
    assert_eq!(heard(&site, &run), Vec::<String>::new());
    let refusal = fault(owner.resume(&run, &site.play("explore", &Script::new().say("never")), Some("and now")).await);
    assert_eq!(refusal.kind, Kind::WrongState, "{refusal}");
    assert!(refusal.message.contains("launch it anew"), "it says what to do: {refusal}");
}

/// Its attempt never began: what it was to be told is for the next one.
#[tokio::test]
async fn the_words_of_a_resume_that_is_paused_at_once_are_not_lost() {
    let site = Site::with(&[("limits.children", "1")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let run = owner.begin(&site.play("explore", &Script::new().sleep_long())).await;
    owner.pause(&run).await.unwrap();
    owner.until(&run, State::Paused).await;
    let holder = owner.begin(&site.play("explore", &Script::new().sleep_long())).await;
    let again = site.play("explore", &Script::new().say("done"));
    owner.resume(&run, &again, Some("first words")).await.unwrap();
    owner.pause(&run).await.unwrap();
    owner.until(&run, State::Paused).await;
    owner.resume(&run, &again, Some("second words")).await.unwrap();
    owner.cancel(&holder).await;
    let view = owner.wait(&run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    let said = heard(&site, &run).join(" | ");
    let (first, second) = (said.find("first words"), said.find("second words"));
    assert!(first.is_some() && first < second, "it heard {said:?}");
}

/// The shim alone knows that it was heard, and is killed before a daemon can ask.
#[tokio::test]
async fn heard_without_a_daemon_it_is_delivered_even_if_the_shim_is_killed() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let stamps = site.path("stamps");
    // It listens once the daemon is gone, on all but the slowest machines.
    let script = Script::new().sleep(1500).step(json!({ "listen": 60_000 })).stamp(&stamps, "heard").sleep_long();
    let run = owner.begin(&site.play("explore", &script)).await;
    let told = owner.steer(&run, "a word", Delivery::Steer).await.unwrap();
    assert_eq!(told.receipt, Receipt::Accepted, "{told:?}");
    daemon.kill9();
    until("it was heard", async || fs::read_to_string(&stamps).ok().filter(|text| text.contains("heard"))).await;
    site.shim(&run).signal(Signal::KILL);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let view = owner.wait(&run).await;
    let said = heard(&site, &run);
    assert_eq!(said.iter().filter(|text| *text == "a word").count(), 1, "it heard {said:?}; {view:#?}");
    assert_eq!(owner.receipts(&run).await, [Receipt::Delivered], "{view:#?}");
}

/// A crowd of callers, and none of them is kept waiting for ever.
#[tokio::test]
async fn while_nothing_can_be_stored_everybody_is_answered() {
    const CALLERS: usize = 72;
    const EACH: usize = 30;
    const ANSWER: Duration = Duration::from_secs(20);
    const QUICK: Duration = Duration::from_secs(5);
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let run = owner.begin(&site.play("explore", &Script::new().sleep_long())).await;
    let busy = Busy::new(&site);
    let mut steers = JoinSet::new();
    for _ in 0..CALLERS {
        let caller = Arc::new(daemon.owner("me").await);
        for _ in 0..EACH {
            let (caller, text) = (Arc::clone(&caller), "x".repeat(100));
            let params = SteerParams { run: run.clone(), child: None, text, delivery: None };
            steers.spawn(async move { timeout(ANSWER, caller.client.call::<RunSteer>(params)).await });
        }
    }
    let first = steers.join_next().await.unwrap().unwrap();
    // By now the daemon knows.
    let other = timeout(QUICK, daemon.owner("me")).await.expect("a new connection");
    let status = timeout(QUICK, other.client.call::<DaemonStatus>(StatusParams {})).await;
    assert_eq!(status.expect("an answer of daemon/status").unwrap().live, 1);
    let pause = timeout(QUICK, other.client.call::<RunPause>(PauseParams { run: run.clone() })).await;
    let pause = pause.expect("an answer of run/pause");
    assert!(pause.is_err(), "a pause that is not stored: {pause:?}");
    let mut answers = vec![first];
    while let Some(answer) = steers.join_next().await {
        answers.push(answer.unwrap());
    }
    let late = answers.iter().filter(|answer| answer.is_err()).count();
    assert_eq!(late, 0, "of {} steers so many had no answer within {ANSWER:?}", answers.len());
    let stored: Vec<_> = answers.iter().flatten().filter(|answer| answer.is_ok()).collect();
    assert!(stored.is_empty(), "acknowledged and not stored: {stored:?}");
    busy.end();
}
