//! Cancels that outlive their daemon.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use subagentd_proto::run::State;
use subagentd_tests::{Script, Site};

use crate::adoption::attempt_folder;

/// Where a shim listens; away from there no daemon reaches it.
struct Unreachable {
    socket: PathBuf,
    away: PathBuf,
}

impl Unreachable {
    fn new(site: &Site, run: &str) -> Self {
        let socket = attempt_folder(site, run).join("ctl");
        let away = socket.with_extension("away");
        fs::rename(&socket, &away).unwrap();
        Self { socket, away }
    }

    fn end(self) {
        fs::rename(self.away, self.socket).unwrap();
    }
}

/// The cancel is stored and cannot be sent: it is sent when the shim can be reached, by this daemon or by the next.
#[tokio::test]
async fn a_stored_cancel_is_sent_until_it_arrives() {
    for next_daemon in [false, true] {
        let site = Site::with(&[("limits.grace", "20s")]);
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let run = owner.begin(&site.play("explore", &Script::new().say("partly").sleep_long())).await;
        let unreachable = Unreachable::new(&site, &run);
        daemon.kill9();
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let begun = Instant::now();
        assert_eq!(owner.cancel(&run).await.outcome, "cancelling");
        let daemon = if next_daemon {
            daemon.kill9();
            unreachable.end();
            site.start()
        } else {
            unreachable.end();
            daemon
        };
        let owner = daemon.owner("me").await;
        let view = owner.wait(&run).await;
        let child = &view.children[0];
        assert_eq!((view.state, child.reason.as_deref()), (State::Cancelled, Some("cancelled")), "{view:?}");
        assert!(begun.elapsed() < Duration::from_secs(10), "the shim had to be killed: {:?}", begun.elapsed());
        assert_eq!(owner.inbox().await.len(), 1);
    }
}

/// Whatever the shim has heard by then.
#[tokio::test]
async fn an_acknowledged_cancel_outlives_its_daemon() {
    let site = Site::with(&[("limits.children", "3"), ("limits.grace", "100ms")]);
    let stamps = site.path("stamps");
    let mut runs = Vec::new();
    for _ in 0..4 {
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let at_work = owner.begin(&site.play("explore", &Script::new().sleep_long())).await;
        let starting = site.play("explore", &Script::new().step(json!({ "before": { "sleep": 100_000 } })));
        let starting = owner.launch(&starting).await.run;
        let filler = owner.launch(&site.play("worker", &Script::new().sleep_long())).await.run;
        let queued = site.play("worker", &Script::new().stamp(&stamps, "start").say("never"));
        let queued = owner.launch(&queued).await.run;
        for run in [&at_work, &starting, &queued, &filler] {
            let answer = owner.cancel(run).await;
            assert_ne!(answer.outcome, "already-ended", "{answer:?}");
            runs.push(run.clone());
        }
        daemon.kill9();
    }
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    for run in &runs {
        let view = owner.wait(run).await;
        assert_eq!((view.state, view.children[0].reason.as_deref()), (State::Cancelled, Some("cancelled")), "{view:?}");
    }
    assert_eq!(owner.inbox().await.len(), runs.len());
    assert!(!stamps.exists(), "a cancelled child was started");
    site.until_no_attempts().await;
}

/// Acknowledged and then killed at once, with nothing else in the way of the queue.
#[tokio::test]
async fn a_cancel_in_the_queue_is_stored_before_it_is_answered() {
    let site = Site::with(&[("limits.children", "1")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let holder = owner.begin(&site.play("explore", &Script::new().sleep_long())).await;
    let stamps = site.path("stamps");
    let queued = owner.launch(&site.play("explore", &Script::new().stamp(&stamps, "start").say("never"))).await.run;
    assert_eq!(owner.cancel(&queued).await.outcome, "cancelled");
    daemon.kill9();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let view = owner.get(&queued).await;
    assert_eq!((view.state, view.children[0].attempt), (State::Cancelled, 0), "{view:?}");
    owner.cancel(&holder).await;
    owner.wait(&holder).await;
    assert_eq!(owner.inbox().await.len(), 2);
    assert!(!Path::new(&stamps).exists());
}
