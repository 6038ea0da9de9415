//! What the settings say about launches: ladders, effects of tools, ceilings, the model in a parent's place (design 12).
//!
//! The user's file and, where the caller states trust, the project's are read for each launch, apart from each other
//! and from the daemon's own settings: whatever a launch then takes of them is stored with it, and later changes touch
//! only later launches.

mod ceiling;
mod document;
mod keys;
mod layer;
mod problem;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use subagentd_core::plan::Source;
use subagentd_core::resolve::Policy;
use subagentd_core::route::{Exact, Fault, LadderLayer, Parent, Profiles};

pub(crate) use document::read as read_file;
pub(crate) use keys::is_of_launches;
use layer::Layer;
pub(crate) use problem::Problem;

/// The project's file, below the root of its workspace.
const OF_PROJECT: &str = ".subagentd/config.toml";

/// Where the settings are.
#[derive(Debug)]
pub(crate) struct Policies {
    user: Option<PathBuf>,
    /// The user's file as it was read last: what has the same text need not be judged again.
    known: Mutex<Option<Arc<User>>>,
}

#[derive(Debug)]
struct User {
    text: Option<String>,
    layer: Layer,
    profiles: Profiles,
}

/// What holds for a launch in one place.
#[derive(Debug)]
pub(crate) struct Layers {
    user: Arc<User>,
    project: Option<Layer>,
    profiles: Option<Profiles>,
}

impl Policies {
    /// `user` is the user's settings file, if there can be one. Nothing is read yet.
    #[must_use]
    pub(crate) fn new(user: Option<PathBuf>) -> Self {
        Self { user, known: Mutex::default() }
    }

    /// Reads both files; blocks. `project` is the root of a workspace whose settings may have an effect.
    #[must_use]
    pub(crate) fn read(&self, project: Option<&Path>) -> Layers {
        let user = self.user();
        let project = project.map(|root| {
            let file = root.join(OF_PROJECT);
            match read_file(&file) {
                Ok(None) => Layer::absent(LadderLayer::Project, &file),
                Ok(Some(text)) => Layer::parse(LadderLayer::Project, &file, &text),
                Err(error) => Layer::unreadable(LadderLayer::Project, &file, &error),
            }
        });
        let ladders = project.as_ref().and_then(|project| project.profiles.as_ref());
        let profiles = ladders.map(|ladders| Profiles::layered(user.layer.profiles.as_ref(), Some(ladders)));
        Layers { user, project, profiles }
    }

    fn user(&self) -> Arc<User> {
        let none = PathBuf::new();
        let file = self.user.as_ref().unwrap_or(&none);
        let read = if self.user.is_some() { read_file(file) } else { Ok(None) };
        let layer = match &read {
            Ok(text) => {
                if let Some(known) = self.known().as_ref().filter(|known| known.text == *text) {
                    return Arc::clone(known);
                }
                match text {
                    Some(text) => Layer::parse(LadderLayer::User, file, text),
                    None => Layer::absent(LadderLayer::User, file),
                }
            }
            Err(error) => Layer::unreadable(LadderLayer::User, file, error),
        };
        let profiles = Profiles::layered(layer.profiles.as_ref(), None);
        let is_readable = read.is_ok();
        let user = Arc::new(User { text: read.ok().flatten(), layer, profiles });
        for problem in told(&user.layer, &user.profiles) {
            tracing::warn!("settings: {problem}");
        }
        *self.known() = is_readable.then(|| Arc::clone(&user));
        user
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Option<Arc<User>>> {
        // What is in it is whole at any time.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Layers {
    /// The ladders that hold.
    #[must_use]
    pub(crate) fn profiles(&self) -> &Profiles {
        self.profiles.as_ref().unwrap_or(&self.user.profiles)
    }

    /// What holds for a launch by this owner.
    ///
    /// # Errors
    /// When something that restricts it cannot be understood.
    pub(crate) fn policy(&self, owner: &str) -> Result<Policy, &Problem> {
        let mut policy = Policy { profiles: self.profiles().clone(), ..Policy::default() };
        for layer in self.each() {
            if let Some(problem) = &layer.block {
                return Err(problem);
            }
            for (tool, effect) in &layer.effects {
                match effect {
                    Some(effect) => policy.effects.insert(tool.clone(), *effect),
                    None => policy.effects.remove(tool),
                };
            }
            policy.excluded_packages.extend(layer.excluded.iter().cloned());
            for bound in layer.bounds.iter().filter(|bound| bound.binds(owner)) {
                policy.ceilings.push(bound.ceiling.as_ref()?.clone());
            }
        }
        Ok(policy)
    }

    /// The model in the place of a parent, for callers that state none.
    #[must_use]
    pub(crate) fn parent(&self) -> Option<Parent> {
        let highest = self.each().filter_map(|layer| layer.parent_model.as_ref()).last();
        let effort = self.each().filter_map(|layer| layer.parent_thinking).last().flatten();
        let model: Exact = highest?.clone()?;
        Some(Parent { model, effort, runs: None, source: Source::Configuration })
    }

    /// The file that names it.
    #[must_use]
    pub(crate) fn parent_file(&self) -> &str {
        self.each().filter(|layer| layer.parent_model.is_some()).last().map_or("the settings", Layer::file)
    }

    /// What is wrong, file by file.
    #[must_use]
    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.each().flat_map(|layer| told(layer, self.profiles())).collect()
    }

    /// A fault of a ladder, with its place.
    #[must_use]
    pub(crate) fn problem_of(&self, fault: &Fault) -> Option<Problem> {
        self.each().find(|layer| layer.is_of(fault)).map(|layer| layer.problem_of(fault))
    }

    fn each(&self) -> impl Iterator<Item = &Layer> {
        std::iter::once(&self.user.layer).chain(&self.project)
    }
}

fn told(layer: &Layer, profiles: &Profiles) -> Vec<Problem> {
    let faults = profiles.faults().iter().filter(|fault| layer.is_of(fault));
    layer.problems.iter().cloned().chain(faults.map(|fault| layer.problem_of(fault))).collect()
}
