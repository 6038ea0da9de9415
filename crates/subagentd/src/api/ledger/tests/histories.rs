//! Random histories.

use std::time::Duration;

use proptest::prelude::*;

use super::bench::{Bench, PERIOD};

#[derive(Debug, Clone)]
enum Act {
    Notice(usize),
    Join { owners: Vec<usize>, from: u64, stuck: bool },
    Leave { client: usize, closes: bool },
    Range { client: usize, up_to: u64 },
    Number { client: usize, seq: u64 },
    Pass(u64),
}

const OWNERS: [&str; 3] = ["a", "b", "c"];

fn act(most_owners: usize, stuck: bool) -> impl Strategy<Value = Act> {
    let owners = prop_oneof![3 => Just(1), 1 => Just(most_owners)];
    let owners = owners.prop_flat_map(|count| prop::collection::vec(0..OWNERS.len(), count));
    let from = prop_oneof![3 => Just(0), 1 => 0_u64..8];
    let stuck = if stuck { prop::bool::weighted(0.3).boxed() } else { Just(false).boxed() };
    prop_oneof![
        5 => (0..OWNERS.len()).prop_map(Act::Notice),
        3 => (owners, from, stuck).prop_map(|(owners, from, stuck)| Act::Join { owners, from, stuck }),
        1 => (0_usize..9, any::<bool>()).prop_map(|(client, closes)| Act::Leave { client, closes }),
        2 => (0_usize..9, 1_u64..20).prop_map(|(client, up_to)| Act::Range { client, up_to }),
        1 => (0_usize..9, 1_u64..20).prop_map(|(client, seq)| Act::Number { client, seq }),
        5 => (1_u64..12_000).prop_map(Act::Pass),
    ]
}

impl Bench {
    fn act(&mut self, act: &Act) {
        let number = |client: &usize| *client % self.clients.len().max(1);
        match act {
            Act::Notice(owner) => drop(self.notice(OWNERS[*owner])),
            Act::Join { owners, from, stuck } => {
                let owners: Vec<&'static str> = owners.iter().map(|owner| OWNERS[*owner]).collect();
                self.join_as(&owners, *from, *stuck);
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
            Act::Pass(ms) => self.pass(Duration::from_millis(*ms)),
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
