//! Which model, and how hard it thinks: the router's word, in terms of the launch.

use crate::definition::{Definition, Key, edits};
use crate::plan::{Decision, Source};
use crate::route::{Applied, Asked, Exact, Parent, ReasonKind, Registry, RouteError, RouteRequest, Routed, route};

use super::choice::says;
use super::policy::lower;
use super::{Facts, Refusal, Request, RuntimeFacts};

/// What the child runs on.
pub(super) struct Model {
    pub(super) exact: Exact,
    pub(super) model: Decision<String>,
    pub(super) kind: ReasonKind,
    pub(super) thinking: Decision<String>,
    /// Whether even the model's lowest level lies above a ceiling.
    pub(super) above_ceiling: bool,
}

pub(super) fn choose(
    request: &Request,
    definition: &Definition,
    runtime: &str,
    own: &RuntimeFacts,
    facts: &Facts,
) -> Result<Model, Refusal> {
    let registry = registry(own, facts);
    let parent = parent(own, facts);
    let asked = RouteRequest {
        role: &definition.identifier,
        parent: parent.as_ref(),
        call: Asked { model: request.model.as_deref(), thinking: request.thinking.as_deref() },
        definition: Asked {
            model: definition.model.set().map(String::as_str),
            thinking: definition.thinking.set().map(String::as_str),
        },
    };
    let routed = route(&asked, &facts.policy.profiles, registry);
    let Routed { mut model, kind, mut thinking } = routed.map_err(|error| refused(error, runtime, registry))?;
    if kind == ReasonKind::ExplicitFile {
        model.reason = format!("{} names it", says(definition, Key::Model));
    }
    let runs = registry.get(&model.value);
    let above_ceiling = lower(&mut thinking, request, runs, &facts.policy.ceilings)?;
    Ok(Model {
        exact: model.value.clone(),
        model: spelled(model, Exact::to_string),
        kind,
        thinking: spelled(thinking, Applied::to_string),
        above_ceiling,
    })
}

/// A host's list considers what the host restricts; it says nothing about a runtime of another kind.
fn registry<'a>(own: &'a RuntimeFacts, facts: &'a Facts) -> &'a Registry {
    match &facts.capture.models {
        Some(models) if own.takes_parent => models,
        _ => &own.models,
    }
}

/// The host's model, else the runtime's own default in a parent's place.
fn parent(own: &RuntimeFacts, facts: &Facts) -> Option<Parent> {
    if let Some(parent) = facts.capture.parent.as_ref().filter(|_| own.takes_parent) {
        return Some(parent.clone());
    }
    let model = own.default_model.as_deref().and_then(Exact::parse)?;
    Some(Parent { model, effort: own.default_thinking, runs: None, source: Source::Runtime })
}

fn refused(error: RouteError, runtime: &str, registry: &Registry) -> Refusal {
    let available = || registry.iter().map(|(provider, id, _)| format!("{provider}/{id}")).collect::<Vec<_>>();
    let runtime = runtime.to_owned();
    match error {
        RouteError::NotExact { asked, source } => Refusal::ModelNotExact { asked, source },
        RouteError::Unavailable { model: Exact { provider, id }, source } => {
            let available = nearest_first(available(), &format!("{provider}/{id}"));
            Refusal::ModelUnavailable { provider, id, source, runtime, available }
        }
        RouteError::NotNamed => Refusal::ModelNotNamed { runtime, available: available() },
        RouteError::ThinkingUnknown { asked, source } => Refusal::ThinkingUnknown { asked, source },
        RouteError::OffProhibited { model, source } => Refusal::OffProhibited { model: model.to_string(), source },
    }
}

fn spelled<T>(decision: Decision<T>, spell: impl Fn(&T) -> String) -> Decision<String> {
    let Decision { value, source, reason, alternatives } = decision;
    Decision { value: spell(&value), source, reason, alternatives }
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
