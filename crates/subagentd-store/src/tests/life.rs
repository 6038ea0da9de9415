//! What jobs do, and what they leave alone.

use std::collections::BTreeSet;

use sqlx::{ConnectOptions, Executor};
use subagentd_core::id::{AttemptId, ChildId};
use subagentd_core::life::{Reason, State};

use super::{NOW, bench, keyed, new_attempt, new_child, new_id, new_run, notice, outcome, plan, root, settlement};
use crate::{
    Acknowledge, AttemptEnd, AttemptKind, Begun, Intended, Intent, NewIntent, NewRun, NoticeQuery, Requeue, Settled,
    Settlement, Spawned, StoreError, Submitted, Task,
};

#[tokio::test]
async fn a_launch_comes_back_whole() {
    let bench = bench().await;
    let run = new_run("cli:ada");
    let id = run.id;
    assert_eq!(bench.submitted(run).await, Submitted::Accepted { position: 1 });
    let row = bench.row(id).await;
    assert_eq!((row.position, row.id, row.owner.as_str()), (1, id, "cli:ada"));
    assert_eq!(row.title.as_deref(), Some("stale sockets"));
    assert_eq!((row.state, row.background), (State::Queued, false));
    assert_eq!((row.created_at_ms, row.started_at_ms, row.ended_at_ms), (NOW, None, None));
    assert_eq!(row.notice, None);
    let [child] = row.children.as_slice() else {
        panic!("{row:?}");
    };
    assert_eq!((child.index, child.agent.as_str(), child.state), (0, "explore", State::Queued));
    assert_eq!(child.plan, plan("explore"));
    assert_eq!(child.task_head.as_deref(), Some("where are stale sockets handled?"));
    assert_eq!((child.attempts, child.never_ran, &child.attempt), (0, 0, &None));
    assert_eq!(bench.store.reader.run(new_id()).await.unwrap(), None);
}

#[tokio::test]
async fn several_children_and_tasks_in_files_come_back_in_order() {
    let bench = bench().await;
    let mut run = new_run("cli:ada");
    run.children = (0..5).map(|n| new_child(&format!("agent-{n}"), &format!("task {n} \"\\ \u{1f980}"))).collect();
    run.children[3].task = Task::File;
    let id = run.id;
    bench.submitted(run).await;
    let row = bench.row(id).await;
    assert_eq!(row.children.len(), 5);
    for (n, child) in row.children.iter().enumerate() {
        let index = u32::try_from(n).unwrap();
        assert_eq!((child.index, child.agent.clone()), (index, format!("agent-{n}")));
        assert_eq!(child.plan, plan(&format!("agent-{n}")));
        let task = bench.store.reader.task(ChildId { run: id, index }).await.unwrap().unwrap();
        match n {
            3 => assert_eq!((task, &child.task_head), (Task::File, &None)),
            n => assert_eq!(task, Task::Text(format!("task {n} \"\\ \u{1f980}"))),
        }
    }
    assert_eq!(bench.store.reader.task(ChildId { run: id, index: 5 }).await.unwrap(), None);
}

