//! Whether a child begins with its parent's conversation.

use super::{Facts, Refusal, Request};
use crate::definition::{Definition, Field};
use crate::plan::{Alternative, Decision, Source};

/// It begins with nothing but its task.
pub const FRESH: &str = "fresh";
/// It begins with a copy of its parent's conversation.
pub const PARENT: &str = "parent";

/// The call first, then the definition. An agent that would like the conversation starts fresh where there is none
/// (G8); only who asks for it in the call is refused.
pub(super) fn choose(request: &Request, definition: &Definition, facts: &Facts) -> Result<Decision<String>, Refusal> {
    let decided = |value: &str, source, reason: String| Decision {
        value: value.to_owned(),
        source,
        reason,
        alternatives: Vec::new(),
    };
    let agent = &definition.identifier;
    match (request.context.as_deref(), definition.inherit_context) {
        (Some(FRESH), _) => Ok(decided(FRESH, Source::Call, "the call says so".to_owned())),
        (Some(PARENT), _) if facts.conversation => Ok(decided(PARENT, Source::Call, "the call says so".to_owned())),
        (Some(PARENT), _) => Err(Refusal::ConversationMissing),
        (Some(other), _) => Err(Refusal::ContextUnknown { asked: other.to_owned() }),
        (None, Field::Set(true)) if facts.conversation => {
            Ok(decided(PARENT, Source::Definition, format!("{agent} begins with its parent's conversation")))
        }
        (None, Field::Set(true)) => Ok(Decision {
            alternatives: vec![Alternative {
                value: PARENT.to_owned(),
                reason: "no conversation came with the call".to_owned(),
            }],
            ..decided(FRESH, Source::Default, format!("{agent} asks for its parent's conversation, and there is none"))
        }),
        (None, Field::Set(false)) => Ok(decided(FRESH, Source::Definition, format!("{agent} starts fresh"))),
        (None, Field::Absent | Field::Null) => {
            Ok(decided(FRESH, Source::Default, "nobody asked for another context".to_owned()))
        }
    }
}
