//! The spool: records stay until their end is stored, and what is none stops nothing.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use subagentd_proto::run::State;
use subagentd_tests::{Puppet, Script, Site, programs, until};

use crate::database::{Busy, change, say};

/// While the store takes nothing the record stays where it is: a daemon that is killed then has lost nothing.
#[tokio::test]
async fn a_record_stays_in_the_spool_until_its_end_is_stored() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "not lost");
    let run = owner.begin(&site.puppet("worker", &puppet)).await;
    let busy = Busy::new(&site);
    puppet.open_gate().await;
    let record = format!("{run}.0.1.json");
    until("the shim is gone", async || site.processes().iter().all(|one| !one.is_shim()).then_some(())).await;
    // The daemon hears of it at once.
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(spooled(&site), [record]);
    daemon.kill9();
    busy.end();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let view = owner.wait(&run).await;
    assert_eq!((view.state, view.children[0].attempt), (State::Succeeded, 1), "{view:?}");
    assert_eq!(owner.text(&run).await.0, "not lost");
    until("it is removed", async || spooled(&site).is_empty().then_some(())).await;
    let daemon = daemon.restart(&site).await;
    let next =
        daemon.owner("me").await.run(&site.play("worker", &Script::new().say("its scope is free for good"))).await;
    assert_eq!(next.state, State::Succeeded);
}

/// inotify is only the faster messenger: the ends of shims tell, and a sweep every second.
#[tokio::test]
async fn a_daemon_without_inotify_misses_nothing() {
    let site = Site::new();
    let without = |program: &str| {
        // A name space of users that may have none.
        let mut command = site.command("unshare");
        let shell = format!("echo 0 > /proc/sys/user/max_inotify_instances && exec {program}");
        command.args(["--user", "--map-root-user", "/bin/sh", "-c", &shell]);
        command
    };
    if !without("true").status().is_ok_and(|status| status.success()) {
        say("SKIPPED: this system allows no name space without inotify");
        return;
    }
    let serve = format!("{} serve", programs().daemon.display());
    let daemon = site.try_start(without(&serve)).unwrap();
    let owner = daemon.owner("me").await;
    let begun = Instant::now();
    for _ in 0..6 {
        assert_eq!(owner.run(&site.play("worker", &Script::new().say("told"))).await.state, State::Succeeded);
    }
    assert!(begun.elapsed() < Duration::from_secs(3), "told by a sweep only: {:?}", begun.elapsed());
    let puppets = ["worker", "explore"].map(|agent| (agent, Puppet::new(&site, "gate; settle", "kept")));
    let mut runs = Vec::new();
    for (agent, puppet) in &puppets {
        runs.push(owner.begin(&site.puppet(agent, puppet)).await);
    }
    daemon.kill9();
    // One publishes while nobody looks, of the other only the lock tells.
    puppets[1].1.open_gate().await;
    until("the shim is gone", async || {
        (site.processes().iter().filter(|process| process.is_shim()).count() == 1).then_some(())
    })
    .await;
    if !change(&site, "UPDATE attempts SET pid_start = pid_start + 1") {
        return;
    }
    fs::write(site.state().join("spool/garbage"), "no record").unwrap();
    let daemon = site.try_start(without(&serve)).unwrap();
    puppets[0].1.open_gate().await;
    let owner = daemon.owner("me").await;
    for run in &runs {
        let view = owner.wait(run).await;
        assert_eq!((view.state, view.children[0].attempt), (State::Succeeded, 1), "{view:?}");
    }
    until("the spool is empty", async || spooled(&site).is_empty().then_some(())).await;
    assert!(site.state().join("spool/bad/garbage").exists());
    assert!(site.logs().contains("inotify"), "it had inotify: {}", site.logs());
}

#[tokio::test]
async fn what_is_no_record_goes_to_spool_bad_and_stops_nothing() {
    const STRANGER: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
    let site = Site::new();
    let mut daemon = site.start();
    let mut owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "unmoved");
    let run = owner.begin(&site.puppet("worker", &puppet)).await;
    let files = |round: &str| -> Vec<(String, Vec<u8>)> {
        let text = |value: Value| value.to_string().into_bytes();
        let newer = {
            let mut record = record_of(&run, 1);
            record["format"] = json!(99);
            record
        };
        vec![
            (format!("garbage-{round}"), b"\x00\xffno record".to_vec()),
            (format!("{STRANGER}.0.{round}.json"), text(record_of(STRANGER, round.parse().unwrap()))),
            (format!("{run}.0.7{round}.json"), text(record_of(&run, format!("7{round}").parse().unwrap()))),
            (format!("{run}.0.8{round}.json"), text(record_of(&run, 1))),
            (format!("{run}.0.9{round}.json"), text(newer)),
            (format!("{run}.0.0{round}.json"), Vec::new()),
        ]
    };
    let bad = site.state().join("spool/bad");
    for (round, while_it_serves) in [("1", true), ("2", false)] {
        let put = || {
            for (name, bytes) in files(round) {
                // As a shim publishes: complete before it has its name.
                fs::write(site.path("parts/record"), bytes).unwrap();
                fs::rename(site.path("parts/record"), site.state().join("spool").join(name)).unwrap();
            }
            let name = format!("pipe-{round}");
            rustix::fs::mkfifoat(rustix::fs::CWD, site.path("parts/pipe"), rustix::fs::Mode::from_raw_mode(0o600))
                .unwrap();
            fs::rename(site.path("parts/pipe"), site.state().join("spool").join(name)).unwrap();
        };
        if while_it_serves {
            put();
        } else {
            daemon.kill9();
            put();
            daemon = site.start();
            owner = daemon.owner("me").await;
        }
        for name in files(round).into_iter().map(|(name, _)| name).chain([format!("pipe-{round}")]) {
            until(&format!("{name} is set aside"), async || bad.join(&name).symlink_metadata().ok()).await;
        }
        assert_eq!(spooled(&site), Vec::<String>::new());
        assert_eq!(owner.get(&run).await.state, State::Running);
        assert_eq!(owner.run(&site.play("explore", &Script::new().say("beside"))).await.state, State::Succeeded);
    }
    puppet.open_gate().await;
    assert_eq!(owner.wait(&run).await.state, State::Succeeded);
    assert_eq!(owner.text(&run).await.0, "unmoved");
}

fn record_of(run: &str, number: u32) -> Value {
    json!({
        "format": 1, "attempt": { "child": { "run": run, "index": 0 }, "number": number },
        "end": { "ended": {
            "reason": "completed", "reported": {}, "tool_calls": 0, "turns": 0, "ended_at_ms": 7,
            "usage": { "input": 0, "output": 0, "cache_read": 0, "cache_write": 0, "cost": 0.0 },
        } },
    })
}

/// Records that are not read yet, or not stored.
pub(crate) fn spooled(site: &Site) -> Vec<String> {
    let entries = site.state().join("spool").read_dir().unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(|name| name != "bad").collect()
}
