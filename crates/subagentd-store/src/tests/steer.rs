//! What children are told, and pauses.

use subagentd_core::id::{AttemptId, ChildId};
use subagentd_core::life::{Reason, State};
use subagentd_core::outcome::{Delivery, Receipt, Told};

use super::{Bench, NOW, bench, pause, settlement, steer};
use crate::{AttemptEnd, Intended, Intent, IntentKind, MOST_STEERS, Settled, Settlement, SteerReceipt};

use Receipt::{Accepted, Delivered, Undelivered};

impl Bench {
    async fn received(&self, child: ChildId, number: u32, receipt: Receipt) {
        let receipt = SteerReceipt { child, number, receipt, at_ms: NOW + 7 };
        self.store.writer.receipt(receipt).await.await.unwrap();
    }

    /// Number and receipt of what a child was told.
    async fn receipts(&self, child: ChildId) -> Vec<(u32, Option<Receipt>)> {
        self.child(child).await.steers.iter().map(|steer| (steer.number, steer.receipt)).collect()
    }

    /// Numbers of what a child has not got.
    async fn open(&self, child: ChildId) -> Vec<u32> {
        let open = self.store.reader.open_steers(child).await.unwrap();
        open.iter().map(|open| open.steer.number).collect()
    }
}

#[tokio::test]
async fn every_steer_is_kept_with_its_text_in_order() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    bench.running(child, 1).await;
    let texts =
        ["the same".to_owned(), "the same".to_owned(), "\"\\ \u{2028} \u{1f980}\n".to_owned(), "x".repeat(65_536)];
    for (text, number) in texts.iter().zip(1..) {
        assert_eq!(bench.told(child, text).await, number);
    }
    let later = Intent::Steer { text: "later".to_owned(), delivery: Delivery::FollowUp };
    assert_eq!(bench.intended(child, Intent::Pause).await, Intended::Stored { number: 5 });
    assert_eq!(bench.intended(child, later).await, Intended::Stored { number: 6 });

    let bench = bench.reopened().await;
    let open = bench.store.reader.open_steers(child).await.unwrap();
    let read: Vec<_> = open.iter().map(|open| (open.steer.number, open.text.as_str())).collect();
    let mut expected: Vec<_> = (1..).zip(texts.iter().map(String::as_str)).collect();
    expected.push((6, "later"));
    assert_eq!(read, expected);
    let row = bench.child(child).await;
    assert_eq!(row.steers, open.iter().map(|open| open.steer).collect::<Vec<_>>());
    assert_eq!((row.steers[0].at_ms, row.steers[0].delivery, row.steers[0].receipt), (NOW + 6, Delivery::Steer, None));
    assert_eq!(row.steers[4].delivery, Delivery::FollowUp);
    assert_eq!(
        row.intents.iter().map(|intent| (intent.number, intent.kind)).collect::<Vec<_>>(),
        [(5, IntentKind::Pause)]
    );
    let shown = format!("{open:?} {row:?} {:?}", steer("the same"));
    assert!(!shown.contains("the same"), "{shown}");
    let other = bench.run("cli:ada").await;
    assert_eq!(bench.store.reader.open_steers(other).await.unwrap(), []);
}

#[tokio::test]
async fn each_state_takes_the_intents_that_make_sense_in_it() {
    let bench = bench().await;
    let stored = Intended::Stored { number: 1 };
    let ended = Intended::Ended { state: State::Succeeded };
    let table = [
        (State::Queued, stored, stored, stored),
        (State::Starting, stored, stored, stored),
        (State::Running, stored, stored, stored),
        (State::Paused, stored, Intended::Paused, stored),
        (State::Succeeded, ended, ended, ended),
    ];
    for (state, cancel, pausing, steering) in table {
        for (intent, expected) in [(Intent::Cancel, cancel), (Intent::Pause, pausing), (steer("go"), steering)] {
            let child = bench.run("cli:ada").await;
            match state {
                State::Queued => {}
                State::Starting => drop(bench.begun(child, 1).await),
                State::Running => drop(bench.running(child, 1).await),
                State::Paused => bench.paused(child, None).await,
                _ => drop(bench.store.writer.settle(settlement(child, None, Reason::Completed)).await.await.unwrap()),
            }
            assert_eq!(bench.child(child).await.state, state);
            assert_eq!(bench.intended(child, intent.clone()).await, expected, "{intent:?} of a child that is {state}");
            assert_eq!(bench.child(child).await.state, state);
        }
    }
}

