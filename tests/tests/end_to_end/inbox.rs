//! Notices: offered until acknowledged, to one connection at a time.

use std::time::Duration;

use subagentd_proto::inbox::Cursor;
use subagentd_tests::{Ask, Script, Site};

/// Long enough for a notice that should not come.
const QUIET: Duration = Duration::from_millis(150);

fn ask(site: &Site) -> Ask {
    site.play("explore", &Script::new().say("done"))
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
