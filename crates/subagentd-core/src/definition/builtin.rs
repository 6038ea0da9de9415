//! The agents that are shipped with the program.

use super::{Catalog, Definition, Layer};

macro_rules! shipped {
    ($($name:literal),*) => {
        [$(($name, concat!("agents/builtin/", $name, ".md"), include_str!(concat!("../../../../agents/builtin/", $name, ".md")))),*]
    };
}

/// Name, file and text of each.
const SHIPPED: [(&str, &str, &str); 5] = shipped!["debug", "explore", "researcher", "reviewer", "worker"];

impl Catalog {
    /// The shipped agents and no others.
    #[must_use]
    pub fn builtin() -> Self {
        let parsed = SHIPPED.map(|(name, file, text)| Definition::parse(name, Layer::Builtin, file, text));
        Self::new(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Field, Role, Tools};
    use super::*;

    #[test]
    fn each_shipped_agent_is_sound_and_has_exactly_its_tools() {
        let list = |names: &[&str]| Tools::List(names.iter().map(|name| (*name).to_owned()).collect());
        let expected = [
            ("debug", Tools::Inherit, true, None),
            ("explore", list(&["read", "grep", "find", "ls"]), false, Some(Role::ReadOnly)),
            ("researcher", list(&["read", "grep", "find", "ls", "web_search"]), false, Some(Role::ReadOnly)),
            ("reviewer", list(&["read", "grep", "find"]), false, Some(Role::ReadOnly)),
            ("worker", Tools::Inherit, false, Some(Role::Writer)),
        ];
        let catalog = Catalog::builtin();
        assert_eq!(catalog.iter().count(), expected.len());
        for (definition, (name, tools, inherit_context, role)) in catalog.iter().zip(expected) {
            assert_eq!(definition.identifier, name);
            assert_eq!(definition.problems, [], "{name}");
            assert_eq!(definition.tools, Field::Set(tools), "{name}");
            assert_eq!(definition.inherit_context, Field::Set(inherit_context), "{name}");
            assert_eq!(definition.run_in_background, Field::Set(true), "{name}");
            assert_eq!(definition.acceptance_role.set().copied(), role, "{name}");
            assert_eq!((&definition.model, &definition.thinking), (&Field::Absent, &Field::Absent), "{name}");
            assert_ne!(definition.described(), name);
            let lines = definition.instructions.lines().count();
            assert!((20..=45).contains(&lines), "{name} has {lines} lines of instructions");
        }
    }
}
