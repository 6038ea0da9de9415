//! How long a child may take.

use crate::definition::Definition;
use crate::plan::{Decision, Source, TimeLimits};

use super::{Facts, Request};

pub(super) fn choose(request: &Request, definition: &Definition, facts: &Facts) -> Decision<TimeLimits> {
    let ours = facts.limits_source;
    let default = facts.default_limits;
    let (total_ms, total) = pick(request.timeout_ms, definition.timeout_ms.set(), default.total_ms, ours);
    let (idle_ms, idle) = pick(request.idle_timeout_ms, definition.idle_timeout_ms.set(), default.idle_ms, ours);
    // One decision holds all limits: it is told under the name that stands nearest to the caller.
    let source = [Source::Call, Source::Definition].into_iter().find(|source| [total, idle].contains(source));
    Decision {
        value: TimeLimits { total_ms, idle_ms, ..default },
        source: source.unwrap_or(ours),
        reason: match (total == ours, idle == ours) {
            (true, true) => format!("all by {}", by(ours)),
            (false, true) => format!("in all by {}, others by {}", by(total), by(ours)),
            (true, false) => format!("without an event by {}, others by {}", by(idle), by(ours)),
            (false, false) => {
                format!("in all by {}, without an event by {}, others by {}", by(total), by(idle), by(ours))
            }
        },
        alternatives: Vec::new(),
    }
}

fn pick(call: Option<u64>, definition: Option<&u64>, default: u64, default_source: Source) -> (u64, Source) {
    match (call, definition) {
        (Some(length), _) => (length, Source::Call),
        (None, Some(length)) => (*length, Source::Definition),
        (None, None) => (default, default_source),
    }
}

const fn by(source: Source) -> &'static str {
    match source {
        Source::Call => "the call",
        Source::Definition => "the definition",
        Source::Configuration => "the configuration",
        Source::Default => "default",
        Source::Capture => "the parent",
        Source::Flag => "a flag",
        Source::Profile => "the profile",
        Source::Runtime => "the runtime",
        Source::Daemon => "the daemon",
    }
}
