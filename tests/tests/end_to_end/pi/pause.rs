//! A pause is no end: the conversation is gone on with, in a process of its own.

use serde_json::json;
use subagentd_proto::error::Kind;
use subagentd_proto::run::{Delivery, Receipt, State};
use subagentd_tests::{Faux, Gate, Pi, fault};

use super::conversations;

#[tokio::test]
async fn a_paused_child_goes_on_in_its_conversation() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let gate = Gate::new(&pi);
    let ask = pi.play("worker", &Faux::new().wait_at(&gate).say("never"));
    let run = owner.begin(&ask).await;
    let held = gate.reached().await;
    let refusal = fault(owner.resume(&run, &ask, None).await);
    assert_eq!(refusal.kind, Kind::WrongState, "{refusal}");
    // Told and not heard before the pause: it is the next child's to hear.
    assert_eq!(owner.steer(&run, "unheard", Delivery::Steer).await.unwrap().receipt, Receipt::Accepted);
    let answer = owner.pause(&run).await.unwrap();
    assert_eq!(answer.outcome, "pausing");
    let view = owner.until(&run, State::Paused).await;
    assert_eq!(view.children[0].reason.as_deref(), Some("paused"), "{view:#?}");
    assert_eq!(view.children[0].resume_refusal, None);
    drop(held);
    pi.until_no_attempts().await;
    assert_eq!(owner.pause(&run).await.unwrap().outcome, "paused");
    assert!(owner.inbox().await.iter().all(|notice| notice.state != State::Failed), "a pause is no failure");
    // It holds nothing: one child at a time, and one writer.
    let next = owner.run(&pi.play("worker", &Faux::new().say("next"))).await;
    assert_eq!(next.state, State::Succeeded, "{next:#?}");

    let faux = Faux::new().step(json!({ "text": "{{users}}", "keep": true }));
    let resumed = owner.resume(&run, &pi.play("worker", &faux), None).await.unwrap();
    assert_eq!(resumed.attempt, 2);
    let view = owner.wait(&run).await;
    assert_eq!((view.state, view.children[0].attempt), (State::Succeeded, 2), "{view:#?}");
    let text = owner.text(&run).await.0;
    assert!(text.starts_with("the task | ") && text.contains("unheard"), "{text}");
    assert_eq!(text.matches("unheard").count(), 1, "said once: {text}");
    assert_eq!(owner.receipts(&run).await, [Receipt::Delivered]);
    assert_eq!(conversations(&pi, &run).len(), 1, "one conversation");
}

#[tokio::test]
async fn a_child_that_has_ended_goes_on_with_what_it_is_told() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let first = pi.play("explore", &Faux::new().say("the first answer"));
    let run = owner.run(&first).await.run;
    let refusal = fault(owner.resume(&run, &first, None).await);
    assert_eq!(refusal.kind, Kind::InvalidParams, "{refusal}");
    let refusal = fault(daemon.owner("you").await.resume(&run, &first, Some("mine now")).await);
    assert_eq!(refusal.kind, Kind::Refused, "{refusal}");

    // Its environment is that of the call.
    let again = pi.play("explore", &Faux::new().say_what_was_heard());
    let resumed = owner.resume(&run, &again, Some("-- and now?\n@x /y")).await.unwrap();
    assert_eq!(resumed.attempt, 2);
    let view = owner.wait(&run).await;
    assert_eq!((view.state, view.children[0].attempt), (State::Succeeded, 2), "{view:#?}");
    assert_eq!(owner.text(&run).await.0, "the task | -- and now?\n@x /y");
    let reference = view.children[0].reference.as_ref().unwrap();
    let earlier = reference.path.replace("result.md", "result.1.md");
    assert_eq!(std::fs::read_to_string(&earlier).unwrap(), "the first answer");
    let reported = view.children[0].reported.as_ref().unwrap();
    assert_eq!(reported.tools.as_deref(), Some(["read", "grep", "find", "ls"].map(str::to_owned).as_slice()));
    let ends: Vec<_> = owner.inbox().await.into_iter().filter(|notice| notice.run == run).collect();
    assert_eq!(ends.len(), 2, "each end is announced: {ends:?}");
    assert_eq!(conversations(&pi, &run).len(), 1, "one conversation");
}

#[tokio::test]
async fn a_paused_child_can_be_cancelled_and_a_cancelled_one_resumed() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let gate = Gate::new(&pi);
    let ask = pi.play("worker", &Faux::new().wait_at(&gate));
    let run = owner.begin(&ask).await;
    let held = gate.reached().await;
    owner.pause(&run).await.unwrap();
    owner.until(&run, State::Paused).await;
    drop(held);
    // The next daemon knows that it is paused.
    let daemon = daemon.restart(&pi).await;
    let owner = daemon.owner("me").await;
    assert_eq!(owner.get(&run).await.state, State::Paused);
    assert_eq!(owner.cancel(&run).await.state, State::Cancelled);
    let view = owner.wait(&run).await;
    assert_eq!(view.state, State::Cancelled, "{view:#?}");
    let again = pi.play("worker", &Faux::new().say_what_was_heard());
    owner.resume(&run, &again, Some("after all")).await.unwrap();
    let view = owner.wait(&run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    assert_eq!(owner.text(&run).await.0, "the task | after all");
}
