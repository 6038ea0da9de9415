use subagentd_core::life::Reason;

use super::*;

const VERIFIED: [&str; 3] = ["get_state", "get_available_models", "prompt"];

#[test]
fn before_the_prompt_a_cancel_settles_at_once() {
    let mut fresh = Child::started(asked());
    fresh.cancelled();
    let mut half = Child::started(asked());
    half.says([probe(TOOLS), state("offline", "search", "off")]);
    half.cancelled();
    for mut child in [fresh, half] {
        assert_eq!(child.settlement().reason, Reason::Cancelled);
        child.cancelled();
        child.says([state("offline", "search", "off"), models(&[("offline", "search")]), ok("prompt")]);
        child.settlement();
        assert!(!child.commands().contains(&"prompt"), "{:?}", child.commands());
    }
}

#[test]
fn a_cancel_clears_the_queue_then_aborts_one_command_at_a_time() {
    let mut child = Child::working();
    child.cancelled();
    child.cancelled();
    assert_eq!(child.commands()[3..], ["clear_queue"]);
    child.says([ok("abort")]);
    assert_eq!(child.commands()[3..], ["clear_queue"], "another command's response");
    child.says([ok("clear_queue")]);
    assert_eq!(child.commands()[3..], ["clear_queue", "abort"]);
    assert_eq!(child.driver.phase(), Phase::Working);
    child.says([message("aborted", &["as far as I"]), settled(), ok("abort")]);
    let settlement = child.settlement();
    assert_eq!(settlement.reason, Reason::Cancelled);
    assert_eq!((settlement.answer.as_deref(), settlement.complete), (Some("as far as I"), false));
    assert_eq!(child.driver.remarks(), Vec::<String>::new());
}

#[test]
fn a_cancel_while_the_prompt_is_on_its_way_waits_for_its_response() {
    let mut child = Child::prompted();
    child.cancelled();
    assert_eq!(child.commands(), VERIFIED);
    child.says([ok("prompt")]);
    assert_eq!(child.commands()[3..], ["clear_queue"]);
    child.says([ok("clear_queue"), settled()]);
    let settlement = child.settlement();
    assert_eq!((settlement.reason, settlement.answer.as_deref()), (Reason::Cancelled, None));

    let mut child = Child::prompted();
    child.cancelled();
    child.says([refused("prompt", "busy")]);
    assert_eq!(child.settlement().reason, Reason::Cancelled);
    assert_eq!(child.commands(), VERIFIED);
}

#[test]
fn an_answer_that_was_just_finished_is_kept_as_complete() {
    let mut child = Child::working();
    child.says([message("stop", &["done"])]);
    child.cancelled();
    child.says([settled(), ok("clear_queue")]);
    let settlement = child.settlement();
    assert_eq!(settlement.reason, Reason::Cancelled);
    assert_eq!((settlement.answer.as_deref(), settlement.complete), (Some("done"), true));
    assert!(!child.commands().contains(&"abort"), "nothing is left to abort");
}

#[test]
fn after_the_settlement_a_cancel_changes_nothing() {
    let mut child = Child::working();
    child.says([message("stop", &["done"]), settled()]);
    child.cancelled();
    assert_eq!(child.settlement().reason, Reason::Completed);
    assert_eq!(child.commands(), VERIFIED);
}

#[test]
fn a_child_that_is_idle_after_the_abort_has_settled() {
    let mut child = Child::working();
    child.cancelled();
    child.says([ok("clear_queue"), ok("abort")]);
    assert_eq!(child.settlement().reason, Reason::Cancelled);
    child.says([settled()]);
    child.settlement();
}

#[test]
fn a_refused_clear_or_abort_is_remarked_and_left_to_the_grace_of_the_owner() {
    let mut child = Child::working();
    child.cancelled();
    child.says([refused("clear_queue", "no")]);
    assert_eq!(child.commands()[3..], ["clear_queue", "abort"]);
    child.says([refused("abort", "no")]);
    assert_eq!(child.driver.phase(), Phase::Working);
    assert_eq!(child.driver.remarks(), ["cancel.refused"]);
}

#[test]
fn dialogs_are_cancelled_when_they_come_so_none_is_open_at_the_abort() {
    let dialog =
        |id: &str, method: &str| json!({"type": "extension_ui_request", "id": id, "method": method, "title": "?"});
    let mut child = Child::working();
    child.says([
        dialog("d1", "select"),
        dialog("d2", "confirm"),
        dialog("d3", "input"),
        dialog("d4", "editor"),
        dialog("n1", "notify"),
        dialog("n2", "setStatus"),
        dialog("n3", "set_editor_text"),
    ]);
    let answers: Vec<Value> = child.heard[3..].to_vec();
    let expected: Vec<Value> = ["d1", "d2", "d3", "d4"]
        .iter()
        .map(|id| json!({"type": "extension_ui_response", "id": id, "cancelled": true}))
        .collect();
    assert_eq!(answers, expected);
    assert_eq!(child.driver.remarks(), ["dialog.cancelled"]);

    // In one read with the response that makes way for the abort, too.
    child.cancelled();
    let both = format!("{}\n{}\n", dialog("d5", "confirm"), ok("clear_queue"));
    child.writes(both.as_bytes());
    assert_eq!(child.commands()[7..], ["clear_queue", "extension_ui_response", "abort"]);
    child.says([settled(), dialog("d6", "confirm")]);
    assert_eq!(child.heard.last().unwrap()["id"], "d6", "an open dialog would hold the exit up");
}

#[test]
fn a_flood_of_dialogs_meets_a_bound() {
    let mut driver = Child::working().driver;
    for number in 0..3000 {
        let dialog = json!({"type": "extension_ui_request", "id": number.to_string(), "method": "confirm"});
        driver.feed(format!("{dialog}\n").as_bytes());
    }
    let waiting = driver.output().iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(waiting, command::DIALOG_ANSWERS);
    assert_eq!(driver.remarks(), ["dialog.cancelled", "dialog.unanswered"]);
    driver.wrote(driver.output().len());
    driver.feed(b"{\"type\":\"extension_ui_request\",\"id\":\"x\",\"method\":\"confirm\"}\n");
    assert!(!driver.output().is_empty(), "room again");
}
