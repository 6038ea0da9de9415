use subagentd_core::life::Reason;
use subagentd_core::outcome::Usage;

use super::*;

#[test]
fn the_last_message_before_the_settlement_decides() {
    let rows: [(Option<Value>, Reason, Option<&str>, bool); 13] = [
        (Some(message("stop", &["It is ", "here."])), Reason::Completed, Some("It is here."), true),
        (Some(message("stop", &[])), Reason::AnswerMissing, None, false),
        (Some(message("stop", &[" \n\t", "\u{a0}"])), Reason::AnswerMissing, None, false),
        (Some(message("length", &["It is"])), Reason::AnswerCutOff, Some("It is"), false),
        (Some(message("length", &[])), Reason::AnswerCutOff, None, false),
        (Some(message("error", &["It"])), Reason::ModelError, Some("It"), false),
        (Some(message("aborted", &["It"])), Reason::ChildAborted, Some("It"), false),
        (Some(message("toolUse", &[])), Reason::AnswerMissing, None, false),
        (Some(message("toolUse", &["I look"])), Reason::AnswerMissing, Some("I look"), false),
        (Some(message("deferred", &["later"])), Reason::AnswerMissing, Some("later"), false),
        (
            Some(json!({"type": "message_end", "message": {"role": "assistant", "content": "x"}})),
            Reason::AnswerMissing,
            None,
            false,
        ),
        (
            Some(json!({"type": "message_end", "message": {"role": "assistant", "stopReason": "stop",
                        "content": [7, {"type": "new"}, {"type": "new", "text": "NEW"}, {"type": "text", "text": "ok", "extra": {}}]}})),
            Reason::Completed,
            Some("ok"),
            true,
        ),
        (None, Reason::AnswerMissing, None, false),
    ];
    for (last, reason, answer, complete) in rows {
        // The retry's earlier messages must not count, nor what other roles say.
        for before in [vec![], vec![message("stop", &["EARLIER"])]] {
            if last.is_none() && !before.is_empty() {
                continue;
            }
            let mut child = Child::working();
            child.says(before);
            child.says(last.clone());
            child.says([
                json!({"type": "message_end", "message": {"role": "user", "content": [{"type": "text", "text": "USER"}], "stopReason": "stop"}}),
                json!({"type": "message_end", "message": {"role": "toolResult", "content": [{"type": "text", "text": "TOOL"}]}}),
                json!({"type": "agent_end", "messages": [], "willRetry": false}),
            ]);
            assert_eq!(child.driver.phase(), Phase::Working, "agent_end is not the end");
            child.says([settled()]);
            let settlement = child.settlement();
            let seen = (settlement.reason, settlement.answer.as_deref(), settlement.complete);
            assert_eq!(seen, (reason, answer, complete), "{last:?}");
            assert_eq!(settlement.error.is_none(), reason == Reason::Completed, "{settlement:?}");
            child.says([message("stop", &["LATE"]), settled()]);
            child.settlement();
        }
    }
}

#[test]
fn the_providers_own_words_are_kept_as_one_short_line() {
    let mut child = Child::working();
    let mut failed = message("error", &[]);
    failed["message"]["errorMessage"] = json!(format!("429\nquota {}", "x".repeat(900)));
    child.says([failed, settled()]);
    let error = child.settlement().error.as_deref().unwrap();
    assert!(error.starts_with("429 quota xx") && error.len() == 300, "{error}");
    let mut child = Child::working();
    child.says([message("error", &[]), settled()]);
    assert_eq!(child.settlement().error.as_deref(), Some("the model failed and gave no reason"));
}

#[test]
fn a_refused_prompt_and_a_prompt_taken_for_a_command_end_the_child() {
    let mut handled = ok("prompt");
    handled["data"] = json!({"disposition": "handled"});
    let rows = [
        (refused("prompt", "no credentials for offline"), "no credentials for offline"),
        (handled, "no work was started"),
        (json!({"type": "response", "command": "parse", "success": false, "error": "cannot read"}), "cannot read"),
    ];
    for (response, sentence) in rows {
        let mut child = Child::prompted();
        child.says([response, settled()]);
        let settlement = child.settlement();
        assert_eq!(settlement.reason, Reason::PromptRefused);
        assert!(settlement.error.as_deref().unwrap().contains(sentence), "{settlement:?}");
        assert!(!child.events.contains(&Event::Prompted));
    }
}

