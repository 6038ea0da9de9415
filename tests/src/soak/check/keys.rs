//! Launches: acknowledged means stored, and one key is one run.

use std::collections::{BTreeMap, BTreeSet};

use super::{Case, Findings, Rule};

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    let stored = &case.history.aftermath.runs;
    let mut of_key: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (run, row) in stored {
        of_key.entry(&row.key).or_default().insert(run);
    }
    for launch in &case.history.launches {
        for run in &launch.acknowledged {
            of_key.entry(&launch.key).or_default().insert(run);
            match stored.get(run) {
                None => {
                    findings.add(Rule::Lost, format!("{run} ({}) was acknowledged and is not stored", launch.key));
                }
                Some(row) if row.key != launch.key || row.owner != launch.owner => findings.add(
                    Rule::Unknown,
                    format!(
                        "{run} was acknowledged to {} for {} and belongs to {} for {}",
                        launch.owner, launch.key, row.owner, row.key
                    ),
                ),
                Some(_) => {}
            }
        }
    }
    for (key, runs) in of_key.iter().filter(|(_, runs)| runs.len() > 1) {
        findings.add(Rule::Doubled, format!("{key} made {} runs: {runs:?}", runs.len()));
    }
    for (run, row) in stored.iter().filter(|(run, _)| !case.by_run.contains_key(run.as_str())) {
        findings.add(Rule::Unknown, format!("{run} ({}) of {} is stored and nobody launched it", row.key, row.owner));
    }
}