#[tokio::test]
async fn a_key_belongs_to_its_owner_and_to_one_request() {
    let bench = bench().await;
    let first = keyed("cli:ada", "k", "digest");
    let run = first.id;
    assert_eq!(bench.submitted(first).await, Submitted::Accepted { position: 1 });
    assert_eq!(bench.submitted(keyed("cli:ada", "k", "digest")).await, Submitted::Repeated { run });
    assert_eq!(bench.submitted(keyed("cli:ada", "k", "other")).await, Submitted::KeyConflict { run });
    assert!(matches!(bench.submitted(keyed("cli:bob", "k", "digest")).await, Submitted::Accepted { .. }));
    assert_eq!(bench.store.reader.run_by_key("cli:ada", "k").await.unwrap(), Some((run, "digest".to_owned())));
    assert_eq!(bench.store.reader.run_by_key("cli:eve", "k").await.unwrap(), None);
    assert_eq!(bench.store.reader.open_runs().await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_attempt_goes_from_the_queue_to_its_end() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let child = bench.run("cli:ada").await;
    let attempt = bench.begun(child, 1).await;
    let row = bench.row(child.run).await;
    assert_eq!((row.state, row.children[0].state), (State::Starting, State::Starting));
    let leases = bench.store.reader.leases().await.unwrap();
    assert_eq!((leases.len(), leases[0].child, leases[0].lease.identity), (1, child, root()));
    assert_eq!((leases[0].since_at_ms, leases[0].lease.paths.len()), (NOW + 1, 0));

    let spawned = Spawned { attempt, pid: 4_711, pid_start: u64::MAX - 1 };
    writer.spawned(spawned).await.await.unwrap();
    writer.running(attempt, State::Running, NOW + 3).await.await.unwrap();
    let row = bench.row(child.run).await;
    assert_eq!((row.state, row.started_at_ms), (State::Running, Some(NOW + 1)), "since its attempt began");
    let stored = row.children[0].attempt.clone().unwrap();
    assert_eq!((stored.number, stored.kind), (1, AttemptKind::First));
    assert_eq!((stored.pid, stored.pid_start), (Some(4_711), Some(u64::MAX - 1)));
    assert_eq!((stored.begun_at_ms, stored.running_at_ms), (NOW + 1, Some(NOW + 3)));
    assert_eq!((stored.ended, stored.boot.as_str()), (None, "5c1f"));

    let mut newest = writer.newest_notice();
    let settled = writer.settle(settlement(child, Some(attempt), Reason::Completed)).await.await.unwrap();
    assert_eq!(settled, Settled::Stored { notice: Some(1) });
    assert_eq!(*newest.borrow_and_update(), 1);
    let row = bench.row(child.run).await;
    assert_eq!((row.state, row.ended_at_ms), (State::Succeeded, Some(NOW + 9)));
    assert_eq!(row.notice.map(|mark| (mark.seq, mark.acknowledged)), Some((1, false)));
    let ended = &row.children[0];
    assert_eq!((ended.state, ended.reason), (State::Succeeded, Some(Reason::Completed)));
    assert_eq!(ended.error.as_deref(), Some("one line"));
    let stored = ended.attempt.clone().unwrap();
    assert_eq!((stored.ended, stored.ended_at_ms), (Some(AttemptEnd::Settled), Some(NOW + 9)));
    assert_eq!(stored.outcome, Some(outcome(Reason::Completed)));
    assert_eq!(bench.store.reader.leases().await.unwrap(), []);
    assert_eq!(bench.store.reader.open_runs().await.unwrap(), []);
}

#[tokio::test]
async fn an_end_is_never_overwritten() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let child = bench.run("cli:ada").await;
    let attempt = bench.begun(child, 1).await;
    writer.settle(settlement(child, Some(attempt), Reason::Cancelled)).await.await.unwrap();
    let before = bench.row(child.run).await;

    let state = State::Cancelled;
    let late = writer.settle(settlement(child, Some(attempt), Reason::Completed)).await.await;
    assert_eq!(late, Ok(Settled::AlreadyEnded { state }));
    let late = writer.settle(settlement(child, None, Reason::ShimLost)).await.await;
    assert_eq!(late, Ok(Settled::AlreadyEnded { state }));
    writer.running(attempt, State::Running, NOW).await.await.unwrap();
    writer.requeue(requeue(attempt)).await.await.unwrap();
    let next = AttemptId { child, number: 2 };
    let begun = writer.begin_attempt(new_attempt(next)).await.await;
    assert_eq!(begun, Ok(Begun::Elsewhere { state }));
    let intent = writer.intend(cancel(child)).await.await;
    assert_eq!(intent, Ok(Intended::Ended { state }));

    assert_eq!(bench.row(child.run).await, before);
    assert_eq!(*writer.newest_notice().borrow(), 1);
}

fn requeue(attempt: AttemptId) -> Requeue {
    Requeue {
        attempt,
        run_state: State::Queued,
        not_before_ms: Some(NOW + 1_000),
        why: "the shim was gone".to_owned(),
        at_ms: NOW + 5,
    }
}

fn cancel(child: ChildId) -> NewIntent {
    NewIntent { child, intent: Intent::Cancel, at_ms: NOW + 6 }
}

