//! The outside checker: a pure function from a history to everything that is wrong with it.

mod ends;
mod keys;
mod left;
mod notices;
mod writers;

use std::collections::BTreeMap;
use std::fmt;

use super::history::{History, Launch};

/// A promise of the design that can be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// An acknowledged launch is stored.
    Lost,
    /// A key makes one run.
    Doubled,
    /// Nobody launched this.
    Unknown,
    /// A run reaches an end in time.
    NotEnded,
    /// A child is never run twice.
    RunTwice,
    /// The end is the right one.
    WrongEnd,
    /// An end that was told stays.
    ChangedEnd,
    /// The stored answer is the child's.
    WrongAnswer,
    /// What was cancelled in the queue never starts.
    StartedAfterCancel,
    /// Never two writers in one scope.
    Overlap,
    /// When a run has ended, nothing of it does anything.
    LifeAfterEnd,
    /// One notice per run and owner.
    Notice,
    /// An acknowledged notice is not offered again.
    OfferedAgain,
    /// No process is left.
    Process,
    /// Nothing is left in the spool, or set aside as bad.
    Spool,
    /// No lease is left, the queue is empty.
    Held,
    /// The daemon's log has no error.
    Log,
    /// Something that must not happen was seen while it happened.
    Trouble,
}

/// A broken promise, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which one.
    pub rule: Rule,
    /// What shows it.
    pub evidence: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.evidence)
    }
}

/// Gathers violations.
#[derive(Debug, Default)]
struct Findings(Vec<Violation>);

impl Findings {
    fn add(&mut self, rule: Rule, evidence: impl Into<String>) {
        self.0.push(Violation { rule, evidence: evidence.into() });
    }
}

/// A history with what all rules look up.
struct Case<'a> {
    history: &'a History,
    /// Launches by run: what was acknowledged, and what the store says by the key.
    by_run: BTreeMap<&'a str, &'a Launch>,
}

/// Everything that is wrong with a history; nothing for a good one.
#[must_use]
pub fn check(history: &History) -> Vec<Violation> {
    let case = Case { history, by_run: by_run(history) };
    let mut findings = Findings::default();
    keys::check(&case, &mut findings);
    ends::check(&case, &mut findings);
    writers::check(&case, &mut findings);
    notices::check(&case, &mut findings);
    left::check(&case, &mut findings);
    findings.0
}

fn by_run(history: &History) -> BTreeMap<&str, &Launch> {
    let by_key: BTreeMap<&str, &Launch> = history.launches.iter().map(|launch| (launch.key.as_str(), launch)).collect();
    let stored = history
        .aftermath
        .runs
        .iter()
        .filter_map(|(run, stored)| Some((run.as_str(), *by_key.get(stored.key.as_str())?)));
    let acknowledged =
        history.launches.iter().flat_map(|launch| launch.acknowledged.iter().map(move |run| (run.as_str(), launch)));
    acknowledged.chain(stored).collect()
}

#[cfg(test)]
mod tests;
