//! Single rules by example, and a full queue.

use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::id::{ChildId, RunId};
use crate::workspace::RootIdentity;

use super::{Effect, Event, Position, Request, Schedule, Waits, WaitsOn};

pub(super) fn child(number: u8) -> ChildId {
    numbered(u64::from(number))
}

fn numbered(number: u64) -> ChildId {
    ChildId { run: RunId::from_uuid(Uuid::from_u128(u128::from(number) + 1)), index: 0 }
}

/// A request of the run with this number, with the same number as its place in the order.
pub(super) fn request(number: u8, scope: Option<u64>) -> Request {
    numbered_request(u64::from(number), scope)
}

fn numbered_request(number: u64, scope: Option<u64>) -> Request {
    Request {
        child: numbered(number),
        position: Position { run: number, index: 0 },
        owner: "cli:tester".to_owned(),
        scope: scope.map(|inode| RootIdentity { device: 1, inode }),
        not_before_ms: None,
    }
}

fn admit(number: u8) -> Effect {
    Effect::Admit { child: child(number) }
}

fn submit(schedule: &mut Schedule, number: u8, scope: Option<u64>) -> Vec<Effect> {
    schedule.step(Event::Submitted(request(number, scope)), 1_000)
}

#[test]
fn readers_and_a_writer_of_one_scope_run_beside_each_other() {
    let mut schedule = Schedule::new(4);
    assert_eq!(submit(&mut schedule, 1, Some(7)), [admit(1)]);
    assert_eq!(submit(&mut schedule, 2, None), [admit(2)]);
    assert_eq!(submit(&mut schedule, 3, Some(7)), []);
    assert_eq!(submit(&mut schedule, 4, None), [admit(4)]);
    assert_eq!(submit(&mut schedule, 5, Some(8)), [admit(5)]);
    assert_eq!(
        schedule.waits(child(3)),
        Some(Waits { on: WaitsOn::Scope, place: 1, holder: Some(child(1)), holder_since_ms: Some(1_000) })
    );
    assert_eq!(schedule.step(Event::Ended { child: child(1) }, 1_001), [admit(3)]);
}

#[test]
fn a_later_child_passes_those_that_cannot_start() {
    let mut schedule = Schedule::new(2);
    assert_eq!(submit(&mut schedule, 1, Some(7)), [admit(1)]);
    assert_eq!(submit(&mut schedule, 2, Some(7)), []);
    assert_eq!(submit(&mut schedule, 3, None), [admit(3)]);
    assert_eq!(submit(&mut schedule, 4, None), []);
    assert_eq!(schedule.waits(child(4)).unwrap().on, WaitsOn::Slot);
    assert_eq!(schedule.step(Event::Ended { child: child(3) }, 1_001), [admit(4)]);
}

#[test]
fn an_exclusive_child_waits_behind_an_earlier_one_whose_time_has_not_come() {
    let mut schedule = Schedule::new(4);
    let mut first = request(1, Some(7));
    first.not_before_ms = Some(5_000);
    assert_eq!(schedule.step(Event::Submitted(first), 1_000), [Effect::WakeAt { at_ms: 5_000 }]);
    assert_eq!(submit(&mut schedule, 2, Some(7)), [Effect::WakeAt { at_ms: 5_000 }]);
    assert_eq!(schedule.waits(child(1)).unwrap().on, WaitsOn::NotBefore);
    let second = schedule.waits(child(2)).unwrap();
    assert_eq!((second.on, second.place, second.holder), (WaitsOn::Scope, 2, None));
    assert_eq!(schedule.step(Event::Tick, 4_999), [Effect::WakeAt { at_ms: 5_000 }]);
    assert_eq!(schedule.step(Event::Tick, 5_000), [admit(1)]);
    assert_eq!(schedule.step(Event::Ended { child: child(1) }, 5_001), [admit(2)]);
}

#[test]
fn a_child_that_is_queued_again_has_its_old_position() {
    let mut schedule = Schedule::new(1);
    assert_eq!(submit(&mut schedule, 1, Some(7)), [admit(1)]);
    assert_eq!(submit(&mut schedule, 2, Some(7)), []);
    let again = Event::Requeued { child: child(1), not_before_ms: Some(2_000) };
    assert_eq!(schedule.step(again, 1_001), [Effect::WakeAt { at_ms: 2_000 }]);
    assert_eq!(schedule.waits(child(1)).unwrap().place, 1);
    assert_eq!(schedule.step(Event::Tick, 2_000), [admit(1)]);
}

#[test]
fn restored_children_hold_what_they_have_above_the_limit() {
    let mut schedule = Schedule::new(1);
    assert_eq!(schedule.step(Event::AdmissionClosed, 1_000), []);
    for (number, since_ms) in [(1, 900), (2, 800)] {
        let request = request(number, Some(7));
        assert_eq!(schedule.step(Event::Restored { request, since_ms }, 1_000), []);
    }
    assert_eq!(submit(&mut schedule, 3, Some(7)), []);
    assert_eq!(schedule.waits(child(3)).unwrap().on, WaitsOn::Closed);
    assert_eq!(schedule.step(Event::AdmissionOpened, 1_000), []);
    assert_eq!(schedule.live(), 2);
    let waits = schedule.waits(child(3)).unwrap();
    assert_eq!((waits.on, waits.holder, waits.holder_since_ms), (WaitsOn::Scope, Some(child(2)), Some(800)));
    assert_eq!(schedule.step(Event::Ended { child: child(2) }, 1_000), []);
    assert_eq!(schedule.step(Event::Ended { child: child(1) }, 1_000), [admit(3)]);
}

#[test]
fn events_that_fit_nobody_change_nothing() {
    let mut schedule = Schedule::new(1);
    assert_eq!(submit(&mut schedule, 1, None), [admit(1)]);
    assert_eq!(submit(&mut schedule, 2, None), []);
    let strangers = [
        Event::Submitted(request(1, None)),
        Event::Submitted(request(2, Some(7))),
        Event::Restored { request: request(2, Some(7)), since_ms: 0 },
        Event::Ended { child: child(2) },
        Event::Requeued { child: child(2), not_before_ms: None },
        Event::Withdrawn { child: child(1) },
        Event::Ended { child: child(9) },
        Event::Withdrawn { child: child(9) },
    ];
    for event in strangers {
        assert_eq!(schedule.step(event.clone(), 1_000), [], "{event:?}");
        assert_eq!((schedule.live(), schedule.queued(), schedule.scopes()), (1, 1, 0), "{event:?}");
    }
    assert_eq!(schedule.step(Event::Withdrawn { child: child(2) }, 1_000), []);
    assert_eq!(schedule.queued(), 0);
}

/// A machine that scans its queue in each step needs minutes here; this one needs well under a second.
#[test]
fn a_full_queue_is_not_scanned() {
    const EACH: u64 = 10_000;
    let begun = Instant::now();
    let mut schedule = Schedule::new(4);
    let mut live = std::collections::VecDeque::new();
    let mut ended = 0;
    for number in 0..2 * EACH {
        let request = numbered_request(number, (number % 2 == 0).then_some(7));
        live.extend(schedule.step(Event::Submitted(request), 0));
    }
    while let Some(effect) = live.pop_front() {
        if let Effect::Admit { child } = effect {
            ended += 1;
            live.extend(schedule.step(Event::Ended { child }, 0));
        }
    }
    assert_eq!((ended, schedule.queued()), (2 * EACH, 0));
    let took = begun.elapsed();
    println!("{} children in and out: {took:?}", 2 * EACH);
    assert!(took < Duration::from_secs(10), "took {took:?}");
}
