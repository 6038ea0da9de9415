//! A cancel leaves nobody of the child's tools.

use serde_json::json;
use subagentd_proto::run::State;
use subagentd_tests::{Faux, Gate, Pi, until};

/// In a session of its own, in the background, away from its marks, and deaf to hang-ups.
fn tree() -> String {
    let [a, b, c, d] = sleeps();
    format!("setsid sleep {a} & sleep {b} & (setsid env -i sleep {c} &) ; nohup sleep {d} >/dev/null 2>&1 &")
}

/// Durations that nobody else on this machine sleeps.
fn sleeps() -> [String; 4] {
    [0, 1, 2, 3].map(|number| format!("300.{}{number}", std::process::id()))
}

#[tokio::test]
async fn while_a_command_runs_its_whole_tree_goes() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let gate = Gate::new(&pi);
    let faux = Faux::new().bash("true").bash(&format!("{}\n{}", tree(), gate.command())).say("never");
    let run = owner.begin(&pi.play("worker", &faux).tree(&pi, "tools")).await;
    let held = gate.reached().await;
    until("its tree", async || (sleepers().len() == sleeps().len()).then_some(())).await;
    let started = sleepers();
    assert_eq!(owner.cancel(&run).await.outcome, "cancelling");
    let view = owner.wait(&run).await;
    assert_eq!((view.state, view.children[0].reason.as_deref()), (State::Cancelled, Some("cancelled")), "{view:#?}");
    assert_eq!(alive(&started), Vec::<u32>::new(), "at the end nobody is alive");
    assert!(pi.tree("tools").is_empty(), "{:#?}", pi.tree("tools"));
    drop(held);
    let child = &view.children[0];
    assert_eq!(child.remarks, ["tree.left-behind"], "pi itself obeyed");
    assert_eq!(child.tool_calls, Some(2), "{child:?}");
}

/// The sleeping processes of [`tree`], by id.
fn sleepers() -> Vec<u32> {
    let entries = std::path::Path::new("/proc").read_dir().unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id| is_sleeper(*id)).collect()
}

fn is_sleeper(id: u32) -> bool {
    let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    sleeps().iter().any(|time| command == format!("sleep\0{time}\0").as_bytes())
}

fn alive(ids: &[u32]) -> Vec<u32> {
    ids.iter().copied().filter(|id| is_sleeper(*id)).collect()
}

/// While the provider says nothing, and before it has said anything.
#[tokio::test]
async fn while_the_model_is_silent_it_goes_at_once() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    for hang in ["before", "after"] {
        let faux = Faux::new().step(json!({ "text": "half an answer", "hang": hang }));
        let run = owner.begin(&pi.play("worker", &faux)).await;
        owner.cancel(&run).await;
        let view = owner.wait(&run).await;
        let child = &view.children[0];
        assert_eq!(view.state, State::Cancelled, "{hang}: {view:#?}");
        assert!(child.remarks.is_empty(), "{hang}: it obeyed: {child:?}");
        assert_ne!(child.answer_complete, Some(true), "{hang}: {child:?}");
    }
    pi.until_no_attempts().await;
}