#[test]
fn what_came_before_the_acceptance_is_not_ours() {
    let mut child = Child::prompted();
    child.says([message("stop", &["somebody else's"]), settled()]);
    assert_eq!(child.driver.phase(), Phase::Prompting);
    child.says([ok("prompt"), settled()]);
    assert_eq!(child.settlement().reason, Reason::AnswerMissing);
    assert_eq!(child.driver.totals().turns, 1, "it was paid for all the same");
}

#[test]
fn an_early_end_leaves_the_judgement_to_the_owner_and_keeps_the_text() {
    let mut child = Child::working();
    child.says([message("toolUse", &["half a word"])]);
    child.writes(br#"{"type":"agent_set"#);
    child.closes();
    child.closes();
    child.writes(b"\n{\"type\":\"agent_settled\"}\n");
    child.cancelled();
    let ends: Vec<&Event> =
        child.events.iter().filter(|event| matches!(event, Event::EndOfOutput | Event::Settled(_))).collect();
    assert_eq!(ends, [&Event::EndOfOutput]);
    assert_eq!(child.driver.last_text(), Some("half a word"));

    let mut child = Child::working();
    child.says([message("stop", &["done"])]);
    // Only the line end is missing: an object is whole when it closes.
    child.writes(br#"{"type":"agent_settled"}"#);
    child.closes();
    assert_eq!(child.settlement().reason, Reason::Completed);
    assert!(!child.events.contains(&Event::EndOfOutput));

    let mut child = Child::started(asked());
    child.closes();
    assert_eq!(child.events, [Event::EndOfOutput]);
    assert_eq!(child.driver.last_text(), None);
}

#[test]
fn usage_is_reported_and_summed_whatever_its_shape() {
    let mut child = Child::working();
    let mut first = message("toolUse", &[]);
    first["message"]["usage"] = json!({"input": 10, "output": 2.0, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 19, "cost": {"total": 0.25}});
    let mut second = message("stop", &["x"]);
    second["message"]["usage"] = json!({"input": 1e3, "output": -5, "cacheRead": "many", "cost": {"total": 0.5}});
    let mut third = message("stop", &["x"]);
    third["message"]["usage"] = json!("none");
    child.says([first, second, third]);
    let sum = Usage { input: 1010, output: 2, cache_read: 3, cache_write: 4, cost: 0.75 };
    assert_eq!(child.driver.totals().usage, sum);
    assert_eq!(child.driver.totals().turns, 3);
    let stops: Vec<&str> = child
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Message { stop, .. } => Some(stop.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(stops, ["toolUse", "stop", "stop"]);
}

#[test]
fn nothing_that_a_child_wrote_shows_in_a_log() {
    let mut child = Child::working();
    child.says([
        json!({"type": "tool_execution_start", "toolCallId": "c", "toolName": "bash", "args": {"command": "PRIVATE"}}),
        message("stop", &["PRIVATE"]),
        settled(),
    ]);
    child.driver.feed(format!("{}\n", message("stop", &["PRIVATE"])).as_bytes());
    let record = child.driver.next_event();
    assert!(matches!(record, Some(Event::Record { .. })));
    let shown = format!("{:?} {record:?}", child.events);
    assert!(!shown.contains("PRIVATE"), "{shown}");
}

#[test]
fn tools_and_summaries_that_asked_a_model_are_paid_for_too() {
    let usage = |input: u64| json!({"input": input, "output": 1, "cost": {"total": 0.5}});
    let mut child = Child::working();
    child.says([
        json!({"type": "message_end", "message": {"role": "toolResult", "content": [], "usage": usage(10)}}),
        json!({"type": "compaction_end", "reason": "threshold", "result": {"summary": "s", "usage": usage(100)}}),
        json!({"type": "compaction_end", "reason": "overflow", "errorMessage": "no", "aborted": false}),
        json!({"type": "compaction_end", "result": "odd"}),
        json!({"type": "message_end", "message": {"role": "user", "content": "x", "usage": usage(1000)}}),
    ]);
    assert_eq!(child.driver.totals().usage, Usage { input: 110, output: 2, cost: 1.0, ..Usage::default() });
    assert_eq!(child.driver.totals().turns, 0);
}