#[tokio::test]
async fn an_attempt_begins_once_and_in_order() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let child = bench.run("cli:ada").await;
    let skipped = writer.begin_attempt(new_attempt(AttemptId { child, number: 2 })).await.await;
    assert_eq!(skipped, Ok(Begun::Elsewhere { state: State::Queued }));
    let attempt = bench.begun(child, 1).await;
    let again = writer.begin_attempt(new_attempt(attempt)).await.await;
    assert_eq!(again, Ok(Begun::Elsewhere { state: State::Starting }));
    assert_eq!(bench.store.reader.leases().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_child_that_never_ran_goes_back_and_counts() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let child = bench.run("cli:ada").await;
    for number in 1..=2 {
        let attempt = bench.begun(child, number).await;
        writer.requeue(requeue(attempt)).await.await.unwrap();
        let row = bench.row(child.run).await;
        let stored = &row.children[0];
        assert_eq!((row.state, stored.state), (State::Queued, State::Queued));
        assert_eq!((stored.attempts, stored.never_ran), (number, number));
        assert_eq!(stored.not_before_ms, Some(NOW + 1_000));
        let ended = stored.attempt.clone().unwrap();
        assert_eq!(ended.ended, Some(AttemptEnd::NeverRan));
        assert_eq!(ended.why.as_deref(), Some("the shim was gone"));
        assert_eq!(bench.store.reader.leases().await.unwrap(), []);
    }
    // A record of an attempt that is over changes nothing, and its successor is not touched.
    let old = AttemptId { child, number: 1 };
    let attempt = bench.begun(child, 3).await;
    let late = writer.settle(settlement(child, Some(old), Reason::Completed)).await.await;
    assert_eq!(late, Ok(Settled::AlreadyEnded { state: State::Starting }));
    writer.running(attempt, State::Running, NOW).await.await.unwrap();
    let stored = &bench.row(child.run).await.children[0];
    assert_eq!((stored.state, stored.never_ran, stored.not_before_ms), (State::Running, 0, None));
}

#[tokio::test]
async fn a_second_cancel_is_the_first() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let child = bench.run("cli:ada").await;
    let attempt = bench.begun(child, 1).await;
    let stored = Ok(Intended::Stored { number: 1 });
    assert_eq!(writer.intend(cancel(child)).await.await, stored);
    assert_eq!(writer.intend(cancel(child)).await.await, stored);
    let intents = bench.row(child.run).await.children[0].intents.clone();
    assert_eq!((intents.len(), intents[0].number, intents[0].at_ms), (1, 1, NOW + 6));
    writer.confirm(child, 1, NOW + 7).await.await.unwrap();
    let confirmed = bench.row(child.run).await.children[0].intents.clone();
    assert_eq!((intents[0].confirmed, confirmed[0].confirmed), (false, true), "it still decides the end");
    assert_eq!(writer.intend(cancel(child)).await.await, stored, "confirmed, but not over");
    writer.settle(settlement(child, Some(attempt), Reason::Cancelled)).await.await.unwrap();
}

#[tokio::test]
async fn an_end_closes_intents_and_may_keep_the_scope() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let child = bench.run("cli:ada").await;
    let attempt = bench.begun(child, 1).await;
    writer.intend(cancel(child)).await.await.unwrap();
    writer.release(child).await.await.unwrap();
    assert_eq!(bench.store.reader.leases().await.unwrap().len(), 1, "a live child keeps what it needs");
    let kept = Settlement {
        keep_lease: true,
        notice: None,
        run_ended: false,
        ..settlement(child, Some(attempt), Reason::Cancelled)
    };
    assert_eq!(writer.settle(kept).await.await, Ok(Settled::Stored { notice: None }));
    let row = bench.row(child.run).await;
    assert_eq!(row.children[0].intents, []);
    assert_eq!((row.ended_at_ms, row.started_at_ms), (None, Some(NOW + 2)));
    assert_eq!(bench.store.reader.leases().await.unwrap().len(), 1);
    assert_eq!(*writer.newest_notice().borrow(), 0);
    writer.release(child).await.await.unwrap();
    assert_eq!(bench.store.reader.leases().await.unwrap(), []);
}

#[tokio::test]
async fn a_child_may_end_in_the_queue() {
    let bench = bench().await;
    let child = bench.run("cli:ada").await;
    let settled = bench.store.writer.settle(settlement(child, None, Reason::Cancelled)).await.await;
    assert_eq!(settled, Ok(Settled::Stored { notice: Some(1) }));
    assert_eq!(bench.row(child.run).await.children[0].attempt, None);
}

