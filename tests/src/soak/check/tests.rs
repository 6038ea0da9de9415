//! A checker that cannot fail is worthless: a good history passes, and each kind of violation is reported.

use super::*;
use crate::soak::history::{
    Attempt, Cancel, CancelAnswer, Expected, Folder, Kill, Launch, Offer, Record, Stamp, StoredNotice, StoredRun,
    Victim,
};
use subagentd_proto::run::State;

const RUNS: [&str; 4] = [
    "01890a5d-ac96-774b-bcce-b302099a8051",
    "01890a5d-ac96-774b-bcce-b302099a8052",
    "01890a5d-ac96-774b-bcce-b302099a8053",
    "01890a5d-ac96-774b-bcce-b302099a8054",
];
const MS: u64 = 1_000_000;

fn attempt(run: usize, number: u32) -> Attempt {
    Attempt { run: RUNS[run].to_owned(), number }
}

fn stamp(run: usize, number: u32, word: &str, at_ms: u64) -> Stamp {
    Stamp { at_ns: at_ms * MS, word: word.to_owned(), attempt: attempt(run, number), pid: Some(7), root: 0 }
}

fn launch(run: usize, reason: &'static str) -> Launch {
    Launch {
        key: format!("key-{run}"),
        owner: "one".to_owned(),
        root: 0,
        exclusive: true,
        life: "nap",
        expected: Expected { reason, answer: (reason == "completed").then(|| format!("answer {run}")) },
        acknowledged: vec![RUNS[run].to_owned()],
        cancels: Vec::new(),
        told: Vec::new(),
    }
}

fn ended(history: &mut History, run: usize, state: State, reason: &str, attempt: u32, ended_at_ms: u64) {
    let stored = StoredRun {
        key: format!("key-{run}"),
        owner: "one".to_owned(),
        state,
        reason: reason.to_owned(),
        attempt,
        ended_at_ms: Some(ended_at_ms),
        answer: (state == State::Succeeded).then(|| format!("answer {run}")),
        remarks: Vec::new(),
    };
    history.aftermath.runs.insert(RUNS[run].to_owned(), stored);
    history.aftermath.notices.push(StoredNotice {
        seq: run as u64 + 1,
        owner: "one".to_owned(),
        run: RUNS[run].to_owned(),
        state,
        reason: reason.to_owned(),
    });
}

fn answered(outcome: &str, state: State, at_ms: u64) -> Cancel {
    Cancel { answer: Some(CancelAnswer { outcome: outcome.to_owned(), state, at_ns: at_ms * MS }) }
}

const DONE: Folder = Folder { started: true, record: Record::Gone };

/// Four writers in one root: a success, one whose shim was killed, one cancelled while it ran, and one that was queued
/// again before its child ran.
fn good() -> History {
    let launches = (0..4).map(|run| launch(run, "completed")).collect();
    let mut history = History { launches, ..History::default() };
    ended(&mut history, 0, State::Succeeded, "completed", 1, 30);
    ended(&mut history, 1, State::Interrupted, "shim.lost", 1, 60);
    ended(&mut history, 2, State::Cancelled, "cancelled", 1, 90);
    ended(&mut history, 3, State::Succeeded, "completed", 2, 120);
    history.stamps = vec![
        stamp(0, 1, "begin", 10),
        stamp(0, 1, "beat", 20),
        stamp(1, 1, "begin", 40),
        stamp(2, 1, "begin", 70),
        stamp(3, 2, "begin", 100),
        stamp(3, 2, "beat", 110),
    ];
    history.kills = vec![Kill { at_ns: 50 * MS, victim: Victim::Shim(attempt(1, 1), true) }];
    history.launches[2].cancels = vec![Cancel { answer: None }, answered("cancelling", State::Running, 75)];
    history.launches[0].told = vec![(State::Succeeded, "run/wait")];
    history.aftermath.folders = BTreeMap::from([
        (attempt(0, 1), DONE),
        (attempt(1, 1), Folder { started: true, record: Record::Space }),
        (attempt(2, 1), DONE),
        (attempt(3, 1), Folder { started: false, record: Record::Space }),
        (attempt(3, 2), DONE),
    ]);
    history.offers = vec![Offer {
        seq: 1,
        owner: "one".to_owned(),
        run: RUNS[0].to_owned(),
        state: State::Succeeded,
        after_acknowledgement: false,
    }];
    history
}

fn row(history: &mut History, run: usize) -> &mut StoredRun {
    history.aftermath.runs.get_mut(RUNS[run]).unwrap()
}

/// Changes state and reason of the stored run and of its notice alike.
fn end_as(history: &mut History, run: usize, state: State, reason: &str) {
    row(history, run).state = state;
    row(history, run).reason = reason.to_owned();
    let notice = history.aftermath.notices.iter_mut().find(|notice| notice.run == RUNS[run]).unwrap();
    notice.state = state;
    notice.reason = reason.to_owned();
}

