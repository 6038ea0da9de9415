//! A task from its launch to its answer, and what is known of it afterwards.

use serde_json::json;
use subagentd_proto::method::ModelList;
use subagentd_proto::model::ListParams;
use subagentd_proto::run::State;
use subagentd_tests::{FAUX, Faux, Pi, Script, Site};

use super::facts;

#[tokio::test]
async fn a_task_with_tools_gives_answer_facts_and_sums() {
    let Some(pi) = Pi::site().await else { return };
    std::fs::write(pi.work().join("notes.txt"), "one\ntwo\n").unwrap();
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let usage = |input: u64, output: u64| json!({ "input": input, "output": output, "cacheRead": 7, "cacheWrite": 0 });
    let tool = |name: &str, arguments: serde_json::Value| json!({ "name": name, "arguments": arguments });
    let both = [tool("read", json!({ "path": "notes.txt" })), tool("bash", json!({ "command": "wc -l notes.txt" }))];
    let faux = Faux::new()
        .step(json!({ "thinking": "Hm.", "tools": both, "usage": usage(1000, 20) }))
        .step(json!({ "tools": [tool("bash", json!({ "command": "echo no >&2; exit 3" }))], "usage": usage(1200, 30) }))
        .step(
            json!({ "tools": [tool("write", json!({ "path": "new.txt", "content": "made" }))], "usage": usage(1, 1) }),
        )
        .step(json!({ "text": "{{model}} thinks {{thinking}}: ä€😀", "usage": usage(1300, 40) }));
    let mut ask = pi.play("worker", &faux);
    ask.params.model = Some("faux/faux-r".to_owned());
    ask.params.thinking = Some("high".to_owned());
    let launched = owner.launch(&ask).await;
    let view = owner.wait(&launched.run).await;
    let child = &view.children[0];
    assert_eq!((view.state, child.reason.as_deref()), (State::Succeeded, Some("completed")), "{view:#?}");
    assert_eq!(owner.text(&view.run).await.0, "faux-r thinks high: ä€😀");
    let path = &child.reference.as_ref().unwrap().path;
    assert_eq!(std::fs::read_to_string(path).unwrap(), "faux-r thinks high: ä€😀");
    assert_eq!(std::fs::read_to_string(pi.work().join("new.txt")).unwrap(), "made");

    let mut found = facts(&view);
    // The first two run side by side.
    found[..2].sort();
    let expected = [("bash", Some(0)), ("read", None), ("bash", Some(3)), ("write", None)];
    assert_eq!(found, expected.map(|(name, code)| (name.to_owned(), code)));
    assert_eq!(child.tool_calls, Some(4));
    let usage = child.usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.cache_write), (3501, 91, 28, 0));
    let reported = child.reported.as_ref().unwrap();
    assert_eq!((reported.model.as_deref(), reported.thinking.as_deref()), (Some("faux/faux-r"), Some("high")));
    let mut tools = reported.tools.clone().unwrap();
    tools.sort();
    assert_eq!(tools, ["bash", "edit", "read", "write"]);
    assert!(child.tools_missing.is_empty() && child.remarks.is_empty(), "{child:?}");

    let notices = owner.inbox().await;
    assert_eq!(notices.len(), 1);
    assert!(!serde_json::to_string(&notices[0]).unwrap().contains("thinks"), "nothing of the child's in a notice");
    pi.until_no_attempts().await;
}

/// Where pi can be used nobody has to ask for it; where it cannot, that is said.
#[tokio::test]
async fn pi_is_the_default_where_it_can_be_used() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let mut ask = pi.play("explore", &Faux::new().say("by default"));
    (ask.params.runtime, ask.params.model) = (None, None);
    let launched = owner.launch(&ask).await;
    let decisions = &launched.decisions;
    assert_eq!(
        (decisions.runtime.value.as_str(), decisions.runtime.source.as_str()),
        ("pi", "daemon"),
        "{decisions:?}"
    );
    assert!(decisions.runtime.reason.contains("1.6.0"), "{decisions:?}");
    let view = owner.wait(&launched.run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    let reported = view.children[0].reported.as_ref().unwrap();
    assert_eq!(reported.model.as_deref(), Some(decisions.model.value.as_str()));
    assert!(decisions.model.value.starts_with("faux/"), "{decisions:?}");

    // The daemon lends none of its own variables to a list, so this asks for the daemon's own view.
    let listed = owner.call::<ModelList>(ListParams::default()).await.unwrap().runtimes;
    let names: Vec<_> = listed.iter().map(|runtime| runtime.name.as_str()).collect();
    assert!(names.contains(&"pi") && names.contains(&"offline"), "{names:?}");
    assert_eq!(listed.iter().filter(|runtime| runtime.default).count(), 1, "{listed:#?}");
    let found = listed.iter().find(|runtime| runtime.name == "pi").unwrap();
    let ids: Vec<_> = found.models.iter().flatten().map(|model| format!("{}/{}", model.provider, model.id)).collect();
    assert!(ids.contains(&FAUX.to_owned()), "{found:#?}");
}

#[tokio::test]
async fn without_a_usable_pi_the_default_says_why() {
    let site = Site::new();
    site.configure_no_default();
    site.configure("[runtimes.pi]\ncommand = [\"/nonexistent/pi\"]\n");
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let launched = owner.launch(&site.play("explore", &Script::new().say("instead"))).await;
    let runtime = &launched.decisions.runtime;
    assert_eq!(runtime.value, "offline");
    assert!(runtime.reason.contains("/nonexistent/pi"), "{runtime:?}");
    assert_eq!(owner.wait(&launched.run).await.state, State::Succeeded);
    let refusal = subagentd_tests::fault(owner.try_launch(&site.ask("explore", "x").runtime("pi")).await);
    assert_eq!(refusal.kind, subagentd_proto::error::Kind::RuntimeUnavailable);
    assert!(refusal.message.contains("/nonexistent/pi"), "{refusal}");
}
