use subagentd_core::life::Reason;

use super::*;

#[test]
fn noise_is_counted_and_fatal_to_nothing() {
    let mut child = Child::started(asked());
    let noise: [&[u8]; 9] = [
        b"Debugger attached.",
        b"[\"response\",\"x\"]",
        b"42",
        b"null",
        b"\"text\"",
        b"{\"type\":\"agent_settled\"",
        b"{\"type\":\"agent_settled\"} trailing",
        b"\xff\xfe\x00",
        b"   ",
    ];
    for line in noise {
        child.writes(line);
        child.writes(b"\n");
    }
    child.writes(b"\n\r\n");
    let expected: Vec<Event> = noise.iter().map(|line| Event::Noise { bytes: line.len() }).collect();
    assert_eq!(child.events, expected);
    child.says([probe(TOOLS), state("offline", "search", "off"), models(&[("offline", "search")]), ok("prompt")]);
    assert_eq!(child.driver.phase(), Phase::Working);
    assert_eq!(child.driver.remarks(), ["output.noise"]);
}

#[test]
fn a_flood_of_noise_gives_few_events() {
    let mut child = Child::working();
    for _ in 0..1000 {
        child.writes(b"zzz\n");
    }
    let noise = child.events.iter().filter(|event| matches!(event, Event::Noise { .. })).count();
    assert_eq!(noise, NOISE_EVENTS);
    assert_eq!(child.driver.totals().noise_bytes, 3000);
}

#[test]
fn unknown_types_fields_and_shapes_are_signs_of_life() {
    let lines = [
        "{}",
        r#"{"type":"brand_new","x":[1,{"y":null}]}"#,
        r#"{"type":7}"#,
        r#"{"type":null,"message":"x"}"#,
        r#"{"type":"message_end"}"#,
        r#"{"type":"message_end","message":null}"#,
        r#"{"type":"message_end","message":{"role":7}}"#,
        r#"{"type":["message_update"],"assistantMessageEvent":"text_delta"}"#,
        r#"{"type":"response"}"#,
        r#"{"type":"response","id":5,"success":"yes","data":[]}"#,
        r#"{"type":"extension_ui_request"}"#,
        r#"{"type":"extension_error","error":"boom"}"#,
        r#"{"type":"auto_retry_start","type":"agent_settled"}"#,
        r#"  {"type":"turn_start"}"#,
    ];
    for line in lines {
        let mut driver = Child::working().driver;
        driver.feed(line.as_bytes());
        driver.feed(b"\n");
        let events: Vec<Event> = std::iter::from_fn(|| driver.next_event()).collect();
        match events.as_slice() {
            [Event::Record { raw, .. }, Event::Activity] => assert_eq!(raw.get(), line.trim()),
            other => panic!("{line}: {other:?}"),
        }
        assert_eq!(driver.phase(), Phase::Working, "{line}");
    }
}

#[test]
fn what_is_streamed_is_a_sign_of_life_and_not_kept() {
    let delta = |kind: &str| {
        json!({"usage": {"type": "x"}, "type": "message_update",
                                    "assistantMessageEvent": {"delta": "\"agent_settled\"", "type": kind}})
    };
    let lines = [
        delta("text_delta"),
        delta("thinking_delta"),
        delta("toolcall_delta"),
        delta("text_end"),
        json!({"type": "tool_execution_update", "toolCallId": "c", "partialResult": {"content": "x".repeat(1_000_000)}}),
        json!({"type": "bash_execution_update", "delta": "x"}),
    ];
    for line in lines {
        let kind = line["type"].clone();
        let mut driver = Child::working().driver;
        driver.feed(format!("{line}\n").as_bytes());
        assert_eq!(driver.next_event(), Some(Event::Activity));
        assert_eq!(driver.next_event(), None, "{kind}");
    }
}

#[test]
fn lone_surrogates_and_broken_utf8_do_not_lose_a_record() {
    let mut child = Child::working();
    child.writes(
        b"{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"stopReason\":\"stop\",\"content\":[{\"type\":\"text\",\
          \"text\":\"a\\ud83d b\\\\ud800 c\\udc00\\ud83d\\ude00 \xff\"}]}}\n",
    );
    child.writes(b"{\"type\":\"\\ud800\"}\n");
    child.says([settled()]);
    let settlement = child.settlement();
    assert_eq!(settlement.answer.as_deref(), Some("a\u{fffd} b\\ud800 c\u{fffd}😀 \u{fffd}"), "{settlement:?}");
    assert_eq!(child.records[2..].len(), 3);
    for line in &child.records {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[test]
fn deep_nesting_elsewhere_does_not_lose_a_message() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let line = format!(
        r#"{{"type":"message_end","message":{{"role":"assistant","stopReason":"stop","content":[{{"type":"toolCall","arguments":{deep}}},{{"type":"text","text":"ok"}}]}}}}"#
    );
    let mut child = Child::working();
    child.writes(format!("{line}\n").as_bytes());
    child.says([settled()]);
    assert_eq!(child.settlement().answer.as_deref(), Some("ok"));
}

#[test]
fn a_line_of_seven_megabytes_is_an_ordinary_line() {
    let text = "ä\u{2028}7".repeat(7 * 1024 * 1024 / 6);
    let line = format!("{}\n", message("stop", &[&text]));
    assert!(line.len() > 7_000_000, "{}", line.len());
    let mut child = Child::working();
    for piece in line.as_bytes().chunks(64 * 1024) {
        child.writes(piece);
    }
    child.says([settled()]);
    let settlement = child.settlement();
    assert_eq!((settlement.reason, settlement.complete), (Reason::Completed, true));
    assert!(settlement.answer.as_deref() == Some(&*text), "{settlement:?}");
}

#[test]
fn a_line_beyond_the_limit_is_remarked_and_the_stream_goes_on() {
    let mut child = Child::working();
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..=64 {
        child.writes(&piece);
    }
    child.writes(b"\n");
    child.says([message("stop", &["ok"]), settled()]);
    assert!(child.events.contains(&Event::Noise { bytes: 65 * 1024 * 1024 }), "{:?}", child.events);
    assert_eq!(child.driver.remarks(), ["line.too-long", "output.noise"]);
    assert_eq!(child.settlement().reason, Reason::Completed);
}

#[test]
fn a_great_many_reported_tools_do_not_fill_the_record() {
    let mut child = Child::started(asked());
    let many: Vec<String> = (0..100_000).map(|number| format!("tool-{number}")).collect();
    let tools = serde_json::to_string(&many).unwrap();
    child.says([probe(&tools), state("offline", "search", "off"), models(&[("offline", "search")])]);
    let settlement = child.settlement();
    assert_eq!(settlement.reason, Reason::ToolsMismatch);
    assert!(settlement.error.as_ref().unwrap().len() <= 300);
    let kept: usize = child.driver.reported().tools.iter().flatten().map(String::len).sum();
    assert!(kept <= 8 * 1024, "{kept}");
}
