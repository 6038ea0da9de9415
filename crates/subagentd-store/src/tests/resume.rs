//! Settled children that go on.

use std::collections::BTreeMap;

use subagentd_core::id::{AttemptId, ChildId};
use subagentd_core::life::{Reason, State};
use subagentd_core::outcome::{Outcome, Receipt};

use super::{Bench, NOW, bench, keyed, new_attempt, new_run, pause, plan, settlement};
use crate::{
    AttemptKind, Begun, Continuation, Intended, Intent, ListQuery, NewAttempt, NewContinuation, NewIntent, NewRun,
    NoticeQuery, Past, Requeue, Resumed, Settlement, StoreError, Submitted,
};

pub(super) fn continuation(child: ChildId) -> NewContinuation {
    NewContinuation {
        child,
        text: None,
        environment: None,
        umask: None,
        limits: BTreeMap::new(),
        background: None,
        owner: None,
        run_state: State::Queued,
        at_ms: NOW + 20,
    }
}

fn saying(child: ChildId, text: &str) -> NewContinuation {
    NewContinuation { text: Some(text.to_owned()), ..continuation(child) }
}

impl Bench {
    async fn resumed(&self, new: NewContinuation) -> Resumed {
        self.store.writer.resume(new).await.await.unwrap()
    }

    async fn past(&self, child: ChildId, number: u32) -> Past {
        self.store.reader.past(AttemptId { child, number }).await.unwrap().unwrap()
    }

    /// What an attempt is told; empty: its task.
    async fn says(&self, child: ChildId, number: u32) -> Option<String> {
        self.past(child, number).await.continuation.map_or(Some(String::new()), |continuation| continuation.text)
    }
}

#[tokio::test]
async fn a_child_goes_on_from_every_end_and_from_a_pause() {
    let bench = bench().await;
    for reason in Reason::ALL {
        let child = bench.run("cli:ada").await;
        let attempt = bench.running(child, 1).await;
        let end = match reason {
            Reason::Paused => pause(child, Some(attempt)),
            reason => settlement(child, Some(attempt), reason),
        };
        bench.store.writer.settle(end).await.await.unwrap();
        let notice = bench.row(child.run).await.notice;
        assert_eq!(bench.resumed(saying(child, "go on")).await, Resumed::Queued { attempt: 2 }, "{reason}");
        let row = bench.row(child.run).await;
        assert_eq!((row.state, row.ended_at_ms, row.started_at_ms), (State::Queued, None, Some(NOW + 1)), "{reason}");
        assert_eq!(row.notice, notice, "the old notice stays");
        let stored = &row.children[0];
        assert_eq!((stored.state, stored.reason, &stored.error), (State::Queued, None, &None));
        assert_eq!((stored.attempts, stored.never_ran, stored.not_before_ms), (1, 0, None));
        assert!(bench.store.reader.open_runs().await.unwrap().iter().any(|open| open.id == child.run));
        let begin = NewAttempt { kind: AttemptKind::Resume, ..new_attempt(AttemptId { child, number: 2 }) };
        assert_eq!(bench.store.writer.begin_attempt(begin).await.await, Ok(Begun::Started));
        let newest = bench.child(child).await.attempt.unwrap();
        assert_eq!((newest.number, newest.kind, newest.outcome), (2, AttemptKind::Resume, None));
        let second = AttemptId { child, number: 2 };
        let settled = bench.store.writer.settle(settlement(child, Some(second), Reason::Completed)).await.await;
        assert!(settled.is_ok(), "{settled:?}");
    }
}

