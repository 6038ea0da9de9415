//! The daemon or the shim is killed while a tool of the child runs.

use rustix::process::Signal;
use subagentd_proto::run::{Delivery, Receipt, State};
use subagentd_tests::{Faux, Gate, Pi};

use super::{conversations, facts};

#[tokio::test]
async fn a_killed_daemon_takes_nothing_with_it() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let gate = Gate::new(&pi);
    let faux = Faux::new().bash("echo before").wait_at(&gate).bash("exit 4").say_what_was_heard();
    let run = owner.begin(&pi.play("worker", &faux)).await;
    let held = gate.reached().await;
    daemon.kill9();
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    assert_eq!(owner.get(&run).await.state, State::Running, "adopted");
    // The way to the child is open again.
    assert_eq!(owner.steer(&run, "from the next daemon", Delivery::Steer).await.unwrap().receipt, Receipt::Accepted);
    drop(held);
    let view = owner.wait(&run).await;
    assert_eq!((view.state, view.children[0].attempt), (State::Succeeded, 1), "{view:#?}");
    assert_eq!(owner.text(&run).await.0, "the task | from the next daemon");
    let codes: Vec<_> = facts(&view).into_iter().map(|(_, code)| code).collect();
    assert_eq!(codes, [Some(0), Some(0), Some(4)], "all that happened is known");
    assert_eq!(owner.inbox().await.len(), 1);
    pi.until_no_attempts().await;
}

/// The child ends on its own while nobody looks.
#[tokio::test]
async fn an_end_without_a_daemon_is_told_by_the_next_one() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let gate = Gate::new(&pi);
    let run = owner.begin(&pi.play("worker", &Faux::new().wait_at(&gate).say("nobody looked"))).await;
    let held = gate.reached().await;
    daemon.kill9();
    drop(held);
    pi.until_no_attempts().await;
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let view = owner.wait(&run).await;
    assert_eq!((view.state, view.children[0].attempt), (State::Succeeded, 1), "{view:#?}");
    assert_eq!(owner.text(&run).await.0, "nobody looked");
}

#[tokio::test]
async fn a_killed_shims_child_is_ended_and_gone_on_with() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let gate = Gate::new(&pi);
    let command = format!("setsid sleep 600 & sleep 600 & {}", gate.command());
    let faux = Faux::new().bash("echo known").bash(&command).say("never");
    let run = owner.begin(&pi.play("worker", &faux).tree(&pi, "tools")).await;
    let held = gate.reached().await;
    pi.shim(&run).signal(Signal::KILL);
    let view = owner.wait(&run).await;
    assert!(pi.tree("tools").is_empty(), "its end is told and these are alive: {:#?}", pi.tree("tools"));
    drop(held);
    let child = &view.children[0];
    assert_eq!((view.state, child.reason.as_deref()), (State::Interrupted, Some("shim.lost")), "{view:#?}");
    assert_eq!(child.resume_refusal, None);
    pi.until_no_attempts().await;

    let resumed = owner.resume(&run, &pi.play("worker", &Faux::new().say_what_was_heard()), None).await.unwrap();
    assert_eq!(resumed.attempt, 2);
    let view = owner.wait(&run).await;
    assert_eq!((view.state, view.children[0].attempt), (State::Succeeded, 2), "{view:#?}");
    let text = owner.text(&run).await.0;
    assert!(text.starts_with("the task | "), "it remembers what it was asked: {text}");
    let files = conversations(&pi, &run);
    assert_eq!(files.len(), 1, "one conversation: {files:?}");
    let conversation = std::fs::read_to_string(&files[0]).unwrap();
    assert!(conversation.contains("echo known"), "and what it did: {conversation}");
}
