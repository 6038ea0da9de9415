//! How hard the model thinks.

use crate::definition::{Definition, Thinking};
use crate::plan::{Alternative, Decision, Source};

use super::choice::{asked, reason};
use super::{ModelFacts, Refusal, Request, RuntimeFacts};

/// `known` are the model's facts; without them the level is taken as asked, and the child's own report is compared
/// with it after the start.
pub(super) fn choose(
    request: &Request,
    definition: &Definition,
    model: &str,
    known: Option<&ModelFacts>,
    runtime: &RuntimeFacts,
) -> Result<Decision<String>, Refusal> {
    let Some(choice) = asked(request.thinking.as_ref(), &definition.thinking) else {
        return Ok(automatic(known, runtime.default_thinking));
    };
    let Some(level) = Thinking::from_word(choice.value) else {
        return Err(Refusal::ThinkingUnknown { asked: choice.value.to_owned(), source: choice.source });
    };
    if let Some(facts) = known.filter(|facts| !facts.thinking_levels.contains(&level)) {
        return Err(Refusal::ThinkingUnavailable {
            asked: level,
            source: choice.source,
            model: model.to_owned(),
            available: facts.thinking_levels.clone(),
        });
    }
    Ok(Decision {
        value: level.word().to_owned(),
        source: choice.source,
        reason: reason(choice.source, definition),
        alternatives: Vec::new(),
    })
}

fn automatic(known: Option<&ModelFacts>, wish: Thinking) -> Decision<String> {
    let lacks = known.is_some_and(|facts| !facts.thinking_levels.contains(&wish));
    let lowest = known.and_then(|facts| facts.thinking_levels.iter().min().copied());
    let (level, reason, alternatives) = if lacks {
        let fell_through =
            Alternative { value: wish.word().to_owned(), reason: "the model does not have this level".to_owned() };
        (
            lowest.unwrap_or(Thinking::Off),
            "the lowest level of the model, since it lacks the runtime's default",
            vec![fell_through],
        )
    } else {
        (wish, "the runtime's default", Vec::new())
    };
    Decision { value: level.word().to_owned(), source: Source::Runtime, reason: reason.to_owned(), alternatives }
}
