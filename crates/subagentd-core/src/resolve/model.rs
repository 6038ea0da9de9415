//! Which model, and how hard it thinks: the router's word, in terms of the launch.

use crate::definition::{Definition, Key};
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
    let available = || registry.iter().map(|(provider, id, _)| format!("{provider}/{id}")).collect();
    let runtime = runtime.to_owned();
    match error {
        RouteError::NotExact { asked, source } => Refusal::ModelNotExact { asked, source },
        RouteError::Unavailable { model: Exact { provider, id }, source } => {
            Refusal::ModelUnavailable { provider, id, source, runtime, available: available() }
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
