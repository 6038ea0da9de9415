//! Notices: offered until acknowledged, to one connection at a time.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::json;
use subagentd_proto::PROTOCOL;
use subagentd_proto::daemon::{ClientInfo, HelloParams};
use subagentd_proto::inbox::Cursor;
use subagentd_proto::method::{DaemonHello, RunWait};
use subagentd_proto::run::{WaitParams, WaitResponse};
use subagentd_tests::{Ask, Daemon, Owner, Puppet, Raw, Script, Site, until};

/// Long enough for a notice that should not come.
const QUIET: Duration = Duration::from_millis(150);

/// A site where a notice is out with one watcher for a short time only.
fn short_offers() -> Site {
    Site::with(&[("inbox.offer", "200ms")])
}

/// A site where a notice is out with one watcher until that one goes.
fn long_offers() -> Site {
    Site::with(&[("inbox.offer", "1h")])
}

fn ask(site: &Site) -> Ask {
    site.play("explore", &Script::new().say("done"))
}

/// A connection that takes over from another owner.
async fn successor(daemon: &Daemon, owner: &str, earlier: &str) -> Owner {
    let client = daemon.client().await;
    let info = ClientInfo { name: "end-to-end".to_owned(), version: "1".to_owned() };
    let earlier_owners = vec![earlier.to_owned()];
    let hello = HelloParams { client: info, protocol: PROTOCOL, owner: owner.to_owned(), earlier_owners };
    let store = client.call::<DaemonHello>(hello).await.unwrap().store;
    Owner { client, store }
}

/// A client that watches and then neither reads nor closes.
fn stopped(daemon: &Daemon, owner: &str) -> Raw {
    let mut raw = daemon.raw();
    raw.hello(owner);
    raw.call("inbox/watch", &json!({}));
    raw
}

#[tokio::test]
async fn a_range_covers_only_what_this_connection_was_sent() {
    let site = Site::new();
    let daemon = site.start();
    let (sent, other) = (daemon.owner("me").await, daemon.owner("me").await);
    let mut watch = sent.watch(None).await;
    for _ in 0..3 {
        other.run(&ask(&site)).await;
    }
    let seqs = [watch.next().await.seq, watch.next().await.seq, watch.next().await.seq];
    assert_eq!(other.ack_up_to(seqs[2]).await, 0, "it was sent nothing");
    assert_eq!(other.inbox().await.len(), 3);
    assert_eq!(sent.ack_up_to(seqs[1]).await, 2);
    assert_eq!(sent.ack_up_to(seqs[1]).await, 0, "again");
    assert_eq!(other.ack(&[seqs[2]]).await, 1, "by number, however it was learnt of");
    assert!(other.inbox().await.is_empty());
}

#[tokio::test]
async fn a_watch_goes_on_from_its_cursor_in_this_store_only() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut seqs = Vec::new();
    for _ in 0..3 {
        seqs.push(owner.run(&ask(&site)).await.notice.unwrap().seq);
    }
    let daemon = daemon.restart(&site).await;
    for (store, from) in [(Some(owner.store.clone()), 2), (Some("another-store".to_owned()), 0), (None, 0)] {
        let client = daemon.owner("me").await;
        assert_eq!(client.store, owner.store, "a store keeps its identity");
        let mut watch = client.watch(store.map(|store| Cursor { store, seq: seqs[1] })).await;
        for expected in &seqs[from..] {
            assert_eq!(watch.next().await.seq, *expected);
        }
        assert!(watch.next_within(QUIET).await.is_none());
    }
    let last = daemon.owner("me").await;
    assert_eq!(last.ack(&seqs[..2]).await, 2);
    let mut watch = last.watch(None).await;
    assert_eq!(watch.next().await.seq, seqs[2], "what is acknowledged is not offered again");
}

#[tokio::test]
async fn the_newest_watcher_gets_it_and_the_older_one_after_it() {
    let site = Site::new();
    let daemon = site.start();
    let (older, newer) = (daemon.owner("me").await, daemon.owner("me").await);
    let mut first = older.watch(None).await;
    let shown = older.run(&ask(&site)).await;
    assert_eq!(first.next().await.run, shown.run, "alone, it gets everything");
    let mut second = newer.watch(Some(Cursor { store: newer.store.clone(), seq: shown.notice.unwrap().seq })).await;

    let both = [older.run(&ask(&site)).await.run, older.run(&ask(&site)).await.run];
    let seq = second.next().await.seq;
    assert_eq!(second.next().await.run, both[1]);
    assert_eq!(newer.ack_up_to(seq).await, 1);
    assert!(first.next_within(QUIET).await.is_none(), "one connection at a time");
    drop((second, newer));
    assert_eq!(first.next().await.run, both[1], "only what was not acknowledged");
    let later = older.run(&ask(&site)).await;
    assert_eq!(first.next().await.run, later.run);
}

