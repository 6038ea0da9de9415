//! What the real pi is told, as it is written, and whatever comes in between.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use subagentd_proto::error::Kind;
use subagentd_proto::run::{Delivery, Receipt, State};
use subagentd_tests::{Faux, Gate, LOOP, Pi, Provider, Turn, fault, until};

use crate::told::heard;

#[tokio::test]
async fn a_child_paused_before_its_prompt_hears_its_task_when_it_goes_on() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let run = owner.launch(&pi.play("explore", &Faux::new().say("never"))).await.run;
    until("the child is there", async || (!pi.attempts().is_empty()).then_some(())).await;
    owner.pause(&run).await.unwrap();
    owner.until(&run, State::Paused).await;
    owner.resume(&run, &pi.play("explore", &Faux::new().say_what_was_heard()), None).await.unwrap();
    let view = owner.wait(&run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    let text = owner.text(&run).await.0;
    assert_eq!(text.matches("the task").count(), 1, "its model heard {text:?}");
}

/// Around the moment at which pi writes its conversation down for the first time.
#[tokio::test]
async fn a_child_killed_in_its_first_moments_hears_its_task_when_it_goes_on() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let gate = Gate::new(&pi);
    for micros in [0, 600] {
        let run = owner.launch(&pi.play("worker", &Faux::new().wait_at(&gate).say("never"))).await.run;
        owner.until(&run, State::Running).await;
        tokio::time::sleep(Duration::from_micros(micros)).await;
        pi.shim(&run).signal(Signal::KILL);
        let view = owner.wait(&run).await;
        assert_eq!(view.state, State::Interrupted, "{micros} µs: {view:#?}");
        let before = heard(&pi, &run);
        owner.resume(&run, &pi.play("worker", &Faux::new().say_what_was_heard()), None).await.unwrap();
        let view = owner.wait(&run).await;
        assert_eq!(view.state, State::Succeeded, "{micros} µs: {view:#?}");
        let text = owner.text(&run).await.0;
        assert_eq!(text.matches("the task").count(), 1, "{micros} µs: first {before:?}, then its model heard {text:?}");
    }
}

/// Nothing is a command, a name of a file, or cut at its ends.
#[tokio::test]
async fn whatever_it_is_told_it_hears_to_the_letter() {
    const TEXTS: [&str; 14] = [
        "/help",
        "/compact now",
        "/model x",
        "/skill:x y",
        "/",
        "!ls",
        "!!ls",
        "@file",
        "{\"a\":1}",
        "  lead and trail  \n",
        "\r\nreturn",
        "\u{1b}[31mred",
        "\u{feff}bom",
        "\u{2028}line",
    ];
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let gate = Gate::new(&pi);
    let faux = Faux::new().wait_at(&gate).step(json!({ "text": "heard", "keep": true }));
    let run = owner.begin(&pi.play("worker", &faux)).await;
    let held = gate.reached().await;
    let twice = ["twice", "twice"];
    for text in TEXTS.into_iter().chain(twice) {
        let told = owner.steer(&run, text, Delivery::Steer).await.unwrap();
        assert_eq!(told.receipt, Receipt::Accepted, "{text:?}: {told:?}");
    }
    let refusal = fault(owner.steer(&run, "\t", Delivery::Steer).await);
    assert_eq!(refusal.kind, Kind::InvalidParams, "{refusal}");
    drop(held);
    let view = owner.wait(&run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    let expected: Vec<&str> = ["the task"].into_iter().chain(TEXTS).chain(twice).collect();
    assert_eq!(heard(&pi, &run), expected);
    assert_eq!(owner.receipts(&run).await, [Receipt::Delivered; TEXTS.len() + 2]);
}

/// pi is not at work then, and not done either.
#[tokio::test]
async fn while_it_waits_to_ask_its_provider_again_it_is_told_as_ever() {
    let Some(pi) = Pi::site().await else { return };
    let provider = Provider::start();
    pi.connect(&provider);
    pi.settings(&json!({ "retry": { "baseDelayMs": 1000 } }));
    provider.script("in between", &[Turn::Say("second")]);
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    for delivery in [Delivery::Steer, Delivery::FollowUp] {
        provider.script("the task", &[Turn::Status(500, "no"), Turn::Say("first")]);
        let mut ask = pi.bare("explore", "the task");
        ask.params.model = Some(LOOP.to_owned());
        let run = owner.begin(&ask).await;
        let folder = owner.get(&run).await.children[0].folder.clone().unwrap();
        let events = Path::new(&folder).join("events.jsonl");
        until("it waits", async || {
            let text = fs::read_to_string(&events).unwrap_or_default();
            text.contains("\"auto_retry_start\"").then_some(())
        })
        .await;
        let told = owner.steer(&run, "in between", delivery).await.unwrap();
        assert_eq!(told.receipt, Receipt::Accepted, "{delivery:?}: {told:?}");
        let view = owner.wait(&run).await;
        assert_eq!(view.state, State::Succeeded, "{delivery:?}: {view:#?}");
        assert_eq!(heard(&pi, &run), ["the task", "in between"], "{delivery:?}");
        assert_eq!(owner.receipts(&run).await, [Receipt::Delivered], "{delivery:?}");
    }
}
