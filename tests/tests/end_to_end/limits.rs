//! Time limits, each below 300 ms.

use serde_json::json;
use subagentd_proto::run::State;
use subagentd_tests::{Puppet, Script, Site};

#[tokio::test]
async fn each_limit_ends_the_child_with_its_reason() {
    let asleep = || Script::new().say("partly").sleep_long();
    let table = [
        ("limits.first_event", Script::new().step(json!({ "before": { "sleep": 600_000 } })), "timeout.first-event"),
        ("limits.idle", asleep(), "timeout.idle"),
        ("limits.total", asleep(), "timeout.total"),
    ];
    for (setting, script, reason) in table {
        let site = Site::with(&[(setting, "250ms"), ("limits.grace", "100ms")]);
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let view = owner.run(&site.play("explore", &script)).await;
        assert_eq!(
            (view.state, view.children[0].reason.as_deref()),
            (State::TimedOut, Some(reason)),
            "{setting}: {view:?}"
        );
        assert_eq!(owner.inbox().await.len(), 1);
        site.until_no_attempts().await;
    }
}

#[tokio::test]
async fn a_call_sets_its_own_limits_and_an_open_tool_is_not_idle() {
    let site = Site::with(&[("limits.grace", "100ms")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let view = owner.run(&site.play("explore", &Script::new().sleep_long()).timeout(250)).await;
    assert_eq!(view.children[0].reason.as_deref(), Some("timeout.total"));
    assert_eq!(view.children[0].decisions.timeout_ms, 250);

    let part = r#"
        echo '{"type":"tool_execution_start","toolCallId":"a","toolName":"read","args":{}}'
        gate
        echo '{"type":"tool_execution_end","toolCallId":"a","toolName":"read","result":{},"isError":false}'
        settle"#;
    let puppet = Puppet::new(&site, part, "patient");
    let mut ask = site.puppet("explore", &puppet);
    ask.params.idle_timeout = Some(400);
    let run = owner.begin(&ask).await;
    // Longer than it may be idle, with a tool at work.
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    puppet.open_gate().await;
    let view = owner.wait(&run).await;
    assert_eq!(view.state, State::Succeeded, "{view:?}");
}
