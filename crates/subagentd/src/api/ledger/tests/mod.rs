mod bench;
mod foreground;
mod front;
mod histories;

use super::*;
use bench::{Bench, PERIOD};
use front::run_id;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn the_newest_has_it_then_the_older_ones_then_the_newest_again() {
    let mut bench = Bench::new();
    let (oldest, middle, newest) = (bench.join("me"), bench.join("me"), bench.join("me"));
    bench.notice("me");
    let counts = |bench: &Bench| [oldest, middle, newest].map(|client| bench.got(client).len());
    for expected in [[0, 0, 1], [0, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2]] {
        assert_eq!(counts(&bench), expected);
        bench.pass(PERIOD - SECOND);
        assert_eq!(counts(&bench), expected, "not before its time");
        bench.pass(SECOND);
    }
    bench.is_sound();
}

#[test]
fn the_only_one_is_offered_it_again_each_period() {
    let mut bench = Bench::new();
    let only = bench.join("me");
    bench.notice("me");
    bench.pass(PERIOD / 2);
    bench.notice("me");
    bench.pass(PERIOD * 2);
    assert_eq!(bench.got(only), [1, 2, 1, 2, 1, 2]);
    bench.acknowledge(only, Some(1), &[]);
    bench.pass(PERIOD);
    assert_eq!(bench.got(only)[6..], [2]);
    bench.is_sound();
}

#[test]
fn without_a_period_only_an_end_moves_it_on() {
    let mut bench = Bench::new();
    bench.lines.period = None;
    let (older, newer) = (bench.join("me"), bench.join("me"));
    bench.notice("me");
    bench.pass(PERIOD * 100);
    assert_eq!((bench.got(older).len(), bench.got(newer).len()), (0, 1));
    bench.leave(newer, true);
    assert_eq!(bench.got(older), [1]);
}

#[test]
fn a_newcomer_waits_for_what_is_out_and_keeps_the_order() {
    let mut bench = Bench::new();
    let older = bench.join("me");
    bench.notice("me");
    bench.pass(SECOND);
    let newer = bench.join("me");
    bench.notice("me");
    assert_eq!((bench.got(older), bench.got(newer)), (vec![1], vec![]));
    bench.acknowledge(older, Some(1), &[]);
    assert_eq!(bench.got(newer), [2], "nothing lower is out any more");
    bench.is_sound();
}

#[test]
fn a_dead_predecessor_costs_one_period_once() {
    let mut bench = Bench::new();
    let dead = bench.join("me");
    bench.notice("me");
    bench.clients[dead].stuck = true;
    let alive = bench.join("me");
    bench.notice("me");
    bench.pass(PERIOD);
    assert_eq!(bench.got(alive), [1, 2]);
    bench.acknowledge(alive, Some(2), &[]);
    bench.notice("me");
    assert_eq!(bench.got(alive), [1, 2, 3], "at once from then on");
    bench.is_sound();
}

#[test]
fn a_newest_that_takes_nothing_holds_each_notice_for_one_period() {
    let mut bench = Bench::new();
    let alive = bench.join("me");
    bench.join_as(&["me"], 0, true);
    bench.notice("me");
    bench.pass(PERIOD - SECOND);
    assert!(bench.got(alive).is_empty());
    bench.pass(SECOND);
    assert_eq!(bench.got(alive), [1]);
    bench.leave(1, true);
    bench.notice("me");
    assert_eq!(bench.got(alive), [1, 2]);
    bench.is_sound();
}

#[test]
fn a_cursor_ahead_of_everything_wants_nothing_and_holds_nobody_up() {
    let mut bench = Bench::new();
    let older = bench.join("me");
    let ahead = bench.join_as(&["me"], 2, false);
    for _ in 0..4 {
        bench.notice("me");
    }
    assert_eq!((bench.got(older), bench.got(ahead)), (vec![1, 2], vec![3, 4]));
    bench.leave(older, true);
    bench.pass(PERIOD);
    assert_eq!(bench.got(0), [3, 4, 3, 4]);
    bench.is_sound();
}

#[test]
fn two_that_name_each_others_owners_do_not_hold_each_other() {
    let mut bench = Bench::new();
    let (one, two) = (bench.join_as(&["a", "b"], 0, false), bench.join_as(&["b", "a"], 0, false));
    let (three, bystander) = (bench.join("b"), bench.join("c"));
    for owner in ["a", "b", "a", "b"] {
        bench.notice(owner);
    }
    assert_eq!((bench.got(two), bench.got(three)), (vec![1], vec![2, 4]), "3 waits behind 2, which is out");
    bench.acknowledge(three, Some(2), &[]);
    assert_eq!((bench.got(two), bench.got(one)), (vec![1, 3], vec![]));
    bench.leave(three, true);
    assert_eq!(bench.got(two), [1, 3, 4]);
    bench.leave(two, false);
    assert_eq!(bench.got(one), [1, 3, 4]);
    assert!(bench.got(bystander - 2).is_empty());
    bench.is_sound();
}