#[test]
fn a_good_history_has_no_violation() {
    assert_eq!(check(&good()), []);
}

/// A change of a history.
type Change = (&'static str, fn(&mut History));

/// A way to spoil a history, and the rule that it breaks.
type Break = (&'static str, Rule, fn(&mut History));

const LAUNCHES: &[Break] = &[
    ("an acknowledged run is not stored", Rule::Lost, |history| {
        history.aftermath.runs.remove(RUNS[3]);
        history.aftermath.notices.pop();
    }),
    ("two acknowledgements of one key differ", Rule::Doubled, |history| {
        history.launches[0].acknowledged.push(RUNS[1].to_owned());
    }),
    ("a key is stored twice", Rule::Doubled, |history| row(history, 1).key = "key-0".to_owned()),
    ("a stored run nobody launched", Rule::Unknown, |history| {
        history.launches.pop();
    }),
    ("a run of another owner", Rule::Unknown, |history| row(history, 0).owner = "two".to_owned()),
    ("a child nobody launched", Rule::Unknown, |history| {
        let mut stranger = stamp(0, 1, "begin", 5);
        stranger.attempt.run = "01890a5d-ac96-774b-bcce-b302099a8059".to_owned();
        history.stamps.push(stranger);
    }),
];

const ENDS: &[Break] = &[
    ("still running", Rule::NotEnded, |history| row(history, 0).state = State::Running),
    ("another reason than the script's", Rule::WrongEnd, |history| end_as(history, 0, State::Failed, "child.exited")),
    ("lost without a kill", Rule::WrongEnd, |history| history.kills.clear()),
    ("lost although it had published", Rule::WrongEnd, |history| {
        history.aftermath.folders.insert(attempt(1, 1), DONE);
    }),
    ("succeeded although its shim died at work", Rule::WrongEnd, |history| {
        end_as(history, 1, State::Succeeded, "completed");
        row(history, 1).answer = Some("answer 1".to_owned());
    }),
    ("an unkilled shim left its record", Rule::WrongEnd, |history| {
        history.aftermath.folders.insert(attempt(0, 1), Folder { started: true, record: Record::Space });
    }),
    ("failed to start at the first attempt", Rule::WrongEnd, |history| {
        history.aftermath.folders.insert(attempt(0, 1), Folder { started: false, record: Record::Space });
        history.stamps.retain(|stamp| stamp.attempt.run != RUNS[0]);
        end_as(history, 0, State::Failed, "start.failed");
        history.launches[0].told.clear();
    }),
    ("a cancel was promised and not kept", Rule::WrongEnd, |history| {
        end_as(history, 2, State::Succeeded, "completed");
        row(history, 2).answer = Some("answer 2".to_owned());
    }),
    ("cancelled by nobody", Rule::WrongEnd, |history| history.launches[2].cancels.clear()),
    ("cancelled after `already-ended`", Rule::WrongEnd, |history| {
        history.launches[2].cancels = vec![answered("already-ended", State::Succeeded, 75)];
    }),
    ("cancelled for another reason", Rule::WrongEnd, |history| end_as(history, 2, State::Cancelled, "shim.lost")),
    ("succeeded and never ran", Rule::WrongEnd, |history| {
        history.stamps.retain(|stamp| stamp.attempt.run != RUNS[0]);
    }),
    ("an end that changed", Rule::ChangedEnd, |history| history.launches[0].told = vec![(State::Failed, "run/wait")]),
    ("another child's answer", Rule::WrongAnswer, |history| row(history, 0).answer = Some("answer 3".to_owned())),
    ("no answer", Rule::WrongAnswer, |history| row(history, 0).answer = None),
];

const STAMPS: &[Break] = &[
    ("an attempt began twice", Rule::RunTwice, |history| history.stamps.push(stamp(0, 1, "begin", 12))),
    ("two attempts began", Rule::RunTwice, |history| history.stamps.push(stamp(3, 1, "begin", 95))),
    ("an attempt after one that had started", Rule::RunTwice, |history| {
        history.aftermath.folders.insert(attempt(3, 1), Folder { started: true, record: Record::Space });
    }),
    ("a grandchild beside the next writer", Rule::Overlap, |history| {
        row(history, 0).ended_at_ms = Some(50);
        history.stamps.push(stamp(0, 1, "beat", 45));
    }),
    ("two writers begin before either ends", Rule::Overlap, |history| {
        history.stamps.push(stamp(0, 1, "beat", 41));
        row(history, 0).ended_at_ms = Some(60);
    }),
    ("a word after the end", Rule::LifeAfterEnd, |history| history.stamps.push(stamp(3, 2, "beat", 125))),
    ("started after it was cancelled in the queue", Rule::StartedAfterCancel, |history| {
        history.launches[2].cancels = vec![answered("cancelled", State::Cancelled, 65)];
    }),
];

const NOTICES: &[Break] = &[
    ("no notice", Rule::Notice, |history| drop(history.aftermath.notices.remove(1))),
    ("two notices", Rule::Notice, |history| {
        let mut second = history.aftermath.notices[0].clone();
        second.seq = 9;
        history.aftermath.notices.push(second);
    }),
    ("a notice of another end", Rule::Notice, |history| history.aftermath.notices[0].state = State::Failed),
    ("a notice of another reason", Rule::Notice, |history| {
        history.aftermath.notices[1].reason = "shim.terminated".to_owned();
    }),
    ("a notice in another inbox", Rule::Notice, |history| history.aftermath.notices[0].owner = "two".to_owned()),
    ("a notice of no run", Rule::Notice, |history| history.aftermath.notices[0].run = "other".to_owned()),
    ("an offer that is not stored", Rule::Notice, |history| history.offers[0].seq = 99),
    ("an offer of another end", Rule::Notice, |history| history.offers[0].state = State::Failed),
    ("an offer after the acknowledgement", Rule::OfferedAgain, |history| {
        history.offers[0].after_acknowledgement = true;
    }),
];

const LEFT: &[Break] = &[
    ("a process", Rule::Process, |history| history.aftermath.processes.push("process 5".to_owned())),
    ("a record in the spool", Rule::Spool, |history| history.aftermath.spool.push("a.json".to_owned())),
    ("a file set aside", Rule::Spool, |history| history.aftermath.bad.push("b.json".to_owned())),
    ("a lease", Rule::Held, |history| history.aftermath.leases.push("root-0".to_owned())),
    ("a live child", Rule::Held, |history| history.aftermath.live_and_queued = (1, 0)),
    ("a waiting child", Rule::Held, |history| history.aftermath.live_and_queued = (0, 1)),
    ("an error in the log", Rule::Log, |history| history.aftermath.log.push("ERROR x".to_owned())),
    ("a trouble on the way", Rule::Trouble, |history| history.troubles.push("a daemon ended".to_owned())),
];

#[test]
fn every_kind_of_violation_is_reported() {
    for (what, rule, spoil) in [LAUNCHES, ENDS, STAMPS, NOTICES, LEFT].concat() {
        let mut history = good();
        spoil(&mut history);
        let found = check(&history);
        assert!(found.iter().any(|violation| violation.rule == rule), "{what}: {rule:?} is not among {found:?}");
    }
}

#[test]
fn what_the_rules_allow_is_no_violation() {
    let allowed: [Change; 9] = [
        ("a shim killed after it had published", |history| {
            history.kills.push(Kill { at_ns: 29 * MS, victim: Victim::Shim(attempt(0, 1), false) });
        }),
        ("a killed child that had not settled", |history| {
            history.kills.push(Kill { at_ns: 25 * MS, victim: Victim::Child(attempt(0, 1)) });
            end_as(history, 0, State::Failed, "child.signalled");
            history.launches[0].told.clear();
            history.offers.clear();
        }),
        ("a record written and not published", |history| {
            history.kills.push(Kill { at_ns: 29 * MS, victim: Victim::Shim(attempt(0, 1), true) });
            history.aftermath.folders.insert(attempt(0, 1), Folder { started: true, record: Record::Written });
        }),
        ("a killed shim under a cancelled child", |history| {
            history.kills.push(Kill { at_ns: 80 * MS, victim: Victim::Shim(attempt(2, 1), true) });
            history.aftermath.folders.insert(attempt(2, 1), Folder { started: true, record: Record::Space });
        }),
        ("a cancel whose answer was lost and that had no effect", |history| {
            history.launches[0].cancels.push(Cancel { answer: None });
        }),
        ("an answer that came too late", |history| {
            history.launches[0].cancels.push(answered("already-ended", State::Succeeded, 35));
        }),
        ("three attempts that never started", |history| {
            for number in 1..=3 {
                let folder = Folder { started: false, record: Record::Gone };
                history.aftermath.folders.insert(attempt(3, number), folder);
            }
            history.stamps.retain(|stamp| stamp.attempt.run != RUNS[3]);
            row(history, 3).attempt = 3;
            end_as(history, 3, State::Failed, "start.failed");
        }),
        ("a launch that was never acknowledged and is not stored", |history| {
            history.launches.push(Launch {
                key: "key-9".to_owned(),
                acknowledged: Vec::new(),
                ..launch(0, "completed")
            });
        }),
        ("readers beside writers", |history| {
            history.launches[1].exclusive = false;
            history.stamps.push(stamp(1, 1, "beat", 15));
        }),
    ];
    for (what, change) in allowed {
        let mut history = good();
        change(&mut history);
        assert_eq!(check(&history), [], "{what}");
    }
}
