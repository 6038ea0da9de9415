//! Foreground waits, rule by rule.

use subagentd_proto::limits::FOREGROUND_RUNS as RUNS;

use super::*;

/// The run that is waited for.
const RUN: u32 = 7;

#[test]
fn it_is_kept_while_its_connection_lives_and_stops_nobody() {
    let mut bench = Bench::new();
    bench.lines = Lines::new(None);
    let (older, newer) = (bench.join("me"), bench.join("me"));
    let front = bench.waits_for("me", RUN);
    assert_eq!([bench.notice("me"), bench.ends("me", RUN), bench.notice("me")], [1, 2, 3]);
    let later = bench.join("me");
    bench.pass(PERIOD * 100);
    assert_eq!(bench.got(newer), [1, 3]);
    bench.tell(front, RUN);
    bench.leave(later, true);
    bench.pass(PERIOD * 100);
    assert_eq!((bench.got(older), bench.got(newer)), (vec![], vec![1, 3]));
    bench.close(front);
    assert_eq!((bench.got(older), bench.got(newer)), (vec![], vec![1, 3, 2]), "at once, with its own number");
}

#[test]
fn what_is_acknowledged_where_it_was_shown_is_offered_to_nobody() {
    let mut bench = Bench::new();
    let watcher = bench.join("me");
    let front = bench.waits_for("me", RUN);
    let seq = bench.ends("me", RUN);
    assert!(bench.show(front, seq).is_empty(), "it was not told yet");
    assert_eq!(bench.tell(front, RUN), Some(seq));
    assert_eq!(bench.show(front, seq), [seq], "a range covers it");
    bench.close(front);
    bench.pass(PERIOD * 3);
    assert!(bench.got(watcher).is_empty());
    bench.is_sound();
}

#[test]
fn what_is_not_acknowledged_in_time_goes_to_the_newest_watcher() {
    let mut bench = Bench::new();
    let (older, newer) = (bench.join("me"), bench.join("me"));
    let front = bench.waits_for("me", RUN);
    let seq = bench.ends("me", RUN);
    bench.pass(PERIOD / 2);
    bench.tell(front, RUN);
    bench.pass(PERIOD / 2);
    // Asked again, it has no more time.
    bench.tell(front, RUN);
    bench.wait(front, "me", RUN);
    bench.pass(PERIOD / 2 - SECOND);
    assert_eq!((bench.got(older), bench.got(newer)), (vec![], vec![]));
    bench.pass(SECOND);
    assert_eq!((bench.got(older), bench.got(newer)), (vec![], vec![seq]));
    bench.wait(front, "me", RUN);
    bench.pass(PERIOD);
    assert_eq!((bench.got(older), bench.got(newer)), (vec![seq], vec![seq]), "it goes round");
    assert_eq!(bench.show(front, seq), [seq], "it was sent it, whoever has it now");
    bench.is_sound();
}

#[test]
fn nobody_asks_for_the_end_and_it_is_kept_for_a_period() {
    let mut bench = Bench::new();
    let front = bench.waits_for("me", RUN);
    bench.pass(PERIOD * 9);
    bench.ends("me", RUN);
    bench.pass(PERIOD * 9);
    // Its time runs from when a watcher would have it.
    let watcher = bench.join("me");
    bench.pass(PERIOD - SECOND);
    assert!(bench.got(watcher).is_empty());
    bench.pass(SECOND);
    assert_eq!(bench.got(watcher), [1]);
    bench.pass(SECOND);
    bench.tell(front, RUN);
    bench.pass(PERIOD - SECOND);
    assert_eq!(bench.got(watcher), [1, 1], "asked for too late, it is not kept again");
    bench.is_sound();
}

#[test]
fn several_are_told_and_it_is_kept_until_none_is_left() {
    let mut bench = Bench::new();
    let watcher = bench.join("me");
    let (first, second) = (bench.waits_for("me", RUN), bench.waits_for("me", RUN));
    let seq = bench.ends("me", RUN);
    assert_eq!(bench.tell(second, RUN), Some(seq));
    bench.pass(PERIOD - SECOND);
    assert_eq!(bench.tell(first, RUN), Some(seq));
    bench.pass(SECOND);
    bench.notice("me");
    assert_eq!(bench.got(watcher), [2], "the time of one is over");
    bench.close(second);
    assert_eq!(bench.got(watcher), [2]);
    bench.close(first);
    assert_eq!(bench.got(watcher), [2, seq]);
    bench.is_sound();
}

#[test]
fn one_that_comes_later_has_the_time_of_its_own() {
    let mut bench = Bench::new();
    let watcher = bench.join("me");
    let first = bench.waits_for("me", RUN);
    bench.ends("me", RUN);
    bench.tell(first, RUN);
    bench.pass(PERIOD - SECOND);
    bench.waits_for("me", RUN);
    bench.pass(PERIOD - SECOND);
    assert!(bench.got(watcher).is_empty());
    bench.pass(SECOND);
    assert_eq!(bench.got(watcher), [1]);
    bench.is_sound();
}

#[test]
fn given_back_it_is_offered_at_once() {
    let mut bench = Bench::new();
    let watcher = bench.join("me");
    let front = bench.waits_for("me", RUN);
    let other = bench.waits_for("me", RUN + 1);
    bench.ends("me", RUN);
    bench.ends("me", RUN + 1);
    bench.give_back(other, RUN);
    assert!(bench.got(watcher).is_empty(), "only the one who waits gives it back");
    bench.give_back(front, RUN);
    assert_eq!(bench.got(watcher), [1]);
    bench.pass(PERIOD);
    assert_eq!(bench.got(watcher), [1, 1, 2]);
    bench.is_sound();
}

