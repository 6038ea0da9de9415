//! How a child ends, by what its model does.

use serde_json::json;
use subagentd_proto::run::State;
use subagentd_tests::{Faux, Pi};

#[tokio::test]
async fn each_end_of_the_model_has_its_state_and_reason() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let error = |words: &str| json!({ "text": "half", "error": words });
    let overloaded = json!({ "error": "503 overloaded", "keep": true });
    let table = [
        ("error", Faux::new().step(error("the key is bad")), "model.error", "the key is bad", Some("half")),
        ("retries", Faux::new().step(overloaded), "model.error", "503 overloaded", None),
        ("empty", Faux::new().say(""), "answer.missing", "", None),
        ("thought", Faux::new().step(json!({ "thinking": "only that" })), "answer.missing", "", None),
        // What was said before a tool call is a remark, never the answer.
        (
            "remark",
            Faux::new().step(json!({ "text": "I look.", "tools": [{ "name": "ls" }] })).say(""),
            "answer.missing",
            "",
            None,
        ),
        (
            "late",
            Faux::new().step(json!({ "text": "I look.", "tools": [{ "name": "ls" }] })).step(json!({ "error": "bad" })),
            "model.error",
            "bad",
            None,
        ),
        (
            "cut",
            Faux::new().step(json!({ "text": "half", "stopReason": "length" })),
            "answer.cut-off",
            "",
            Some("half"),
        ),
        ("exit", Faux::new().step(json!({ "exit": 7 })), "child.exited", "code 7", None),
    ];
    for (name, faux, reason, words, left) in table {
        let view = owner.run(&pi.play("explore", &faux)).await;
        let child = &view.children[0];
        assert_eq!((view.state, child.reason.as_deref()), (State::Failed, Some(reason)), "{name}: {child:#?}");
        assert!(child.error.as_deref().unwrap_or_default().contains(words), "{name}: {child:#?}");
        assert_ne!(child.answer_complete, Some(true), "{name}: {child:#?}");
        let text = if child.reference.is_some() { Some(owner.text(&view.run).await.0) } else { None };
        assert_eq!(text.as_deref(), left, "{name}: {child:#?}");
    }
    pi.until_no_attempts().await;
}

#[tokio::test]
async fn what_pi_mends_itself_is_no_failure() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let table = [
        ("an overloaded provider", Faux::new().step(json!({ "error": "503 overloaded" })).say("at last")),
        ("a tool that is not there", Faux::new().step(json!({ "tools": [{ "name": "nothing" }] })).say("at last")),
        (
            "arguments that no tool takes",
            Faux::new().step(json!({ "tools": [{ "name": "read", "arguments": { "path": 3 } }] })).say("at last"),
        ),
    ];
    for (name, faux) in table {
        let view = owner.run(&pi.play("explore", &faux)).await;
        assert_eq!(view.state, State::Succeeded, "{name}: {view:#?}");
        assert_eq!(owner.text(&view.run).await.0, "at last", "{name}");
    }
}

#[tokio::test]
async fn a_full_context_is_summed_up_or_honestly_fails() {
    let Some(pi) = Pi::site().await else { return };
    pi.settings(&json!({ "compaction": { "enabled": true, "reserveTokens": 500, "keepRecentTokens": 100 } }));
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let long = json!({ "text": "word ", "textTimes": 400, "tools": [{ "name": "ls" }], "usage": { "input": 10, "output": 5 } });
    let overflow = |keep: bool| json!({ "error": "prompt is too long: 213462 tokens > 200000 maximum", "keep": keep });
    let faux = |keep: bool| {
        let small = json!([{ "id": "faux-1", "contextWindow": 20_000 }]);
        let summary = json!({ "text": "a summary of it", "usage": { "input": 900, "output": 30 } });
        Faux::new().member("models", small).member("summary", summary).step(long.clone()).step(overflow(keep))
    };
    let view = owner.run(&pi.play("explore", &faux(false).say("it fits now"))).await;
    let child = &view.children[0];
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    assert_eq!(owner.text(&view.run).await.0, "it fits now");
    assert!(child.usage.unwrap().input >= 900, "the summary is paid for, too: {child:#?}");
    let view = owner.run(&pi.play("explore", &faux(true))).await;
    let child = &view.children[0];
    assert_eq!((view.state, child.reason.as_deref()), (State::Failed, Some("model.error")), "{child:#?}");
    assert!(child.error.as_deref().unwrap().contains("too long"), "{child:#?}");
}

#[tokio::test]
async fn a_model_that_falls_silent_meets_the_idle_limit() {
    let Some(pi) = Pi::with(&[("limits.idle", "300ms")]).await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    // A long tool call is not idle.
    let view = owner.run(&pi.play("worker", &Faux::new().bash("sleep 0.6").say("slowly"))).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    for hang in ["before", "after"] {
        let view = owner.run(&pi.play("worker", &Faux::new().step(json!({ "text": "half", "hang": hang })))).await;
        let child = &view.children[0];
        assert_eq!(
            (view.state, child.reason.as_deref()),
            (State::TimedOut, Some("timeout.idle")),
            "{hang}: {child:#?}"
        );
    }
    pi.until_no_attempts().await;
}

#[tokio::test]
async fn a_tool_call_has_its_own_limit() {
    let Some(pi) = Pi::with(&[("limits.tool_call", "300ms")]).await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let view = owner.run(&pi.play("worker", &Faux::new().bash("sleep 300").say("never"))).await;
    let child = &view.children[0];
    assert_eq!((view.state, child.reason.as_deref()), (State::TimedOut, Some("timeout.tool-call")), "{child:#?}");
    pi.until_no_attempts().await;
}