#[tokio::test]
async fn only_what_has_settled_and_left_nothing_goes_on() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let child = bench.run("cli:ada").await;
    let refused = async |expected| {
        let before = bench.row(child.run).await;
        assert_eq!(bench.resumed(saying(child, "go on")).await, expected);
        assert_eq!(bench.row(child.run).await, before);
        assert_eq!(bench.past(child, 9).await.continuation, None);
    };
    refused(Resumed::NotSettled { state: State::Queued }).await;
    let attempt = bench.begun(child, 1).await;
    refused(Resumed::NotSettled { state: State::Starting }).await;
    writer.running(attempt, State::Running, NOW).await.await.unwrap();
    refused(Resumed::NotSettled { state: State::Running }).await;
    writer.settle(Settlement { keep_lease: true, ..pause(child, Some(attempt)) }).await.await.unwrap();
    refused(Resumed::Detained).await;
    writer.release(child).await.await.unwrap();
    bench.intended(child, Intent::Cancel).await;
    refused(Resumed::Cancelling).await;
    writer.settle(Settlement { keep_lease: true, ..settlement(child, None, Reason::Cancelled) }).await.await.unwrap();
    writer.release(child).await.await.unwrap();
    assert_eq!(bench.resumed(saying(child, "go on")).await, Resumed::Queued { attempt: 2 });
    let unknown = ChildId { index: 1, ..child };
    let answer = writer.resume(continuation(unknown)).await.await;
    assert!(matches!(answer, Err(StoreError::Unknown(_))), "{answer:?}");
    assert_eq!(bench.store.reader.past(AttemptId { child: unknown, number: 1 }).await.unwrap(), None);
}

#[tokio::test]
async fn a_continuation_holds_until_the_next_one() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    let launch = Past { continuation: None, answered: None, conversation: false };
    assert_eq!(bench.past(child, 1).await, launch);
    let attempt = bench.running(child, 1).await;
    assert_eq!(bench.past(child, 1).await, launch, "of earlier attempts only");
    bench.paused(child, Some(attempt)).await;
    let limits: BTreeMap<String, u64> = [("nofile".to_owned(), 1_024), ("core".to_owned(), u64::MAX)].into();
    let first = NewContinuation {
        environment: Some("ab".repeat(32)),
        umask: Some(0o77),
        limits: limits.clone(),
        background: Some(true),
        ..saying(child, "first \u{2028} \"")
    };
    assert!(!bench.row(child.run).await.background);
    assert_eq!(bench.resumed(first).await, Resumed::Queued { attempt: 2 });
    assert!(bench.row(child.run).await.background);
    let expected = Continuation {
        number: 2,
        text: Some("first \u{2028} \"".to_owned()),
        environment: Some("ab".repeat(32)),
        umask: Some(0o77),
        limits,
    };
    assert!(!format!("{expected:?} {:?}", saying(child, "first")).contains("first"));
    let past = bench.past(child, 2).await;
    assert_eq!(past, Past { continuation: Some(expected.clone()), answered: Some(1), conversation: true });

    // Its start comes to nothing, and the one after it goes well.
    let second = bench.begun(child, 2).await;
    let requeue = Requeue {
        attempt: second,
        run_state: State::Queued,
        not_before_ms: None,
        why: "the shim was gone".to_owned(),
        at_ms: NOW + 30,
    };
    bench.store.writer.requeue(requeue).await.await.unwrap();
    assert_eq!(bench.past(child, 3).await.continuation, Some(expected));
    let third = bench.running(child, 3).await;
    let mut end = settlement(child, Some(third), Reason::ModelError);
    end.outcome.answer = None;
    bench.store.writer.settle(end).await.await.unwrap();
    assert_eq!(bench.resumed(continuation(child)).await, Resumed::Queued { attempt: 4 });
    assert!(bench.row(child.run).await.background, "as before");
    let nothing = Continuation { number: 4, text: None, environment: None, umask: None, limits: BTreeMap::new() };
    let past = bench.past(child, 4).await;
    assert_eq!(
        past,
        Past { continuation: Some(nothing), answered: Some(1), conversation: true },
        "the third left no answer"
    );
    assert_eq!(bench.says(child, 1).await, Some(String::new()));
    assert_eq!(bench.says(child, 3).await.as_deref(), Some("first \u{2028} \""));
}

