//! How hard the chosen model thinks.

use std::fmt;

use crate::definition::Thinking;
use crate::plan::{Alternative, Decision, Source};

use super::{Chosen, Exact, Parent, RouteError, RouteRequest, Runs};

/// The word for a model that cannot think.
pub const NOT_APPLICABLE: &str = "not-applicable";

/// What holds for the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Applied {
    /// The model thinks at this level.
    Level(Thinking),
    /// The model cannot think.
    NotApplicable,
}

impl Applied {
    /// The word on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Level(level) => level.word(),
            Self::NotApplicable => NOT_APPLICABLE,
        }
    }
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Levels that are tried in this order when nobody knows how hard the parent thinks.
const MODERATE: [Thinking; 2] = [Thinking::Medium, Thinking::Low];

pub(super) fn choose(request: &RouteRequest<'_>, chosen: &Chosen) -> Result<Decision<Applied>, RouteError> {
    let wish = wish(request)?;
    let parent = request.parent.and_then(|parent: &Parent| parent.effort);
    match &chosen.runs {
        Some(runs) => thought(&chosen.model.value, runs, wish, parent),
        None => Ok(unchecked(wish, parent)),
    }
}

/// The level that somebody named: the call, else the definition.
fn wish(request: &RouteRequest<'_>) -> Result<Option<(Thinking, Source)>, RouteError> {
    let call = request.call.thinking.map(|word| (word, Source::Call));
    let named = call.or(request.definition.thinking.map(|word| (word, Source::Definition)));
    let Some((word, source)) = named else {
        return Ok(None);
    };
    match Thinking::from_word(word) {
        Some(level) => Ok(Some((level, source))),
        None => Err(RouteError::ThinkingUnknown { asked: word.to_owned(), source }),
    }
}

/// The level of a model that can do `runs`, for a wish, else for what is known of the parent's effort.
///
/// # Errors
///
/// When a model that can think is to be kept from it.
pub fn thought(
    model: &Exact,
    runs: &Runs,
    wish: Option<(Thinking, Source)>,
    parent: Option<Thinking>,
) -> Result<Decision<Applied>, RouteError> {
    let efforts = runs.efforts();
    let (Some(least), Some(most)) = (efforts.first().copied(), efforts.last().copied()) else {
        return Ok(not_applicable(runs, wish));
    };
    match wish {
        Some((Thinking::Off, source)) => Err(RouteError::OffProhibited { model: model.clone(), source }),
        Some((level, source)) => {
            let nearest = efforts.iter().copied().find(|effort| *effort >= level).unwrap_or(most);
            Ok(asked(level, source, nearest))
        }
        None => Ok(automatic(efforts, parent, least)),
    }
}

fn not_applicable(runs: &Runs, wish: Option<(Thinking, Source)>) -> Decision<Applied> {
    let reason = if runs.hollow() { "the model is said to think, and has no level" } else { "the model cannot think" };
    Decision {
        value: Applied::NotApplicable,
        source: wish.map_or(Source::Default, |(_, source)| source),
        reason: reason.to_owned(),
        alternatives: dropped(wish.map(|(level, _)| level), reason),
    }
}

fn asked(level: Thinking, source: Source, nearest: Thinking) -> Decision<Applied> {
    let lacking = "the model does not have this level";
    let (reason, alternatives) = if nearest == level {
        (format!("{} names it", who(source)), Vec::new())
    } else {
        let direction = if nearest > level { "next above" } else { "next below" };
        let reason = format!("the level {direction} {}, which {} names", level.word(), who(source));
        (reason, dropped(Some(level), lacking))
    };
    Decision { value: Applied::Level(nearest), source, reason, alternatives }
}

fn automatic(efforts: &[Thinking], parent: Option<Thinking>, least: Thinking) -> Decision<Applied> {
    let (level, source, reason) = match parent {
        Some(effort) => {
            let below = efforts.iter().rev().find(|level| **level < effort);
            let which = if below.is_some() { "the model's next level below" } else { "the model's lowest, not below" };
            let reason = format!("{which} the parent's effort, {}", effort.word());
            (below.copied().unwrap_or(least), Source::Capture, reason)
        }
        None => {
            let moderate = MODERATE.into_iter().find(|level| efforts.contains(level));
            let reason = "how hard the parent thinks is not known: medium, else low, else the lowest".to_owned();
            (moderate.unwrap_or(least), Source::Default, reason)
        }
    };
    Decision { value: Applied::Level(level), source, reason, alternatives: Vec::new() }
}

/// Nobody knows what the model can do: what is known is taken as it is, and the child's own report is compared with it.
fn unchecked(wish: Option<(Thinking, Source)>, parent: Option<Thinking>) -> Decision<Applied> {
    let (value, source, reason) = match (wish, parent) {
        (Some((level, source)), _) => (Applied::Level(level), source, format!("{} names it", who(source))),
        (None, Some(effort)) => (
            Applied::Level(effort),
            Source::Capture,
            "the parent's own effort, since the model's levels are not known".to_owned(),
        ),
        (None, None) => {
            (Applied::NotApplicable, Source::Default, "neither levels nor the parent's effort are known".to_owned())
        }
    };
    Decision { value, source, reason, alternatives: Vec::new() }
}

fn dropped(level: Option<Thinking>, reason: &str) -> Vec<Alternative> {
    let alternative = level.map(|level| Alternative { value: level.word().to_owned(), reason: reason.to_owned() });
    alternative.into_iter().collect()
}

const fn who(source: Source) -> &'static str {
    match source {
        Source::Definition => "the definition",
        _ => "the call",
    }
}
