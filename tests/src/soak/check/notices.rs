//! Notices: one per run, for its owner, telling the stored end; offered until acknowledged and not after.

use std::collections::BTreeMap;

use super::{Case, Findings, Rule};
use crate::soak::history::StoredNotice;

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    let aftermath = &case.history.aftermath;
    let mut of_run: BTreeMap<&str, Vec<&StoredNotice>> = BTreeMap::new();
    for notice in &aftermath.notices {
        of_run.entry(&notice.run).or_default().push(notice);
    }
    for (run, notices) in &of_run {
        let Some(row) = aftermath.runs.get(*run) else {
            findings.add(Rule::Notice, format!("notice {} tells of {run}, which is not stored", numbers(notices)));
            continue;
        };
        if notices.len() > 1 {
            findings.add(Rule::Notice, format!("{run} ({}) has notices {}", row.key, numbers(notices)));
        }
        for notice in notices {
            if notice.owner != row.owner {
                let text =
                    format!("notice {} of {run} is in the inbox of {}, not of {}", notice.seq, notice.owner, row.owner);
                findings.add(Rule::Notice, text);
            }
            if notice.state != row.state || notice.reason != row.reason {
                findings.add(
                    Rule::Notice,
                    format!(
                        "notice {} says {:?}/{}, {run} ({}) is {:?}/{}",
                        notice.seq, notice.state, notice.reason, row.key, row.state, row.reason
                    ),
                );
            }
        }
    }
    for (run, row) in
        aftermath.runs.iter().filter(|(run, row)| row.state.is_end() && !of_run.contains_key(run.as_str()))
    {
        findings.add(Rule::Notice, format!("{run} ({}, {:?}) has no notice", row.key, row.state));
    }
    offers(case, findings);
}

fn offers(case: &Case<'_>, findings: &mut Findings) {
    for offer in &case.history.offers {
        if offer.after_acknowledgement {
            let text = format!(
                "notice {} of {} was offered to {} after its acknowledgement",
                offer.seq, offer.run, offer.owner
            );
            findings.add(Rule::OfferedAgain, text);
        }
        let stored = case.history.aftermath.notices.iter().find(|notice| notice.seq == offer.seq);
        let same = stored.is_some_and(|notice| {
            (&notice.run, &notice.owner, notice.state) == (&offer.run, &offer.owner, offer.state)
        });
        if !same {
            findings.add(Rule::Notice, format!("{offer:?} was offered, stored is {stored:?}"));
        }
    }
}

fn numbers(notices: &[&StoredNotice]) -> String {
    notices.iter().map(|notice| notice.seq.to_string()).collect::<Vec<_>>().join(", ")
}
