//! The agents that are shipped with the program: five that are always there, and packages that are switched on.

use super::{Definition, Layer};

/// Names of the shipped packages.
pub const PACKAGES: [&str; 1] = ["handoff"];

macro_rules! shipped {
    ($folder:literal: $($name:literal),*) => {
        [$(Shipped {
            name: $name,
            file: concat!("agents/", $folder, "/", $name, ".md"),
            text: include_str!(concat!("../../../../agents/", $folder, "/", $name, ".md")),
        }),*]
    };
}

struct Shipped {
    name: &'static str,
    file: &'static str,
    text: &'static str,
}

const BUILTIN: [Shipped; 5] = shipped!["builtin": "debug", "explore", "researcher", "reviewer", "worker"];
const HANDOFF: [Shipped; 5] = shipped!["handoff": "code", "explore", "general", "research", "review"];

/// The shipped definitions, with those of the packages that are switched on.
pub(super) fn definitions(packages: &[String]) -> Vec<Definition> {
    let parse = |layer| move |shipped: &Shipped| Definition::parse(shipped.name, layer, shipped.file, shipped.text);
    let handoff = PACKAGES.iter().filter(|name| packages.iter().any(|package| package == *name)).flat_map(|_| &HANDOFF);
    BUILTIN.iter().map(parse(Layer::Builtin)).chain(handoff.map(parse(Layer::Package))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Access, Catalog, Field, InheritTools, Role, Sources, Tools};
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn each_shipped_agent_is_sound_and_has_exactly_its_tools() {
        let listed = |names: &[&str]| Tools::List(list(names));
        let expected = [
            ("debug", Tools::Inherit, true, None),
            ("explore", listed(&["read", "grep", "find", "ls"]), false, Some(Role::ReadOnly)),
            ("researcher", listed(&["read", "grep", "find", "ls", "web_search"]), false, Some(Role::ReadOnly)),
            ("reviewer", listed(&["read", "grep", "find"]), false, Some(Role::ReadOnly)),
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

    #[test]
    fn the_handoff_package_is_off_until_it_is_switched_on_and_has_five_kinds() {
        let reading = ["read", "grep", "find", "ls", "bash", "codemode"];
        let writing = ["read", "grep", "find", "ls", "bash", "edit", "write", "codemode"];
        let never = ["subagent", "shell", "job_*", "ask_user_question", "powershell"];
        let sources = Sources { packages: vec!["handoff".to_owned()], ..Sources::default() };
        let catalog = Catalog::build(&sources);
        let packaged: Vec<_> = catalog.iter().filter(|definition| definition.layer == Layer::Package).collect();
        let names: Vec<_> = packaged.iter().map(|definition| definition.identifier.as_str()).collect();
        assert_eq!(names, ["code", "explore", "general", "research", "review"]);
        for definition in packaged {
            let name = definition.identifier.as_str();
            let writer = matches!(name, "code" | "general");
            assert_eq!(definition.problems, [], "{name}");
            let tools: &[&str] = if writer { &writing } else { &reading };
            assert_eq!(definition.tools, Field::Set(Tools::List(list(tools))), "{name}");
            let excluded: Vec<_> =
                [].iter().chain(if writer { &[][..] } else { &["edit", "write"] }).chain(&never).copied().collect();
            assert_eq!(definition.exclude_tools, Field::Set(list(&excluded)), "{name}");
            let inherited = if writer { InheritTools::All } else { InheritTools::NonDestructive };
            assert_eq!(definition.inherit_tools, Field::Set(inherited), "{name}");
            let role = if writer { Role::Writer } else { Role::ReadOnly };
            assert_eq!(definition.acceptance_role, Field::Set(role), "{name}");
            assert_eq!(definition.access.set().copied(), (!writer).then_some(Access::ReadOnly), "{name}");
            assert_eq!((&definition.output, &definition.allow_plan_files), (&Field::Absent, &Field::Absent), "{name}");
            assert_eq!(definition.instructions.is_empty(), name == "general", "{name}");
        }
        assert!(Catalog::builtin().find("code").is_err());
    }
}
