//! Sites whose children are the real pi, with nothing of this machine's user and no model.

use std::io::Write as _;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::ask::Ask;
use crate::faux::Faux;
use crate::provider::{KEY, Provider};
use crate::site::Site;

/// The scripted provider's model that does not reason; `faux/faux-r` does.
pub const FAUX: &str = "faux/faux-1";
/// A model of the site's [`Provider`].
pub const LOOP: &str = "loop/m";
/// The same with a key that it does not know.
pub const LOOP_KEYLESS: &str = "keyless/m";
/// A model of a provider that nobody is at home at.
pub const LOOP_GONE: &str = "gone/m";

/// Sites at once in one test process: each has one child at a time, which is a whole pi.
const SITES: usize = 2;
/// Told by `cargo xtask test`.
const NODE_VARIABLE: &str = "SUBAGENTD_TEST_NODE";
const CLI_VARIABLE: &str = "SUBAGENTD_TEST_PI";
const RIPGREP_VARIABLE: &str = "SUBAGENTD_TEST_RG";
/// In place of a path where there is no pi.
const NONE: &str = "none";
/// Names the script of a child's provider.
const SCRIPT: &str = "SUBAGENTD_TEST_FAUX";

/// Where the packages of `clients/pi` are, in npm's words.
const CPU: &str = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../clients/pi");

/// A site where the runtime `pi` is the real one.
///
/// Its provider `faux` answers by a [`Faux`] script. One child at a time, so that few of them run beside each other.
#[derive(Debug)]
pub struct Pi {
    site: Site,
    paths: Paths,
    _place: OwnedSemaphorePermit,
}

/// The real programs.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    pub(crate) node: PathBuf,
    pub(crate) cli: PathBuf,
    pub(crate) ripgrep: PathBuf,
}

impl Paths {
    /// Where they are; `None` where tests were told that there are none.
    pub(crate) fn find() -> Option<Self> {
        let given = |name: &str| std::env::var_os(name).map(PathBuf::from);
        if given(CLI_VARIABLE).is_some_and(|path| path == Path::new(NONE)) {
            return None;
        }
        let modules = Path::new(CLIENT).join("node_modules");
        let paths = Self {
            node: given(NODE_VARIABLE).unwrap_or_else(|| modules.join(format!("node-linux-{CPU}/bin/node"))),
            cli: given(CLI_VARIABLE)
                .unwrap_or_else(|| modules.join("@earendil-works/pi-coding-agent/dist/bundle/cli.js")),
            ripgrep: given(RIPGREP_VARIABLE)
                .unwrap_or_else(|| modules.join(format!("@vscode/ripgrep-linux-{CPU}/bin/rg"))),
        };
        for path in [&paths.node, &paths.cli, &paths.ripgrep] {
            assert!(path.is_file(), "{} is missing: run `cargo xtask test`, which installs it", path.display());
        }
        Some(paths)
    }

    /// The command of the runtime, with the scripted provider.
    pub(crate) fn command(&self) -> [String; 4] {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let faux = Path::new(CLIENT).join("test/faux.ts").canonicalize().unwrap();
        [text(&self.node), text(&self.cli), "-e".to_owned(), text(&faux)]
    }

    /// A client's `PATH`: what pi's tools need comes first.
    pub(crate) fn search(&self) -> std::ffi::OsString {
        let mut folders = vec![self.ripgrep.parent().unwrap().to_owned()];
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        std::env::join_paths(folders).unwrap()
    }
}

impl Pi {
    /// A fresh one, once there is a place for it. `None`, which is said, where tests were told that there is no pi.
    pub async fn site() -> Option<Self> {
        Self::with(&[]).await
    }

    /// A fresh one with settings, each named like `limits.idle`.
    pub async fn with(settings: &[(&str, &str)]) -> Option<Self> {
        static PLACES: std::sync::OnceLock<Arc<Semaphore>> = std::sync::OnceLock::new();
        let Some(paths) = Paths::find() else {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or("a test");
            // Not by a macro: the test runner would keep it to itself.
            writeln!(std::io::stderr(), "!! SKIPPED, there is no pi to test with: {name}").ok();
            return None;
        };
        let places = PLACES.get_or_init(|| Arc::new(Semaphore::new(SITES)));
        let place = Arc::clone(places).acquire_owned().await.unwrap();
        let mut site = Site::with(&[&[("limits.children", "1"), ("limits.grace", "500ms")], settings].concat());
        site.configure_no_default();
        site.configure(&format!("[runtimes.pi]\ncommand = {:?}\n", paths.command()));
        site.set("PATH", paths.search());
        let folder = site.directory("pi");
        // As pi itself leaves them at its first start: once they are there, it needs not be asked a second time.
        for name in ["auth.json", "models-store.json"] {
            std::fs::write(folder.join(name), "{}").unwrap();
        }
        site.set("PI_CODING_AGENT_DIR", folder);
        site.set("PI_OFFLINE", "1");
        let pi = Self { site, paths, _place: place };
        // Its delays would make up most of a test's time.
        pi.settings(&json!({}));
        Some(pi)
    }

    /// Settings of pi itself.
    pub fn settings(&self, settings: &Value) {
        let mut all = json!({ "retry": { "baseDelayMs": 1 } });
        all.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        std::fs::write(self.path("pi/settings.json"), all.to_string()).unwrap();
    }

    /// The command of the runtime `pi`.
    #[must_use]
    pub fn command_line(&self) -> [String; 4] {
        self.paths.command()
    }

    /// Adds the models of a provider over HTTP.
    pub fn connect(&self, provider: &Provider) {
        let of = |port: u16, key: &str| {
            let price = json!({ "input": 1.0, "output": 2.0, "cacheRead": 0.5, "cacheWrite": 0.0 });
            json!({
                "baseUrl": format!("http://127.0.0.1:{port}/v1"),
                "api": "openai-completions",
                "apiKey": key,
                "models": [{ "id": "m", "cost": price }],
            })
        };
        let (port, nobody) = (provider.port(), provider.refusing_port());
        let providers =
            json!({ "loop": of(port, KEY), "keyless": of(port, "s3cret-of-nobody"), "gone": of(nobody, KEY) });
        std::fs::write(self.path("pi/models.json"), json!({ "providers": providers }).to_string()).unwrap();
    }

    /// The variables of a child whose provider answers by this script.
    #[must_use]
    pub fn script(&self, faux: &Faux) -> PathBuf {
        let path = self.path(format!("parts/faux-{}.json", self.number()));
        std::fs::write(&path, faux.text()).unwrap();
        path
    }

    /// A launch whose child is the real pi and answers by a script.
    #[must_use]
    pub fn play(&self, agent: &str, faux: &Faux) -> Ask {
        let mut ask = self.bare(agent, "the task").variable(SCRIPT, self.script(faux).to_str().unwrap());
        ask.params.model = Some(FAUX.to_owned());
        ask
    }

    /// A launch whose child is the real pi.
    #[must_use]
    pub fn bare(&self, agent: &str, task: &str) -> Ask {
        let mut ask = self.site.ask(agent, task).runtime("pi");
        for name in ["PI_CODING_AGENT_DIR", "PI_OFFLINE"] {
            ask = ask.variable(name, self.variable(name).unwrap().to_str().unwrap());
        }
        ask
    }

    /// Children of the command line answer by this script.
    pub fn play_for_cli(&mut self, faux: &Faux) {
        let script = self.script(faux);
        self.set(SCRIPT, script);
    }
}

impl Deref for Pi {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}

impl DerefMut for Pi {
    fn deref_mut(&mut self) -> &mut Site {
        &mut self.site
    }
}
