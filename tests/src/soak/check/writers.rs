//! What the children wrote down: nobody runs twice, no writer beside another, no life after the end.

use std::collections::{BTreeMap, BTreeSet};

use subagentd_proto::run::State;

use super::ends::evidence;
use super::{Case, Findings, Rule};
use crate::soak::history::{Attempt, Stamp};

/// The wall clock is read in nanoseconds, ends are stored in milliseconds.
const MILLISECOND: u64 = 1_000_000;

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut stamps: Vec<&Stamp> = case.history.stamps.iter().collect();
    stamps.sort_by_key(|stamp| stamp.at_ns);
    run_once(case, &stamps, findings);
    one_writer(case, &stamps, findings);
    nothing_after_the_end(case, &stamps, findings);
}

fn run_once(case: &Case<'_>, stamps: &[&Stamp], findings: &mut Findings) {
    let mut begun: BTreeMap<&str, Vec<&Attempt>> = BTreeMap::new();
    for stamp in stamps.iter().filter(|stamp| stamp.word == "begin") {
        begun.entry(&stamp.attempt.run).or_default().push(&stamp.attempt);
    }
    for (run, attempts) in begun.iter().filter(|(_, attempts)| attempts.len() > 1) {
        let numbers: Vec<u32> = attempts.iter().map(|attempt| attempt.number).collect();
        findings.add(Rule::RunTwice, format!("{run} began {} times, as attempts {numbers:?}", attempts.len()));
    }
    // Also where the first child was killed before it could write: a later attempt after a started one is a second run.
    let folders = &case.history.aftermath.folders;
    for attempt in folders.iter().filter(|(_, folder)| folder.started).map(|(attempt, _)| attempt) {
        let later = Attempt { number: attempt.number + 1, ..attempt.clone() };
        if folders.contains_key(&later) {
            findings.add(
                Rule::RunTwice,
                format!("{} has attempt {} although attempt {} had started", attempt.run, later.number, attempt.number),
            );
        }
    }
    let known: BTreeSet<&str> = case.by_run.keys().copied().collect();
    for run in begun.keys().filter(|run| !known.contains(*run)) {
        findings.add(Rule::Unknown, format!("a child of {run} ran, which nobody launched"));
    }
    for (run, row) in &case.history.aftermath.runs {
        if row.state == State::Succeeded && !begun.contains_key(run.as_str()) {
            findings.add(Rule::WrongEnd, format!("{run} ({}) succeeded and its child never ran", row.key));
        }
        let Some(launch) = case.by_run.get(run.as_str()) else { continue };
        let withdrawn = launch.cancels.iter().filter_map(|cancel| cancel.answer.as_ref());
        for answer in withdrawn.filter(|answer| answer.outcome == "cancelled") {
            let late = stamps.iter().find(|stamp| stamp.attempt.run == *run && stamp.at_ns > answer.at_ns);
            if let Some(stamp) = late {
                findings.add(
                    Rule::StartedAfterCancel,
                    format!(
                        "{run} ({}) was cancelled at {} and wrote {} at {}",
                        row.key, answer.at_ns, stamp.word, stamp.at_ns
                    ),
                );
            }
        }
    }
}

/// From the first word of a writer to the first word of the next one, every word in a root is that writer's.
fn one_writer(case: &Case<'_>, stamps: &[&Stamp], findings: &mut Findings) {
    let mut holder: BTreeMap<usize, &Stamp> = BTreeMap::new();
    let mut begun: BTreeSet<&str> = BTreeSet::new();
    for stamp in stamps {
        let run = stamp.attempt.run.as_str();
        if !case.by_run.get(run).is_some_and(|launch| launch.exclusive) {
            continue;
        }
        match holder.get(&stamp.root) {
            Some(first) if first.attempt.run == run => {}
            Some(first) if begun.contains(run) => findings.add(
                Rule::Overlap,
                format!(
                    "in root {} {} of {run} wrote {} at {}, after {} had begun at {}; {}",
                    stamp.root,
                    describe(stamp),
                    stamp.word,
                    stamp.at_ns,
                    first.attempt.run,
                    first.at_ns,
                    evidence(case, run)
                ),
            ),
            _ => {
                begun.insert(run);
                holder.insert(stamp.root, stamp);
            }
        }
    }
}

fn nothing_after_the_end(case: &Case<'_>, stamps: &[&Stamp], findings: &mut Findings) {
    for (run, row) in &case.history.aftermath.runs {
        let Some(ended_at_ms) = row.ended_at_ms else { continue };
        let end = (ended_at_ms + 1).saturating_mul(MILLISECOND);
        let Some(late) = stamps.iter().rfind(|stamp| stamp.attempt.run == *run && stamp.at_ns > end) else { continue };
        findings.add(
            Rule::LifeAfterEnd,
            format!(
                "{run} ({}, {:?}) ended at {ended_at_ms} ms and {} wrote {} at {} ns; {}",
                row.key,
                row.state,
                describe(late),
                late.word,
                late.at_ns,
                evidence(case, run)
            ),
        );
    }
}

fn describe(stamp: &Stamp) -> String {
    stamp.pid.map_or_else(|| "a process".to_owned(), |pid| format!("process {pid}"))
}
