use subagentd_core::life::Reason;

use super::steer::{answered, busy, user};
use super::*;

fn ended(aborted: bool) -> Value {
    json!({"type": "agent_settled", "aborted": aborted})
}

#[test]
fn before_the_prompt_a_pause_settles_at_once_and_keeps_what_was_told() {
    let mut child = Child::started(asked());
    child.told(1, "x", Delivery::Steer);
    child.paused();
    assert_eq!(child.settlement().reason, Reason::Paused);
    child.told(2, "y", Delivery::Steer);
    child.says([state("offline", "search", "off")]);
    child.closes();
    assert_eq!((child.receipts(), child.driver.receipts()), (vec![], vec![]));
    assert_eq!(child.commands(), ["get_state"]);
}

#[test]
fn a_pause_clears_the_queue_aborts_and_leaves_the_queue_open() {
    let mut child = busy();
    child.told(1, "heard", Delivery::Steer);
    child.says([answered(1, "queued"), user("heard")]);
    child.told(2, "queued", Delivery::Steer);
    child.says([answered(2, "queued")]);
    child.told(3, "on its way", Delivery::FollowUp);
    child.told(4, "not sent", Delivery::Steer);
    child.paused();
    child.paused();
    assert_eq!(child.commands()[3..], ["prompt", "prompt", "prompt"]);
    child.says([answered(3, "queued"), ok("clear_queue")]);
    assert_eq!(child.commands()[6..], ["clear_queue", "abort"]);
    // It was taken out of the queue, but had already been said.
    child.says([user("queued"), message("aborted", &["half"]), ended(true), ok("abort")]);
    let settlement = child.settlement();
    assert_eq!((settlement.reason, settlement.answer.as_deref()), (Reason::Paused, None));
    assert_eq!((settlement.error.as_deref(), child.driver.last_text()), (None, None));
    use Receipt::{Accepted, Delivered};
    let newest = [(1, Delivered), (2, Delivered), (3, Accepted)];
    assert_eq!(child.driver.receipts(), newest, "no receipt says that the others are lost");
    child.told(3, "on its way", Delivery::FollowUp);
    assert_eq!(child.receipts().last(), Some(&(3, Accepted)));
}

#[test]
fn a_child_that_was_done_first_is_done() {
    type Row = (Option<Value>, bool, Reason, Option<&'static str>);
    let rows: [Row; 12] = [
        (Some(message("stop", &["done"])), false, Reason::Completed, Some("done")),
        (Some(message("stop", &["done"])), true, Reason::Completed, Some("done")),
        (Some(message("stop", &[])), false, Reason::AnswerMissing, None),
        (Some(message("stop", &[])), true, Reason::Paused, None),
        (Some(message("length", &["cut"])), false, Reason::AnswerCutOff, Some("cut")),
        (Some(message("length", &["cut"])), true, Reason::Paused, None),
        (Some(message("error", &[])), false, Reason::ModelError, None),
        // The pause took it out of the wait for a retry.
        (Some(message("error", &[])), true, Reason::Paused, None),
        (Some(message("toolUse", &["I look"])), true, Reason::Paused, None),
        (Some(message("aborted", &["half"])), false, Reason::Paused, None),
        (Some(message("aborted", &["half"])), true, Reason::Paused, None),
        (None, true, Reason::Paused, None),
    ];
    for (last, aborted, reason, answer) in rows {
        let mut child = busy();
        child.says(last.clone());
        child.paused();
        child.says([ended(aborted)]);
        let settlement = child.settlement();
        assert_eq!((settlement.reason, settlement.answer.as_deref()), (reason, answer), "{last:?} {aborted}");
        child.told(1, "late", Delivery::Steer);
        let told = if reason == Reason::Paused { vec![] } else { vec![(1, Receipt::Undelivered)] };
        assert_eq!(child.receipts(), told, "{last:?} {aborted}");
    }
}

#[test]
fn an_answer_does_not_end_a_child_that_has_more_to_hear() {
    let mut child = busy();
    child.says([message("stop", &["first"])]);
    child.told(1, "and then", Delivery::FollowUp);
    child.says([answered(1, "queued")]);
    child.paused();
    child.says([ok("clear_queue"), ended(false)]);
    assert_eq!(child.settlement().reason, Reason::Paused);
    assert_eq!(child.receipts(), [(1, Receipt::Accepted)]);
}

#[test]
fn a_cancel_beats_a_pause_and_not_the_reverse() {
    let mut child = busy();
    child.told(1, "x", Delivery::Steer);
    child.says([answered(1, "queued")]);
    child.paused();
    child.says([ok("clear_queue")]);
    child.cancelled();
    child.paused();
    child.says([message("aborted", &["half"]), ended(true)]);
    let settlement = child.settlement();
    assert_eq!((settlement.reason, settlement.answer.as_deref()), (Reason::Cancelled, Some("half")));
    assert_eq!(child.commands()[4..], ["clear_queue", "abort"], "the child is told once");
    assert_eq!(child.receipts().last(), Some(&(1, Receipt::Undelivered)));

    let mut child = busy();
    child.cancelled();
    child.paused();
    child.says([ok("clear_queue"), ended(true)]);
    assert_eq!(child.settlement().reason, Reason::Cancelled);
}

#[test]
fn a_paused_child_that_dies_keeps_what_was_told_open() {
    let mut child = busy();
    child.told(1, "x", Delivery::Steer);
    child.says([answered(1, "queued")]);
    child.paused();
    child.closes();
    child.told(2, "y", Delivery::Steer);
    assert_eq!(child.receipts(), [(1, Receipt::Accepted)]);
    assert_eq!(child.events.last(), Some(&Event::EndOfOutput));
}

#[test]
fn a_pause_while_the_prompt_is_on_its_way_waits_for_its_response() {
    let mut child = Child::prompted();
    child.paused();
    assert_eq!(child.heard.len(), 3);
    child.says([ok("prompt")]);
    assert_eq!(child.commands()[3..], ["clear_queue"]);
    let mut child = Child::prompted();
    child.paused();
    child.says([refused("prompt", "busy")]);
    assert_eq!(child.settlement().reason, Reason::Paused);
}
