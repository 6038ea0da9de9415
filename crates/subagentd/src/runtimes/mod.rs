//! The runtimes of this machine: which there are, what they can run, and which one a launch gets that names none.
//!
//! All of it depends on who asks: a client brings its own `PATH`, home and keys, and a daemon that was started at login
//! knows none of them (F23). So nothing is found at the daemon's start. Each launch has its runtimes looked at, which
//! only asks the disk, and a program is asked only when something about it has changed since it was asked last.

mod ask;
mod cache;
mod configured;
mod offline;
mod pi;
pub(crate) mod probe;
mod stamp;
mod survey;
mod version;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use subagentd_core::plan::Environment;

use crate::settings::{OFFLINE, PI, Settings};
use ask::Asker;
use configured::Configured;
use offline::Offline;
use pi::Pi;
pub(crate) use pi::configuration_folder;
use probe::Model;
pub(crate) use survey::{Listed, Survey};

/// A child program's dialect as the daemon sees it before a child is started (design 10).
///
/// A further one is a type in a file beside these, named in [`Runtimes::new`]: `look` finds its program for a client
/// and tells what the answer rests on, its [`Question`] asks the program. The other half of a runtime, which drives the
/// child, is in the runtime crate.
pub(crate) trait Runtime: Send + Sync {
    /// Its name in requests and settings.
    fn name(&self) -> &str;

    /// Looks at the disk, for a client with this environment. Starts nothing; may block on a slow file system.
    fn look(&self, environment: &Environment) -> Look;
}

/// What a look gave.
pub(crate) enum Look {
    /// Nothing needs to be asked.
    Known(Findings),
    /// A program has to be asked, unless it was already.
    Open(Arc<dyn Question>),
}

/// What only a program can tell.
pub(crate) trait Question: Send + Sync {
    /// The runtime's name.
    fn runtime(&self) -> &str;

    /// Digest of everything that the answer rests on: the same key has the same answer.
    fn key(&self) -> &str;

    /// Asks. Bounded in time; a failure is an answer, too.
    fn ask(&self) -> BoxFuture<'_, Findings>;
}

/// What is known of a runtime, for one environment.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Findings {
    /// Whether a child of it can be started.
    pub usable: bool,
    /// Why it can, or why not and what to do: one sentence.
    pub reason: String,
    /// The program and its first arguments, as they were found; empty where that is nobody's business.
    pub command: Vec<String>,
    /// The program's version.
    pub version: Option<String>,
    /// The models it can run; `None` if only a child can tell.
    pub models: Option<Vec<Model>>,
    /// Its model when nobody names one, exact `provider/id`.
    pub default_model: Option<String>,
    /// Its thinking level when nobody names one.
    pub default_thinking: Option<String>,
    /// What its children lack on this machine, with what mends it.
    pub warnings: Vec<String>,
}

impl Findings {
    /// It can be used.
    pub(crate) fn usable(reason: &str) -> Self {
        Self { usable: true, reason: reason.to_owned(), ..Self::default() }
    }

    /// It cannot.
    pub(crate) fn unusable(reason: String) -> Self {
        Self { reason, ..Self::default() }
    }
}

/// All runtimes.
pub(crate) struct Runtimes {
    list: Vec<Box<dyn Runtime>>,
    default: Option<String>,
    asker: Asker,
}

/// What a look at several runtimes gave.
pub(crate) struct Sight {
    known: BTreeMap<String, Arc<Findings>>,
    open: Vec<Arc<dyn Question>>,
}

impl Runtimes {
    /// Those that come with this program and those that are configured. Looks at nothing yet. What programs answered is
    /// kept in `state`.
    #[must_use]
    pub(crate) fn new(settings: &Settings, state: &Path) -> Self {
        let command = |name: &str| settings.runtimes.get(name).map(|runtime| runtime.command.clone());
        let mut list: Vec<Box<dyn Runtime>> = vec![Box::new(Offline), Box::new(Pi { command: command(PI) })];
        for (name, runtime) in settings.runtimes.iter().filter(|(name, _)| ![OFFLINE, PI].contains(&name.as_str())) {
            list.push(Box::new(Configured { name: name.clone(), command: runtime.command.clone() }));
        }
        Self { list, default: settings.default_runtime.clone(), asker: Asker::new(state) }
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|runtime| runtime.name())
    }

    /// The one runtime that a launch needs to know about which names this one, or none; `None` if it needs all.
    #[must_use]
    pub(crate) fn needed<'a>(&'a self, named: Option<&'a str>) -> Option<&'a str> {
        // A name that stands for nothing is refused with all that can be used.
        named.or(self.default.as_deref()).filter(|name| self.names().any(|known| known == *name))
    }

    /// Looks at all runtimes, or at one. Blocks. `refresh` takes nothing for known that was answered before.
    #[must_use]
    pub(crate) fn look(&self, only: Option<&str>, environment: &Environment, refresh: bool) -> Sight {
        let mut sight = Sight { known: BTreeMap::new(), open: Vec::new() };
        for runtime in &self.list {
            let is_needed = only.is_none_or(|only| only == runtime.name());
            // The one that is always there costs nothing to look at.
            if !is_needed && runtime.name() != OFFLINE {
                continue;
            }
            match runtime.look(environment) {
                Look::Known(findings) => sight.know(runtime.name(), Arc::new(findings)),
                Look::Open(question) => match self.asker.known(question.key()).filter(|_| !refresh) {
                    Some(findings) => sight.know(runtime.name(), findings),
                    None => sight.open.push(question),
                },
            }
        }
        sight
    }

    /// Asks what is open, all at once, and waits at most so long: what has not answered by then counts as not usable,
    /// is asked on, and will be known to a later look.
    pub(crate) async fn ask(&self, sight: Sight, patience: Duration) -> Survey {
        let Sight { mut known, open } = sight;
        let answers = open.into_iter().map(|question| async move {
            let name = question.runtime().to_owned();
            let answer = tokio::time::timeout(patience, self.asker.ask(question)).await;
            let still =
                || Arc::new(Findings::unusable(format!("{name} is still being asked what it can run; try again soon")));
            let findings = answer.unwrap_or_else(|_| still());
            (name, findings)
        });
        known.extend(futures_util::future::join_all(answers).await);
        self.survey(known)
    }

    /// What is known when nobody could look.
    #[must_use]
    pub(crate) fn unseen(&self, why: &str) -> Survey {
        let known =
            self.list.iter().map(|runtime| (runtime.name().to_owned(), Arc::new(Findings::unusable(why.to_owned()))));
        self.survey(known.collect())
    }

    /// What a look gave, if nothing is open; else the look.
    pub(crate) fn settled(&self, sight: Sight) -> Result<Survey, Sight> {
        if sight.open.is_empty() { Ok(self.survey(sight.known)) } else { Err(sight) }
    }

    fn survey(&self, known: BTreeMap<String, Arc<Findings>>) -> Survey {
        Survey::new(known, self.default.as_deref())
    }
}

impl Sight {
    fn know(&mut self, name: &str, findings: Arc<Findings>) {
        self.known.insert(name.to_owned(), findings);
    }
}
