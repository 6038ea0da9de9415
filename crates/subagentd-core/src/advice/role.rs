//! What an agent is there for.

use crate::definition::Role;

/// Words in a name that make its agent a writer.
const WRITERS: [&str; 1] = ["builder"];
/// Words in a name that make its agent one that only looks.
const LOOKERS: [&str; 6] = ["architect", "commentator", "explorer", "recapper", "researcher", "analyst"];

/// How a role is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleBasis {
    /// Its definition declares it.
    Declared,
    /// Its name says it.
    Inferred,
}

impl RoleBasis {
    /// The word in texts and on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Inferred => "inferred",
        }
    }
}

/// The role of an agent: what it declares, else what a whole word of its name says. Aliases say nothing.
#[must_use]
pub fn routing_role(name: &str, declared: Option<Role>) -> Option<(Role, RoleBasis)> {
    if let Some(role) = declared {
        return Some((role, RoleBasis::Declared));
    }
    let name = name.to_lowercase();
    let says =
        |words: &[&str]| name.split(|character: char| !character.is_alphanumeric()).any(|part| words.contains(&part));
    if says(&WRITERS) {
        Some((Role::Writer, RoleBasis::Inferred))
    } else if says(&LOOKERS) {
        Some((Role::ReadOnly, RoleBasis::Inferred))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_declared_or_a_word_of_the_name() {
        use Role::{ReadOnly, Writer};
        for (name, declared, expected) in [
            ("builder", None, Some((Writer, RoleBasis::Inferred))),
            ("my_Builder-2", None, Some((Writer, RoleBasis::Inferred))),
            ("docs.researcher", None, Some((ReadOnly, RoleBasis::Inferred))),
            ("data-analyst", None, Some((ReadOnly, RoleBasis::Inferred))),
            ("rebuilder", None, None),
            ("builders", None, None),
            ("coder", None, None),
            ("architecture", None, None),
            ("builder", Some(ReadOnly), Some((ReadOnly, RoleBasis::Declared))),
            ("explorer", Some(Writer), Some((Writer, RoleBasis::Declared))),
        ] {
            assert_eq!(routing_role(name, declared), expected, "{name}");
        }
    }
}
