//! A value that somebody asked for by name.

use crate::definition::{Definition, Field};
use crate::plan::Source;

/// What was asked for, and by whom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice<'a> {
    pub(super) value: &'a str,
    pub(super) source: Source,
}

/// The call's word, else the definition's. The one that loses is never looked at.
pub(super) fn asked<'a>(call: Option<&'a String>, definition: &'a Field<String>) -> Option<Choice<'a>> {
    let call = call.map(|value| (value, Source::Call));
    let named = call.or_else(|| definition.set().map(|value| (value, Source::Definition)));
    named.map(|(value, source)| Choice { value, source })
}

/// Who asked, as a reason.
pub(super) fn reason(source: Source, definition: &Definition) -> String {
    match source {
        Source::Definition => format!("the definition of {} names it", definition.identifier),
        _ => "the call names it".to_owned(),
    }
}
