//! pi as a runtime: found for each client, asked for its models, usable when it has one.

mod find;
mod words;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use subagentd_core::plan::Environment;

use super::probe::{Offer, Probe, Unanswered};
use super::version::Version;
use super::{Findings, Look, Question, Runtime};
use crate::settings::PI;
use find::Found;
pub(crate) use find::configuration_folder;

/// For a program to tell its version.
const VERSION_WITHIN: Duration = Duration::from_secs(5);
/// For pi to start and tell its models. It takes 0.3 s, more with cold caches and other work.
const MODELS_WITHIN: Duration = Duration::from_secs(20);
/// What pi itself asks for.
const OLDEST_NODE: Version = Version(22, 19, 0);
/// An older one does not know an option that pi uses.
const OLDEST_FD: Version = Version(10, 0, 0);
/// Nothing of it is stored, nothing of the user's is loaded that no child gets either.
const ARGUMENTS: [&str; 12] = [
    "--mode",
    "rpc",
    "--no-session",
    "--no-tools",
    "--no-approve",
    "--no-extensions",
    "--no-mcp",
    "--no-skills",
    "--no-prompt-templates",
    "--no-themes",
    "--no-context-files",
    "--offline",
];

/// See the module.
pub(super) struct Pi {
    /// `runtimes.pi.command`, which stands above what is in `PATH`.
    pub(super) command: Option<Vec<String>>,
}

impl Runtime for Pi {
    fn name(&self) -> &str {
        PI
    }

    fn look(&self, environment: &Environment) -> Look {
        match find::find(self.command.as_deref(), environment) {
            Ok(found) => Look::Open(Arc::new(WhatItCan { found, environment: environment.clone() })),
            Err(reason) => Look::Known(Findings::unusable(reason)),
        }
    }
}

/// What only the programs can tell. Has no `Debug`: environments are secrets.
struct WhatItCan {
    found: Found,
    environment: Environment,
}

impl Question for WhatItCan {
    fn runtime(&self) -> &str {
        PI
    }

    fn key(&self) -> &str {
        &self.found.key
    }

    fn ask(&self) -> BoxFuture<'_, Findings> {
        async move {
            let mut answer = self.asked().await;
            if let Err((Unanswered::Lost, _)) = answer {
                answer = self.asked().await;
            }
            let mut findings = answer.unwrap_or_else(|(_, reason)| Findings::unusable(reason));
            findings.command.clone_from(&self.found.command);
            findings.version.clone_from(&self.found.version);
            findings
        }
        .boxed()
    }
}

impl WhatItCan {
    /// What went wrong comes with the sentence that tells it.
    async fn asked(&self) -> Result<Findings, (Unanswered, String)> {
        let found = &self.found;
        let mut environment = self.environment.clone();
        environment.insert("PI_OFFLINE".to_owned(), "1".to_owned());
        let failed = |what: Unanswered| {
            let reason = words::failed(&found.command, &what);
            (what, reason)
        };
        let mut probe = Probe::start(environment).await.map_err(failed)?;
        if let Some(node) = &found.node {
            let line = probe.line(&[node.clone(), "--version".to_owned()], VERSION_WITHIN).await;
            judge_node(node, line)?;
        }
        let warnings = self.warnings(&mut probe).await;
        let arguments = ARGUMENTS.iter().map(|word| (*word).to_owned());
        let command: Vec<String> = found.command.iter().cloned().chain(arguments).collect();
        let offer = probe.models(&command, MODELS_WITHIN).await.map_err(failed)?;
        let mut findings = judge_offer(found.version.as_deref(), offer);
        findings.warnings = warnings;
        Ok(findings)
    }

    async fn warnings(&self, probe: &mut Probe) -> Vec<String> {
        let rg = match &self.found.rg {
            None => Some(words::no_rg(&self.found.folder)),
            Some(rg) => {
                let line = probe.line(&version_of(rg), VERSION_WITHIN).await;
                line.err().map(|what| words::tool_fails("grep", rg, &what, "apt install ripgrep"))
            }
        };
        let fd = match &self.found.fd {
            None => Some(words::no_fd(&self.found.folder)),
            Some(fd) => match probe.line(&version_of(fd), VERSION_WITHIN).await.map(|line| Version::read(&line)) {
                Ok(Some(version)) if version < OLDEST_FD => Some(words::fd_too_old(fd, version)),
                Ok(Some(_)) => None,
                Ok(None) => Some(words::tool_fails("find", fd, &"tells no version", "cargo install fd-find")),
                Err(what) => Some(words::tool_fails("find", fd, &what, "cargo install fd-find")),
            },
        };
        rg.into_iter().chain(fd).collect()
    }
}