#[test]
fn a_range_covers_what_the_connection_was_sent_even_after_it_unsubscribed() {
    let mut bench = Bench::new();
    let client = bench.join("me");
    bench.notice("me");
    bench.notice("other");
    bench.notice("me");
    let gone = bench.leave(client, false);
    let other = bench.join("me");
    let names = ["me".to_owned()];
    let covered = bench.lines.acknowledge(gone.connection, &names, Some(9), BTreeSet::new()).1;
    assert_eq!(covered, [1, 3]);
    gone.closed.cancel();
    bench.leave(other, true);
    let covered = bench.lines.acknowledge(gone.connection, &names, Some(9), BTreeSet::new()).1;
    assert!(covered.is_empty(), "closed and forgotten");
    assert!(bench.lines.sent.is_empty() && bench.lines.lines.is_empty() && bench.lines.watchers.is_empty());
}

#[test]
fn a_number_of_somebody_elses_changes_nothing_for_them() {
    let mut bench = Bench::new();
    let (me, other) = (bench.join("me"), bench.join("other"));
    bench.notice("me");
    bench.acknowledge(other, None, &[1]);
    assert_eq!(bench.acknowledge(me, Some(1), &[]), [1]);
    assert!(bench.notices[0].acknowledged);
}

#[test]
fn what_was_acknowledged_after_it_was_read_is_not_sent() {
    let mut bench = Bench::new();
    let client = bench.join("me");
    let (number, at) = (bench.clients[client].number, bench.at());
    let names = ["me".to_owned()];
    let stored = |seq| Stored { owner: "me", run: run_id(0), seq, age: Duration::ZERO };
    let turn = |bench: &mut Bench, seq| bench.lines.turn(number, stored(seq), at);
    assert_eq!(bench.lines.walk(number, at), Walk { after: 0, again: false });
    // Read by now: 1 and 2.
    let (marked, _) = bench.lines.acknowledge(7, &names, None, BTreeSet::from([2]));
    assert_eq!(turn(&mut bench, 1), Turn::Send);
    assert_eq!(turn(&mut bench, 2), Turn::Stop, "it is being acknowledged");
    bench.lines.acknowledged(marked, true);
    assert_eq!(turn(&mut bench, 2), Turn::Stop, "it has to be read again");
    assert_eq!(bench.lines.walk(number, at), Walk { after: 1, again: false });
    let (marked, _) = bench.lines.acknowledge(7, &names, None, BTreeSet::from([3]));
    bench.lines.acknowledged(marked, false);
    assert_eq!(turn(&mut bench, 3), Turn::Send, "it could not be acknowledged");
}

#[test]
fn what_would_come_again_waits_while_it_is_being_acknowledged() {
    let mut bench = Bench::new();
    let client = bench.join("me");
    bench.notice("me");
    let number = bench.clients[client].number;
    let (marked, _) = bench.lines.acknowledge(7, &["me".to_owned()], None, BTreeSet::from([1]));
    let later = bench.at() + PERIOD;
    assert_eq!(bench.lines.walk(number, later), Walk { after: 1, again: false });
    bench.lines.acknowledged(marked, false);
    assert_eq!(bench.lines.walk(number, later), Walk { after: 0, again: true });
}

#[test]
fn a_newcomer_that_is_held_up_is_not_waited_for_longer_than_a_period() {
    let mut bench = Bench::new();
    bench.join("me");
    bench.notice("me");
    bench.pass(PERIOD / 2);
    bench.notice("me");
    let second = bench.join("me");
    bench.notice("me");
    bench.pass(PERIOD / 2);
    assert_eq!(bench.got(second), [1]);
    let third = bench.join("me");
    bench.pass(PERIOD / 2);
    assert_eq!((bench.got(second), bench.got(third)), (vec![1, 2, 3], vec![]));
    bench.is_sound();
}

#[test]
fn the_wait_for_a_newcomer_counts_from_the_notices_birth() {
    let mut bench = Bench::new();
    let first = bench.join("me");
    bench.notice("me");
    let second = bench.join("me");
    bench.notice("me");
    bench.notice("me");
    bench.pass(SECOND * 2);
    // Only now anybody comes to the third.
    bench.acknowledge(first, None, &[2]);
    bench.pass(SECOND * 7);
    let third = bench.join("me");
    bench.pass(SECOND);
    assert_eq!([first, second, third].map(|client| bench.got(client)), [vec![1], vec![], vec![1, 3]]);
    bench.is_sound();
}

#[test]
fn a_connection_has_so_many_and_the_rest_goes_to_the_next() {
    let mut bench = Bench::new();
    let (older, newer) = (bench.join("me"), bench.join("me"));
    for _ in 0..UNACKNOWLEDGED + 2 {
        bench.comes("me", 0);
    }
    bench.walk();
    assert_eq!((bench.got(older).len(), bench.got(newer).len()), (0, UNACKNOWLEDGED));
    bench.acknowledge(newer, Some(1), &[]);
    assert_eq!(bench.got(newer).len(), UNACKNOWLEDGED + 1);
    bench.pass(PERIOD);
    assert_eq!(bench.got(older).len(), UNACKNOWLEDGED, "what the newer one has had and not acknowledged");
    bench.acknowledge(older, Some(2), &[]);
    assert_eq!(bench.got(older).last(), Some(&(UNACKNOWLEDGED as u64 + 2)));
    bench.is_sound();
}
