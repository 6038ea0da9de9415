//! The shim alone is killed: what it leaves is ended before anything else happens.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::json;
use subagentd_proto::inbox::Notice;
use subagentd_proto::run::State;
use subagentd_tests::{Ask, Owner, Puppet, Script, Site, Stamps, until};

use crate::database::say;
use crate::lives::{self, Life, Tree};

/// Lives as writers, each in a directory of its own, and behind each the next writer.
struct Writers {
    trees: Vec<Tree>,
    next: BTreeMap<&'static str, String>,
}

fn site() -> Site {
    Site::with(&[("limits.children", "32"), ("limits.grace", "150ms")])
}

impl Writers {
    async fn launch(site: &Site, owner: &Owner, asks: Vec<(&'static str, Ask)>) -> Self {
        let mut writers = Self { trees: Vec::new(), next: BTreeMap::new() };
        for (name, ask) in &asks {
            let directory = site.directory(&format!("root-{name}"));
            writers.trees.push(Tree::launch(owner, name, &ask.clone().directory(&directory)).await);
        }
        for tree in &writers.trees {
            tree.stands(site).await;
            owner.until(&tree.run, State::Running).await;
            let script = Script::new().stamp(&site.path(format!("next-{}", tree.name)), "start").say("next");
            let next = site.play("worker", &script).directory(site.path(format!("root-{}", tree.name)));
            let next = owner.launch(&next).await;
            assert_eq!(next.waits.unwrap().holder.as_deref(), Some(tree.run.as_str()));
            writers.next.insert(tree.name, next.run);
        }
        writers
    }

    fn kill_shims(&self, site: &Site) {
        for tree in &self.trees {
            site.shim(&tree.run).signal(Signal::KILL);
        }
    }

    /// Each end is announced when nobody is left, and only then does the next writer start.
    async fn assert_ended(&mut self, site: &Site, owner: &Owner, state: State, reason: &str) {
        let mut watch = owner.watch(None).await;
        let notices = lives::assert_gone_when_announced(site, &mut watch, &mut self.trees).await;
        for Notice { state: found, reason: why, run, .. } in notices {
            assert_eq!((found, why.as_str()), (state, reason), "{:?}", owner.get(&run).await);
            assert_eq!(owner.get(&run).await.children[0].attempt, 1, "never started again");
        }
        for (name, run) in &self.next {
            assert_eq!(owner.wait(run).await.state, State::Succeeded);
            let last = Stamps::read(&lives::stamps(site, name)).last();
            let next = Stamps::read(&site.path(format!("next-{name}"))).first("start");
            assert!(last.is_some() && last < next, "{name}: two writers, {last:?} {next:?}");
        }
    }
}

fn writers(site: &Site, chosen: impl Fn(&Life) -> bool) -> Vec<(&'static str, Ask)> {
    let chosen = lives::all(site).into_iter().filter(chosen);
    chosen.map(|life| (life.name, life.rests(site, "worker"))).collect()
}

#[tokio::test]
async fn what_a_killed_shim_leaves_is_ended_first() {
    let site = site();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut lives = Writers::launch(&site, &owner, writers(&site, |_| true)).await;
    lives.kill_shims(&site);
    lives.assert_ended(&site, &owner, State::Interrupted, "shim.lost").await;
}

#[tokio::test]
async fn with_a_stored_cancel_it_is_cancelled() {
    let site = site();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut lives = Writers::launch(&site, &owner, writers(&site, |life| life.name != "chain")).await;
    for tree in &lives.trees {
        // Stopped, so that it does not end its child before it is killed.
        site.shim(&tree.run).signal(Signal::STOP);
        assert_eq!(owner.cancel(&tree.run).await.outcome, "cancelling");
    }
    lives.kill_shims(&site);
    lives.assert_ended(&site, &owner, State::Cancelled, "cancelled").await;
}

/// Nobody is handed to the next daemon: marks and `tree` have to tell.
#[tokio::test]
async fn what_is_left_of_a_killed_daemons_shims_is_found_by_the_next_one() {
    let site = site();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut asks = writers(&site, |life| !life.untraceable);
    asks.extend(languages(&site));
    let mut lives = Writers::launch(&site, &owner, asks).await;
    daemon.kill9();
    lives.kill_shims(&site);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    lives.assert_ended(&site, &owner, State::Interrupted, "shim.lost").await;
}

/// The same where the daemon goes on.
#[tokio::test]
async fn programs_that_close_what_they_inherit_hide_nobody() {
    let site = site();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut lives = Writers::launch(&site, &owner, languages(&site)).await;
    lives.kill_shims(&site);
    lives.assert_ended(&site, &owner, State::Interrupted, "shim.lost").await;
}

/// A child can remove what proves its start. It said that it runs: what it left is ended, and it is not started again.
#[tokio::test]
async fn without_the_proof_of_its_start_its_tree_is_ended_all_the_same() {
    let site = site();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut lives = Writers::launch(&site, &owner, writers(&site, |life| life.name == "setsid")).await;
    let run = &lives.trees[0].run;
    std::fs::remove_file(site.state().join("runs").join(run).join("0.1/started")).unwrap();
    lives.kill_shims(&site);
    lives.assert_ended(&site, &owner, State::Interrupted, "shim.lost").await;
}

/// Grandchildren through Node, without a mark, so that only `tree` tells of them, and through Python, which closes it.
fn languages(site: &Site) -> Vec<(&'static str, Ask)> {
    const BEAT: &str = r#"while :; do echo "$(date +%s%N) beat $$" >> "$STAMPS"; sleep 0.01; done"#;
    const NODE: &str = r#"
        const env = { ...process.env };
        delete env.SUBAGENTD_ATTEMPT;
        require("child_process").spawn("/bin/sh", ["-c", env.BEAT], { detached: true, stdio: "ignore", env }).unref();"#;
    const PYTHON: &str = r#"
import os, subprocess
subprocess.Popen(["/bin/sh", "-c", os.environ["BEAT"]], start_new_session=True)"#;
    let mut asks = Vec::new();
    for (name, option, program) in [("node", "-e", NODE), ("python3", "-c", PYTHON)] {
        if !is_installed(name) {
            say(&format!("SKIPPED: {name} is not installed"));
            continue;
        }
        let puppet = Puppet::new(site, &format!("{name} {option} \"$PROGRAM\"; while :; do sleep 100; done"), "");
        let stamps = lives::stamps(site, name);
        let ask = site.puppet("worker", &puppet).tree(site, name).variable("PROGRAM", program).variable("BEAT", BEAT);
        asks.push((name, ask.variable("STAMPS", stamps.to_str().unwrap())));
    }
    asks
}

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[tokio::test]
async fn an_answer_stored_before_the_loss_is_kept_and_not_called_whole() {
    let site = Site::with(&[("limits.grace", "20s")]);
    for daemon_too in [false, true] {
        let daemon = site.start();
        let owner = daemon.owner("me").await;
        let lingers = json!({ "after": { "sleep": { "ms": 100_000, "ignoreEnd": true } } });
        let run = owner.launch(&site.play("explore", &Script::new().say("42").step(lingers))).await.run;
        let answer = site.state().join("runs").join(&run).join("result.md");
        until("the answer", async || answer.exists().then_some(())).await;
        let shim = site.shim(&run);
        let daemon = if daemon_too {
            daemon.kill9();
            shim.signal(Signal::KILL);
            site.start()
        } else {
            shim.signal(Signal::KILL);
            daemon
        };
        let owner = daemon.owner("me").await;
        let view = owner.wait(&run).await;
        let child = &view.children[0];
        assert_eq!((view.state, child.reason.as_deref()), (State::Interrupted, Some("shim.lost")), "{view:?}");
        assert_eq!(
            (child.remarks.as_slice(), child.answer_complete),
            (["answer.kept".to_owned()].as_slice(), Some(false))
        );
        assert_eq!(child.reference.as_ref().unwrap().bytes, 2);
        assert_eq!(owner.text(&run).await.0, "42");
        let notice = owner.inbox().await.pop().unwrap();
        assert_eq!((notice.run, notice.reference.map(|reference| reference.bytes)), (run, Some(2)));
        site.until_no_attempts().await;
        daemon.stop().await;
    }
}

/// Logout and shutdown: TERM comes to everybody, and KILL some seconds later.
#[tokio::test]
async fn a_shim_that_is_told_to_end_ends_its_child_in_time() {
    let site = Site::with(&[("limits.children", "8"), ("limits.grace", "20s")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut watch = owner.watch(None).await;
    let stubborn = lives::all(&site).into_iter().find(|life| life.stubborn).unwrap();
    let obeys = site.play("explore", &Script::new().say("partly").sleep_long());
    let obeys = owner.begin(&obeys).await;
    let mut trees = vec![Tree::launch(&owner, stubborn.name, &stubborn.rests(&site, "explore")).await];
    trees[0].stands(&site).await;
    owner.until(&trees[0].run, State::Running).await;
    let begun = std::time::Instant::now();
    for run in [&obeys, &trees[0].run] {
        site.shim(run).signal(Signal::TERM);
    }
    let view = owner.wait(&obeys).await;
    assert_eq!(view.children[0].reason.as_deref(), Some("shim.terminated"), "{view:?}");
    assert!(view.children[0].remarks.is_empty(), "it was asked politely: {view:?}");
    assert!(begun.elapsed().as_secs() < 2, "at once: {:?}", begun.elapsed());
    let notices = lives::assert_gone_when_announced(&site, &mut watch, &mut trees).await;
    assert_eq!((notices[0].state, notices[0].reason.as_str()), (State::Interrupted, "shim.terminated"));
    assert!(begun.elapsed().as_secs() < 8, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_child_that_the_same_signal_ends_first_is_interrupted_too() {
    let site = Site::with(&[("limits.children", "8")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let shell = Puppet::new(&site, "while :; do sleep 100; done", "");
    let script = Script::new().sleep_long();
    // One dies of the signal, the other exits with 143 because of it.
    for ask in [site.puppet("explore", &shell), site.play("explore", &script)] {
        for logout in [true, false] {
            let name = format!("logout-{logout}");
            let run = owner.begin(&ask.clone().tree(&site, &name)).await;
            let shim = site.shim(&run);
            let attempt = format!("{run}/0.1");
            for process in site.attempts().iter().filter(|process| process.attempt.as_deref() == Some(&attempt)) {
                process.signal(Signal::TERM);
            }
            if logout {
                shim.signal(Signal::TERM);
            }
            let view = owner.wait(&run).await;
            let reason = view.children[0].reason.as_deref();
            if logout {
                assert_eq!((view.state, reason), (State::Interrupted, Some("shim.terminated")), "{view:?}");
            } else {
                assert_eq!(view.state, State::Failed, "nobody told the shim: {view:?}");
            }
        }
    }
}

/// A shim that hears nothing is killed, and what it leaves is ended.
#[tokio::test]
async fn a_stopped_shim_does_not_keep_a_cancel_from_its_end() {
    tokio::join!(cancel_past_a_stopped_shim(false), cancel_past_a_stopped_shim(true));
}

async fn cancel_past_a_stopped_shim(adopted: bool) {
    let site = Site::with(&[("limits.grace", "100ms")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let life = lives::all(&site).into_iter().find(|life| life.stubborn).unwrap();
    let mut trees = vec![Tree::launch(&owner, life.name, &life.rests(&site, "worker")).await];
    trees[0].stands(&site).await;
    let run = trees[0].run.clone();
    owner.until(&run, State::Running).await;
    site.shim(&run).signal(Signal::STOP);
    let daemon = if adopted {
        daemon.kill9();
        site.start()
    } else {
        daemon
    };
    let owner = daemon.owner("me").await;
    let mut watch = owner.watch(None).await;
    assert_eq!(owner.cancel(&run).await.outcome, "cancelling");
    let notices = lives::assert_gone_when_announced(&site, &mut watch, &mut trees).await;
    assert_eq!(notices[0].state, State::Cancelled, "adopted: {adopted}");
    assert_eq!(owner.run(&site.play("worker", &Script::new().say("next"))).await.state, State::Succeeded);
}