#[tokio::test]
async fn behind_a_cancel_nothing_is_stored() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    bench.running(child, 1).await;
    assert_eq!(bench.intended(child, Intent::Pause).await, Intended::Stored { number: 1 });
    assert_eq!(bench.intended(child, Intent::Pause).await, Intended::Stored { number: 1 }, "again");
    assert_eq!(bench.told(child, "before").await, 2);
    assert_eq!(bench.intended(child, Intent::Cancel).await, Intended::Stored { number: 3 }, "a pause hinders none");
    assert_eq!(bench.intended(child, Intent::Cancel).await, Intended::Stored { number: 3 });
    let state = State::Running;
    assert_eq!(bench.intended(child, Intent::Pause).await, Intended::Cancelling { state });
    assert_eq!(bench.intended(child, steer("after")).await, Intended::Cancelling { state });
    assert_eq!(bench.open(child).await, [2]);
    let kinds: Vec<_> = bench.child(child).await.intents.iter().map(|intent| intent.kind).collect();
    assert_eq!(kinds, [IntentKind::Pause, IntentKind::Cancel]);
}

#[tokio::test]
async fn steers_that_a_child_has_not_got_are_few() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    for number in 1..=MOST_STEERS {
        assert_eq!(bench.told(child, "go").await, number);
    }
    let too_many = Intended::TooMany { state: State::Queued };
    assert_eq!(bench.intended(child, steer("go")).await, too_many);
    bench.running(child, 1).await;
    bench.received(child, 7, Accepted).await;
    assert_eq!(
        bench.intended(child, steer("go")).await,
        Intended::TooMany { state: State::Running },
        "it has not got it"
    );
    bench.received(child, 7, Delivered).await;
    assert_eq!(bench.told(child, "go").await, MOST_STEERS + 1);
    assert!(matches!(bench.intended(child, steer("go")).await, Intended::TooMany { .. }));
    assert_eq!(bench.intended(child, Intent::Pause).await, Intended::Stored { number: MOST_STEERS + 2 });
    let open: Vec<u32> = (1..=MOST_STEERS + 1).filter(|number| *number != 7).collect();
    assert_eq!(bench.open(child).await, open);
    let shown: Vec<u32> = bench.receipts(child).await.into_iter().map(|(number, _)| number).collect();
    assert_eq!(shown, (2..=MOST_STEERS + 1).collect::<Vec<_>>(), "the newest");
}

#[tokio::test]
async fn receipts_only_rise() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    bench.running(child, 1).await;
    let table: [(&[Receipt], Receipt); 8] = [
        (&[Accepted], Accepted),
        (&[Delivered], Delivered),
        (&[Undelivered], Undelivered),
        (&[Accepted, Delivered], Delivered),
        (&[Accepted, Undelivered], Undelivered),
        (&[Delivered, Accepted], Delivered),
        (&[Delivered, Undelivered, Accepted], Delivered),
        (&[Accepted, Undelivered, Delivered], Undelivered),
    ];
    for (receipts, expected) in table {
        let number = bench.told(child, "go").await;
        for receipt in receipts {
            bench.received(child, number, *receipt).await;
        }
        assert_eq!(bench.receipts(child).await.last(), Some(&(number, Some(expected))), "{receipts:?}");
        assert_eq!(bench.open(child).await.contains(&number), expected == Accepted, "{receipts:?}");
    }
    // Of what is no steer, and of nothing.
    let before = bench.row(child.run).await;
    assert_eq!(bench.intended(child, Intent::Cancel).await, Intended::Stored { number: 9 });
    for number in [9, 99] {
        bench.received(child, number, Delivered).await;
    }
    let after = bench.row(child.run).await;
    assert_eq!(after.children[0].steers, before.children[0].steers);
    assert_eq!((after.children[0].intents.len(), after.children[0].intents[0].confirmed), (1, false));
}

