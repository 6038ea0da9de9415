//! The daemon goes and comes; the work goes on.

use subagentd_proto::run::State;
use subagentd_tests::{Daemon, Puppet, Script, Site, Stamps};

/// Ends a daemon.
async fn end(daemon: Daemon, by_kill: bool) {
    if by_kill {
        daemon.kill9();
    } else {
        let answer = daemon.stop().await;
        assert_eq!(answer.live, 1);
    }
}

#[tokio::test]
async fn a_running_child_is_taken_up_by_the_next_daemon() {
    for by_kill in [false, true] {
        let site = Site::new();
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let puppet = Puppet::new(&site, "gate; settle", "through it all");
        let run = owner.begin(&site.puppet("worker", &puppet)).await;
        end(daemon, by_kill).await;
        assert!(!site.attempts().is_empty(), "the child goes on");
        assert_eq!(site.processes().iter().filter(|process| process.is_shim()).count(), 1);

        let daemon = site.start();
        let owner = daemon.owner("me").await;
        assert_eq!(owner.get(&run).await.state, State::Running);
        let next = owner.launch(&site.play("worker", &Script::new().say("next"))).await;
        assert_eq!(next.waits.unwrap().holder.as_deref(), Some(run.as_str()), "it still holds its workspace");
        let mut watch = owner.watch(None).await;
        puppet.open_gate().await;
        let notice = watch.next().await;
        assert_eq!((notice.run.as_str(), notice.state), (run.as_str(), State::Succeeded), "{notice:?}");
        assert_eq!(owner.text(&run).await.0, "through it all");
        assert_eq!(owner.get(&run).await.children[0].attempt, 1, "started once");
        assert_eq!(owner.wait(&next.run).await.state, State::Succeeded);
    }
}

#[tokio::test]
async fn a_child_that_ends_while_no_daemon_runs_has_its_result() {
    for by_kill in [false, true] {
        let site = Site::new();
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let puppet = Puppet::new(&site, "gate; settle", "alone");
        let run = owner.begin(&site.puppet("explore", &puppet)).await;
        end(daemon, by_kill).await;
        puppet.open_gate().await;
        subagentd_tests::until("no process", async || site.processes().is_empty().then_some(())).await;

        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let view = owner.wait(&run).await;
        assert_eq!(view.state, State::Succeeded, "{view:?}");
        assert_eq!(owner.text(&run).await.0, "alone");
        assert_eq!(owner.inbox().await.len(), 1);
        let daemon = daemon.restart(&site).await;
        assert_eq!(daemon.owner("me").await.inbox().await.len(), 1, "not announced twice");
    }
}

#[tokio::test]
async fn what_waits_goes_on_waiting_and_starts_once() {
    let site = Site::with(&[("limits.children", "1")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "first");
    let first = owner.begin(&site.puppet("explore", &puppet)).await;
    let stamps = site.path("stamps");
    let ask = site.play("explore", &Script::new().stamp(&stamps, "start").stamp(&stamps, "end").say("later"));
    let mut runs = Vec::new();
    for _ in 0..5 {
        runs.push(owner.launch(&ask).await.run);
    }
    let cancelled = runs.remove(2);
    owner.cancel(&cancelled).await;
    daemon.kill9();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    for (run, place) in runs.iter().zip(1..) {
        let view = owner.get(run).await;
        assert_eq!(view.state, State::Queued);
        assert_eq!(view.children[0].waits.as_ref().unwrap().place, place, "in the order of their launch");
    }
    puppet.open_gate().await;
    for run in runs.iter().chain([&first]) {
        assert_eq!(owner.wait(run).await.state, State::Succeeded);
    }
    assert_eq!(owner.get(&cancelled).await.state, State::Cancelled);
    let stamps = Stamps::read(&stamps);
    assert_eq!((stamps.counts("start").len(), stamps.peak()), (4, 1));
    assert!(stamps.counts("start").values().all(|count| *count == 1));
}

/// Stops and kills at whatever moment it is, under launches: every acknowledged one has one end and one notice.
#[tokio::test]
async fn killed_again_and_again_nothing_is_lost_or_doubled() {
    let site = Site::new();
    let stamps = site.path("stamps");
    let ask = site.play("explore", &Script::new().stamp(&stamps, "start").sleep(20).stamp(&stamps, "end").say("done"));
    let mut runs = Vec::new();
    for round in 0_usize..8 {
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        for _ in 0..=round {
            runs.push(owner.launch(&ask).await.run);
        }
        daemon.kill9();
    }
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    for run in &runs {
        let view = owner.wait(run).await;
        assert_eq!(view.state, State::Succeeded, "{view:?}");
    }
    let mut noticed: Vec<String> = owner.inbox().await.into_iter().map(|notice| notice.run).collect();
    noticed.sort();
    runs.sort();
    assert_eq!(noticed, runs);
    let stamps = Stamps::read(&stamps);
    let ends = stamps.counts("end");
    assert_eq!(ends.len(), runs.len());
    assert!(stamps.counts("start").values().all(|count| *count == 1), "started twice");
}

/// A daemon that is killed while it starts a child leaves nothing that keeps the next one out.
#[tokio::test]
async fn right_after_a_kill_in_mid_start_the_next_daemon_serves() {
    let site = Site::with(&[("limits.children", "8")]);
    let ask = site.play("explore", &Script::new().say("done"));
    for round in 0..15 {
        let daemon = site.try_start(site.serve());
        let daemon =
            daemon.unwrap_or_else(|ended| panic!("in round {round}: {ended:?} beside {:#?}", site.processes()));
        let owner = daemon.owner("me").await;
        owner.launch(&ask).await;
        daemon.kill9();
    }
}

#[tokio::test]
async fn a_service_managers_signal_is_a_plain_stop() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "kept");
    let run = owner.begin(&site.puppet("explore", &puppet)).await;
    let socket = daemon.socket().to_owned();
    drop(owner);
    assert_eq!(daemon.terminate(), Some(0));
    assert!(!socket.exists() && !site.state().join("daemon.json").exists(), "nothing is left lying about");
    let daemon = site.start();
    puppet.open_gate().await;
    assert_eq!(daemon.owner("me").await.wait(&run).await.state, State::Succeeded);
}
