use subagentd_core::life::Reason;

use super::*;
use crate::driver::{OPEN_STEERS, STEERS};
use Delivery::{FollowUp, Steer};
use Receipt::{Accepted, Delivered, Undelivered};

pub(super) fn answered(intent: u32, disposition: &str) -> Value {
    json!({"id": format!("steer-{intent}"), "type": "response", "command": "prompt", "success": true,
           "data": {"disposition": disposition}})
}

fn put_off(intent: u32) -> Value {
    json!({"id": format!("steer-{intent}"), "type": "response", "command": "prompt", "success": false,
           "error": "Cannot submit a prompt while compaction is in progress."})
}

pub(super) fn user(text: &str) -> Value {
    json!({"type": "message_end", "message": {"role": "user", "content": [{"type": "text", "text": text}]}})
}

/// A child whose prompt is part of its conversation.
pub(super) fn busy() -> Child {
    let mut child = Child::working();
    child.says([user(&asked().prompt)]);
    child
}

#[test]
fn a_steer_goes_out_as_a_prompt_and_its_receipts_rise() {
    let mut child = busy();
    child.told(3, "the \"other\"\n way", Steer);
    child.told(4, "then this", FollowUp);
    let sent = child.heard.last().unwrap();
    let message = "the \"other\"\n way";
    assert_eq!(*sent, json!({"id": "steer-3", "type": "prompt", "message": message, "streamingBehavior": "steer"}));
    assert_eq!(child.heard.len(), 4, "one command at a time");
    child.says([answered(3, "queued")]);
    let sent = child.heard.last().unwrap();
    assert_eq!((&sent["id"], &sent["streamingBehavior"]), (&json!("steer-4"), &json!("followUp")));
    child.says([answered(4, "queued"), user(message), user(message), user("then this")]);
    assert_eq!(child.receipts(), [(3, Accepted), (4, Accepted), (3, Delivered), (4, Delivered)]);
    child.says([message_done(), settled()]);
    assert_eq!(child.settlement().reason, Reason::Completed);
    assert_eq!(child.driver.receipts(), [(3, Delivered), (4, Delivered)]);
    assert_eq!(child.receipts().len(), 4, "nothing comes twice");
}

fn message_done() -> Value {
    message("stop", &["done"])
}

#[test]
fn a_steer_before_the_acceptance_of_the_prompt_is_sent_after_it() {
    let mut fresh = Child::started(asked());
    fresh.told(1, "early", Steer);
    fresh.says([probe(TOOLS), state("offline", "search", "off"), models(&[("offline", "search")])]);
    let mut prompting = Child::prompted();
    prompting.told(1, "early", Steer);
    for mut child in [fresh, prompting] {
        assert_eq!(child.heard.len(), 3, "{:?}", child.heard);
        child.says([ok("prompt")]);
        assert_eq!(child.heard[3]["id"], "steer-1");
        child.says([user(&asked().prompt), answered(1, "queued"), user("early")]);
        assert_eq!(child.receipts(), [(1, Accepted), (1, Delivered)]);
    }
}

#[test]
fn a_steer_with_the_text_of_the_prompt_is_not_the_prompt() {
    let mut child = Child::working();
    let prompt = asked().prompt;
    child.told(1, &prompt, Steer);
    child.says([answered(1, "queued"), user(&prompt)]);
    assert_eq!(child.receipts(), [(1, Accepted)]);
    child.says([user(&prompt)]);
    assert_eq!(child.receipts(), [(1, Accepted), (1, Delivered)]);
}

#[test]
fn equal_texts_are_heard_one_by_one_and_a_bare_text_counts() {
    let mut child = busy();
    for intent in [1, 2] {
        child.told(intent, "same", Steer);
        child.says([answered(intent, "queued")]);
    }
    let bare = json!({"type": "message_end", "message": {"role": "user", "content": "same"}});
    child.says([bare, user("other"), user("same"), user("same")]);
    assert_eq!(child.receipts(), [(1, Accepted), (2, Accepted), (1, Delivered), (2, Delivered)]);
}