#[tokio::test]
async fn a_pause_settles_a_child_and_keeps_what_it_has_not_got() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    let attempt = bench.running(child, 1).await;
    for receipt in [None, Some(Accepted), Some(Delivered), Some(Undelivered), Some(Accepted), Some(Accepted)] {
        let number = bench.told(child, "go").await;
        if let Some(receipt) = receipt {
            bench.received(child, number, receipt).await;
        }
    }
    assert_eq!(bench.intended(child, Intent::Pause).await, Intended::Stored { number: 7 });
    // Whether it is final now is for the settlement to tell.
    bench.received(child, 1, Undelivered).await;
    assert_eq!(bench.receipts(child).await[0], (1, None));
    let mut paused = pause(child, Some(attempt));
    let told = |number, receipt| Told { number, receipt };
    paused.outcome.told = vec![told(2, Accepted), told(5, Delivered), told(6, Undelivered), told(4, Delivered)];
    assert_eq!(bench.store.writer.settle(paused.clone()).await.await, Ok(Settled::Stored { notice: None }));

    let row = bench.row(child.run).await;
    assert_eq!((row.state, row.ended_at_ms, row.notice), (State::Paused, None, None));
    let stored = &row.children[0];
    assert_eq!((stored.state, stored.reason), (State::Paused, Some(Reason::Paused)));
    assert_eq!(stored.intents, []);
    let newest = stored.attempt.clone().unwrap();
    assert_eq!((newest.ended, newest.outcome), (Some(AttemptEnd::Settled), Some(paused.outcome)));
    let receipts =
        [(1, None), (2, None), (3, Some(Delivered)), (4, Some(Undelivered)), (5, Some(Delivered)), (6, None)];
    assert_eq!(bench.receipts(child).await, receipts);
    assert_eq!(bench.open(child).await, [1, 2, 6], "for the next attempt");
    assert_eq!(bench.store.reader.leases().await.unwrap(), []);
    assert_eq!(bench.store.reader.open_runs().await.unwrap().len(), 1);

    // Told meanwhile, and then it ends for good.
    assert_eq!(bench.told(child, "and").await, 8);
    assert_eq!(bench.intended(child, Intent::Cancel).await, Intended::Stored { number: 9 });
    let mut ended = settlement(child, None, Reason::Cancelled);
    ended.outcome.answer = None;
    assert_eq!(bench.store.writer.settle(ended).await.await, Ok(Settled::Stored { notice: Some(1) }));
    let row = bench.row(child.run).await;
    assert_eq!((row.state, row.ended_at_ms), (State::Cancelled, Some(NOW + 9)));
    assert_eq!((row.children[0].reason, row.children[0].intents.len()), (Some(Reason::Cancelled), 0));
    let newest = row.children[0].attempt.clone().unwrap().outcome.unwrap();
    assert_eq!(newest.reason, Reason::Paused, "the attempt keeps its own outcome");
    let final_receipts = [1, 2, 6, 8].map(|number| (number, Some(Undelivered)));
    for receipt in final_receipts {
        assert!(bench.receipts(child).await.contains(&receipt), "{receipt:?}");
    }
    assert_eq!(bench.open(child).await, [0; 0]);
}

#[tokio::test]
async fn an_end_makes_receipts_final() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    let attempt = bench.running(child, 1).await;
    for receipt in [None, Some(Accepted), Some(Delivered), Some(Accepted)] {
        let number = bench.told(child, "go").await;
        if let Some(receipt) = receipt {
            bench.received(child, number, receipt).await;
        }
    }
    bench.intended(child, Intent::Pause).await;
    let mut ended = settlement(child, Some(attempt), Reason::Completed);
    ended.outcome.told = vec![
        Told { number: 4, receipt: Delivered },
        Told { number: 3, receipt: Undelivered },
        Told { number: 5, receipt: Delivered },
    ];
    bench.store.writer.settle(ended).await.await.unwrap();
    let receipts = [(1, Some(Undelivered)), (2, Some(Undelivered)), (3, Some(Delivered)), (4, Some(Delivered))];
    assert_eq!(bench.receipts(child).await, receipts);
    assert_eq!(bench.child(child).await.intents, []);
    bench.received(child, 1, Delivered).await;
    assert_eq!(bench.receipts(child).await, receipts, "final");
}

#[tokio::test]
async fn a_waiting_child_is_paused_and_then_not_started() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    bench.told(child, "go").await;
    bench.paused(child, None).await;
    let row = bench.row(child.run).await;
    assert_eq!((row.state, row.children[0].state, row.children[0].attempts), (State::Paused, State::Paused, 0));
    let state = State::Paused;
    let begun = bench.store.writer.begin_attempt(super::new_attempt(AttemptId { child, number: 1 })).await.await;
    assert_eq!(begun, Ok(crate::Begun::Elsewhere { state }));
    let again = bench.store.writer.settle(pause(child, None)).await.await;
    assert_eq!(again, Ok(Settled::AlreadyEnded { state }), "no second pause");
    assert_eq!(bench.open(child).await, [1]);
}

#[tokio::test]
async fn a_paused_child_ignores_late_words_of_its_attempt() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    let attempt = bench.running(child, 1).await;
    bench.paused(child, Some(attempt)).await;
    let before = bench.row(child.run).await;
    let state = State::Paused;
    let late = bench.store.writer.settle(settlement(child, Some(attempt), Reason::Completed)).await.await;
    assert_eq!(late, Ok(Settled::AlreadyEnded { state }));
    bench.store.writer.running(attempt, State::Running, NOW).await.await.unwrap();
    assert_eq!(bench.row(child.run).await, before);
}

/// Leftovers of a paused child keep its scope, and a person can give that up.
#[tokio::test]
async fn a_pause_may_keep_the_scope() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    let attempt = bench.running(child, 1).await;
    let kept = Settlement { keep_lease: true, ..pause(child, Some(attempt)) };
    bench.store.writer.settle(kept).await.await.unwrap();
    assert_eq!(bench.store.reader.leases().await.unwrap().len(), 1);
    bench.store.writer.release(child).await.await.unwrap();
    assert_eq!(bench.store.reader.leases().await.unwrap(), []);
}