/// A text is said once: not lost with an attempt that never came to say it, nor said again.
#[tokio::test]
async fn a_text_that_nobody_was_told_stays_to_be_told() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    bench.paused(child, None).await;
    assert_eq!(bench.resumed(saying(child, "one")).await, Resumed::Queued { attempt: 1 });
    bench.paused(child, None).await;
    assert_eq!(bench.resumed(continuation(child)).await, Resumed::Queued { attempt: 1 }, "it never began");
    assert_eq!(bench.says(child, 1).await.as_deref(), Some("one"));
    let past = bench.past(child, 1).await;
    assert!(!past.conversation);
    let first = bench.begun(child, 1).await;
    bench.paused(child, Some(first)).await;
    assert_eq!(bench.resumed(continuation(child)).await, Resumed::Queued { attempt: 2 });
    assert_eq!(bench.says(child, 2).await.as_deref(), Some("one"), "the first attempt did not run");
    bench.paused(child, None).await;
    assert_eq!(bench.resumed(saying(child, "two")).await, Resumed::Queued { attempt: 2 });
    assert_eq!(bench.says(child, 2).await.as_deref(), Some("one\n\ntwo"), "both were accepted");
    let second = bench.running(child, 2).await;
    bench.paused(child, Some(second)).await;
    assert_eq!(bench.resumed(continuation(child)).await, Resumed::Queued { attempt: 3 });
    assert_eq!(bench.says(child, 3).await, None, "told before");
    assert!(bench.past(child, 3).await.conversation);
}

/// The daemon was away and never saw it run.
#[tokio::test]
async fn an_attempt_with_turns_has_a_conversation() {
    let bench = bench().await;
    for turns in [0, 1] {
        let child = bench.run("cli:ada").await;
        let attempt = bench.begun(child, 1).await;
        let outcome = Outcome { turns, ..Outcome::bare(Reason::Completed, None, NOW) };
        let end = Settlement { outcome, ..settlement(child, Some(attempt), Reason::Completed) };
        bench.store.writer.settle(end).await.await.unwrap();
        let past = bench.past(child, 2).await;
        assert_eq!((past.conversation, past.answered), (turns > 0, None));
    }
}

#[tokio::test]
async fn what_a_paused_child_has_not_got_goes_to_its_next_attempt() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    let attempt = bench.running(child, 1).await;
    bench.told(child, "go").await;
    bench.paused(child, Some(attempt)).await;
    bench.told(child, "and").await;
    bench.resumed(continuation(child)).await;
    bench.running(child, 2).await;
    let open = bench.store.reader.open_steers(child).await.unwrap();
    assert_eq!(open.iter().map(|open| open.text.as_str()).collect::<Vec<_>>(), ["go", "and"]);
    assert_eq!(bench.intended(child, Intent::Pause).await, Intended::Stored { number: 3 }, "the first pause is over");

    // After an end nothing is left over.
    let second = AttemptId { child, number: 2 };
    bench.store.writer.settle(settlement(child, Some(second), Reason::Completed)).await.await.unwrap();
    bench.resumed(saying(child, "more")).await;
    assert_eq!(bench.store.reader.open_steers(child).await.unwrap(), []);
    let receipts: Vec<_> = bench.child(child).await.steers.iter().map(|steer| steer.receipt).collect();
    assert_eq!(receipts, [Some(Receipt::Undelivered); 2]);
}