#[tokio::test]
async fn nobody_is_told_that_an_unknown_child_changed() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let run = bench.run("cli:ada").await.run;
    for child in [ChildId { run, index: 7 }, ChildId { run: new_id(), index: 0 }] {
        let attempt = AttemptId { child, number: 1 };
        let unknown = |error: StoreError| assert!(matches!(error, StoreError::Unknown(_)), "{error:?}");
        unknown(writer.begin_attempt(new_attempt(attempt)).await.await.unwrap_err());
        unknown(writer.running(attempt, State::Running, NOW).await.await.unwrap_err());
        unknown(writer.requeue(requeue(attempt)).await.await.unwrap_err());
        unknown(writer.intend(cancel(child)).await.await.unwrap_err());
        unknown(writer.confirm(child, 1, NOW).await.await.unwrap_err());
        unknown(writer.settle(settlement(child, None, Reason::Completed)).await.await.unwrap_err());
    }
    assert_eq!(bench.store.reader.leases().await.unwrap(), []);
}

#[tokio::test]
async fn only_own_notices_are_acknowledged_and_once() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    for owner in ["ada", "bob", "ada", "ada", "bob", "ada"] {
        let child = bench.run(owner).await;
        writer.settle(settlement(child, None, Reason::Cancelled)).await.await.unwrap();
    }
    let acknowledge = |owners: &[&str], seqs: &[u64], up_to| {
        let acknowledge = Acknowledge {
            owners: owners.iter().map(|owner| (*owner).to_owned()).collect(),
            seqs: seqs.to_vec(),
            up_to,
            at_ms: NOW,
        };
        async move { writer.acknowledge(acknowledge).await.await.unwrap() }
    };
    assert_eq!(acknowledge(&["ada"], &[2, 3, 99], None).await, 1);
    assert_eq!(acknowledge(&["ada"], &[3], None).await, 0, "again");
    assert_eq!(acknowledge(&[], &[1], Some((0, 9))).await, 0);
    assert_eq!(acknowledge(&["ada"], &[], Some((1, 5))).await, 1, "not 1, which is before, nor 2 and 5");
    assert_eq!(unacknowledged(&bench, &["ada"]).await, [1, 6]);
    assert_eq!(unacknowledged(&bench, &["bob", "ada"]).await, [1, 2, 5, 6]);
    assert_eq!(acknowledge(&["ada", "bob"], &[6], Some((0, 2))).await, 3);
    assert_eq!(unacknowledged(&bench, &["bob", "ada"]).await, [5]);
    let beyond = i64::MAX.cast_unsigned() + 1;
    assert_eq!(acknowledge(&["ada", "bob"], &[], Some((beyond, u64::MAX))).await, 0, "beyond every number");
    assert_eq!(acknowledge(&["ada", "bob"], &[u64::MAX, beyond], None).await, 0);
    assert_eq!(acknowledge(&["ada", "bob"], &[], Some((0, u64::MAX))).await, 1);
    let bench = bench.reopened().await;
    assert_eq!(*bench.store.writer.newest_notice().borrow(), 6);
}

async fn unacknowledged(bench: &super::Bench, owners: &[&str]) -> Vec<u64> {
    let query = NoticeQuery {
        owners: owners.iter().map(|owner| (*owner).to_owned()).collect(),
        limit: 50,
        ..NoticeQuery::default()
    };
    let rows = bench.store.reader.notices(query).await.unwrap();
    assert!(rows.iter().all(|row| row.notice == notice(Reason::Cancelled) && !row.acknowledged));
    rows.into_iter().map(|row| row.seq).collect()
}

#[tokio::test]
async fn launches_from_many_tasks_are_all_accepted_in_their_own_place() {
    let bench = bench().await;
    let launches: Vec<_> = (0..64)
        .map(|n| {
            let writer = bench.store.writer.clone();
            tokio::spawn(async move {
                let mut positions = Vec::new();
                for _ in 0..8 {
                    let run = NewRun { owner: format!("owner-{n}"), ..new_run("") };
                    match writer.submit(run).await.await.unwrap() {
                        Submitted::Accepted { position } => positions.push(position),
                        other => panic!("{other:?}"),
                    }
                }
                positions
            })
        })
        .collect();
    let mut positions = BTreeSet::new();
    for launch in launches {
        let own = launch.await.unwrap();
        assert!(own.is_sorted(), "{own:?}");
        positions.extend(own);
    }
    assert_eq!(positions.len(), 64 * 8);
    assert_eq!(positions.last(), Some(&(64 * 8)));
}

