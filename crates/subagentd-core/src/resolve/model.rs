//! Which model: the call's, else the definition's, else the runtime's own. Exactly that one or none.

use crate::definition::Definition;
use crate::plan::{Decision, Source};

use super::choice::{Choice, asked, reason};
use super::{ModelFacts, Refusal, Request, RuntimeFacts};

pub(super) fn choose<'a>(
    request: &Request,
    definition: &Definition,
    runtime: &str,
    facts: &'a RuntimeFacts,
) -> Result<(Decision<String>, Option<&'a ModelFacts>), Refusal> {
    let (choice, reason) = match asked(request.model.as_ref(), &definition.model) {
        Some(choice) => (choice, reason(choice.source, definition)),
        None => (automatic(runtime, facts)?, format!("the default of the runtime {runtime}")),
    };
    let known = find(choice, runtime, facts)?;
    let decision = Decision { value: choice.value.to_owned(), source: choice.source, reason, alternatives: Vec::new() };
    Ok((decision, known))
}

fn automatic<'a>(runtime: &str, facts: &'a RuntimeFacts) -> Result<Choice<'a>, Refusal> {
    let Some(value) = &facts.default_model else {
        return Err(Refusal::ModelNotNamed { runtime: runtime.to_owned(), available: names(facts) });
    };
    Ok(Choice { value, source: Source::Runtime })
}

/// The model's facts, if the runtime's models are known at all.
fn find<'a>(choice: Choice<'_>, runtime: &str, facts: &'a RuntimeFacts) -> Result<Option<&'a ModelFacts>, Refusal> {
    let Some((provider, id)) = exact(choice.value) else {
        return Err(Refusal::ModelNotExact { asked: choice.value.to_owned(), source: choice.source });
    };
    let Some(models) = &facts.models else {
        return Ok(None);
    };
    let known = models.iter().find(|model| model.provider == provider && model.id == id);
    if known.is_none() {
        return Err(Refusal::ModelUnavailable {
            provider: provider.to_owned(),
            id: id.to_owned(),
            source: choice.source,
            runtime: runtime.to_owned(),
            available: names(facts),
        });
    }
    Ok(known)
}

/// Provider and id; the id begins after the first slash and may contain more.
fn exact(text: &str) -> Option<(&str, &str)> {
    text.split_once('/').filter(|(provider, id)| !provider.is_empty() && !id.is_empty())
}

fn names(facts: &RuntimeFacts) -> Vec<String> {
    let models = facts.models.iter().flatten();
    models.map(|model| format!("{}/{}", model.provider, model.id)).collect()
}