#[test]
fn what_is_out_with_a_watcher_stays_so_and_is_kept_then() {
    let mut bench = Bench::new();
    let watcher = bench.join("me");
    let seq = bench.ends("me", RUN);
    bench.pass(PERIOD - SECOND);
    let front = bench.waits_for("me", RUN);
    bench.tell(front, RUN);
    bench.notice("me");
    bench.pass(PERIOD - SECOND);
    assert_eq!(bench.got(watcher), [seq, 2], "not again");
    bench.pass(SECOND);
    assert_eq!(bench.got(watcher), [seq, 2, seq, 2]);
    bench.is_sound();
}

#[test]
fn those_that_stopped_before_it_go_on() {
    let mut bench = Bench::new();
    let older = bench.join("me");
    bench.notice("me");
    let newer = bench.join("me");
    bench.ends("me", RUN);
    bench.notice("me");
    assert_eq!((bench.got(older), bench.got(newer)), (vec![1], vec![]), "they wait for the newer one");
    let front = bench.waits_for("me", RUN);
    bench.acknowledge(older, Some(1), &[]);
    assert_eq!(bench.got(newer), [3]);
    bench.close(front);
    assert_eq!((bench.got(older), bench.got(newer)), (vec![1], vec![3, 2]));
    bench.is_sound();
}

#[test]
fn one_that_passes_over_it_lets_the_others_go_on() {
    let mut bench = Bench::new();
    let first = bench.join("c");
    bench.notice("c");
    let (second, third) = (bench.join_as(&["a", "b"], 0, false), bench.join_as(&["a", "c"], 0, false));
    bench.ends("a", RUN);
    bench.notice("b");
    bench.waits_for("a", RUN);
    assert!(bench.got(second).is_empty(), "it stops before what is to come to the third");
    bench.acknowledge(first, None, &[1]);
    assert_eq!((bench.got(second), bench.got(third)), (vec![3], vec![]));
    bench.is_sound();
}

#[test]
fn the_next_end_of_the_same_run_has_a_time_of_its_own() {
    let mut bench = Bench::new();
    let watcher = bench.join("me");
    let front = bench.waits_for("me", RUN);
    bench.ends("me", RUN);
    bench.tell(front, RUN);
    bench.pass(PERIOD - SECOND);
    bench.ends("me", RUN);
    assert_eq!(bench.got(watcher), [1], "only the newest is kept");
    bench.acknowledge(watcher, Some(1), &[]);
    bench.tell(front, RUN);
    bench.pass(PERIOD - SECOND);
    assert_eq!(bench.got(watcher), [1]);
    bench.pass(SECOND);
    assert_eq!(bench.got(watcher), [1, 2]);
    bench.is_sound();
}

#[test]
fn a_cursor_leaves_out_what_is_set_free_below_it() {
    let mut bench = Bench::new();
    let front = bench.waits_for("me", RUN);
    let before = bench.join("me");
    bench.ends("me", RUN);
    bench.notice("me");
    assert_eq!(bench.got(before), [2]);
    bench.leave(before, true);
    let (by_cursor, without) = (bench.join_as(&["me"], 2, false), bench.join("me"));
    bench.close(front);
    assert_eq!((bench.got(by_cursor), bench.got(without)), (vec![], vec![2, 1]));
    bench.is_sound();
}

#[test]
fn a_watcher_at_its_bound_is_not_asked_again_and_again() {
    let mut bench = Bench::new();
    let (older, newer) = (bench.join("me"), bench.join("me"));
    let front = bench.waits_for("me", RUN);
    let seq = bench.ends("me", RUN);
    (RUN + 1..).take(UNACKNOWLEDGED).for_each(|run| bench.comes("me", run));
    bench.walk();
    bench.close(front);
    assert_eq!((bench.got(older).len(), bench.got(newer).len()), (0, UNACKNOWLEDGED));
    let number = bench.clients[newer].number;
    assert!(!bench.lines.walk(number, bench.at()).again);
    bench.acknowledge(newer, None, &[seq + 1]);
    assert_eq!(bench.got(newer).last(), Some(&seq));
    bench.is_sound();
}

#[test]
fn a_connection_keeps_so_many_and_no_more() {
    let mut bench = Bench::new();
    let watcher = bench.join("me");
    let front = bench.front();
    (0..=RUNS as u32).for_each(|run| bench.wait(front, "me", run));
    // The plain rule knows no bound.
    bench.fronts[front].forget(RUNS as u32);
    let beyond = bench.ends("me", RUNS as u32);
    let kept = bench.ends("me", 0);
    assert_eq!(bench.got(watcher), [beyond]);
    bench.tell(front, 0);
    assert_eq!(bench.show(front, kept), [kept]);
    bench.wait(front, "me", RUNS as u32 + 1);
    bench.ends("me", RUNS as u32 + 1);
    assert_eq!(bench.got(watcher), [beyond], "there is room again");
    bench.is_sound();
}

#[test]
fn nothing_is_remembered_of_what_is_over() {
    let mut bench = Bench::new();
    let fronts = [bench.waits_for("me", RUN), bench.waits_for("me", RUN)];
    bench.wait(fronts[0], "me", RUN + 1);
    let seq = bench.ends("me", RUN);
    bench.tell(fronts[1], RUN);
    let watcher = bench.join("me");
    bench.show(fronts[1], seq);
    assert_eq!(bench.lines.foreground.counts(), (1, 2), "acknowledged, it is over for both");
    bench.close(1);
    bench.close(0);
    assert_eq!(bench.lines.foreground.counts(), (0, 0));
    bench.leave(watcher, true);
    assert!(bench.lines.sent.is_empty() && bench.lines.lines.is_empty());
}
