//! What a child is told while it works reaches its model, or somebody hears that it did not.

use serde_json::json;
use subagentd_proto::error::Kind;
use subagentd_proto::run::{Delivery, Receipt, State};
use subagentd_tests::{Faux, Gate, Pi, Script, Site, fault};

#[tokio::test]
async fn in_a_tool_call_it_is_the_next_thing_that_the_model_hears() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let gate = Gate::new(&pi);
    let faux = Faux::new().wait_at(&gate).bash("true").say_what_was_heard().say("never");
    let run = owner.begin(&pi.play("worker", &faux)).await;
    let held = gate.reached().await;
    let answer = owner.steer(&run, "another way\n-- \"ä😀\"", Delivery::Steer).await.unwrap();
    assert_eq!((answer.number, answer.state), (1, State::Running));
    assert_eq!(answer.receipt, Receipt::Accepted, "it is in the child's queue: {answer:?}");
    drop(held);
    let view = owner.wait(&run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    assert_eq!(owner.text(&run).await.0, "the task | another way\n-- \"ä😀\"");
    assert_eq!(owner.receipts(&run).await, [Receipt::Delivered]);
    let refusal = fault(owner.steer(&run, "too late", Delivery::Steer).await);
    assert_eq!(refusal.kind, Kind::WrongState, "{refusal}");
    assert!(refusal.message.contains("resume"), "it says what to do: {refusal}");
    assert_eq!(owner.receipts(&run).await.len(), 1, "what was refused is not kept");
}

#[tokio::test]
async fn a_follow_up_waits_until_the_child_would_be_done() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let gate = Gate::new(&pi);
    let faux = Faux::new()
        .wait_at(&gate)
        .step(json!({ "when": "steered", "text": "one" }))
        .step(json!({ "when": "first after", "text": "two" }))
        .step(json!({ "when": "second after", "text": "{{users}}" }));
    let run = owner.begin(&pi.play("worker", &faux)).await;
    let held = gate.reached().await;
    for (text, delivery) in
        [("first after", Delivery::FollowUp), ("second after", Delivery::FollowUp), ("steered", Delivery::Steer)]
    {
        assert_eq!(owner.steer(&run, text, delivery).await.unwrap().receipt, Receipt::Accepted);
    }
    drop(held);
    let view = owner.wait(&run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    assert_eq!(owner.text(&run).await.0, "the task | steered | first after | second after");
    assert_eq!(owner.receipts(&run).await, [Receipt::Delivered; 3]);
}

#[tokio::test]
async fn before_the_start_it_is_kept_for_the_child() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let holder = owner.begin(&Site::play(&pi, "explore", &Script::new().sleep_long()).runtime("offline")).await;
    let faux = Faux::new().step(json!({ "text": "one", "delayMs": 100 })).say_what_was_heard();
    let run = owner.launch(&pi.play("explore", &faux)).await.run;
    let answer = owner.steer(&run, "from before", Delivery::Steer).await.unwrap();
    assert_eq!((answer.receipt, answer.state), (Receipt::Stored, State::Queued), "{answer:?}");
    // It is a row, not a thought of the daemon's.
    let daemon = daemon.restart(&pi).await;
    let owner = daemon.owner("me").await;
    owner.cancel(&holder).await;
    let view = owner.wait(&run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    assert_eq!(owner.text(&run).await.0, "the task | from before");
    assert_eq!(owner.receipts(&run).await, [Receipt::Delivered]);
}

/// Told around the child's own end: what is called delivered was heard, and what was not heard is not called so.
#[tokio::test]
async fn around_the_end_no_word_is_lost_in_silence() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    for round in 0..4_u64 {
        let gate = Gate::new(&pi);
        let faux = Faux::new().wait_at(&gate).step(json!({ "text": "{{users}}", "keep": true }));
        let run = owner.begin(&pi.play("worker", &faux)).await;
        gate.open().await;
        tokio::time::sleep(std::time::Duration::from_millis(round * 5)).await;
        let told = owner.steer(&run, "the last word", Delivery::Steer).await;
        let view = owner.wait(&run).await;
        assert_eq!(view.state, State::Succeeded, "{view:#?}");
        let heard = owner.text(&run).await.0.contains("the last word");
        match told {
            Ok(_) => {
                let expected = if heard { Receipt::Delivered } else { Receipt::Undelivered };
                assert_eq!(owner.receipts(&run).await, [expected], "round {round}: {view:#?}");
            }
            told => {
                assert_eq!(fault(told).kind, Kind::WrongState);
                assert!(!heard, "round {round}: refused and heard");
            }
        }
    }
}
