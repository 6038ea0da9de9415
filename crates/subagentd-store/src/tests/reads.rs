//! Lists, endings and what a boot asks.

use subagentd_core::id::RunId;
use subagentd_core::life::{Reason, State};
use uuid::Uuid;

use super::{bench, new_child, new_id, new_run, settlement};
use crate::{Found, ListQuery, MOST_MATCHES, NewRun, NoticeQuery, RunRow, Store};

async fn listed(store: &Store, query: ListQuery) -> Vec<u64> {
    let rows = store.reader.list(query).await.unwrap();
    rows.iter().map(|row| row.position).collect()
}

/// Thirty runs: every third is ada's, every fourth has ended.
async fn thirty() -> super::Bench {
    let bench = bench().await;
    for n in 1..=30 {
        let child = bench.run(if n % 3 == 0 { "ada" } else { "bob" }).await;
        if n % 4 == 0 {
            bench.store.writer.settle(settlement(child, None, Reason::Cancelled)).await.await.unwrap();
        }
    }
    bench
}

#[tokio::test]
async fn lists_are_newest_first_and_filtered() {
    let bench = thirty().await;
    let all: Vec<u64> = (1..=30).rev().collect();
    let which = |keep: fn(&u64) -> bool| all.iter().copied().filter(keep).collect::<Vec<_>>();
    let ada = || Some("ada".to_owned());
    let table: [(Option<String>, Vec<State>, Vec<u64>); 7] = [
        (None, vec![], all.clone()),
        (ada(), vec![], which(|n| n % 3 == 0)),
        (None, vec![State::Cancelled], which(|n| n % 4 == 0)),
        (None, vec![State::Queued, State::Cancelled, State::Queued], all.clone()),
        (ada(), vec![State::Queued], which(|n| n % 3 == 0 && n % 4 != 0)),
        (None, vec![State::Failed], vec![]),
        (Some("eve".to_owned()), vec![], vec![]),
    ];
    for (owner, states, expected) in table {
        for limit in [1, 7, 100] {
            let mut query = ListQuery { before: None, limit, states: states.clone(), owner: owner.clone() };
            let mut pages = Vec::new();
            loop {
                let page = listed(&bench.store, query.clone()).await;
                assert!(page.len() <= limit as usize);
                let Some(last) = page.last() else { break };
                query.before = Some(*last);
                pages.extend(page);
            }
            assert_eq!(pages, expected, "{owner:?} {states:?} by {limit}");
        }
    }
}

#[tokio::test]
async fn a_list_shows_the_beginning_of_tasks_and_every_child() {
    let bench = bench().await;
    let mut run = new_run("ada");
    run.children = vec![new_child("one", &"\u{1f980}".repeat(9_000)), new_child("two", "short")];
    let id = run.id;
    bench.submitted(run).await;
    bench.run("ada").await;
    let query = ListQuery { limit: 50, ..ListQuery::default() };
    let rows = bench.store.reader.list(query).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.children.len()).collect::<Vec<_>>(), [1, 2]);
    let head = |row: &RunRow| row.children[0].task_head.clone().unwrap().chars().count();
    assert_eq!((head(&rows[1]), head(&bench.row(id).await)), (240, 4_096));
}

#[tokio::test]
async fn endings_name_runs() {
    let bench = bench().await;
    let id = |text: &str| RunId::from_uuid(Uuid::parse_str(text).unwrap());
    let one = id("01890a5d-ac96-774b-bcce-b302099a8057");
    let two = id("01890a5d-ac96-774b-bcce-b3f2099a8057");
    for id in [one, two] {
        bench.submitted(NewRun { id, ..new_run("ada") }).await;
    }
    let mut both = vec![one, two];
    both.sort_by_key(|id| crate::words::tail(*id));
    let table = [
        ("9a8057", Found::Many(both)),
        ("b302099a8057", Found::One(one)),
        ("B3F2-099A8057", Found::One(two)),
        ("01890a5d-ac96-774b-bcce-b302099a8057", Found::One(one)),
        ("01890a5dac96774bbcceb302099a8057", Found::One(one)),
        ("8057a9", Found::None),
        ("", Found::None),
        ("-", Found::None),
        ("%", Found::None),
        ("zz8057", Found::None),
        ("001890a5dac96774bbcceb302099a8057", Found::None),
    ];
    for (ending, expected) in table {
        assert_eq!(bench.store.reader.find(ending).await.unwrap(), expected, "`{ending}`");
    }
}

