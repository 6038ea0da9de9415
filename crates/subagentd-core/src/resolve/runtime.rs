//! Which program runs the child.

use crate::definition::{Definition, Key};
use crate::plan::{Decision, Source};

use super::choice::says;
use super::{Facts, Refusal, Request, RuntimeFacts};

pub(super) fn choose<'a>(
    request: &Request,
    definition: &Definition,
    facts: &'a Facts,
) -> Result<(Decision<String>, &'a RuntimeFacts), Refusal> {
    let default = &facts.default_runtime;
    let (name, source, reason) = match (&request.runtime, definition.runtime.set()) {
        (Some(name), _) => (name, Source::Call, "the call names it".to_owned()),
        (None, Some(name)) => (name, Source::Definition, format!("{} names it", says(definition, Key::Runtime))),
        (None, None) => (&default.name, default.source, default.reason.clone()),
    };
    let Some(runtime) = facts.runtimes.get(name) else {
        return Err(Refusal::RuntimeUnknown { asked: name.clone(), source, available: usable(facts) });
    };
    if !runtime.usable {
        return Err(Refusal::RuntimeUnusable {
            runtime: name.clone(),
            why: runtime.why.clone(),
            available: usable(facts),
        });
    }
    let decision = Decision { value: name.clone(), source, reason, alternatives: Vec::new() };
    Ok((decision, runtime))
}

fn usable(facts: &Facts) -> Vec<String> {
    let usable = facts.runtimes.iter().filter(|(_, runtime)| runtime.usable);
    usable.map(|(name, _)| name.clone()).collect()
}
