//! The runtimes of this machine, as the resolver sees them.

use std::collections::BTreeMap;

use subagentd_core::definition::Thinking;
use subagentd_core::plan::Source;
use subagentd_core::resolve::{DefaultRuntime, RuntimeFacts};
use subagentd_core::route::{Model, Registry};

use crate::settings::{OFFLINE, Settings};

/// The runtimes, and which one a launch gets that names none.
pub(crate) struct Runtimes {
    facts: BTreeMap<String, RuntimeFacts>,
    default: DefaultRuntime,
}

/// One runtime for a list.
#[derive(Clone, Copy)]
pub(crate) struct Listed<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it is the default.
    pub default: bool,
    /// Why it can be used, or is the default.
    pub reason: &'a str,
}

impl Runtimes {
    /// Those that are configured, and `offline`, which is part of this program.
    #[must_use]
    pub(crate) fn find(settings: &Settings) -> Self {
        let configured = settings.runtimes.keys().map(|name| (name.clone(), of_configuration(name)));
        let mut facts: BTreeMap<String, RuntimeFacts> = configured.collect();
        facts.insert(OFFLINE.to_owned(), offline());
        let default = match &settings.default_runtime {
            Some(name) => DefaultRuntime {
                name: name.clone(),
                source: Source::Configuration,
                reason: "`default_runtime` in the configuration names it".to_owned(),
            },
            None => DefaultRuntime {
                name: OFFLINE.to_owned(),
                source: Source::Default,
                reason: "no runtime with a model is set up; name one by `default_runtime`".to_owned(),
            },
        };
        Self { facts, default }
    }

    /// What the resolver gets.
    #[must_use]
    pub(crate) fn facts(&self) -> BTreeMap<String, RuntimeFacts> {
        self.facts.clone()
    }

    /// The runtime of a launch that names none.
    #[must_use]
    pub(crate) fn default(&self) -> &DefaultRuntime {
        &self.default
    }

    /// All of them, by name.
    pub(crate) fn list(&self) -> impl Iterator<Item = Listed<'_>> {
        self.facts.iter().map(|(name, facts)| {
            let default = *name == self.default.name;
            let reason = if default { &self.default.reason } else { &facts.why };
            Listed { name, default, reason }
        })
    }
}

fn of_configuration(name: &str) -> RuntimeFacts {
    RuntimeFacts {
        usable: true,
        why: format!("`runtimes.{name}.command` in the configuration names its program"),
        // Its own list decides, in the child, before the first prompt.
        models: Registry::unknown(),
        takes_parent: true,
        default_model: None,
        default_thinking: None,
        default_tools: None,
    }
}

fn offline() -> RuntimeFacts {
    RuntimeFacts {
        usable: true,
        why: "part of this program; it searches the workspace and needs no model".to_owned(),
        models: Registry::new([Model {
            provider: OFFLINE.to_owned(),
            id: "search".to_owned(),
            reasoning: false,
            levels: vec![Thinking::Off],
        }]),
        takes_parent: false,
        default_model: Some(format!("{OFFLINE}/search")),
        default_thinking: None,
        default_tools: None,
    }
}