#[tokio::test]
async fn notices_wait_for_their_owner() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let run = owner.run(&ask(&site)).await.run;
    drop(owner);
    daemon.kill9();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut watch = owner.watch(None).await;
    let notice = watch.next().await;
    assert_eq!(notice.run, run);
    assert_eq!(owner.ack_up_to(notice.seq).await, 1);
    daemon.kill9();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    assert!(owner.inbox().await.is_empty(), "an acknowledgement is durable");
    assert!(owner.get(&run).await.notice.unwrap().acknowledged);
}

#[tokio::test]
async fn what_is_not_acknowledged_in_time_goes_to_the_next_and_comes_round() {
    let site = short_offers();
    let daemon = site.start();
    let (older, newer) = (daemon.owner("me").await, daemon.owner("me").await);
    let (mut first, mut second) = (older.watch(None).await, newer.watch(None).await);
    let seq = older.run(&ask(&site)).await.notice.unwrap().seq;
    for _round in 0..2 {
        assert_eq!(second.next().await.seq, seq);
        assert_eq!(first.next().await.seq, seq);
    }
    assert_eq!(newer.ack_up_to(seq).await, 1, "it was sent it, whoever has it now");
    assert_eq!(older.ack_up_to(seq).await, 0);
    while second.next_within(QUIET).await.is_some() {}
    let later = older.run(&ask(&site)).await.notice.unwrap().seq;
    assert_eq!(second.next().await.seq, later, "the newest comes first again");
    drop((second, newer));
    assert_eq!(first.next().await.seq, later);
    assert_eq!(first.next().await.seq, later, "alone, it is told again");
}

#[tokio::test]
async fn a_stopped_client_keeps_nothing_from_the_next() {
    let site = short_offers();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut watch = owner.watch(None).await;
    let _newest = stopped(&daemon, "me");
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(owner.run(&ask(&site)).await.run);
    }
    for run in &runs {
        let notice = watch.next().await;
        assert_eq!(notice.run, *run, "in their order");
        owner.ack_up_to(notice.seq).await;
    }
    assert!(owner.inbox().await.is_empty());
}

/// Its replacement is offered what the dead one was sent, and in order.
#[tokio::test]
async fn the_successor_of_a_stopped_client_has_everything_in_order() {
    let site = short_offers();
    let daemon = site.start();
    let _dead = stopped(&daemon, "me");
    let owner = daemon.owner("me").await;
    let first = owner.run(&ask(&site)).await.run;
    let mut watch = owner.watch(None).await;
    let second = owner.run(&ask(&site)).await.run;
    assert_eq!([watch.next().await.run, watch.next().await.run], [first, second]);
}

#[tokio::test]
async fn two_watches_of_one_connection_are_two_watchers() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let (mut older, mut newer) = (owner.watch(None).await, owner.watch(None).await);
    let seq = owner.run(&ask(&site)).await.notice.unwrap().seq;
    assert_eq!(newer.next().await.seq, seq);
    assert!(older.next_within(QUIET).await.is_none());
    drop(newer);
    assert_eq!(older.next().await.seq, seq, "unsubscribed is as good as closed");
    drop(older);
    // The end of a watch is not answered.
    let range = async || (owner.ack_up_to(seq).await == 1).then_some(());
    until("it is acknowledged without a watch", range).await;
}

#[tokio::test]
async fn a_successor_takes_over_and_two_that_name_each_other_share() {
    let site = Site::new();
    let daemon = site.start();
    let before = daemon.owner("old").await;
    let first = before.run(&ask(&site)).await.run;
    drop(before);
    let (one, two) = (successor(&daemon, "new", "old").await, successor(&daemon, "old", "new").await);
    let (mut first_watch, mut bystander) = (one.watch(None).await, daemon.owner("other").await.watch(None).await);
    let notice = first_watch.next().await;
    assert_eq!(notice.run, first);
    assert_eq!(one.ack_up_to(notice.seq).await, 1);
    let mut second_watch = two.watch(None).await;
    for owner in [&one, &two, &one] {
        let run = owner.run(&ask(&site)).await.run;
        assert_eq!(second_watch.next().await.run, run, "the newest in both lines");
    }
    assert!(first_watch.next_within(QUIET).await.is_none());
    drop((second_watch, two));
    let seqs = [first_watch.next().await.seq, first_watch.next().await.seq, first_watch.next().await.seq];
    assert!(seqs.is_sorted());
    assert_eq!(one.ack_up_to(seqs[2]).await, 3);
    assert!(bystander.next_within(QUIET).await.is_none());
}

#[tokio::test]
async fn a_cursor_ahead_of_everything_gets_what_comes_after_it() {
    let site = Site::new();
    let daemon = site.start();
    let (older, ahead) = (daemon.owner("me").await, daemon.owner("me").await);
    let mut all = older.watch(None).await;
    let mut later = ahead.watch(Some(Cursor { store: ahead.store.clone(), seq: 2 })).await;
    let mut never = ahead.watch(Some(Cursor { store: ahead.store.clone(), seq: u64::MAX })).await;
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(older.run(&ask(&site)).await.run);
    }
    assert_eq!([all.next().await.run, all.next().await.run], runs[..2]);
    assert_eq!(later.next().await.run, runs[2]);
    assert!(all.next_within(QUIET).await.is_none());
    assert!(never.next_within(QUIET).await.is_none());
}

