//! Which model a child runs on, and how hard it thinks.
//!
//! A model that somebody names is taken exactly or refused. Otherwise the child's role picks a rung of the ladder that
//! the parent's family has, and the walk goes down from there at the parent's own version; when nothing on the way can
//! be run, the child keeps the parent's model. Nothing here knows a release, a price or the order of a list.

mod error;
mod exact;
mod family;
mod profile;
mod reading;
mod registry;
mod target;
mod thinking;
mod walk;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use crate::definition::Thinking;
use crate::plan::{Decision, Source};

pub use error::RouteError;
pub use exact::Exact;
pub use family::Family;
pub use profile::{
    Fault, Group, Label, Ladder, LadderLayer, ModelRole, PROFILE_FAULTS, Profile, Profiles, Segment, Size, TIERS, Tier,
};
pub use registry::{Model, Registry, Runs};
pub use thinking::{Applied, NOT_APPLICABLE, thought};

/// What a choice depends on.
#[derive(Debug, Clone, Copy)]
pub struct RouteRequest<'a> {
    /// Normalised identifier of the agent.
    pub role: &'a str,
    /// The model whose child this is.
    pub parent: Option<&'a Parent>,
    /// What the call names.
    pub call: Asked<'a>,
    /// What the effective definition names.
    pub definition: Asked<'a>,
}

/// What somebody named, as written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked<'a> {
    /// `provider/id`.
    pub model: Option<&'a str>,
    /// A thinking level.
    pub thinking: Option<&'a str>,
}

/// The model that asks for the child, as captured with the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    /// Its provider and id.
    pub model: Exact,
    /// How hard it thinks; `None` if nobody knows.
    pub effort: Option<Thinking>,
    /// What it can do, for a parent that is in no list of runnable models.
    pub runs: Option<Runs>,
    /// Who says that this is the parent.
    pub source: Source,
}

/// What a child runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routed {
    /// Provider and id. The alternatives are the rungs that were looked at and not taken.
    pub model: Decision<Exact>,
    /// Why this model, as a stable word.
    pub kind: ReasonKind,
    /// How hard it thinks.
    pub thinking: Decision<Applied>,
}

/// Why a child runs on its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReasonKind {
    /// The call named it.
    ExplicitCall,
    /// The definition named it.
    ExplicitFile,
    /// A rung of the family's ladder.
    Routed,
    /// The parent's: no family of ours.
    UnknownFamily,
    /// The parent's: its id has no version where the family has it.
    UnparsedVersion,
    /// The parent's: its tier is not on the ladder.
    UnknownTier,
    /// The parent's: nothing from the target downward can be run.
    Exhausted,
    /// The parent's: the family's ladder was replaced by a faulty one.
    ProfileInvalid,
    /// The parent's: the runtime tells its models only after the start.
    ModelsUnknown,
}

impl ReasonKind {
    /// The word on the wire; parts after a dot refine what stands before it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ExplicitCall => "explicit.call",
            Self::ExplicitFile => "explicit.file",
            Self::Routed => "routed",
            Self::UnknownFamily => "retained.unknown-family",
            Self::UnparsedVersion => "retained.unparsed-version",
            Self::UnknownTier => "retained.unknown-tier",
            Self::Exhausted => "retained.exhausted",
            Self::ProfileInvalid => "retained.profile-invalid",
            Self::ModelsUnknown => "retained.models-unknown",
        }
    }
}

/// Chooses model and thinking level.
///
/// # Errors
///
/// When something that was named cannot be had exactly, or nobody named a model and there is no parent.
pub fn route(request: &RouteRequest<'_>, profiles: &Profiles, registry: &Registry) -> Result<Routed, RouteError> {
    let chosen = match exact::named(request)? {
        Some(named) => exact::runnable(named, request.role, registry)?,
        None => {
            let parent = request.parent.ok_or(RouteError::NotNamed)?;
            walk::from_parent(parent, request.role, profiles, registry)
        }
    };
    let thinking = thinking::choose(request, &chosen)?;
    Ok(Routed { model: chosen.model, kind: chosen.kind, thinking })
}

/// A model before its thinking level is settled.
#[derive(Debug)]
struct Chosen {
    model: Decision<Exact>,
    kind: ReasonKind,
    /// `None` if nobody knows what the model can do.
    runs: Option<Runs>,
}