#[test]
fn a_repeat_says_nothing_again_and_is_answered() {
    let mut child = busy();
    child.told(1, "x", Steer);
    child.told(1, "x", Steer);
    assert_eq!((child.heard.len(), child.receipts()), (4, vec![]));
    child.says([answered(1, "queued")]);
    child.told(1, "x", Steer);
    child.says([user("x")]);
    child.told(1, "x", Steer);
    child.told(1, "another text", FollowUp);
    assert_eq!(child.receipts(), [(1, Accepted), (1, Accepted), (1, Delivered), (1, Delivered), (1, Delivered)]);
    assert_eq!(child.heard.len(), 4);
}

#[test]
fn a_steer_under_way_at_the_settlement_starts_the_child_again() {
    let mut child = busy();
    child.says([message("stop", &["first"])]);
    child.told(1, "late", Steer);
    child.says([settled()]);
    assert_eq!(child.driver.phase(), Phase::Working, "its response is awaited");
    // Another one meanwhile is sent when the first is answered.
    child.told(2, "later", Steer);
    child.says([answered(1, "started")]);
    assert_eq!(child.heard.last().unwrap()["id"], "steer-2");
    child.says([user("late"), answered(2, "queued"), user("later"), message("stop", &["second"]), settled()]);
    let settlement = child.settlement();
    assert_eq!((settlement.reason, settlement.answer.as_deref()), (Reason::Completed, Some("second")));
    assert_eq!(child.receipts(), [(1, Accepted), (1, Delivered), (2, Accepted), (2, Delivered)]);
}

#[test]
fn one_that_was_not_sent_at_the_settlement_is_sent_then() {
    let mut child = busy();
    child.told(1, "a", Steer);
    child.told(2, "b", Steer);
    // Taken before the settlement, answered after it.
    child.says([message("stop", &["first"]), settled(), answered(1, "started"), user("a")]);
    child.says([message("stop", &["second"]), settled()]);
    assert_eq!(child.driver.phase(), Phase::Working);
    child.says([answered(2, "started"), user("b"), message("stop", &["third"]), settled()]);
    assert_eq!(child.settlement().answer.as_deref(), Some("third"));
    assert_eq!(child.receipts(), [(1, Accepted), (1, Delivered), (2, Accepted), (2, Delivered)]);
}

#[test]
fn a_steer_refused_after_the_settlement_lets_it_stand() {
    for response in [put_off(1), answered(1, "handled")] {
        let mut child = busy();
        child.told(1, "late", Steer);
        child.says([message_done(), settled(), response]);
        let settlement = child.settlement();
        assert_eq!((settlement.reason, settlement.answer.as_deref()), (Reason::Completed, Some("done")));
        assert_eq!(child.receipts(), [(1, Undelivered)]);
        assert_eq!(child.driver.remarks().len(), 1, "{:?}", child.driver.remarks());
    }
}

#[test]
fn what_is_not_heard_at_the_end_is_undelivered() {
    // Accepted, and left in the child's queue.
    let mut child = busy();
    child.told(1, "x", FollowUp);
    child.says([answered(1, "queued"), message("error", &[]), settled()]);
    assert_eq!(child.settlement().reason, Reason::ModelError);
    assert_eq!(child.receipts(), [(1, Accepted), (1, Undelivered)]);
    assert!(matches!(child.events.last(), Some(Event::Settled(_))), "receipts come before the settlement");
    // After it.
    child.told(2, "y", Steer);
    child.told(1, "x", FollowUp);
    assert_eq!(child.receipts()[2..], [(2, Undelivered), (1, Undelivered)]);
    assert_eq!(child.heard.len(), 4, "nothing is said any more");

    // The child dies.
    let mut child = busy();
    child.told(1, "x", Steer);
    child.told(2, "y", Steer);
    child.says([answered(1, "queued"), user("x")]);
    child.closes();
    child.told(3, "z", Steer);
    assert_eq!(child.receipts(), [(1, Accepted), (1, Delivered), (2, Undelivered), (3, Undelivered)]);

    // A refusal, and a cancel: neither waits for it.
    let mut child = Child::started(asked());
    child.told(1, "x", Steer);
    child.says([probe(TOOLS), state("offline", "other", "off")]);
    assert_eq!(child.settlement().reason, Reason::ModelMismatch);
    assert_eq!(child.receipts(), [(1, Undelivered)]);
    let mut child = busy();
    child.told(1, "x", Steer);
    child.told(2, "y", Steer);
    child.cancelled();
    assert_eq!(child.commands()[3..], ["prompt"], "the response comes first");
    child.says([answered(1, "queued")]);
    assert_eq!(child.commands()[3..], ["prompt", "clear_queue"], "and the other one is not sent");
    child.says([ok("clear_queue"), message("aborted", &[]), settled()]);
    assert_eq!(child.settlement().reason, Reason::Cancelled);
    assert_eq!(child.receipts(), [(1, Accepted), (1, Undelivered), (2, Undelivered)]);
}

