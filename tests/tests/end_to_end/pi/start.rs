//! A child is what was asked for before it gets its prompt: model (F16), tools (G1).

use subagentd_proto::error::Kind;
use subagentd_proto::run::State;
use subagentd_tests::{Faux, Pi, fault};

#[tokio::test]
async fn a_model_that_is_not_there_is_refused_before_anything_starts() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let faux = Faux::new().say("never");
    let table = [
        ("faux/faux-2", Kind::ModelUnavailable),
        // pi itself would take each of these for a model that it has.
        ("faux/FAUX-1", Kind::ModelUnavailable),
        ("faux/faux", Kind::ModelUnavailable),
        ("nobody/faux-1", Kind::ModelUnavailable),
        ("anthropic/claude-opus-4-6", Kind::ModelUnavailable),
        ("faux-1", Kind::ModelNotExact),
    ];
    for (model, kind) in table {
        let mut ask = pi.play("explore", &faux);
        ask.params.model = Some(model.to_owned());
        let refusal = fault(owner.try_launch(&ask).await);
        assert_eq!(refusal.kind, kind, "{model}: {refusal}");
        assert!(model.split('/').all(|word| refusal.message.contains(word)), "{model}: {refusal}");
    }
    assert!(owner.list().await.is_empty() && pi.attempts().is_empty(), "nothing was started");
}

/// A level that the model does not have is moved as pi itself moves it, and said before the child is checked for it.
#[tokio::test]
async fn a_thinking_level_is_what_was_decided() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let table = [
        ("faux/faux-1", "high", "not-applicable", "off"),
        ("faux/faux-r", "max", "high", "high"),
        ("faux/faux-r", "minimal", "minimal", "minimal"),
    ];
    for (model, asked, decided, used) in table {
        let mut ask = pi.play("explore", &Faux::new().say("{{thinking}}"));
        (ask.params.model, ask.params.thinking) = (Some(model.to_owned()), Some(asked.to_owned()));
        let launched = owner.launch(&ask).await;
        assert_eq!(launched.decisions.thinking.value, decided, "{model} {asked}: {launched:?}");
        let view = owner.wait(&launched.run).await;
        assert_eq!(view.state, State::Succeeded, "{model} {asked}: {view:#?}");
        let reported = view.children[0].reported.as_ref().unwrap();
        assert_eq!(reported.thinking.as_deref(), Some(used), "{model} {asked}");
        assert_eq!(owner.text(&view.run).await.0, used, "what the model was asked for");
    }
}

/// The program answers the daemon's question with one model and uses another one for the work.
#[tokio::test]
async fn a_child_that_is_not_what_was_asked_for_fails_with_both_values() {
    let Some(pi) = Pi::site().await else { return };
    let table = [
        ("--model faux/faux-r", "off", "model.mismatch", ["faux/faux-1", "faux/faux-r"]),
        ("--tools read,bash", "off", "tools.mismatch", ["bash", "grep"]),
        ("--tools read", "off", "tools.mismatch", ["lacks grep", "[read]"]),
    ];
    let quoted: Vec<String> = pi.command_line().iter().map(|word| format!("'{word}'")).collect();
    for (number, (more, ..)) in table.iter().enumerate() {
        // The flags of a child have a conversation, those of a question do not.
        let program = format!(
            "case \" $* \" in *' --session-id '*) set -- \"$@\" {more} ;; esac; exec {} \"$@\"",
            quoted.join(" ")
        );
        pi.configure(&format!("[runtimes.other{number}]\ncommand = [\"/bin/sh\", \"-c\", {program:?}, \"sh\"]\n"));
    }
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    for (number, (more, thinking, reason, words)) in table.into_iter().enumerate() {
        let mut ask = pi.play("explore", &Faux::new().say("never")).runtime(&format!("other{number}"));
        ask.params.thinking = Some(thinking.to_owned());
        let view = owner.run(&ask).await;
        let child = &view.children[0];
        assert_eq!((view.state, child.reason.as_deref()), (State::Failed, Some(reason)), "{more}: {child:#?}");
        let error = child.error.as_deref().unwrap();
        assert!(words.iter().all(|word| error.contains(word)), "{more}: {error}");
        assert_eq!(super::conversations(&pi, &view.run), Vec::<std::path::PathBuf>::new(), "{more}: it got no prompt");
    }
    pi.until_no_attempts().await;
}

#[tokio::test]
async fn an_agent_whose_extension_tool_is_missing_works_and_says_so() {
    let Some(pi) = Pi::site().await else { return };
    std::fs::write(pi.work().join("notes.txt"), "where the needle is\n").unwrap();
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let grep = serde_json::json!({ "tools": [{ "name": "grep", "arguments": { "pattern": "needle" } }] });
    let faux = Faux::new().step(grep).say("{{toolResult}}\n{{system}}");
    let view = owner.run(&pi.play("researcher", &faux)).await;
    let child = &view.children[0];
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    assert_eq!(child.tools_missing, ["web_search"]);
    let reported = child.reported.as_ref().unwrap();
    assert_eq!(reported.tools.as_deref(), Some(["read", "grep", "find", "ls"].map(str::to_owned).as_slice()));
    let text = owner.text(&view.run).await.0;
    assert!(text.contains("notes.txt:1"), "its other tools work: {text}");
    assert!(text.contains("When there is no web search"), "its definition tells what to do then: {text}");
    assert!(!text.contains("- web_search"), "what it is told of its tools has only those that it has: {text}");
    let shown = pi.cli(&["show", &view.run]).await;
    assert!(shown.out.contains("web_search"), "{shown:?}");
}
