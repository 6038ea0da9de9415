//! Slots, leases and the queue, judged by what the children stamped themselves.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use subagentd_proto::run::State;
use subagentd_tests::{Puppet, Script, Site, Stamps};

/// Clients that launch at the same time.
const CLIENTS: usize = 5;
/// Runs of each.
const EACH: usize = 40;

#[tokio::test]
async fn two_hundred_runs_have_two_hundred_ends_and_as_many_notices() {
    let site = Site::with(&[("limits.children", "8")]);
    let daemon = site.start();
    let stamps = site.path("stamps");
    let script = Script::new().stamp(&stamps, "start").sleep(20).stamp(&stamps, "end").say("done");
    let ask = site.play("explore", &script);

    let watcher = daemon.owner("many").await;
    let mut watch = watcher.watch(None).await;
    let mut launches = Vec::new();
    for _ in 0..CLIENTS {
        let (client, ask) = (daemon.owner("many").await, ask.clone());
        launches.push(tokio::spawn(async move {
            let mut runs = Vec::new();
            for _ in 0..EACH {
                runs.push(client.launch(&ask).await.run);
            }
            runs
        }));
    }
    let (mut noticed, mut last) = (BTreeSet::new(), 0);
    for _ in 0..CLIENTS * EACH {
        let notice = watch.next().await;
        let run = watcher.get(&notice.run).await;
        assert!(run.state.is_end(), "announced before its end: {run:?}");
        assert_eq!((notice.state, notice.reason.as_str()), (State::Succeeded, "completed"), "{notice:?}");
        assert_eq!(run.notice.map(|mark| mark.seq), Some(notice.seq));
        assert!(notice.seq > last, "numbers rise: {last}, {}", notice.seq);
        last = notice.seq;
        assert!(noticed.insert(notice.run.clone()), "announced twice: {notice:?}");
    }
    let mut launched = BTreeSet::new();
    for launch in launches {
        launched.extend(launch.await.unwrap());
    }
    assert_eq!(noticed, launched);
    assert_eq!(watcher.inbox().await.len(), CLIENTS * EACH);
    assert_eq!(watcher.ack_up_to(last).await, u64::try_from(CLIENTS * EACH).unwrap());
    assert!(watcher.inbox().await.is_empty());

    let stamps = Stamps::read(&stamps);
    let starts = stamps.counts("start");
    assert_eq!(starts.len(), CLIENTS * EACH);
    assert!(starts.values().all(|count| *count == 1), "started twice: {starts:?}");
    assert!((2..=8).contains(&stamps.peak()), "{} at once", stamps.peak());
    site.until_no_attempts().await;
}

/// F17.
#[tokio::test]
async fn a_place_is_free_when_the_run_ends_and_not_when_somebody_looks() {
    let site = Site::with(&[("limits.children", "2")]);
    let daemon = site.start();
    let stamps = site.path("stamps");
    let script = Script::new().stamp(&stamps, "start").sleep(40).stamp(&stamps, "end").say("done");
    let ask = site.play("explore", &script);
    let client = daemon.owner("gone").await;
    let mut runs = Vec::new();
    for _ in 0..50 {
        runs.push(client.launch(&ask).await.run);
    }
    client.wait(&runs[20]).await;
    drop(client);

    let other = daemon.owner("other").await;
    for run in &runs {
        assert_eq!(other.wait(run).await.state, State::Succeeded);
    }
    let stamps = Stamps::read(&stamps);
    assert_eq!(stamps.counts("end").len(), 50);
    assert_eq!(stamps.peak(), 2);
}

/// F18.
#[tokio::test]
async fn waiting_is_not_charged_and_a_cancel_in_the_queue_moves_up_the_rest() {
    const LIMIT: u64 = 2_000;
    let site = Site::with(&[("limits.children", "1")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "first");
    let first = owner.begin(&site.puppet("explore", &puppet)).await;
    let begun = Instant::now();
    let ask = site.play("explore", &Script::new().say("later")).timeout(LIMIT);
    let mut waiting = Vec::new();
    for place in 1..=3 {
        let launched = owner.launch(&ask).await;
        let waits = launched.waits.expect("it waits");
        assert_eq!((launched.state, waits.on.as_str(), waits.place), (State::Queued, "slot", place));
        waiting.push(launched.run);
    }
    let cancelled = owner.cancel(&waiting[1]).await;
    assert_eq!((cancelled.state, cancelled.outcome.as_str()), (State::Cancelled, "cancelled"));
    assert_eq!(owner.get(&waiting[2]).await.children[0].waits.as_ref().unwrap().place, 2);

    // Longer than those that wait may last.
    tokio::time::sleep(Duration::from_millis(LIMIT + 100).saturating_sub(begun.elapsed())).await;
    puppet.open_gate().await;
    for run in [&first, &waiting[0], &waiting[2]] {
        let view = owner.wait(run).await;
        assert_eq!(view.state, State::Succeeded, "{view:?}");
    }
    assert_eq!(owner.get(&waiting[1]).await.children[0].attempt, 0, "it never started");
}

#[tokio::test]
async fn a_start_that_goes_wrong_frees_its_place_and_its_lock() {
    let site = Site::with(&[("limits.children", "1")]);
    site.configure("[runtimes.missing]\ncommand = [\"/nonexistent/child\"]\n");
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut broken = site.ask("worker", "anything").runtime("missing");
    broken.params.model = Some("a/b".to_owned());
    for _ in 0..3 {
        let view = owner.run(&broken).await;
        assert_eq!((view.state, view.children[0].reason.as_deref()), (State::Failed, Some("start.failed")), "{view:?}");
    }
    let view = owner.run(&site.play("worker", &Script::new().say("fine"))).await;
    assert_eq!(view.state, State::Succeeded);
}

#[tokio::test]
async fn who_waits_for_a_writer_sees_on_whom_and_readers_wait_for_nobody() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "first");
    let holder = owner.begin(&site.puppet("worker", &puppet)).await;
    let second = owner.launch(&site.play("worker", &Script::new().say("second"))).await;
    let waits = second.waits.expect("it waits");
    assert_eq!((waits.on.as_str(), waits.place, waits.holder.as_deref()), ("scope", 1, Some(holder.as_str())));
    assert!(waits.holder_since_ms.is_some());

    let reader = owner.run(&site.play("explore", &Script::new().say("beside"))).await;
    assert_eq!(reader.state, State::Succeeded);
    let elsewhere = site.play("worker", &Script::new().say("elsewhere")).directory(site.directory("other"));
    assert_eq!(owner.run(&elsewhere).await.state, State::Succeeded, "another root");
    assert_eq!(owner.get(&second.run).await.state, State::Queued);
    puppet.open_gate().await;
    assert_eq!(owner.wait(&second.run).await.state, State::Succeeded);
    assert_eq!(owner.get(&holder).await.state, State::Succeeded);
}