fn version_of(program: &std::path::Path) -> Vec<String> {
    vec![program.display().to_string(), "--version".to_owned()]
}

fn judge_node(node: &str, line: Result<String, Unanswered>) -> Result<(), (Unanswered, String)> {
    let what = match line.map(|line| Version::read(&line)) {
        Ok(Some(version)) if version >= OLDEST_NODE => return Ok(()),
        Ok(Some(version)) => Unanswered::Because(words::node_too_old(version, OLDEST_NODE)),
        Ok(None) => Unanswered::Because("tells no version".to_owned()),
        Err(what) => what,
    };
    let reason = match &what {
        Unanswered::Lost => format!("{node} {what}"),
        Unanswered::Because(_) => words::node_unfit(node, &what),
    };
    Err((what, reason))
}

fn judge_offer(version: Option<&str>, offer: Offer) -> Findings {
    let name = version.map_or_else(|| "pi".to_owned(), |version| format!("pi {version}"));
    let Offer { default, thinking, models } = offer;
    if models.is_empty() {
        return Findings { models: Some(models), ..Findings::unusable(words::no_model(&name)) };
    }
    let count = match models.len() {
        1 => "one model".to_owned(),
        several => format!("{several} models"),
    };
    // One that it would take and could not run is no default.
    let default =
        default.filter(|(provider, id)| models.iter().any(|model| model.provider == *provider && model.id == *id));
    Findings {
        default_thinking: thinking.filter(|_| default.is_some()),
        default_model: default.map(|(provider, id)| format!("{provider}/{id}")),
        models: Some(models),
        ..Findings::usable(&format!("{name} has {count}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtimes::probe::Model;

    #[test]
    fn node_has_to_be_new_enough() {
        let ok = |line: &str| Ok(line.to_owned());
        let table = [
            (ok("v22.19.0"), None),
            (ok("v24.1.0"), None),
            (ok("v22.18.9"), Some("/n/node is version 22.18.9, older than 22.19.0")),
            (ok("v20.20.2"), Some("`nvm install 22`")),
            (ok("hello"), Some("/n/node tells no version")),
            (Err(Unanswered::Because("did not answer in time".to_owned())), Some("/n/node did not answer in time")),
            (Err(Unanswered::Lost), Some("/n/node was not heard of")),
        ];
        for (line, wanted) in table {
            match (judge_node("/n/node", line), wanted) {
                (Ok(()), None) => {}
                (Err((_, error)), Some(wanted)) => assert!(error.contains(wanted), "{error}"),
                (judged, wanted) => panic!("{judged:?}, not {wanted:?}"),
            }
        }
    }

    fn model(id: &str) -> Model {
        let levels = vec!["off".to_owned()];
        Model { provider: "acme".to_owned(), id: id.to_owned(), name: None, levels, context_window: None }
    }

    #[test]
    fn usable_is_what_has_a_model() {
        let offer = |default: Option<&str>, ids: &[&str]| Offer {
            default: default.map(|id| ("acme".to_owned(), id.to_owned())),
            thinking: Some("medium".to_owned()),
            models: ids.iter().map(|id| model(id)).collect(),
        };
        let two = judge_offer(Some("1.6.0"), offer(Some("v/one"), &["v/one", "two"]));
        assert!(two.usable);
        assert_eq!(two.reason, "pi 1.6.0 has 2 models");
        assert_eq!(
            (two.default_model.as_deref(), two.default_thinking.as_deref()),
            (Some("acme/v/one"), Some("medium"))
        );
        let gone = judge_offer(None, offer(Some("gone"), &["one"]));
        assert_eq!((gone.usable, gone.reason.as_str(), gone.default_model), (true, "pi has one model", None));
        let none = judge_offer(Some("1.6.0"), offer(None, &[]));
        assert!(!none.usable && none.reason.contains("`/login`"), "{}", none.reason);
    }
}
