//! What a launch gets to know of the runtimes, and which one it gets when it names none.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use subagentd_core::definition::Thinking;
use subagentd_core::plan::{Program, Source};
use subagentd_core::resolve::{DefaultRuntime, RuntimeFacts};
use subagentd_core::route::{self, Registry};

use super::Findings;
use crate::settings::{OFFLINE, PI};

/// The runtimes as they are for one client.
pub(crate) struct Survey {
    known: BTreeMap<String, Arc<Findings>>,
    default: DefaultRuntime,
}

/// One runtime for a list.
#[derive(Clone, Copy)]
pub(crate) struct Listed<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it is the default.
    pub default: bool,
    /// Why it can or cannot be used, or is the default.
    pub reason: &'a str,
    /// All that is known of it.
    pub findings: &'a Findings,
}

impl Survey {
    pub(super) fn new(known: BTreeMap<String, Arc<Findings>>, configured: Option<&str>) -> Self {
        let default = choose_default(configured, known.get(PI).map(Arc::as_ref));
        Self { known, default }
    }

    /// What the resolver gets.
    #[must_use]
    pub(crate) fn facts(&self) -> BTreeMap<String, RuntimeFacts> {
        self.known.iter().map(|(name, findings)| (name.clone(), facts(name, findings))).collect()
    }

    /// The runtime of a launch that names none.
    #[must_use]
    pub(crate) fn default(&self) -> &DefaultRuntime {
        &self.default
    }

    /// The program of a runtime as it was found; `None` if it is not the client's environment that decides.
    #[must_use]
    pub(crate) fn program(&self, runtime: &str) -> Option<Program> {
        let (path, args) = self.known.get(runtime)?.command.split_first()?;
        Some(Program { path: PathBuf::from(path), args: args.to_vec() })
    }

    /// All of them, by name.
    pub(crate) fn list(&self) -> impl Iterator<Item = Listed<'_>> {
        self.known.iter().map(|(name, findings)| {
            let default = *name == self.default.name;
            let reason = if default && findings.usable { &self.default.reason } else { &findings.reason };
            Listed { name, default, reason, findings }
        })
    }
}

/// What is set, else pi where it can be used, else the one that needs no model; always with the reason.
fn choose_default(configured: Option<&str>, pi: Option<&Findings>) -> DefaultRuntime {
    let (name, source, reason) = match (configured, pi) {
        (Some(name), _) => (name, Source::Configuration, "`default_runtime` is set to it".to_owned()),
        (None, Some(pi)) if pi.usable => (PI, Source::Daemon, pi.reason.clone()),
        (None, Some(pi)) => (OFFLINE, Source::Daemon, format!("pi cannot be used: {}", pi.reason)),
        // Only where the launch names its runtime.
        (None, None) => (OFFLINE, Source::Default, "nothing else was looked at".to_owned()),
    };
    DefaultRuntime { name: name.to_owned(), source, reason }
}

fn facts(name: &str, findings: &Findings) -> RuntimeFacts {
    let level = |word: &String| Thinking::from_word(word);
    let model = |model: &super::Model| {
        let levels: Vec<Thinking> = model.levels.iter().filter_map(level).collect();
        let reasoning = levels.iter().any(|level| *level != Thinking::Off);
        route::Model { provider: model.provider.clone(), id: model.id.clone(), reasoning, levels }
    };
    RuntimeFacts {
        usable: findings.usable,
        why: findings.reason.clone(),
        models: match &findings.models {
            Some(models) => Registry::new(models.iter().map(model)),
            None => Registry::unknown(),
        },
        takes_parent: name != OFFLINE,
        default_model: findings.default_model.clone(),
        default_thinking: findings.default_thinking.as_ref().and_then(level),
        default_tools: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_has_its_order_and_its_reason() {
        let good = Findings::usable("pi 1.6.0 has 3 models");
        let bad = Findings::unusable("no `pi` is in PATH".to_owned());
        let table = [
            (Some("mine"), Some(&good), "mine", Source::Configuration, "`default_runtime` is set"),
            (Some("pi"), Some(&bad), "pi", Source::Configuration, "`default_runtime` is set"),
            (None, Some(&good), "pi", Source::Daemon, "pi 1.6.0 has 3 models"),
            (None, Some(&bad), "offline", Source::Daemon, "pi cannot be used: no `pi` is in PATH"),
        ];
        for (configured, pi, name, source, reason) in table {
            let default = choose_default(configured, pi);
            assert_eq!((default.name.as_str(), default.source), (name, source), "{configured:?} {pi:?}");
            assert!(default.reason.contains(reason), "{}", default.reason);
        }
    }

    #[test]
    fn a_default_that_cannot_be_used_is_listed_with_what_to_do() {
        let known = BTreeMap::from([
            (OFFLINE.to_owned(), Arc::new(Findings::usable("part of this program"))),
            (PI.to_owned(), Arc::new(Findings::unusable("install it".to_owned()))),
        ]);
        let survey = Survey::new(known, Some(PI));
        let listed: Vec<_> = survey.list().map(|one| (one.name, one.default, one.reason)).collect();
        assert_eq!(listed, [(OFFLINE, false, "part of this program"), (PI, true, "install it")]);
    }
}
