//! Whether a child may run beside others in its scope. The name of the agent has no say in it.

use std::collections::BTreeMap;

use crate::definition::{Access, Definition};
use crate::plan::{Class, Decision};

use super::capture::{ActiveTool, Effect};

/// Tools of the runtime that only look.
const LOOKING: [&str; 4] = ["read", "grep", "find", "ls"];
/// Tools of the runtime that can write, whatever anybody says of them.
const WRITING: [&str; 3] = ["bash", "edit", "write"];

/// What a tool can do to the workspace, as far as anybody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Looks,
    Writes,
    Nothing,
}

/// The class that follows from the effective tools.
#[must_use]
pub fn class_of(
    definition: &Definition,
    tools: &Decision<Vec<String>>,
    active: &[ActiveTool],
    effects: &BTreeMap<String, Effect>,
) -> Decision<Class> {
    let of = |wanted: Known| -> Vec<&String> {
        tools.value.iter().filter(|name| known(name, active, effects) == wanted).collect()
    };
    let (writing, unknown) = (of(Known::Writes), of(Known::Nothing));
    let mut reasons = Vec::new();
    if !writing.is_empty() {
        reasons.push(format!("it can write with {}", spoken(&writing)));
    }
    if !unknown.is_empty() {
        reasons.push(format!("what {} may write is not known", spoken(&unknown)));
    }
    let exclusive = !reasons.is_empty();
    if !exclusive {
        let tools: Vec<_> = tools.value.iter().collect();
        reasons.push(match tools.as_slice() {
            [] => "it has no tools".to_owned(),
            some => format!("it can only look, with {}", spoken(some)),
        });
    } else if let Some(access) = definition.access.set() {
        reasons.push(not_enforced(*access));
    }
    Decision {
        value: if exclusive { Class::Exclusive } else { Class::Shared },
        source: tools.source,
        reason: reasons.join("; "),
        alternatives: Vec::new(),
    }
}

/// The host's word on the effect counts for tools that somebody else supplies; a hint of the tool itself never does. A
/// tool that took the name of one of the runtime's is somebody else's.
fn known(name: &str, active: &[ActiveTool], effects: &BTreeMap<String, Effect>) -> Known {
    let captured = active.iter().find(|tool| tool.name == name);
    let stated = captured.and_then(|tool| tool.effect.or_else(|| effects.get(name).copied()));
    let is_own = captured.is_none_or(|tool| tool.supplier.is_none());
    match stated {
        _ if WRITING.contains(&name) => Known::Writes,
        Some(Effect::Write) => Known::Writes,
        Some(Effect::None | Effect::Read) => Known::Looks,
        None if is_own && LOOKING.contains(&name) => Known::Looks,
        None => Known::Nothing,
    }
}

fn not_enforced(access: Access) -> String {
    format!("its `access: {}` is not-enforced", access.word())
}

fn spoken(names: &[&String]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).clone(),
        [some @ .., last] => {
            let some: Vec<_> = some.iter().map(|name| name.as_str()).collect();
            format!("{} and {last}", some.join(", "))
        }
    }
}
