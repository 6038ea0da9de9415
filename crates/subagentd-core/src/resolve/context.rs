//! Whether a child starts from its parent's conversation.

use crate::definition::{Definition, Field, Key};
use crate::plan::{Alternative, Decision, Source};

use super::choice::says;
use super::{Capture, Refusal, Request};

/// It begins with nothing but its task.
pub const FRESH: &str = "fresh";
/// It begins with a copy of its parent's conversation.
pub const PARENT: &str = "parent";

pub(super) fn choose(
    request: &Request,
    definition: &Definition,
    capture: &Capture,
) -> Result<Decision<String>, Refusal> {
    let there = capture.conversation.is_some();
    let (value, source, reason) = match (request.context.as_deref(), &definition.inherit_context) {
        (Some(PARENT), _) if !there => return Err(Refusal::NoConversation),
        (Some(word @ (FRESH | PARENT)), _) => (word, Source::Call, "the call says so".to_owned()),
        (Some(other), _) => return Err(Refusal::ContextUnknown { asked: other.to_owned() }),
        (None, Field::Set(true)) if !there => return Ok(missing(definition)),
        (None, Field::Set(inherits)) => {
            let value = if *inherits { PARENT } else { FRESH };
            (value, Source::Definition, format!("{} says so", says(definition, Key::InheritContext)))
        }
        (None, Field::Absent | Field::Null) => (FRESH, Source::Default, "nobody asked for another context".to_owned()),
    };
    Ok(Decision { value: value.to_owned(), source, reason, alternatives: Vec::new() })
}

/// A wish of the definition is no order: without a conversation there is nothing to inherit.
fn missing(definition: &Definition) -> Decision<String> {
    let by = says(definition, Key::InheritContext);
    Decision {
        value: FRESH.to_owned(),
        source: Source::Default,
        reason: format!("{by} asks for its parent's conversation, and no conversation came with the launch"),
        alternatives: vec![Alternative { value: PARENT.to_owned(), reason: "no conversation was captured".to_owned() }],
    }
}
