//! Streams of the real pi, recorded by `streams/record.mjs`, which says what its lines are.

use subagentd_core::life::Reason;
use subagentd_core::outcome::Usage;

use super::*;
use Receipt::{Accepted, Delivered};

/// What a stream has to come to.
struct Expected {
    reason: Reason,
    answer: Option<&'static str>,
    error: Option<&'static str>,
    turns: u64,
    exit_codes: Vec<Option<i64>>,
    receipts: Vec<(u32, Receipt)>,
    usage: Option<Usage>,
}

impl Default for Expected {
    fn default() -> Self {
        Self {
            reason: Reason::Completed,
            answer: None,
            error: None,
            turns: 1,
            exit_codes: vec![],
            receipts: vec![],
            usage: None,
        }
    }
}

fn answers(answer: &'static str) -> Expected {
    Expected { answer: Some(answer), ..Expected::default() }
}

fn ends(reason: Reason) -> Expected {
    Expected { reason, ..Expected::default() }
}

/// Plays a stream: the child's lines and the owner's orders in their order.
fn play(name: &str, text: &str) -> (Child, Vec<Value>) {
    let asked = Asked { provider: "faux".into(), model: "faux-1".into(), prompt: "go".into(), ..asked() };
    let mut child = Child::started(asked);
    let mut sent = Vec::new();
    for line in text.lines() {
        // Lone surrogates, which our reader refuses, stand in records only.
        let record: Value = serde_json::from_str(line).unwrap_or_default();
        if let Some(command) = record.get("sent") {
            sent.push(command.clone());
        } else if let Some(order) = record.get("do") {
            match order.as_str().unwrap() {
                "cancel" => child.cancelled(),
                "pause" => child.paused(),
                _ => child.told(
                    record["intent"].as_u64().unwrap() as u32,
                    record["text"].as_str().unwrap(),
                    serde_json::from_value(record["delivery"].clone()).unwrap_or(Delivery::FollowUp),
                ),
            }
        } else {
            let settled = child.events.iter().any(|event| matches!(event, Event::Settled(_)));
            assert!(!settled || record["type"] == "response", "{name}: settled before {line}");
            child.writes(format!("{line}\n").as_bytes());
        }
    }
    (child, sent)
}

fn check(name: &str, text: &str, expected: &Expected) {
    let (child, sent) = play(name, text);
    let settlement = child.settlement();
    let seen = (settlement.reason, settlement.answer.as_deref(), settlement.error.as_deref());
    assert_eq!(seen, (expected.reason, expected.answer, expected.error), "{name}: {:?}", child.events);
    assert_eq!(settlement.complete, expected.reason == Reason::Completed, "{name}");
    assert_eq!(child.heard, sent, "{name}");
    let codes: Vec<Option<i64>> = child
        .events
        .iter()
        .filter_map(|event| match event {
            Event::ToolEnded { exit_code, .. } => Some(*exit_code),
            _ => None,
        })
        .collect();
    assert_eq!(codes, expected.exit_codes, "{name}");
    assert_eq!(child.receipts(), expected.receipts, "{name}");
    assert_eq!(child.driver.totals().turns, expected.turns, "{name}");
    if let Some(usage) = expected.usage {
        assert_eq!(child.driver.totals().usage, usage, "{name}");
    }
    assert_eq!(child.driver.remarks(), Vec::<String>::new(), "{name}");
    assert!(child.records.iter().all(|record| !record.contains("_update\",\"usage")), "{name}");
    assert_eq!(child.driver.reported().model.as_deref(), Some("faux/faux-1"), "{name}");
}

macro_rules! recorded {
    ($($test:ident, $name:literal, $expected:expr;)*) => {
        $(
            #[test]
            fn $test() {
                check($name, include_str!(concat!("streams/", $name, ".jsonl")), &$expected);
            }
        )*
    };
}

const OVERFLOW: &str = "prompt is too long: 213462 tokens > 200000 maximum";

recorded! {
    a_plain_answer, "plain", answers("It is in a.rs.");
    odd_characters, "unicode", answers("a\u{2028}b 😀 \u{fffd} z\u{fffd}\u{85}");
    two_commands_and_their_exit_codes, "tools",
        Expected { turns: 2, exit_codes: vec![Some(0), Some(3)], ..answers("One of two.") };
    what_a_command_writes_on_the_way, "tool-updates",
        Expected { turns: 2, exit_codes: vec![Some(0)], ..answers("Counted.") };
    a_steer_in_a_tool_call, "steer", Expected {
        turns: 2, exit_codes: vec![Some(0)], receipts: vec![(1, Accepted), (1, Delivered)], ..answers("The other way it is.")
    };
    the_same_text_twice, "steer-twice", Expected {
        turns: 3, exit_codes: vec![Some(0)],
        receipts: vec![(1, Accepted), (2, Accepted), (1, Delivered), (2, Delivered)], ..answers("Yes again.")
    };
    a_follow_up, "follow-up", Expected {
        turns: 3, exit_codes: vec![Some(0)], receipts: vec![(4, Accepted), (4, Delivered)], ..answers("More done.")
    };
    a_steer_that_meets_the_settlement, "steer-late",
        Expected { turns: 2, receipts: vec![(1, Accepted), (1, Delivered)], ..answers("Late, too.") };
    a_cancel_in_a_command, "cancel-tool", Expected { turns: 2, exit_codes: vec![None], ..ends(Reason::Cancelled) };
    a_pause_in_a_command, "pause-tool", Expected {
        turns: 2, exit_codes: vec![None], receipts: vec![(1, Accepted), (2, Accepted)], ..ends(Reason::Paused)
    };
    a_pause_before_the_first_word, "pause-model", ends(Reason::Paused);
    a_pause_in_a_text, "pause-text", ends(Reason::Paused);
    a_pause_after_the_answer, "pause-late", answers("Done.");
    a_pause_in_the_wait_for_a_retry, "pause-retry", ends(Reason::Paused);
    a_retry, "retry", Expected { turns: 2, ..answers("At last.") };
    a_provider_that_fails_after_all_retries, "retry-failed",
        Expected { error: Some("529 overloaded"), turns: 4, ..ends(Reason::ModelError) };
    a_failure_that_is_not_retried, "error-final",
        Expected { error: Some("401 invalid x-api-key"), answer: Some("I"), ..ends(Reason::ModelError) };
    an_answer_cut_off, "length", Expected {
        error: Some("the answer was cut off at the output limit of the model"), answer: Some("It is in"),
        ..ends(Reason::AnswerCutOff)
    };
    no_answer, "empty",
        Expected { error: Some("the last message of the child has no text"), ..ends(Reason::AnswerMissing) };
    a_summary_at_the_threshold, "threshold", Expected {
        turns: 2, exit_codes: vec![Some(0)], usage: Some(THRESHOLD), ..answers("Compacted.")
    };
    a_summary_after_an_overflow, "overflow", Expected { turns: 3, exit_codes: vec![Some(0)], ..answers("It fits now.") };
    an_overflow_that_no_summary_mends, "overflow-failed", Expected {
        error: Some(OVERFLOW), turns: 3, exit_codes: vec![Some(0)], ..ends(Reason::ModelError)
    };
}

/// Two messages, and the summary between them.
const THRESHOLD: Usage =
    Usage { input: 1900 + 900 + 100, output: 20 + 30 + 5, cache_read: 0, cache_write: 0, cost: 0.0 };
