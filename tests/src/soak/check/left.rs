//! What must not be there once everything has ended.

use super::{Case, Findings, Rule};

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    let aftermath = &case.history.aftermath;
    for process in &aftermath.processes {
        findings.add(Rule::Process, process.as_str());
    }
    for name in &aftermath.spool {
        findings.add(Rule::Spool, format!("{name} is left in the spool"));
    }
    for name in &aftermath.bad {
        findings.add(Rule::Spool, format!("{name} was set aside as bad"));
    }
    for lease in &aftermath.leases {
        findings.add(Rule::Held, format!("a lease is left: {lease}"));
    }
    let (live, queued) = aftermath.live_and_queued;
    if (live, queued) != (0, 0) {
        findings.add(Rule::Held, format!("the daemon counts {live} live and {queued} waiting children"));
    }
    for line in &aftermath.log {
        findings.add(Rule::Log, line.as_str());
    }
    for trouble in &case.history.troubles {
        findings.add(Rule::Trouble, trouble.as_str());
    }
}
