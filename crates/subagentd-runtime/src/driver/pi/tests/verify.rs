use subagentd_core::life::Reason;

use super::*;

fn with_tools(tools: &[&str]) -> Asked {
    Asked { tools: tools.iter().map(|tool| (*tool).to_owned()).collect(), ..asked() }
}

#[test]
fn a_child_as_asked_gets_the_prompt_once_and_one_command_at_a_time() {
    let mut child = Child::started(asked());
    assert_eq!(child.commands(), ["get_state"]);
    child.says([probe(TOOLS)]);
    assert_eq!(child.commands(), ["get_state"]);
    child.says([state("offline", "search", "off")]);
    assert_eq!(child.commands(), ["get_state", "get_available_models"]);
    assert_eq!(child.driver.phase(), Phase::Verifying);
    // Repeated and foreign responses move nothing.
    child.says([state("offline", "search", "off"), ok("prompt"), ok("abort"), ok("nobody")]);
    assert_eq!(child.commands(), ["get_state", "get_available_models"]);
    child.says([models(&[("other", "search"), ("offline", "search")])]);
    assert_eq!(child.commands(), ["get_state", "get_available_models", "prompt"]);
    assert_eq!(child.heard[2]["message"], asked().prompt);
    child.says([models(&[("offline", "search")]), ok("prompt"), ok("prompt"), probe(r#"["write"]"#)]);
    assert_eq!(child.commands().len(), 3, "{:?}", child.commands());
    let reported = child.driver.reported().clone();
    assert_eq!(reported.model.as_deref(), Some("offline/search"));
    assert_eq!(reported.thinking.as_deref(), Some("off"));
    assert_eq!(reported.tools, Some(vec!["read".to_owned(), "bash".to_owned()]));
    let tools_missing = Vec::new();
    assert_eq!(child.events, [Event::Verified { reported, tools_missing }, Event::Prompted]);
}

#[test]
fn another_model_or_level_is_refused_with_both_values() {
    let rows = [
        (state("offline", "search-2", "off"), Reason::ModelMismatch, "offline/search-2"),
        (state("offline", "Search", "off"), Reason::ModelMismatch, "offline/Search"),
        (state("openrouter", "search", "off"), Reason::ModelMismatch, "openrouter/search"),
        (state("unknown", "unknown", "off"), Reason::ModelMismatch, "unknown/unknown"),
        (state("offline", "search", "high"), Reason::ThinkingMismatch, "high"),
        (state("offline", "search", "OFF"), Reason::ThinkingMismatch, "OFF"),
        (
            json!({"id": "get_state", "type": "response", "success": true, "data": {"thinkingLevel": "off"}}),
            Reason::ModelMismatch,
            "no model",
        ),
        (
            json!({"id": "get_state", "type": "response", "success": true,
                   "data": {"model": {"provider": "offline", "id": "search"}, "thinkingLevel": 3}}),
            Reason::ThinkingMismatch,
            "none",
        ),
        (json!({"id": "get_state", "type": "response", "success": true}), Reason::ModelMismatch, "no model"),
        (refused("get_state", "broken"), Reason::ChildProtocol, "broken"),
        (
            json!({"type": "response", "command": "parse", "success": false, "error": "cannot read"}),
            Reason::ChildProtocol,
            "cannot read",
        ),
    ];
    for (response, reason, found) in rows {
        let mut child = Child::started(asked());
        child.says([probe(TOOLS), response]);
        let settlement = child.settlement();
        assert_eq!(settlement.reason, reason, "{settlement:?}");
        let error = settlement.error.as_deref().unwrap();
        let wanted = match reason {
            Reason::ModelMismatch => "asked for model offline/search,",
            Reason::ThinkingMismatch => "asked for thinking level off,",
            _ => "get_state",
        };
        assert!(error.contains(wanted) && error.contains(found), "{error}");
        assert_eq!(child.driver.phase(), Phase::Settled);
        child.says([models(&[("offline", "search")]), ok("prompt")]);
        child.cancelled();
        assert_eq!(child.commands(), ["get_state"]);
        child.settlement();
    }
}

#[test]
fn a_model_that_is_not_listed_is_unavailable() {
    let rows = [
        (models(&[]), Reason::ModelUnavailable),
        (models(&[("offline", "search2"), ("other", "search")]), Reason::ModelUnavailable),
        (refused("get_available_models", "no list"), Reason::ChildProtocol),
    ];
    for (response, reason) in rows {
        let mut child = Child::started(asked());
        child.says([probe(TOOLS), state("offline", "search", "off"), response]);
        assert_eq!(child.settlement().reason, reason, "{:?}", child.settlement());
        assert_eq!(child.commands(), ["get_state", "get_available_models"]);
    }
}

#[test]
fn tools_follow_g1() {
    /// Asked tools, what the probe published, and the missing ones or the refusal.
    type Row<'a> = (&'a [&'a str], Option<&'a str>, Result<&'a [&'a str], &'a str>);
    let rows: [Row<'_>; 11] = [
        (&["read", "bash"], Some(r#"["bash","read"]"#), Ok(&[])),
        (&["read", "read"], Some(r#"["read"]"#), Ok(&[])),
        (&[], Some("[]"), Ok(&[])),
        (&["read", "web_search"], Some(r#"["read"]"#), Ok(&["web_search"])),
        (&["read", "web_search"], Some(r#"["read","web_search"]"#), Ok(&[])),
        (&["web_search", "x", "x"], Some("[]"), Ok(&["web_search", "x"])),
        (&["read"], Some(r#"["read","write"]"#), Err("it has write beyond them")),
        (&["read", "grep", "x"], Some(r#"["read"]"#), Err("it lacks grep")),
        (&["read"], Some(r#"["Read"]"#), Err("it has Read beyond them and it lacks read")),
        (&["read"], None, Err("did not report its tools")),
        (&["read"], Some("read"), Err("did not report its tools")),
    ];
    for (wanted, published, expected) in rows {
        let mut child = Child::started(with_tools(wanted));
        child.says(published.map(probe));
        child.says([state("offline", "search", "off"), models(&[("offline", "search")])]);
        match expected {
            Ok(missing) => match child.events.as_slice() {
                [Event::Verified { tools_missing, .. }] => assert_eq!(tools_missing, missing, "{wanted:?}"),
                other => panic!("{wanted:?} {published:?}: {other:?}"),
            },
            Err(sentence) => {
                let settlement = child.settlement();
                assert_eq!(settlement.reason, Reason::ToolsMismatch);
                let error = settlement.error.as_deref().unwrap();
                assert!(error.contains(sentence), "{error}");
                assert!(!child.commands().contains(&"prompt"));
            }
        }
    }
    for tool in "read bash edit write grep find ls powershell codemode tool_search".split(' ') {
        let mut child = Child::started(with_tools(&[tool]));
        child.says([probe("[]"), state("offline", "search", "off"), models(&[("offline", "search")])]);
        assert_eq!(child.settlement().reason, Reason::ToolsMismatch, "{tool}");
    }
}

#[test]
fn other_status_lines_are_not_the_probe() {
    let mut child = Child::started(asked());
    child.says([
        json!({"type": "extension_ui_request", "id": "1", "method": "setStatus", "statusKey": "x", "statusText": TOOLS}),
        json!({"type": "extension_ui_request", "id": "2", "method": "setWidget", "statusKey": TOOLS_STATUS, "statusText": TOOLS}),
        state("offline", "search", "off"),
        models(&[("offline", "search")]),
    ]);
    assert_eq!(child.settlement().reason, Reason::ToolsMismatch);
}

#[test]
fn the_records_keep_no_model_objects() {
    let child = Child::working();
    assert_eq!(child.records.len(), 2, "probe and prompt only: {:?}", child.records);
    assert!(!child.records.iter().any(|line| line.contains("get_state")));
}

#[test]
fn tools_that_change_later_are_remarked_and_change_nothing() {
    let mut child = Child::working();
    child.says([probe(TOOLS)]);
    assert!(child.driver.remarks().is_empty(), "the same ones again");
    child.says([probe(r#"["read","bash","write"]"#)]);
    assert_eq!(child.driver.remarks(), ["tools.changed"]);
    assert_eq!(child.driver.reported().tools.as_deref().map(<[String]>::len), Some(2));
    assert_eq!(child.driver.phase(), Phase::Working);
}

#[test]
fn what_can_only_be_called_counts_too() {
    /// Asked tools, active ones, callable ones, and the missing ones or the refusal.
    type Row<'a> = (&'a [&'a str], &'a str, &'a str, Result<&'a [&'a str], &'a str>);
    let rows: [Row<'_>; 5] = [
        (&["codemode", "mcp__a__b"], r#"["codemode"]"#, r#"["mcp__a__b"]"#, Ok(&[])),
        (&["codemode", "mcp__a__b"], r#"["codemode"]"#, "[]", Ok(&["mcp__a__b"])),
        // Nothing calls it.
        (&["read", "mcp__a__b"], r#"["read"]"#, r#"["mcp__a__b"]"#, Ok(&["mcp__a__b"])),
        (&["codemode"], r#"["codemode"]"#, r#"["mcp__a__b"]"#, Err("it has mcp__a__b beyond them")),
        (&["read"], r#"["read"]"#, r#"["extra"]"#, Err("it has extra beyond them")),
    ];
    for (wanted, active, called, expected) in rows {
        let mut child = Child::started(with_tools(wanted));
        child.says([callable(called), probe(active), state("offline", "search", "off")]);
        child.says([models(&[("offline", "search")])]);
        match (expected, child.events.as_slice()) {
            (Ok(missing), [Event::Verified { tools_missing, .. }]) => assert_eq!(tools_missing, missing, "{wanted:?}"),
            (Err(sentence), [Event::Settled(settlement)]) => {
                assert_eq!(settlement.reason, Reason::ToolsMismatch);
                assert!(settlement.error.as_deref().unwrap().contains(sentence), "{settlement:?}");
            }
            other => panic!("{wanted:?}: {other:?}"),
        }
    }
}

#[test]
fn tools_that_were_asked_for_may_come_later() {
    let mut child = Child::started(with_tools(&["codemode", "mcp__a__b", "mcp__a__c", "web_search"]));
    child.says([probe(r#"["codemode"]"#), state("offline", "search", "off"), models(&[("offline", "search")])]);
    child.says([ok("prompt"), callable(r#"["mcp__a__b"]"#), callable(r#"["mcp__a__b"]"#)]);
    child.says([probe(r#"["codemode","mcp__a__c"]"#), callable("[]")]);
    let came: Vec<&[String]> = child
        .events
        .iter()
        .filter_map(|event| match event {
            Event::ToolsCame { tools_missing } => Some(tools_missing.as_slice()),
            _ => None,
        })
        .collect();
    assert_eq!(came, [&["mcp__a__c".to_owned(), "web_search".to_owned()][..], &["web_search".to_owned()][..]]);
    assert!(child.driver.remarks().is_empty(), "{:?}", child.driver.remarks());
    child.says([callable(r#"["mcp__a__d"]"#)]);
    assert_eq!(child.driver.remarks(), ["tools.changed"]);
}
