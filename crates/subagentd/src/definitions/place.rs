//! Where the files of a request are.

use std::path::{Path, PathBuf};

use subagentd_core::definition::{AgentScope, Layer, PACKAGES, Unread};

use super::CatalogRequest;
use crate::environment::below_home;
use crate::runtimes::configuration_folder;
use crate::settings::Agents;

/// One directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) layer: Layer,
    pub(super) package: Option<String>,
    pub(super) path: PathBuf,
    /// What its files must not leave, links or not: what a project brings stays inside the project.
    pub(super) within: Option<PathBuf>,
    /// Whether a setting names it, so that it should be there.
    named: bool,
}

impl Place {
    pub(super) fn unread(&self, reason: String) -> Unread {
        Unread { layer: self.layer, package: self.package.clone(), path: self.path.display().to_string(), reason }
    }

    /// What is wrong when it is not there. Where nobody has any agents nothing is.
    pub(super) fn absent(&self) -> Option<String> {
        let path = self.path.display();
        match &self.package {
            Some(package) => {
                let own = PACKAGES.join(", ");
                Some(format!(
                    "agents.packages names `{package}`, and there is no such package: it is none of the program's own \
                     ({own}), and there is no {path}"
                ))
            }
            None => self.named.then(|| format!("agents.user names {path}, which is not there")),
        }
    }

    /// What is wrong when it has no agents: a package is nothing else.
    pub(super) fn empty(&self) -> Option<String> {
        let package = self.package.as_deref()?;
        Some(format!("the package `{package}` has no agents: {} has no file *.md", self.path.display()))
    }
}

/// The directories that a request may look at, lowest layer first.
pub(super) fn places(settings: &Agents, request: &CatalogRequest<'_>) -> Vec<Place> {
    let place = |layer, path| Place { layer, package: None, path, within: None, named: false };
    let mut places = packages(settings, request);
    if request.scope != AgentScope::Project {
        match &settings.user {
            Some(named) => places.extend(
                named
                    .iter()
                    .map(|path| Place { named: true, ..place(Layer::User, below_home(request.environment, path)) }),
            ),
            None => places.push(place(Layer::User, configuration_folder(request.environment).join("agents"))),
        }
    }
    if let Some(root) = request.project.filter(|_| request.trusted && request.scope != AgentScope::User) {
        let path = root.join(&settings.project);
        places.push(Place { within: Some(root.to_owned()), ..place(Layer::Project, path) });
    }
    places
}

/// A shipped package is part of this program: a directory with its name is not looked at.
fn packages(settings: &Agents, request: &CatalogRequest<'_>) -> Vec<Place> {
    let folder = settings.package_path.as_deref().unwrap_or(Path::new(""));
    let folder = below_home(request.environment, folder);
    let mut names: Vec<&String> = settings.packages.iter().filter(|name| !PACKAGES.contains(&name.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    let place = |name: &String| Place {
        layer: Layer::Package,
        package: Some(name.clone()),
        path: folder.join(name),
        within: None,
        named: true,
    };
    names.into_iter().map(place).collect()
}
