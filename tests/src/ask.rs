//! A launch to be made.

use std::path::Path;

use subagentd_proto::run::{CapturedEnvironment, LaunchParams};

use crate::puppet::{self, Puppet};
use crate::script::Script;
use crate::site::{MARK, Site, TREE};

/// Parameters of a launch. The child gets the client's `PATH` and `HOME` and the site's mark.
#[derive(Debug, Clone)]
pub struct Ask {
    /// As they are sent.
    pub params: LaunchParams,
}

impl Site {
    /// A launch in [`Site::work`].
    #[must_use]
    pub fn ask(&self, agent: &str, task: &str) -> Ask {
        let text = |name: &str| Some((name.to_owned(), self.variable(name)?.to_str()?.to_owned()));
        let variables = ["PATH", "HOME", MARK].into_iter().filter_map(text).collect();
        let mut params = LaunchParams { agent: agent.to_owned(), task: task.to_owned(), ..LaunchParams::default() };
        params.directory = self.work().to_str().unwrap().to_owned();
        params.capture.environment = Some(CapturedEnvironment { variables, ..CapturedEnvironment::default() });
        Ask { params }
    }

    /// A launch whose child plays a script.
    #[must_use]
    pub fn play(&self, agent: &str, script: &Script) -> Ask {
        let script = script.write(self);
        self.ask(agent, "play").variable("SUBAGENTD_OFFLINE_SCRIPT", script.to_str().unwrap())
    }

    /// A launch whose child is a puppet.
    #[must_use]
    pub fn puppet(&self, agent: &str, puppet: &Puppet) -> Ask {
        let mut ask = self.ask(agent, "play").runtime(puppet::RUNTIME);
        ask.params.model = Some("offline/search".to_owned());
        ask.variable(puppet::VARIABLE, puppet.folder().to_str().unwrap())
    }
}

impl Ask {
    /// A variable of the client.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        let environment = self.params.capture.environment.get_or_insert_default();
        environment.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Names the tree of its processes for [`Site::tree`], by a variable that no script takes away.
    #[must_use]
    pub fn tree(self, site: &Site, name: &str) -> Self {
        self.variable(TREE, &site.tree_name(name))
    }

    /// Where it works.
    #[must_use]
    pub fn directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.params.directory = directory.as_ref().to_str().unwrap().to_owned();
        self
    }

    /// Its runtime.
    #[must_use]
    pub fn runtime(mut self, name: &str) -> Self {
        self.params.runtime = Some(name.to_owned());
        self
    }

    /// Its task.
    #[must_use]
    pub fn task(mut self, task: &str) -> Self {
        self.params.task = task.to_owned();
        self
    }

    /// Its title.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.params.title = Some(title.to_owned());
        self
    }

    /// Its key.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.params.key = Some(key.to_owned());
        self
    }

    /// Its total time limit.
    #[must_use]
    pub fn timeout(mut self, ms: u64) -> Self {
        self.params.timeout = Some(ms);
        self
    }
}
