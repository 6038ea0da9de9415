//! Models that somebody names: exactly that one, or none.

use std::fmt;

use crate::plan::{Decision, Source};

use super::{Chosen, ReasonKind, Registry, RouteError, RouteRequest};

/// A provider and the id of one of its models.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exact {
    /// The provider.
    pub provider: String,
    /// The id, which may contain more slashes.
    pub id: String,
}

impl Exact {
    /// Reads `provider/id`: the provider ends at the first slash, and neither half is empty.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, id) = text.split_once('/').filter(|(provider, id)| !provider.is_empty() && !id.is_empty())?;
        Some(Self { provider: provider.to_owned(), id: id.to_owned() })
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.id)
    }
}

/// A model that somebody named.
#[derive(Debug)]
pub(super) struct Named {
    model: Exact,
    source: Source,
    kind: ReasonKind,
}

/// The call's model, else the definition's. The one that loses is never looked at.
pub(super) fn named(request: &RouteRequest<'_>) -> Result<Option<Named>, RouteError> {
    let call = request.call.model.map(|model| (model, Source::Call, ReasonKind::ExplicitCall));
    let definition = request.definition.model.map(|model| (model, Source::Definition, ReasonKind::ExplicitFile));
    let Some((asked, source, kind)) = call.or(definition) else {
        return Ok(None);
    };
    match Exact::parse(asked) {
        Some(model) => Ok(Some(Named { model, source, kind })),
        None => Err(RouteError::NotExact { asked: asked.to_owned(), source }),
    }
}

pub(super) fn runnable(named: Named, role: &str, registry: &Registry) -> Result<Chosen, RouteError> {
    let Named { model, source, kind } = named;
    let Ok(runs) = registry.knowledge(&model) else {
        return Err(RouteError::Unavailable { model, source });
    };
    let reason = match source {
        Source::Definition => format!("the definition of {role} names it"),
        _ => "the call names it".to_owned(),
    };
    Ok(Chosen { model: Decision { value: model, source, reason, alternatives: Vec::new() }, kind, runs })
}
