//! Attempts whose shim was lost before it started anything.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use subagentd_proto::run::State;
use subagentd_tests::{Process, Puppet, Script, Site, Stamps, until};

use crate::database::Busy;

/// A child's environment that its shim cannot read to the end: the shim waits there, before it starts anything.
struct Barrier {
    file: PathBuf,
    kept: PathBuf,
}

impl Barrier {
    /// The environment of a run that waits in the queue; nobody else has this one.
    fn new(site: &Site, others: &[PathBuf]) -> Self {
        let file = environments(site).into_iter().find(|file| !others.contains(file)).unwrap();
        let kept = site.path("parts/environment");
        fs::rename(&file, &kept).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        Self { file, kept }
    }

    fn open(self) {
        fs::rename(self.kept, self.file).unwrap();
    }
}

fn environments(site: &Site) -> Vec<PathBuf> {
    site.state().join("env").read_dir().unwrap().flatten().map(|entry| entry.path()).collect()
}

/// The shim of this attempt, once it stands at the barrier: it has said nothing and started nothing.
async fn standing(site: &Site, run: &str, number: u32) -> Process {
    let folder = site.state().join("runs").join(run).join(format!("0.{number}"));
    until(&format!("attempt {number} stands at the barrier"), async || {
        let shim = site.processes().into_iter().find(|one| one.is_shim_of(run))?;
        let is_it = shim.command.get(2).is_some_and(|path| Path::new(path) == folder);
        (is_it && folder.join("record").exists()).then_some(shim)
    })
    .await
}

/// Killed before anything was started, by whomever: the same child is started by the next attempt, once.
#[tokio::test]
async fn a_start_that_never_was_is_made_again() {
    tokio::join!(make_again(false), make_again(true));
}

async fn make_again(daemon_too: bool) {
    let site = Site::with(&[("limits.children", "1")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "held");
    let holder = owner.begin(&site.puppet("explore", &puppet)).await;
    let others = environments(&site);
    let stamps = site.path("stamps");
    let ask = site.play("worker", &Script::new().stamp(&stamps, "start").say("done"));
    let run = owner.launch(&ask).await.run;
    let barrier = Barrier::new(&site, &others);
    puppet.open_gate().await;
    owner.wait(&holder).await;
    let shim = standing(&site, &run, 1).await;
    let daemon = if daemon_too {
        daemon.kill9();
        shim.signal(Signal::KILL);
        site.start()
    } else {
        shim.signal(Signal::KILL);
        daemon
    };
    let owner = daemon.owner("me").await;
    let shim = standing(&site, &run, 2).await;
    let view = owner.get(&run).await;
    assert_eq!((view.state, view.children[0].attempt), (State::Starting, 2), "{view:?}");
    barrier.open();
    // It holds the pipe open, not the file.
    shim.signal(Signal::KILL);
    let view = owner.wait(&run).await;
    assert_eq!((view.state, view.children[0].attempt), (State::Succeeded, 3), "{view:?}");
    let stamps = Stamps::read(&stamps);
    let starts = stamps.counts("start");
    assert_eq!(starts.into_iter().collect::<Vec<_>>(), [(format!("{run}/0.3").as_str(), 1)]);
}

/// Three times in a row, and a daemon in between does not begin to count anew. With a stored cancel it is cancelled.
#[tokio::test]
async fn starts_that_never_were_come_to_an_end() {
    tokio::join!(give_up(false), give_up(true));
}

async fn give_up(cancelled: bool) {
    let site = Site::with(&[("limits.children", "1"), ("limits.grace", "100ms")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "held");
    let holder = owner.begin(&site.puppet("explore", &puppet)).await;
    let others = environments(&site);
    let run = owner.launch(&site.play("worker", &Script::new().say("never"))).await.run;
    let _barrier = Barrier::new(&site, &others);
    puppet.open_gate().await;
    owner.wait(&holder).await;
    standing(&site, &run, 1).await.signal(Signal::KILL);
    let shim = standing(&site, &run, 2).await;
    daemon.kill9();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let expected = if cancelled {
        assert_eq!(owner.cancel(&run).await.outcome, "cancelling");
        (State::Cancelled, Some("cancelled"), 2)
    } else {
        shim.signal(Signal::KILL);
        standing(&site, &run, 3).await.signal(Signal::KILL);
        (State::Failed, Some("start.failed"), 3)
    };
    let view = owner.wait(&run).await;
    let child = &view.children[0];
    assert_eq!((view.state, child.reason.as_deref(), child.attempt), expected, "{view:?}");
    assert_eq!(owner.run(&site.play("worker", &Script::new().say("next"))).await.state, State::Succeeded);
}

/// A stop comes while a start waits for the store: it is finished first, and not left to the next daemon as one that
/// never was.
#[tokio::test]
async fn a_start_that_waits_for_the_store_is_finished_before_a_stop() {
    let site = Site::with(&[("limits.children", "1")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "held");
    let holder = owner.begin(&site.puppet("explore", &puppet)).await;
    let others = environments(&site);
    let run = owner.launch(&site.play("worker", &Script::new().say("done"))).await.run;
    let barrier = Barrier::new(&site, &others);
    puppet.open_gate().await;
    owner.wait(&holder).await;
    standing(&site, &run, 1).await.signal(Signal::KILL);
    let shim = standing(&site, &run, 2).await;
    barrier.open();
    shim.signal(Signal::KILL);
    owner.until(&run, State::Queued).await;
    // The third attempt comes half a second after the second one.
    let busy = Busy::new(&site);
    let request = site.state().join("runs").join(&run).join("0.3/request.json");
    until("the third attempt is prepared", async || request.exists().then_some(())).await;
    drop(owner);
    let stop = tokio::task::spawn_blocking(|| daemon.terminate());
    tokio::time::sleep(Duration::from_millis(250)).await;
    busy.end();
    assert_eq!(stop.await.unwrap(), Some(0));
    let daemon = site.start();
    let view = daemon.owner("me").await.wait(&run).await;
    assert_eq!((view.state, view.children[0].attempt), (State::Succeeded, 3), "{view:?}");
}
