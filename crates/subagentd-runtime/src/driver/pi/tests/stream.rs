use subagentd_core::life::Reason;
use subagentd_core::outcome::Usage;

use super::*;

/// One conversation with a tool call, noise, a retry, lone surrogates and wide characters.
const TRANSCRIPT: &str = include_str!("../../../../tests/data/pi-tool-and-retry.jsonl");

fn replay<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Event>, Vec<u8>, Vec<String>) {
    let mut driver = Driver::new(asked());
    let mut events = Vec::new();
    for piece in pieces {
        driver.feed(piece);
        events.extend(std::iter::from_fn(|| driver.next_event()));
    }
    driver.end_of_output();
    events.extend(std::iter::from_fn(|| driver.next_event()));
    (events, driver.output().to_vec(), driver.remarks())
}

fn telling(events: &[Event]) -> Vec<Event> {
    let dull = |event: &&Event| !matches!(event, Event::Activity | Event::Record { .. });
    events.iter().filter(dull).cloned().collect()
}

#[test]
fn a_conversation_is_told_in_its_order() {
    let (events, _, remarks) = replay([TRANSCRIPT.as_bytes()]);
    let usage = |input, output, cache_read, cache_write, cost| Usage { input, output, cache_read, cache_write, cost };
    let expected = [
        Event::Prompted,
        Event::Message { usage: usage(10, 2, 3, 4, 0.25), stop: "toolUse".into() },
        Event::ToolStarted {
            seq: 1,
            id: "c1".into(),
            parent: None,
            name: "bash".into(),
            args: r#"{"command":"ls ä"}"#.into(),
            clipped: false,
        },
        Event::ToolEnded { id: "c1".into(), exit_code: Some(2), is_error: true, duration_ms: Some(12) },
        Event::Noise { bytes: 10 },
        Event::Message { usage: usage(1, 0, 0, 0, 0.0), stop: "error".into() },
        Event::Message { usage: usage(100, 20, 1, 0, 0.5), stop: "stop".into() },
        Event::Settled(Settlement {
            reason: Reason::Completed,
            error: None,
            answer: Some("In 😀 a\u{2028}b and \u{fffd}.".into()),
            complete: true,
        }),
    ];
    assert_eq!(telling(&events)[1..], expected);
    assert_eq!(remarks, ["output.noise"]);
}

#[test]
fn every_record_is_kept_but_what_is_streamed_and_the_verification() {
    let (events, ..) = replay([TRANSCRIPT.as_bytes()]);
    let kept: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::Record { raw, .. } => Some(raw.get()),
            _ => None,
        })
        .collect();
    let expected: Vec<String> = TRANSCRIPT
        .lines()
        .filter(|line| !line.contains("_update") && !line.contains("get_") && *line != "some noise")
        .map(|line| line.replace(r"\ud800", r"\uFFFD"))
        .collect();
    assert_eq!(kept, expected);
    for line in kept {
        serde_json::from_str::<Value>(line).unwrap();
        assert!(!line.contains("SECRET"));
    }
    // A record comes before what it means, and a line that means nothing else is a sign of life.
    for pair in events.windows(2) {
        if let [Event::Record { raw, .. }, meaning] = pair {
            let line = raw.get();
            let settles = matches!(meaning, Event::Settled(_));
            assert_eq!(settles, line.contains("agent_settled"), "{line} {meaning:?}");
            assert_eq!(*meaning == Event::Activity, is_dull(line), "{line} {meaning:?}");
        }
    }
}

fn is_dull(line: &str) -> bool {
    let telling = [
        "\"role\":\"assistant\",\"content\":[{\"type\":\"thinking",
        "\"stopReason\":\"error\"",
        "tool_execution_start",
        "tool_execution_end",
        "agent_settled",
        "\"command\":\"prompt\"",
    ];
    !telling.iter().any(|part| line.contains(part))
}

#[test]
fn every_split_gives_the_same_events() {
    let bytes = TRANSCRIPT.as_bytes();
    let whole = replay([bytes]);
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(replay([head, tail]), whole, "split at {at}");
    }
    assert_eq!(replay(bytes.chunks(1)), whole, "single bytes");
    let unterminated = TRANSCRIPT.trim_end().as_bytes();
    assert_eq!(replay([unterminated]), whole, "no line end at the end");
    let crlf = TRANSCRIPT.replace('\n', "\r\n").replace("some noise\r", "some noise");
    assert_eq!(replay(crlf.as_bytes().chunks(3)), whole, "CRLF");
}

#[test]
fn random_splits_give_the_same_events() {
    let bytes = TRANSCRIPT.as_bytes();
    let whole = replay([bytes]);
    for seed in 0..300_u64 {
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut rest = bytes;
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            // xorshift64: any even spread will do, the same for the same seed.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let (piece, tail) = rest.split_at(rest.len().min((random % 400) as usize));
            pieces.push(piece);
            rest = tail;
        }
        assert_eq!(replay(pieces), whole, "seed {seed}");
    }
}

#[test]
fn arguments_names_and_ids_are_cut_on_whole_characters() {
    let mut child = Child::working();
    let long = "ä".repeat(3000);
    child.says([
        json!({"type": "tool_execution_start", "toolCallId": long, "toolName": long, "parentToolCallId": "p", "args": {"x": long}}),
        json!({"type": "tool_execution_start", "toolCallId": "b", "toolName": "ls"}),
        json!({"type": "tool_execution_end", "toolCallId": long, "result": {"structuredContent": {"exit_code": "1"}}}),
    ]);
    match &child.events[2..] {
        [
            Event::ToolStarted { seq: 1, id, parent: Some(parent), name, args, clipped: true },
            Event::ToolStarted { seq: 2, parent: None, args: none, clipped: false, .. },
            Event::ToolEnded { id: end, exit_code: None, is_error: false, duration_ms: None },
        ] => {
            assert_eq!((id.len(), name.len(), parent.as_str()), (NAME_BYTES, NAME_BYTES, "p"));
            assert_eq!(id, end);
            assert!(args.len() <= ARGS_BYTES && args.len() > ARGS_BYTES - 2, "{}", args.len());
            assert_eq!(none, "");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(child.driver.totals().tool_calls, 1);
}
