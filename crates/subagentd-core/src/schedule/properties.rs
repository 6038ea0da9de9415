//! Random histories: the machine against the plain model, step by step, and what must hold in any history.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::id::ChildId;

use super::model::Model;
use super::tests::{child, request};
use super::{Effect, Event, Position, Request, Schedule};

const CHILDREN: u8 = 14;
/// Coarse, so that times often meet exactly.
const TICK_MS: u64 = 20;
const LONG_AFTER_ALL_MS: u64 = 1_000_000;

#[derive(Debug, Clone)]
struct Turn {
    event: Event,
    passed_ms: u64,
}

/// Children have one fixed scope each; some share their position, which a caller should not do and may.
fn any_event() -> impl Strategy<Value = Event> {
    let one = 0..CHILDREN;
    let not_before = prop_oneof![3 => Just(None), 1 => (0_u64..20).prop_map(|ticks| Some(ticks * TICK_MS))];
    let submitted = (one.clone(), not_before.clone()).prop_map(|(number, not_before_ms)| {
        let mut request = any_request(number);
        request.not_before_ms = not_before_ms;
        Event::Submitted(request)
    });
    let restored = (one.clone(), 0_u64..50)
        .prop_map(|(number, since_ms)| Event::Restored { request: any_request(number), since_ms });
    let ended = one.clone().prop_map(|number| Event::Ended { child: child(number) });
    let detained = one.clone().prop_map(|number| Event::Detained { child: child(number) });
    let requeued = (one.clone(), not_before)
        .prop_map(|(number, not_before_ms)| Event::Requeued { child: child(number), not_before_ms });
    let withdrawn = one.prop_map(|number| Event::Withdrawn { child: child(number) });
    prop_oneof![
        10 => submitted,
        1 => restored,
        8 => ended,
        2 => detained,
        3 => requeued,
        2 => withdrawn,
        1 => Just(Event::AdmissionClosed),
        2 => Just(Event::AdmissionOpened),
        3 => Just(Event::Tick),
    ]
}

fn any_request(number: u8) -> Request {
    let scope = [None, Some(1), Some(1), Some(2), Some(1)][usize::from(number) % 5];
    let mut request = request(number, scope);
    // Not the order of the numbers, and 0 and 13 meet.
    request.position.run = (u64::from(number) * 5) % 13;
    request
}

fn any_history() -> impl Strategy<Value = Vec<Turn>> {
    let turn = (any_event(), 0_u64..3).prop_map(|(event, ticks)| Turn { event, passed_ms: ticks * TICK_MS });
    vec(turn, 1..120)
}

fn admitted(effects: &[Effect]) -> Vec<ChildId> {
    let admissions = effects.iter().filter_map(|effect| match effect {
        Effect::Admit { child } => Some(*child),
        Effect::WakeAt { .. } => None,
    });
    admissions.collect()
}

/// Who waits and who lives, told from events and admissions alone.
#[derive(Default)]
struct Seen {
    waiting: BTreeMap<ChildId, Request>,
    live: BTreeMap<ChildId, Request>,
    detained: BTreeMap<ChildId, Request>,
}

impl Seen {
    fn take(&mut self, event: Event) {
        let places = [&self.waiting, &self.live, &self.detained];
        let known = |child| places.iter().any(|place| place.contains_key(child));
        match event {
            Event::Submitted(request) if !known(&request.child) => {
                self.waiting.insert(request.child, request);
            }
            Event::Restored { request, .. } if !known(&request.child) => {
                self.live.insert(request.child, request);
            }
            Event::Ended { child } => {
                self.live.remove(&child);
                self.detained.remove(&child);
            }
            Event::Detained { child } => {
                let gone = self.live.remove_entry(&child);
                self.detained.extend(gone.filter(|(_, request)| request.scope.is_some()));
            }
            Event::Requeued { child, .. } => self.waiting.extend(self.live.remove_entry(&child)),
            Event::Withdrawn { child } => {
                self.waiting.remove(&child);
            }
            _ => {}
        }
    }
}

