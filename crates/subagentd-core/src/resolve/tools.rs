//! Which tools a child gets, and what follows from them for its scope.

use crate::definition::{Access, Definition, Field, Tools};
use crate::plan::{Alternative, Class, Decision, Source};

/// Tools that only look. Any other tool makes a child exclusive.
const LOOKING: [&str; 4] = ["read", "grep", "find", "ls"];
/// Tools that are known to be able to write.
const WRITING: [&str; 3] = ["bash", "edit", "write"];
/// What `inherit` stands for as long as no parent's tools come with a launch.
const INHERITED: [&str; 4] = ["read", "bash", "edit", "write"];
/// Tools that launch and steer subagents: a child gets none of them.
const MANAGING: [&str; 3] = ["subagent", "get_subagent_result", "steer_subagent"];

/// The tools that a child of this agent gets.
#[must_use]
pub fn effective_tools(definition: &Definition) -> Decision<Vec<String>> {
    let agent = &definition.identifier;
    let inherited = "the tools of its parent, which no launch states yet: read, bash, edit and write";
    let (listed, source, reason) = match &definition.tools {
        Field::Set(Tools::List(names)) => (names.clone(), Source::Definition, format!("{agent} lists its tools")),
        Field::Set(Tools::Inherit) => (owned(&INHERITED), Source::Default, format!("{agent} inherits {inherited}")),
        Field::Absent | Field::Null => {
            let reason = format!("{agent} lists no tools and so inherits {inherited}");
            (owned(&INHERITED), Source::Default, reason)
        }
    };
    let (managing, value): (Vec<_>, Vec<_>) = listed.into_iter().partition(|name| MANAGING.contains(&name.as_str()));
    let refused =
        managing.into_iter().map(|value| Alternative { value, reason: "a child does not manage subagents".to_owned() });
    Decision { value, source, reason, alternatives: refused.collect() }
}

/// Whether a child with these tools may run beside others in its scope. The name of the agent has no say in it.
#[must_use]
pub fn class_of(definition: &Definition, tools: &Decision<Vec<String>>) -> Decision<Class> {
    let others = tools.value.iter().filter(|name| !LOOKING.contains(&name.as_str()));
    let (writing, unknown): (Vec<_>, Vec<_>) = others.partition(|name| WRITING.contains(&name.as_str()));
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

fn not_enforced(access: Access) -> String {
    format!("its `access: {}` is not-enforced", access.word())
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
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