#[tokio::test]
async fn an_ending_of_many_names_a_few() {
    let bench = bench().await;
    for n in 0..20_u128 {
        let id = RunId::from_uuid(Uuid::from_u128(n << 64 | 0xabcdef));
        bench.submitted(NewRun { id, ..new_run("ada") }).await;
    }
    let Found::Many(runs) = bench.store.reader.find("abcdef").await.unwrap() else {
        panic!("not many");
    };
    assert_eq!(runs.len(), MOST_MATCHES as usize);
    assert_eq!(bench.store.reader.find(&new_id().to_string()).await.unwrap(), Found::None);
}

#[tokio::test]
async fn a_boot_finds_every_run_with_an_open_child_oldest_first() {
    let bench = thirty().await;
    // One child of two has ended: the run is still open.
    let mut run = new_run("ada");
    run.children.push(new_child("two", "short"));
    let id = run.id;
    bench.submitted(run).await;
    let child = subagentd_core::id::ChildId { run: id, index: 0 };
    let mut settled = settlement(child, None, Reason::Cancelled);
    (settled.run_state, settled.run_ended, settled.notice) = (State::Queued, false, None);
    bench.store.writer.settle(settled).await.await.unwrap();

    let bench = bench.reopened().await;
    let open = bench.store.reader.open_runs().await.unwrap();
    let positions: Vec<u64> = open.iter().map(|row| row.position).collect();
    assert_eq!(positions, (1..=31).filter(|n| n % 4 != 0).collect::<Vec<_>>());
    let last = &open.last().unwrap().children;
    assert_eq!((last[0].state, last[1].state), (State::Cancelled, State::Queued));
}

#[tokio::test]
async fn notices_are_paged_by_number() {
    let bench = thirty().await;
    let page = |owners: &[&str], after, limit| NoticeQuery {
        owners: owners.iter().map(|owner| (*owner).to_owned()).collect(),
        after,
        limit,
        acknowledged: true,
    };
    let seqs = async |query| {
        let rows = bench.store.reader.notices(query).await.unwrap();
        rows.iter().map(|row| row.seq).collect::<Vec<_>>()
    };
    // The runs 4, 8, 12, 16, 20, 24 and 28 have ended; of them 12 and 24 are ada's.
    assert_eq!(seqs(page(&["ada"], 0, 50)).await, [3, 6]);
    assert_eq!(seqs(page(&["ada", "bob", "ada"], 0, 4)).await, [1, 2, 3, 4]);
    assert_eq!(seqs(page(&["bob", "ada"], 4, 50)).await, [5, 6, 7]);
    assert_eq!(seqs(page(&[], 0, 50)).await, [0; 0]);
    for beyond in [8, i64::MAX.cast_unsigned(), i64::MAX.cast_unsigned() + 1, u64::MAX] {
        assert_eq!(seqs(page(&["ada", "bob"], beyond, 50)).await, [0; 0], "after {beyond}");
        let unacknowledged = NoticeQuery { acknowledged: false, ..page(&["ada", "bob"], beyond, 50) };
        assert_eq!(seqs(unacknowledged).await, [0; 0], "after {beyond}");
    }
}

#[tokio::test]
async fn a_list_from_beyond_every_position_begins_with_the_newest() {
    let bench = thirty().await;
    for before in [31, i64::MAX.cast_unsigned() + 1, u64::MAX] {
        for owner in [None, Some("bob".to_owned())] {
            let query = ListQuery { before: Some(before), limit: 1, states: vec![], owner };
            assert_eq!(listed(&bench.store, query.clone()).await.len(), 1, "{query:?}");
        }
    }
}
