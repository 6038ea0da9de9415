//! Who said something, for people.

use crate::definition::{Definition, Key, Layer};

/// The place of a field's word: its layer, and where to find it.
pub(super) fn says(definition: &Definition, key: Key) -> String {
    let agent = &definition.identifier;
    match definition.origin(key) {
        Some(origin) if matches!(origin.layer, Layer::User | Layer::Project) => {
            format!("the {} definition of {agent} ({}, line {})", origin.layer.word(), origin.file, origin.line)
        }
        Some(origin) => format!("the {} definition of {agent}", origin.layer.word()),
        None => format!("the definition of {agent}"),
    }
}