/// Waits in the foreground, so long at most.
async fn shows(owner: &Owner, run: &str, timeout_ms: Option<u64>) -> WaitResponse {
    owner.call::<RunWait>(WaitParams { run: run.to_owned(), timeout_ms, foreground: true }).await.unwrap()
}

/// Begins a foreground wait that is over at once, lets the run end, and waits again. Gives the notice's number.
async fn shown(site: &Site, daemon: &Daemon, waiters: &[&Owner]) -> u64 {
    let puppet = Puppet::new(site, "gate; settle", "done");
    let run = daemon.owner("me").await.begin(&site.puppet("explore", &puppet)).await;
    for waiter in waiters {
        assert!(!shows(waiter, &run, Some(0)).await.ended);
    }
    puppet.open_gate().await;
    let mut seqs = Vec::new();
    for waiter in waiters {
        let answer = shows(waiter, &run, None).await;
        assert!(answer.ended, "{answer:?}");
        seqs.push(answer.run.notice.unwrap().seq);
    }
    seqs[0]
}

#[tokio::test]
async fn what_a_foreground_wait_shows_is_offered_to_nobody_else() {
    let site = long_offers();
    let daemon = site.start();
    let (watcher, waiter) = (daemon.owner("me").await, daemon.owner("me").await);
    let mut watch = watcher.watch(None).await;
    let seq = shown(&site, &daemon, &[&waiter]).await;
    let later = watcher.run(&ask(&site)).await;
    assert_eq!(watch.next().await.run, later.run, "it stops nobody");
    assert_eq!(waiter.ack_up_to(seq).await, 1, "a range covers it");
    drop(waiter);
    assert!(watch.next_within(QUIET).await.is_none());
    let left: Vec<String> = watcher.inbox().await.into_iter().map(|notice| notice.run).collect();
    assert_eq!(left, [later.run]);
}

#[tokio::test]
async fn what_was_shown_and_not_acknowledged_is_offered_when_the_last_waiter_goes() {
    let site = long_offers();
    let daemon = site.start();
    let (watcher, older, newer) = (daemon.owner("me").await, daemon.owner("me").await, daemon.owner("me").await);
    let mut watch = watcher.watch(None).await;
    let seq = shown(&site, &daemon, &[&older, &newer]).await;
    drop(older);
    assert!(watch.next_within(QUIET).await.is_none());
    drop(newer);
    assert_eq!(watch.next().await.seq, seq);
}

#[tokio::test]
async fn a_waiter_that_does_not_acknowledge_in_time_or_gives_it_back_loses_it() {
    let site = short_offers();
    let daemon = site.start();
    let (watcher, waiter) = (daemon.owner("me").await, daemon.owner("me").await);
    let mut watch = watcher.watch(None).await;
    let seq = shown(&site, &daemon, &[&waiter]).await;
    assert_eq!(watch.next().await.seq, seq);

    let site = long_offers();
    let daemon = site.start();
    let (watcher, waiter) = (daemon.owner("me").await, daemon.owner("me").await);
    let mut watch = watcher.watch(None).await;
    let run = watcher.begin(&site.play("explore", &Script::new().sleep_long())).await;
    shows(&waiter, &run, Some(0)).await;
    let background = WaitParams { run: run.clone(), timeout_ms: Some(0), foreground: false };
    waiter.call::<RunWait>(background).await.unwrap();
    watcher.cancel(&run).await;
    assert_eq!(watch.next().await.run, run);
}

#[tokio::test]
async fn a_foreground_wait_of_another_owner_only_observes() {
    let site = Site::new();
    let daemon = site.start();
    let (watcher, other) = (daemon.owner("me").await, daemon.owner("other").await);
    let mut watch = watcher.watch(None).await;
    let seq = shown(&site, &daemon, &[&other]).await;
    assert_eq!(watch.next().await.seq, seq);
    assert_eq!(other.ack_up_to(seq).await, 0);
    assert_eq!(watcher.ack_up_to(seq).await, 1);
}

/// A command line that waits, once it has shown that it does.
fn waiting(site: &Site, run: &str) -> Child {
    let mut command = site.cli_command(&["wait", run, "--owner", "me"]);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("explore"), "{line}");
    process
}

#[tokio::test]
async fn what_one_terminal_shows_another_does_not_unless_the_first_is_killed() {
    let site = long_offers();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut watch = owner.watch(None).await;
    for killed in [false, true] {
        let puppet = Puppet::new(&site, "gate; settle", "done");
        let run = owner.begin(&site.puppet("explore", &puppet)).await;
        let mut process = waiting(&site, &run);
        if killed {
            process.kill().unwrap();
        }
        puppet.open_gate().await;
        let seq = owner.wait(&run).await.notice.unwrap().seq;
        let status = tokio::task::spawn_blocking(move || process.wait().unwrap()).await.unwrap();
        if killed {
            assert_eq!(watch.next().await.seq, seq);
        } else {
            assert_eq!(status.code(), Some(0));
            assert!(owner.get(&run).await.notice.unwrap().acknowledged);
            assert!(watch.next_within(QUIET).await.is_none());
        }
    }
}
