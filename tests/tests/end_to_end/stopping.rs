//! Plain stops: what works goes on, what waits goes on waiting, what is being started is started once.

use std::time::Instant;

use subagentd_proto::run::State;
use subagentd_tests::{Daemon, Puppet, Script, Site, Stamps};

#[derive(Debug, Clone, Copy)]
enum Way {
    Call,
    Signal,
}

/// Stops it, and gives how many lived and waited if it said so.
async fn stop(daemon: Daemon, way: Way) -> Option<(u64, u64)> {
    match way {
        Way::Call => {
            let answer = daemon.stop().await;
            Some((u64::from(answer.live), u64::from(answer.queued)))
        }
        Way::Signal => {
            assert_eq!(daemon.terminate(), Some(0));
            None
        }
    }
}

#[tokio::test]
async fn a_plain_stop_leaves_live_and_waiting_children_as_they_are() {
    for way in [Way::Call, Way::Signal] {
        let site = Site::with(&[("limits.children", "3")]);
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let puppets: Vec<_> = (0..3).map(|_| Puppet::new(&site, "gate; settle", "kept")).collect();
        let mut live = Vec::new();
        for (puppet, agent) in puppets.iter().zip(["worker", "explore", "explore"]) {
            live.push(owner.begin(&site.puppet(agent, puppet)).await);
        }
        let stamps = site.path("stamps");
        let script = Script::new().stamp(&stamps, "start").stamp(&stamps, "end").say("later");
        let mut queued = Vec::new();
        for agent in ["worker", "explore", "worker", "explore"] {
            queued.push(owner.launch(&site.play(agent, &script)).await.run);
        }
        drop(owner);
        let begun = Instant::now();
        let said = stop(daemon, way).await;
        assert!(said.is_none_or(|counts| counts == (3, 4)), "{said:?}");
        assert!(begun.elapsed().as_secs() < 2, "{way:?}: {:?}", begun.elapsed());
        assert_eq!(site.processes().iter().filter(|process| process.is_shim()).count(), 3, "they go on");
        assert!(!stamps.exists(), "nothing is started any more");

        let daemon = site.start();
        let owner = daemon.owner("me").await;
        for (run, place) in queued.iter().zip(1..) {
            let view = owner.get(run).await;
            assert_eq!(
                (view.state, view.children[0].waits.as_ref().unwrap().place),
                (State::Queued, place),
                "{view:?}"
            );
        }
        for puppet in &puppets {
            puppet.open_gate().await;
        }
        for run in live.iter().chain(&queued) {
            let view = owner.wait(run).await;
            assert_eq!((view.state, view.children[0].attempt), (State::Succeeded, 1), "{way:?}: {view:?}");
        }
        assert_eq!(owner.inbox().await.len(), 7);
        assert_eq!(Stamps::read(&stamps).counts("start").len(), 4);
    }
}

#[tokio::test]
async fn a_plain_stop_loses_no_start_that_is_under_way() {
    let site = Site::with(&[("limits.children", "8")]);
    let stamps = site.path("stamps");
    let ask = site.play("explore", &Script::new().stamp(&stamps, "start").say("done"));
    let mut runs = Vec::new();
    for round in 0..8 {
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let launch = async || owner.launch(&ask).await.run;
        let launched = tokio::join!(launch(), launch(), launch(), launch(), launch(), launch());
        runs.extend(<[String; 6]>::from(launched));
        stop(daemon, if round % 2 == 0 { Way::Call } else { Way::Signal }).await;
    }
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    for run in &runs {
        let view = owner.wait(run).await;
        assert_eq!((view.state, view.children[0].attempt), (State::Succeeded, 1), "{view:?}");
    }
    assert_eq!(owner.inbox().await.len(), runs.len());
    let stamps = Stamps::read(&stamps);
    let starts = stamps.counts("start");
    assert_eq!(starts.len(), runs.len());
    assert!(starts.values().all(|count| *count == 1), "started twice: {starts:?}");
}