#[test]
fn a_cancel_stops_a_run_that_a_late_steer_has_started() {
    let mut child = busy();
    child.told(1, "late", Steer);
    child.says([message_done(), settled()]);
    child.cancelled();
    assert_eq!(child.driver.phase(), Phase::Working, "the child may be at work again by now");
    child.says([answered(1, "started")]);
    assert_eq!(child.commands()[4..], ["clear_queue"]);
    child.says([ok("clear_queue"), user("late"), message("aborted", &[]), settled()]);
    assert_eq!(child.settlement().reason, Reason::Cancelled);
    assert_eq!(child.receipts(), [(1, Accepted), (1, Delivered)]);
}

#[test]
fn a_child_that_takes_no_prompt_while_it_summarises_gets_it_afterwards() {
    let mut child = busy();
    child.says([json!({"type": "compaction_start", "reason": "manual"})]);
    child.told(1, "x", Steer);
    child.told(2, "y", Steer);
    child.says([put_off(1)]);
    assert_eq!(child.heard.len(), 4, "it waits");
    child.says([json!({"type": "compaction_end", "reason": "manual"})]);
    assert_eq!(child.heard[4]["id"], "steer-1");
    child.says([answered(1, "queued"), answered(2, "queued"), user("x"), user("y")]);
    assert_eq!(child.receipts(), [(1, Accepted), (2, Accepted), (1, Delivered), (2, Delivered)]);

    let mut child = busy();
    child.told(1, "x", Steer);
    for _ in 0..20 {
        child.says([json!({"type": "compaction_start"}), put_off(1), json!({"type": "compaction_end"})]);
    }
    assert_eq!(child.receipts(), [(1, Undelivered)], "not for ever");
    assert!(child.heard.len() < 20, "{}", child.heard.len());
}

#[test]
fn at_the_bound_a_steer_is_undelivered_at_once() {
    let mut child = busy();
    let open = OPEN_STEERS as u32;
    for intent in 0..open {
        child.told(intent, "x", Steer);
    }
    assert!(child.receipts().is_empty());
    child.told(100, "x", Steer);
    assert_eq!(child.receipts(), [(100, Undelivered)]);
    assert_eq!(child.driver.remarks(), ["steer.overflow"]);
    // One heard makes room for one.
    child.says([answered(0, "queued"), user("x")]);
    child.told(101, "x", Steer);
    child.told(102, "x", Steer);
    assert_eq!(child.receipts()[3..], [(102, Undelivered)]);
    let mut child = busy();
    for intent in 0..STEERS as u32 + 5 {
        child.told(intent, "x", Steer);
        child.says([answered(intent, "queued"), user("x")]);
    }
    assert_eq!(child.driver.receipts().len(), STEERS);
    assert!(child.driver.receipts().iter().all(|(_, receipt)| *receipt == Delivered));
    assert_eq!(child.receipts().last(), Some(&(STEERS as u32 + 4, Undelivered)));
}