#[tokio::test]
async fn a_group_is_stored_in_the_order_of_the_calls() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let child = bench.run("cli:ada").await;
    let attempt = AttemptId { child, number: 1 };
    // Queued without waiting for a commit: the writer finds them all at once.
    let begun = writer.begin_attempt(new_attempt(attempt)).await;
    let running = writer.running(attempt, State::Running, NOW).await;
    let intent = writer.intend(cancel(child)).await;
    let settled = writer.settle(settlement(child, Some(attempt), Reason::Cancelled)).await;
    let late = writer.settle(settlement(child, Some(attempt), Reason::Completed)).await;
    assert_eq!(late.await, Ok(Settled::AlreadyEnded { state: State::Cancelled }));
    assert_eq!(settled.await, Ok(Settled::Stored { notice: Some(1) }));
    assert_eq!(intent.await, Ok(Intended::Stored { number: 1 }));
    running.await.unwrap();
    assert_eq!(begun.await, Ok(Begun::Started));
    assert_eq!(bench.row(child.run).await.state, State::Cancelled);
}

/// The fault comes late in the job: what its earlier statements did must go, alone as in a group.
#[tokio::test]
async fn a_job_at_fault_leaves_nothing_of_itself() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let mut connection = crate::file::options(&bench.path().join(crate::FILE)).connect().await.unwrap();
    connection
        .execute(
            "CREATE TRIGGER fault BEFORE INSERT ON tasks WHEN NEW.text = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END",
        )
        .await
        .unwrap();
    let bad = || NewRun { children: vec![new_child("explore", "bad")], ..new_run("cli:ada") };
    let runs = [bad(), new_run("cli:ada"), bad()];
    let ids = runs.clone().map(|run| run.id);
    let mut receipts = Vec::new();
    for run in runs {
        receipts.push(writer.submit(run).await);
    }
    let mut stored = Vec::new();
    for (receipt, id) in receipts.into_iter().zip(ids) {
        stored.push((receipt.await.is_ok(), bench.store.reader.run(id).await.unwrap().is_some()));
    }
    assert_eq!(stored, [(false, false), (true, true), (false, false)]);
    let alone = bad();
    let id = alone.id;
    let refused = writer.submit(alone).await.await;
    assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    assert_eq!(bench.store.reader.find(&id.to_string()).await.unwrap(), crate::Found::None);
    assert!(*writer.healthy().borrow());
    // The fault left no transaction open.
    bench.run("cli:ada").await;
}

#[tokio::test]
async fn a_job_at_fault_hurts_no_other_of_its_group() {
    let bench = bench().await;
    let writer = &bench.store.writer;
    let first = new_run("cli:ada");
    let twin = NewRun { owner: "cli:bob".to_owned(), ..new_run("") };
    let twin = NewRun { id: first.id, ..twin };
    let last = new_run("cli:ada");
    let id = last.id;
    let receipts = [writer.submit(first).await, writer.submit(twin.clone()).await, writer.submit(last).await];
    let mut answers = Vec::new();
    for receipt in receipts {
        answers.push(receipt.await);
    }
    assert!(matches!(answers[0], Ok(Submitted::Accepted { .. })), "{answers:?}");
    assert!(matches!(answers[1], Err(StoreError::Refused(_))), "{answers:?}");
    assert!(matches!(answers[2], Ok(Submitted::Accepted { .. })), "{answers:?}");
    assert!(matches!(writer.submit(twin).await.await, Err(StoreError::Refused(_))), "alone");
    assert!(bench.row(id).await.position > 1);
    assert!(*writer.healthy().borrow());
    let empty = NewRun { children: Vec::new(), ..new_run("cli:ada") };
    let refused = writer.submit(empty).await.await;
    assert!(matches!(refused, Err(StoreError::Unstorable { .. })), "{refused:?}");
}
