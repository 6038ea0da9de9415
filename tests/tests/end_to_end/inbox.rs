//! Notices: offered until acknowledged, to one connection at a time.

use std::time::Duration;

use serde_json::json;
use subagentd_proto::PROTOCOL;
use subagentd_proto::daemon::{ClientInfo, HelloParams};
use subagentd_proto::inbox::Cursor;
use subagentd_proto::method::DaemonHello;
use subagentd_tests::{Ask, Daemon, Owner, Raw, Script, Site, until};

/// Long enough for a notice that should not come.
const QUIET: Duration = Duration::from_millis(150);

/// A site where a notice is out with one watcher for a short time only.
fn short_offers() -> Site {
    Site::with(&[("inbox.offer", "200ms")])
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
