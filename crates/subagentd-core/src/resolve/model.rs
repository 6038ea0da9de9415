//! Which model: the call's, else the definition's, else the runtime's own. Exactly that one or none.

use crate::definition::{Definition, edits};
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
            available: nearest_first(names(facts), choice.value),
        });
    }
    Ok(known)
}

/// Provider and id; the id begins after the first slash and may contain more.
fn exact(text: &str) -> Option<(&str, &str)> {
    text.split_once('/').filter(|(provider, id)| !provider.is_empty() && !id.is_empty())
}

/// Bytes of a name that nearness is judged by; longer ones keep their order.
const NEAR_BYTES: usize = 128;

/// What may have been meant comes first: a refusal names only some of a long list.
fn nearest_first(mut names: Vec<String>, asked: &str) -> Vec<String> {
    let asked = asked.to_lowercase();
    if asked.len() <= NEAR_BYTES {
        names.sort_by_cached_key(|name| distance(&asked, &name.to_lowercase()));
    }
    names
}

/// The same id at another provider is nearest, then a name that holds or is held by the other, then few different
/// letters.
fn distance(asked: &str, name: &str) -> (u8, usize) {
    let id = |name: &str| name.split_once('/').map_or(name, |(_, id)| id).to_owned();
    let (asked_id, own_id) = (id(asked), id(name));
    let last = |id: &str| id.rsplit('/').next().unwrap_or_default().to_owned();
    let group = if asked_id == own_id {
        0
    } else if last(&asked_id) == last(&own_id) {
        1
    } else if own_id.contains(&asked_id) || asked_id.contains(&own_id) {
        2
    } else {
        3
    };
    let edits = if name.len() <= NEAR_BYTES { edits(asked, name) } else { usize::MAX };
    (group, edits)
}

fn names(facts: &RuntimeFacts) -> Vec<String> {
    let models = facts.models.iter().flatten();
    models.map(|model| format!("{}/{}", model.provider, model.id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_meant_comes_first() {
        let known = ["acme/large-2", "acme/small-1", "gate/acme/small-1", "gate/small-1-fast", "other/small-1"];
        let first = |asked: &str, count: usize| {
            let mut names = nearest_first(known.map(str::to_owned).to_vec(), asked);
            names.truncate(count);
            names
        };
        assert_eq!(first("Acme/Small-1", 1), ["acme/small-1"], "only the case is wrong");
        assert_eq!(first("mine/small-1", 3), ["acme/small-1", "other/small-1", "gate/acme/small-1"], "other providers");
        assert_eq!(first("acme/smal-1", 1), ["acme/small-1"], "a letter is missing");
        assert_eq!(first("acme/large", 1), ["acme/large-2"], "a beginning");
        assert_eq!(first(&"x".repeat(1_000), 5), known, "nothing is near");
    }
}
