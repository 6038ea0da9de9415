//! Taking up what an earlier daemon left, when not everything is as it left it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;
use subagentd_proto::run::State;
use subagentd_tests::{Puppet, Script, Site, Stamps, until};

use crate::database::change;

/// The folder of a run's first attempt.
pub(crate) fn attempt_folder(site: &Site, run: &str) -> PathBuf {
    site.state().join("runs").join(run).join("0.1")
}

/// A missing lock is not a free one: the shim's process decides.
#[tokio::test]
async fn without_its_lock_file_a_live_shim_is_taken_up_and_a_dead_one_is_lost() {
    for shim_dies in [false, true] {
        let site = Site::new();
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let puppet = Puppet::new(&site, "gate; settle", "through it all");
        let run = owner.begin(&site.puppet("worker", &puppet)).await;
        daemon.kill9();
        fs::remove_file(attempt_folder(&site, &run).join("lock")).unwrap();
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let next = owner.launch(&site.play("worker", &Script::new().say("next"))).await;
        assert_eq!(next.waits.unwrap().holder.as_deref(), Some(run.as_str()), "it still holds its workspace");
        let expected = if shim_dies {
            site.shim(&run).signal(Signal::KILL);
            (State::Interrupted, Some("shim.lost"))
        } else {
            puppet.open_gate().await;
            (State::Succeeded, Some("completed"))
        };
        let view = owner.wait(&run).await;
        assert_eq!((view.state, view.children[0].reason.as_deref()), expected, "{view:?}");
        assert_eq!(view.children[0].attempt, 1, "{view:?}");
        assert_eq!(owner.wait(&next.run).await.state, State::Succeeded);
    }
}

/// A daemon that was killed before it stored the shim's process, and one whose stored process is another one by now.
#[tokio::test]
async fn a_shim_whose_process_is_not_known_is_taken_up_all_the_same() {
    tokio::join!(take_up_with("pid = NULL, pid_start = NULL"), take_up_with("pid_start = pid_start + 1"));
}

async fn take_up_with(columns: &str) {
    let site = Site::with(&[("limits.grace", "100ms")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "through it all");
    let run = owner.begin(&site.puppet("worker", &puppet)).await;
    let lost = owner.begin(&site.play("explore", &Script::new().sleep_long())).await;
    let cancelled = owner.begin(&site.play("explore", &Script::new().sleep_long())).await;
    daemon.kill9();
    if !change(&site, &format!("UPDATE attempts SET {columns}")) {
        return;
    }
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    assert_eq!(owner.get(&run).await.state, State::Running);
    owner.cancel(&cancelled).await;
    site.shim(&lost).signal(Signal::KILL);
    puppet.open_gate().await;
    for (run, state) in [(run, State::Succeeded), (lost, State::Interrupted), (cancelled, State::Cancelled)] {
        let view = owner.wait(&run).await;
        assert_eq!((view.state, view.children[0].attempt), (state, 1), "{columns}: {view:?}");
    }
    site.until_no_attempts().await;
}

/// Where nothing but the lock tells that a shim lives: it has the answer, its child is gone, and it is about to publish.
#[tokio::test]
async fn who_has_not_published_yet_is_not_lost() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "kept");
    let run = owner.begin(&site.puppet("worker", &puppet)).await;
    daemon.kill9();
    // To a process that started at another time nobody listens.
    if !change(&site, "UPDATE attempts SET pid_start = pid_start + 1") {
        return;
    }
    // The shim waits here until somebody reads.
    let record = attempt_folder(&site, &run).join("record");
    fs::remove_file(&record).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &record, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    puppet.open_gate().await;
    site.until_no_attempts().await;
    assert!(site.state().join("runs").join(&run).join("result.md").exists());
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let next = owner.launch(&site.play("worker", &Script::new().say("next"))).await;
    // The first look is made at once; a wrong one takes some time to search for what is left.
    tokio::time::sleep(Duration::from_millis(250)).await;
    assert_eq!(owner.get(&run).await.state, State::Running);
    assert_eq!(owner.get(&next.run).await.state, State::Queued);
    fs::OpenOptions::new().read(true).write(true).open(&record).unwrap();
    let view = owner.wait(&run).await;
    assert_eq!(view.children[0].reason.as_deref(), Some("shim.lost"), "a pipe takes no record: {view:?}");
    assert_eq!(owner.text(&run).await.0, "kept");
    assert_eq!(owner.wait(&next.run).await.state, State::Succeeded);
}

#[tokio::test]
async fn without_its_folder_a_run_ends_and_is_not_started_again() {
    tokio::join!(lose_folder(false), lose_folder(true));
}

async fn lose_folder(daemon_too: bool) {
    let site = Site::with(&[("limits.grace", "100ms")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let stamps = site.path("stamps");
    let puppet =
        Puppet::new(&site, &format!("echo 1 start x >> {}; gate; settle", stamps.display()), "nowhere to put it");
    let settles = owner.begin(&site.puppet("worker", &puppet)).await;
    let cancelled = owner.begin(&site.play("explore", &Script::new().sleep_long())).await;
    let killed = owner.begin(&site.play("explore", &Script::new().stamp(&stamps, "start").sleep_long())).await;
    until("both wrote", async || (Stamps::read(&stamps).counts("start").len() == 2).then_some(())).await;
    let shims = [&settles, &cancelled, &killed].map(|run| site.shim(run));
    let take_away = || {
        for run in [&settles, &cancelled, &killed] {
            fs::remove_dir_all(site.state().join("runs").join(run)).unwrap();
        }
    };
    let daemon = if daemon_too {
        daemon.kill9();
        take_away();
        site.start()
    } else {
        take_away();
        daemon
    };
    let owner = daemon.owner("me").await;
    puppet.open_gate().await;
    shims[2].signal(Signal::KILL);
    owner.cancel(&cancelled).await;
    for (run, state) in [(&settles, State::Interrupted), (&killed, State::Interrupted), (&cancelled, State::Cancelled)]
    {
        let view = owner.wait(run).await;
        assert_eq!((view.state, view.children[0].attempt), (state, 1), "daemon too: {daemon_too}: {view:?}");
    }
    assert_eq!(owner.run(&site.play("worker", &Script::new().say("next"))).await.state, State::Succeeded);
    let daemon = daemon.restart(&site).await;
    let owner = daemon.owner("me").await;
    assert_eq!(owner.get(&settles).await.state, State::Interrupted);
    let next = owner.run(&site.play("worker", &Script::new().say("its scope is free for good"))).await;
    assert_eq!(next.state, State::Succeeded);
    assert_eq!(Stamps::read(&stamps).counts("start").values().sum::<usize>(), 2, "started again");
    site.until_no_attempts().await;
}
