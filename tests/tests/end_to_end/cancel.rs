//! A cancel gets one definite answer in every state, and leaves no process.

use subagentd_proto::run::{RunView, State};
use subagentd_tests::{Owner, Puppet, Script, Site};

async fn assert_cancelled(owner: &Owner, run: &str) -> RunView {
    let view = owner.wait(run).await;
    assert_eq!((view.state, view.children[0].reason.as_deref()), (State::Cancelled, Some("cancelled")), "{view:?}");
    let notices: Vec<_> = owner.inbox().await.into_iter().filter(|notice| notice.run == run).collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!(notices[0].state, State::Cancelled);
    let again = owner.cancel(run).await;
    assert_eq!((again.state, again.outcome.as_str()), (State::Cancelled, "already-ended"));
    view
}

#[tokio::test]
async fn in_the_queue_it_is_the_end() {
    let site = Site::with(&[("limits.children", "1")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let holder = owner.begin(&site.play("explore", &Script::new().sleep_long())).await;
    let run = owner.launch(&site.play("explore", &Script::new().say("never"))).await.run;
    let answer = owner.cancel(&run).await;
    assert_eq!((answer.state, answer.outcome.as_str()), (State::Cancelled, "cancelled"));
    let view = assert_cancelled(&owner, &run).await;
    assert_eq!((view.children[0].attempt, view.started_at_ms), (0, None));
    owner.cancel(&holder).await;
    assert_cancelled(&owner, &holder).await;
    site.until_no_attempts().await;
}

#[tokio::test]
async fn before_the_prompt_and_at_work_the_child_goes() {
    let site = Site::with(&[("limits.grace", "200ms")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let before = Script::new().step(serde_json::json!({ "before": { "sleep": 600_000 } })).say("never");
    let run = owner.launch(&site.play("explore", &before)).await.run;
    // Its process is there, its prompt is not.
    subagentd_tests::until("the child", async || (!site.attempts().is_empty()).then_some(())).await;
    let answer = owner.cancel(&run).await;
    assert_eq!((answer.state, answer.outcome.as_str()), (State::Starting, "cancelling"));
    assert_cancelled(&owner, &run).await;

    let run = owner.begin(&site.play("explore", &Script::new().say("partly").sleep_long())).await;
    let answer = owner.cancel(&run).await;
    assert_eq!((answer.state, answer.outcome.as_str()), (State::Running, "cancelling"));
    let view = assert_cancelled(&owner, &run).await;
    assert!(view.children[0].remarks.is_empty(), "it obeyed: {view:?}");
    site.until_no_attempts().await;
}

#[tokio::test]
async fn a_child_that_does_not_obey_is_made_to_go() {
    let site = Site::with(&[("limits.grace", "100ms")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "trap '' TERM HUP INT; while :; do sleep 600; done", "never");
    let run = owner.begin(&site.puppet("worker", &puppet)).await;
    owner.cancel(&run).await;
    assert_cancelled(&owner, &run).await;
    site.until_no_attempts().await;
    // Its workspace is free.
    assert_eq!(owner.run(&site.play("worker", &Script::new().say("next"))).await.state, State::Succeeded);
}

#[tokio::test]
async fn after_the_end_it_tells_the_end() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let run = owner.run(&site.play("explore", &Script::new().say("done"))).await.run;
    let answer = owner.cancel(&run).await;
    assert_eq!((answer.state, answer.outcome.as_str()), (State::Succeeded, "already-ended"));
    let view = owner.get(&run).await;
    assert_eq!(view.state, State::Succeeded, "an end is never overwritten");
    assert_eq!(owner.inbox().await.len(), 1);
}

/// A cancel and the child's own end meet in every order; whatever is answered first is what is stored.
#[tokio::test]
async fn against_the_childs_own_end_there_is_one_answer() {
    let site = Site::with(&[("limits.children", "8")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    for round in 0_u64..24 {
        let ask = site.play("explore", &Script::new().sleep(2).say("done"));
        let run = owner.launch(&ask).await.run;
        tokio::time::sleep(std::time::Duration::from_millis(round * 2)).await;
        let answer = owner.cancel(&run).await;
        let view = owner.wait(&run).await;
        let expected = match answer.outcome.as_str() {
            "already-ended" => answer.state,
            _ => State::Cancelled,
        };
        assert_eq!(view.state, expected, "{answer:?} {view:?}");
        assert_eq!(owner.inbox().await.iter().filter(|notice| notice.run == run).count(), 1);
    }
}
