//! What was done, for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Plan;
use super::history::{Folder, History, Phase, Record, Victim};
use super::rig::Rig;

/// Kinds of warnings that are listed.
const WARNINGS: usize = 12;

pub(super) fn table(plan: &Plan, history: &History, rig: &Rig) -> String {
    let log = rig.log();
    let mut text = format!("seed {}\n", plan.seed);
    let mut row = |name: &str, value: String| {
        // Writing to a string cannot fail.
        writeln!(text, "{name:<34} {value}").ok();
    };
    kills(history, &mut row);
    runs(history, &mut row);
    row("adopted by later daemons", adopted(&log).to_string());
    row("stamps", history.stamps.len().to_string());
    row("offers, stored notices", format!("{}, {}", history.offers.len(), history.aftermath.notices.len()));
    row("leases left", history.aftermath.leases.len().to_string());
    for (warning, count) in warnings(&log).into_iter().take(WARNINGS) {
        row("warning", format!("{count:>5} x {warning}"));
    }
    text
}

fn kills(history: &History, row: &mut impl FnMut(&str, String)) {
    let count = |is: &dyn Fn(&Victim) -> bool| history.kills.iter().filter(|kill| is(&kill.victim)).count();
    let phase = |phase: Phase| count(&|victim| *victim == Victim::Daemon(phase));
    row("daemons killed", count(&|victim| matches!(victim, Victim::Daemon(_))).to_string());
    row("  before they served", phase(Phase::Boot).to_string());
    row("  with a launch under way", phase(Phase::Launching).to_string());
    row("  in their first second", phase(Phase::FirstSecond).to_string());
    row("  later", phase(Phase::Serving).to_string());
    row("  starts that found a held lock", history.busy_starts.to_string());
    let mut shims: BTreeMap<&str, usize> = BTreeMap::new();
    for kill in &history.kills {
        let Victim::Shim(attempt, daemon) = &kill.victim else { continue };
        *shims.entry(if *daemon { "  beside a daemon" } else { "  without a daemon" }).or_default() += 1;
        let when = match history.aftermath.folders.get(attempt) {
            Some(Folder { started: false, .. }) | None => "  before their child",
            Some(Folder { record: Record::Space, .. }) => "  with a child at work",
            Some(Folder { record: Record::Half | Record::Written, .. }) => "  while publishing",
            Some(Folder { record: Record::Gone, .. }) => "  after publishing",
        };
        *shims.entry(when).or_default() += 1;
    }
    row("shims killed", count(&|victim| matches!(victim, Victim::Shim(..))).to_string());
    for (when, count) in shims {
        row(when, count.to_string());
    }
    row("children killed", count(&|victim| matches!(victim, Victim::Child(_))).to_string());
    row("calls lost", history.lost_calls.to_string());
}

fn runs(history: &History, row: &mut impl FnMut(&str, String)) {
    let runs = &history.aftermath.runs;
    row("launches, stored runs", format!("{}, {}", history.launches.len(), runs.len()));
    row("launches answered as known", history.repeated_launches.to_string());
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for run in runs.values() {
        *ends.entry(format!("  {:?} {}", run.state, run.reason)).or_default() += 1;
    }
    for (end, count) in ends {
        row(&end, count.to_string());
    }
    row("queued again", runs.values().filter(|run| run.attempt > 1).count().to_string());
    let cancels = || history.launches.iter().flat_map(|launch| &launch.cancels);
    let mut answers: BTreeMap<&str, usize> = BTreeMap::new();
    for answer in cancels().filter_map(|cancel| cancel.answer.as_ref()) {
        *answers.entry(&answer.outcome).or_default() += 1;
    }
    row("cancels answered", format!("{answers:?}"));
}

/// Children that daemons found alive at their start, as their logs say.
fn adopted(log: &str) -> u64 {
    let lines = log.lines().filter(|line| line.contains("taken up"));
    lines.filter_map(|line| line.split("live=").nth(1)?.split_ascii_whitespace().next()?.parse::<u64>().ok()).sum()
}

/// Warnings without their particulars, the most frequent first.
fn warnings(log: &str) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in log.lines().filter_map(|line| line.split_once(" WARN ").map(|(_, rest)| rest)) {
        // `module: message field=value …`
        let words: Vec<&str> = line.split_ascii_whitespace().skip(1).take_while(|word| !word.contains('=')).collect();
        *counts.entry(words.join(" ")).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}
