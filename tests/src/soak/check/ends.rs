//! Ends: exactly one, the right one by the free-lock rules of design 2, and the one that clients were told.

use subagentd_proto::run::State;

use super::{Case, Findings, Rule};
use crate::soak::history::{Attempt, Folder, Launch, Record, StoredRun, Victim};

/// Attempts in a row that may never start before the child has failed.
const STARTS: u32 = 3;
/// First and last stamps of a run that are shown.
const STAMPS: usize = 4;

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    for (run, row) in &case.history.aftermath.runs {
        let Some(launch) = case.by_run.get(run.as_str()) else { continue };
        if !row.state.is_end() {
            findings.add(Rule::NotEnded, format!("{run} ({}, {}) is still {:?}", launch.key, launch.life, row.state));
            continue;
        }
        if let Err(why) = right_end(case, run, row, launch) {
            findings.add(
                Rule::WrongEnd,
                format!(
                    "{run} ({}, {}, attempt {}) ended as {:?}/{}: {why}; {}",
                    launch.key,
                    launch.life,
                    row.attempt,
                    row.state,
                    row.reason,
                    evidence(case, run)
                ),
            );
        }
        for (state, by) in launch.told.iter().filter(|(state, _)| *state != row.state) {
            findings.add(
                Rule::ChangedEnd,
                format!("{run} ({}): {by} said {state:?}, stored is {:?}", launch.key, row.state),
            );
        }
        if row.state == State::Succeeded && row.answer != launch.expected.answer {
            findings.add(
                Rule::WrongAnswer,
                format!(
                    "{run} ({}, {}): stored {:?}, the child said {:?}",
                    launch.key,
                    launch.life,
                    row.answer.as_deref().map(head),
                    launch.expected.answer.as_deref().map(head)
                ),
            );
        }
    }
}

fn right_end(case: &Case<'_>, run: &str, row: &StoredRun, launch: &Launch) -> Result<(), String> {
    for answer in launch.cancels.iter().filter_map(|cancel| cancel.answer.as_ref()) {
        let promised = if answer.outcome == "already-ended" { answer.state } else { State::Cancelled };
        if row.state != promised {
            return Err(format!("a cancel was answered `{}` with {:?}", answer.outcome, answer.state));
        }
    }
    if row.state == State::Cancelled {
        return match (launch.cancels.is_empty(), row.reason.as_str()) {
            (true, _) => Err("nobody cancelled it".to_owned()),
            (false, "cancelled") => Ok(()),
            (false, other) => Err(format!("cancelled by reason {other}")),
        };
    }
    if row.attempt == 0 {
        return Err("it never had an attempt".to_owned());
    }
    let attempt = Attempt { run: run.to_owned(), number: row.attempt };
    let Some(folder) = case.history.aftermath.folders.get(&attempt) else {
        return Err("its attempt has no folder".to_owned());
    };
    let allowed = allowed_reasons(case, &attempt, *folder, launch);
    if allowed.contains(&row.reason.as_str()) { Ok(()) } else { Err(format!("allowed: {allowed:?} with {folder:?}")) }
}

/// What the last attempt may have ended as when nobody's cancel decided it.
fn allowed_reasons<'a>(case: &Case<'_>, attempt: &Attempt, folder: Folder, launch: &'a Launch) -> Vec<&'a str> {
    if !folder.started {
        return if never_started(case, attempt) { vec!["start.failed"] } else { Vec::new() };
    }
    let hit = |victim: &Victim| case.history.kills.iter().any(|kill| kill.victim == *victim);
    let shim_killed = [true, false].into_iter().any(|daemon| hit(&Victim::Shim(attempt.clone(), daemon)));
    let mut by_record = vec![launch.expected.reason];
    if hit(&Victim::Child(attempt.clone())) {
        // Before it settled; one that had settled keeps its end. A child whose helper was hit gives up by itself.
        by_record.extend(["child.signalled", "child.exited"]);
    }
    match folder.record {
        Record::Gone | Record::Written => by_record,
        Record::Half if shim_killed => by_record.into_iter().chain(["shim.lost"]).collect(),
        Record::Space if shim_killed => vec!["shim.lost"],
        // A shim that nobody killed publishes.
        Record::Half | Record::Space => Vec::new(),
    }
}

/// Whether this attempt and those before it, as many as it takes, never started.
fn never_started(case: &Case<'_>, attempt: &Attempt) -> bool {
    attempt.number >= STARTS
        && (attempt.number + 1 - STARTS..=attempt.number).all(|number| {
            let one = Attempt { number, ..attempt.clone() };
            case.history.aftermath.folders.get(&one).is_none_or(|folder| !folder.started)
        })
}

/// Everything known about a run, in one line.
pub(super) fn evidence(case: &Case<'_>, run: &str) -> String {
    let of_run = |attempt: &Attempt| attempt.run == run;
    let kills: Vec<String> = case
        .history
        .kills
        .iter()
        .filter_map(|kill| match &kill.victim {
            Victim::Shim(attempt, daemon) if of_run(attempt) => {
                let daemon = if *daemon { "" } else { " without a daemon" };
                Some(format!("shim of {} killed{daemon} at {}", attempt.number, kill.at_ns))
            }
            Victim::Child(attempt) if of_run(attempt) => {
                Some(format!("child of {} killed at {}", attempt.number, kill.at_ns))
            }
            _ => None,
        })
        .collect();
    let folders: Vec<String> = case
        .history
        .aftermath
        .folders
        .iter()
        .filter(|(attempt, _)| of_run(attempt))
        .map(|(attempt, folder)| format!("{}: {folder:?}", attempt.number))
        .collect();
    let mut stamps: Vec<String> = case
        .history
        .stamps
        .iter()
        .filter(|stamp| of_run(&stamp.attempt))
        .map(|stamp| format!("{}@{}#{}", stamp.word, stamp.at_ns, stamp.attempt.number))
        .collect();
    if stamps.len() > 2 * STAMPS {
        stamps.splice(STAMPS..stamps.len() - STAMPS, ["…".to_owned()]);
    }
    let launch = case.by_run.get(run);
    let (life, cancels) = (launch.map(|launch| launch.life), launch.map(|launch| &launch.cancels));
    format!("life {life:?}, kills {kills:?}, folders {folders:?}, stamps {stamps:?}, cancels {cancels:?}")
}

fn head(text: &str) -> String {
    text.chars().take(60).collect()
}