fn conflict(one: &Request, other: &Request) -> bool {
    one.scope.is_some() && one.scope == other.scope
}

fn order(request: &Request) -> (Position, ChildId) {
    (request.position, request.child)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_machine_does_what_the_plain_model_does(history in any_history(), limit in 0_usize..5) {
        let (mut schedule, mut model) = (Schedule::new(limit), Model::new(limit));
        let mut now_ms = 0;
        for Turn { event, passed_ms } in history {
            now_ms += passed_ms;
            let effects = schedule.step(event.clone(), now_ms);
            prop_assert_eq!(&effects, &model.step(event.clone(), now_ms), "at {} after {:?}", now_ms, event);
            for number in 0..CHILDREN {
                prop_assert_eq!(schedule.waits(child(number)), model.waits(child(number)), "child {}", number);
            }
            prop_assert_eq!((schedule.queued(), schedule.live()), (model.waiting.len(), model.slots()));
            let listed: Vec<_> = schedule.waiting().collect();
            let children = model.waiting.iter().map(|request| request.child);
            let asked: Vec<_> = children.map(|child| (child, model.waits(child).unwrap())).collect();
            prop_assert_eq!(listed, asked);
        }
    }

    #[test]
    fn admissions_keep_limit_scope_and_order(history in any_history(), limit in 0_usize..5) {
        let mut schedule = Schedule::new(limit);
        let mut seen = Seen::default();
        let mut now_ms = 0;
        for Turn { event, passed_ms } in history {
            now_ms += passed_ms;
            let effects = schedule.step(event.clone(), now_ms);
            seen.take(event);
            for child in admitted(&effects) {
                prop_assert!(seen.live.len() < limit, "{child} was admitted beside {} others", seen.live.len());
                let request = seen.waiting.remove(&child).expect("only who waits is admitted");
                let mut rivals = seen.live.values().chain(seen.detained.values()).filter(|other| conflict(&request, other));
                prop_assert!(rivals.next().is_none(), "{child} was admitted beside a rival");
                let mut passed = seen.waiting.values().filter(|other| conflict(&request, other));
                prop_assert!(passed.all(|other| order(other) > order(&request)), "{child} overtook an earlier one");
                seen.live.insert(child, request);
            }
        }
    }

    #[test]
    fn no_work_is_lost(history in any_history(), limit in 1_usize..5) {
        let mut schedule = Schedule::new(limit);
        let mut now_ms = 0;
        for Turn { event, passed_ms } in history {
            now_ms += passed_ms;
            schedule.step(event, now_ms);
        }
        let mut left: Vec<_> = schedule.waiting().map(|(child, _)| child).collect();
        now_ms += LONG_AFTER_ALL_MS;
        let mut started = admitted(&schedule.step(Event::AdmissionOpened, now_ms));
        for number in 0..CHILDREN {
            started.extend(admitted(&schedule.step(Event::Ended { child: child(number) }, now_ms)));
        }
        let mut next = 0;
        while let Some(child) = started.get(next).copied() {
            next += 1;
            started.extend(admitted(&schedule.step(Event::Ended { child }, now_ms)));
        }
        started.sort();
        left.sort();
        prop_assert_eq!(started, left);
        prop_assert_eq!((schedule.queued(), schedule.live(), schedule.scopes()), (0, 0, 0));
    }

    #[test]
    fn a_clock_that_jumps_loses_nothing(history in vec((any_event(), 0_u64..1_000), 1..80), limit in 1_usize..4) {
        let mut schedule = Schedule::new(limit);
        for (event, now_ms) in history {
            schedule.step(event, now_ms);
        }
        for round in 0..=CHILDREN {
            for number in 0..CHILDREN {
                schedule.step(Event::Ended { child: child(number) }, LONG_AFTER_ALL_MS);
            }
            schedule.step(Event::AdmissionOpened, LONG_AFTER_ALL_MS);
            prop_assert!(round < CHILDREN || schedule.queued() == 0, "{} still wait", schedule.queued());
        }
    }
}
