//! Random histories.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;

use super::bench::{Bench, PERIOD};

#[derive(Debug, Clone)]
enum Act {
    /// A run of this owner ends: the next one, or the last one once more.
    Notice {
        owner: usize,
        again: bool,
    },
    Join {
        owners: Vec<usize>,
        from: u64,
        stuck: bool,
    },
    Leave {
        client: usize,
        closes: bool,
    },
    Range {
        client: usize,
        up_to: u64,
    },
    Number {
        client: usize,
        seq: u64,
    },
    Pass(u64),
    Wait {
        front: Option<usize>,
        owner: usize,
        run: usize,
    },
    GiveBack {
        front: usize,
        owner: usize,
        run: usize,
    },
    Tell {
        front: usize,
        owner: usize,
        run: usize,
    },
    Close(usize),
    Show {
        front: usize,
        up_to: u64,
    },
}

const OWNERS: [&str; 3] = ["a", "b", "c"];

fn act(most_owners: usize, stuck: bool) -> impl Strategy<Value = Act> {
    let owners = prop_oneof![3 => Just(1), 1 => Just(most_owners)];
    let owners = owners.prop_flat_map(|count| prop::collection::vec(0..OWNERS.len(), count));
    let from = prop_oneof![3 => Just(0), 1 => 0_u64..8];
    let stuck = if stuck { prop::bool::weighted(0.3).boxed() } else { Just(false).boxed() };
    prop_oneof![
        5 => (0..OWNERS.len(), prop::bool::weighted(0.1)).prop_map(|(owner, again)| Act::Notice { owner, again }),
        3 => (owners, from, stuck).prop_map(|(owners, from, stuck)| Act::Join { owners, from, stuck }),
        1 => (0_usize..9, any::<bool>()).prop_map(|(client, closes)| Act::Leave { client, closes }),
        2 => (0_usize..9, 1_u64..20).prop_map(|(client, up_to)| Act::Range { client, up_to }),
        1 => (0_usize..9, 1_u64..20).prop_map(|(client, seq)| Act::Number { client, seq }),
        5 => (1_u64..12_000).prop_map(Act::Pass),
        4 => foreground(),
    ]
}

/// Connections that wait in the foreground, for runs that have ended or not.
fn foreground() -> impl Strategy<Value = Act> {
    let awaited = || (0_usize..4, 0..OWNERS.len(), 0_usize..6);
    let front = prop_oneof![1 => Just(None), 1 => (0_usize..4).prop_map(Some)];
    prop_oneof![
        4 => (front, awaited()).prop_map(|(front, (_, owner, run))| Act::Wait { front, owner, run }),
        1 => awaited().prop_map(|(front, owner, run)| Act::GiveBack { front, owner, run }),
        3 => awaited().prop_map(|(front, owner, run)| Act::Tell { front, owner, run }),
        1 => (0_usize..4).prop_map(Act::Close),
        1 => (0_usize..4, 1_u64..20).prop_map(|(front, up_to)| Act::Show { front, up_to }),
    ]
}

/// The n-th run of an owner.
fn nth(owner: usize, run: usize) -> u32 {
    (run * OWNERS.len() + owner) as u32
}

impl Bench {
    fn act(&mut self, act: &Act) {
        let number = |client: &usize| *client % self.clients.len().max(1);
        match act {
            Act::Notice { owner, again } => {
                let ended = self.notices.iter().filter(|notice| notice.owner == OWNERS[*owner]);
                let ended = ended.map(|notice| notice.run).collect::<BTreeSet<_>>().len();
                self.ends(OWNERS[*owner], nth(*owner, ended.saturating_sub(usize::from(*again))));
            }
            Act::Join { owners, from, stuck } => {
                let owners: Vec<&'static str> = owners.iter().map(|owner| OWNERS[*owner]).collect();
                self.join_as(&owners, *from, *stuck);
            }
            Act::Pass(ms) => self.pass(Duration::from_millis(*ms)),
            Act::Wait { front, owner, run } => {
                let front = front.filter(|front| *front < self.fronts.len()).unwrap_or_else(|| self.front());
                self.wait(front, OWNERS[*owner], nth(*owner, *run));
            }
            Act::GiveBack { front, .. } | Act::Tell { front, .. } | Act::Close(front) | Act::Show { front, .. }
                if *front >= self.fronts.len() => {}
            Act::GiveBack { front, owner, run } => self.give_back(*front, nth(*owner, *run)),
            Act::Tell { front, owner, run } => drop(self.tell(*front, nth(*owner, *run))),
            Act::Close(front) => self.close(*front),
            Act::Show { front, up_to } => {
                let covered = self.show(*front, *up_to);
                let told = &self.fronts[*front].told;
                assert!(covered.iter().all(|seq| seq <= up_to && told.contains(seq)), "{covered:?} of {told:?}");
            }
            _ if self.clients.is_empty() => {}
            Act::Leave { client, closes } => drop(self.leave(number(client), *closes)),
            Act::Range { client, up_to } => {
                let client = number(client);
                let covered = self.acknowledge(client, Some(*up_to), &[]);
                let sent = self.got(client);
                assert!(covered.iter().all(|seq| seq <= up_to && sent.contains(seq)), "{covered:?} of {sent:?}");
            }
            Act::Number { client, seq } if *seq <= self.notices.len() as u64 => {
                drop(self.acknowledge(number(client), None, &[*seq]));
            }
            Act::Number { .. } => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Out with one at a time, in order, not again too soon, never after its acknowledgement; and soon with somebody.
    /// Who joins while it waits may cost it another period.
    #[test]
    fn whatever_comes_and_goes(acts in prop::collection::vec(act(1, false), 1..60)) {
        let mut bench = Bench::new();
        for act in &acts {
            bench.act(act);
            prop_assert!(bench.problems.is_empty(), "{:#?}", bench.problems);
            prop_assert!(bench.waits() <= PERIOD * 2, "nobody had something for {:?}", bench.waits());
        }
    }

    /// The same with clients that watch several owners or take nothing: when all stay as they are, everybody alive has
    /// everything in the end.
    #[test]
    fn whatever_comes_and_goes_and_stops(acts in prop::collection::vec(act(2, true), 1..60)) {
        let mut bench = Bench::new();
        for act in &acts {
            bench.act(act);
            prop_assert!(bench.problems.is_empty(), "{:#?}", bench.problems);
        }
        bench.pass(PERIOD * ((bench.clients.len() + 1) * (bench.notices.len() + 3)) as u32);
        prop_assert!(bench.problems.is_empty(), "{:#?}", bench.problems);
        prop_assert!(bench.missing().is_empty(), "missing: {:?}", bench.missing());
    }
}
