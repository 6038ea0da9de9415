//! Pauses that come at a bad time, what a paused child leaves behind, and who goes on with it.

use std::fs;

use serde_json::{Value, json};
use subagentd_proto::error::Kind;
use subagentd_proto::lease;
use subagentd_proto::method::{LeaseList, LeaseRelease, RunResume};
use subagentd_proto::run::{ResumeParams, State};
use subagentd_tests::{Owner, Script, Site, fault, until};

use crate::database::Busy;
use crate::spool::spooled;

/// Another daemon's writer is in its workspace, so that its start comes to nothing again and again.
#[tokio::test]
async fn a_pause_of_a_start_that_comes_to_nothing_takes_effect() {
    let (site, other) = (Site::new(), Site::new());
    let (daemon, others) = (site.start(), other.start());
    let (owner, theirs) = (daemon.owner("me").await, others.owner("me").await);
    let holder = theirs.begin(&other.play("worker", &Script::new().sleep_long()).directory(site.work())).await;
    for kept_out in [false, true] {
        let run = owner.launch(&site.play("worker", &Script::new().say("never"))).await.run;
        if kept_out {
            until("it was kept out", async || {
                let waits = owner.get(&run).await.children[0].waits.clone();
                waits.filter(|waits| waits.on == "elsewhere")
            })
            .await;
        }
        owner.pause(&run).await.unwrap();
        let view = owner.until(&run, State::Paused).await;
        assert_eq!(view.children[0].reason.as_deref(), Some("paused"), "kept out {kept_out}: {view:#?}");
    }
    assert_eq!(theirs.get(&holder).await.state, State::Running, "the other daemon's writer is left alone");
}

/// The child's shim could not end all of it. Its workspace is kept while it is paused, until a person gives it up.
#[tokio::test]
async fn what_a_paused_child_left_behind_keeps_its_workspace() {
    let site = Site::with(&[("limits.grace", "500ms")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let ask = site.play("worker", &Script::new().step(json!({ "hang": 60_000 })));
    let run = owner.begin(&ask).await;
    owner.pause(&run).await.unwrap();
    // Before its end is stored, which takes three times the grace.
    let busy = Busy::new(&site);
    let record = until("the record is there", async || spooled(&site).pop()).await;
    daemon.kill9();
    site.until_no_attempts().await;
    let record = site.state().join("spool").join(record);
    leave_something_behind(&record);
    busy.end();

    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let view = owner.until(&run, State::Paused).await;
    assert_eq!(view.children[0].remarks, ["leftovers"], "{view:#?}");
    let held = leases(&owner).await;
    assert_eq!(held.iter().map(|lease| (&lease.run, lease.state)).collect::<Vec<_>>(), [(&run, State::Paused)]);
    let second = owner.launch(&site.play("worker", &Script::new().say("the second writer"))).await.run;
    let refusal = fault(owner.resume(&run, &ask, None).await);
    assert_eq!(refusal.kind, Kind::WrongState, "{refusal}");
    assert!(refusal.message.contains("lease/release"), "it says what to do: {refusal}");
    assert_eq!(owner.get(&second).await.state, State::Queued, "two writers in one workspace");

    let released = owner.call::<LeaseRelease>(lease::ReleaseParams { run: run.clone() }).await.unwrap();
    assert_eq!(released.released, 1);
    assert_eq!(owner.wait(&second).await.state, State::Succeeded);
    owner.resume(&run, &site.play("worker", &Script::new().say("done")), None).await.unwrap();
    assert_eq!(owner.wait(&run).await.state, State::Succeeded);
    assert_eq!(leases(&owner).await, []);
}

/// Changes a record to what a shim writes that could not end everybody.
fn leave_something_behind(record: &std::path::Path) {
    let mut text: Value = serde_json::from_str(&fs::read_to_string(record).unwrap()).unwrap();
    let end = &mut text["end"]["ended"];
    assert_eq!(end["reason"], "paused", "{end}");
    end["remarks"] = json!(["leftovers"]);
    fs::write(record, text.to_string()).unwrap();
}

async fn leases(owner: &Owner) -> Vec<lease::LeaseView> {
    owner.call::<LeaseList>(lease::ListParams {}).await.unwrap().leases
}

#[tokio::test]
async fn who_takes_a_paused_run_over_gets_its_end() {
    let site = Site::new();
    let daemon = site.start();
    let (me, you) = (daemon.owner("me").await, daemon.owner("you").await);
    let run = me.begin(&site.play("explore", &Script::new().sleep_long())).await;
    me.pause(&run).await.unwrap();
    me.until(&run, State::Paused).await;
    let capture = site.play("explore", &Script::new().say("done")).params.capture;
    let params = ResumeParams { run: run.clone(), takeover: true, capture, ..ResumeParams::default() };
    you.call::<RunResume>(params).await.unwrap();
    // The earlier owner may still wait for it.
    let view = me.wait(&run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    let ends: Vec<_> = you.inbox().await.into_iter().map(|notice| (notice.run, notice.state)).collect();
    assert_eq!(ends, [(run, State::Succeeded)]);
    assert_eq!(me.inbox().await, []);
}