#[tokio::test]
async fn a_run_that_is_taken_over_is_its_new_owners() {
    let bench = bench().await;
    let launch = keyed("ada", "k", "digest");
    let child = ChildId { run: launch.id, index: 0 };
    bench.submitted(launch).await;
    let bobs = keyed("bob", "k", "other");
    let bobs_run = bobs.id;
    bench.submitted(bobs).await;
    let end = async || {
        bench.store.writer.settle(settlement(child, None, Reason::Cancelled)).await.await.unwrap();
    };
    end().await;
    let by = |owner: &str| NewContinuation { owner: Some(owner.to_owned()), ..saying(child, "go on") };
    assert_eq!(bench.resumed(by("ada")).await, Resumed::Queued { attempt: 1 });
    assert_eq!(bench.store.reader.run_by_key("ada", "k").await.unwrap(), Some((child.run, "digest".to_owned())));
    end().await;
    assert_eq!(bench.resumed(by("bob")).await, Resumed::Queued { attempt: 1 });
    end().await;

    assert_eq!(bench.row(child.run).await.owner, "bob");
    let of = |owner: &str| ListQuery { limit: 9, owner: Some(owner.to_owned()), ..ListQuery::default() };
    assert_eq!(bench.store.reader.list(of("ada")).await.unwrap(), []);
    assert_eq!(bench.store.reader.list(of("bob")).await.unwrap().len(), 2);
    let notices = async |owner: &str| {
        let query = NoticeQuery { owners: vec![owner.to_owned()], limit: 9, ..NoticeQuery::default() };
        bench.store.reader.notices(query).await.unwrap().len()
    };
    assert_eq!((notices("ada").await, notices("bob").await), (2, 1), "to whom it belonged then");
    // Keys are their owners'.
    assert_eq!(bench.store.reader.run_by_key("bob", "k").await.unwrap(), Some((bobs_run, "other".to_owned())));
    assert_eq!(bench.store.reader.run_by_key("ada", "k").await.unwrap(), None);
    assert!(matches!(bench.submitted(keyed("ada", "k", "digest")).await, Submitted::Accepted { .. }));
}

#[tokio::test]
async fn a_resume_in_a_group_sees_what_came_before_it() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let child = bench.run("cli:ada").await;
    // Queued without waiting for a commit.
    let paused = writer.settle(pause(child, None)).await;
    let resumed = writer.resume(saying(child, "go on")).await;
    let twice = writer.resume(saying(child, "go on")).await;
    let told = writer.intend(NewIntent { child, intent: super::steer("and"), at_ms: NOW }).await;
    let begun = writer.begin_attempt(new_attempt(AttemptId { child, number: 1 })).await;
    assert_eq!(begun.await, Ok(Begun::Started));
    assert_eq!(told.await, Ok(Intended::Stored { number: 1 }));
    assert_eq!(twice.await, Ok(Resumed::NotSettled { state: State::Queued }));
    assert_eq!(resumed.await, Ok(Resumed::Queued { attempt: 1 }));
    paused.await.unwrap();
}

#[tokio::test]
async fn environments_of_open_children_are_named() {
    let bench = bench().await;
    let launch = async |digest: &str| {
        let mut run = new_run("cli:ada");
        run.children[0].plan.environment = (!digest.is_empty()).then(|| digest.to_owned());
        let child = ChildId { run: run.id, index: 0 };
        assert!(matches!(bench.submitted(NewRun { ..run }).await, Submitted::Accepted { .. }));
        child
    };
    let named = async || bench.store.reader.environments().await.unwrap().into_iter().collect::<Vec<_>>();
    assert_eq!(named().await, [""; 0]);
    let (first, second) = (launch("a").await, launch("b").await);
    launch("a").await;
    launch("").await;
    assert_eq!(plan("explore").environment, None);
    assert_eq!(named().await, ["a", "b"]);
    let end = async |child| bench.store.writer.settle(settlement(child, None, Reason::Cancelled)).await.await.unwrap();
    end(first).await;
    end(second).await;
    assert_eq!(named().await, ["a"], "another child has it");
    bench.resumed(NewContinuation { environment: Some("c".to_owned()), ..saying(second, "go on") }).await;
    assert_eq!(named().await, ["a", "b", "c"]);
    bench.paused(second, None).await;
    assert_eq!(named().await, ["a", "b", "c"]);
    end(second).await;
    assert_eq!(named().await, ["a"]);
}
