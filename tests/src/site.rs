//! The private place of one test.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Signal;
use subagentd_ipc::place::{Environment, Place};
use tempfile::TempDir;

use crate::processes::{self, Process};
use crate::programs::programs;
use crate::puppet;
use crate::wait::{until, until_blocking};

/// Names the site in the environment of everything that a test starts.
pub(crate) const MARK: &str = "END_TO_END_SITE";
/// Names the tree of one launch in the environment of all its processes.
pub(crate) const TREE: &str = "END_TO_END_TREE";
/// The daemon's configuration file.
const CONFIGURATION: &str = "config/subagentd/config.toml";
/// Lines of a log that are shown when a test fails.
const TAIL: usize = 60;

/// State, runtime, configuration, home and work directories of one test, and the environment that names them.
///
/// Dropping it ends every process that carries its mark. When the test failed, the ends of the logs are printed first.
#[derive(Debug)]
pub struct Site {
    folder: TempDir,
    variables: BTreeMap<String, OsString>,
    /// Directories of sockets that could not be below the site's own folder.
    strays: Mutex<Vec<PathBuf>>,
    numbers: AtomicUsize,
}

impl Site {
    /// A fresh one. The path is short: sockets lie below it.
    #[must_use]
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("sd-").tempdir_in("/tmp").unwrap();
        let path = folder.path();
        for name in ["run", "work", "home", "config/subagentd", "logs", "parts"] {
            fs::create_dir_all(path.join(name)).unwrap();
        }
        rustix::fs::chmod(path.join("run"), rustix::fs::Mode::from_raw_mode(0o700)).unwrap();
        let named = |name: &str| path.join(name).into_os_string();
        let variables = [
            ("PATH", std::env::var_os("PATH").unwrap_or_default()),
            ("HOME", named("home")),
            ("SUBAGENTD_STATE_DIR", named("state")),
            ("XDG_RUNTIME_DIR", named("run")),
            ("XDG_CONFIG_HOME", named("config")),
            ("SUBAGENTD_DAEMON", programs().daemon.clone().into_os_string()),
            (MARK, path.as_os_str().to_owned()),
        ];
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let site = Self { folder, variables, strays: Mutex::default(), numbers: AtomicUsize::new(0) };
        // A pi of this machine is no part of a test that does not ask for it.
        site.configure("default_runtime = \"offline\"\n");
        site.configure(&puppet::install(&site));
        site
    }

    /// A fresh one with settings, each named like `limits.children`.
    #[must_use]
    pub fn with(settings: &[(&str, &str)]) -> Self {
        let mut site = Self::new();
        for (key, value) in settings {
            site.set(&format!("SUBAGENTD_{}", key.replace('.', "__").to_uppercase()), value);
        }
        site
    }

    /// Sets a variable for everything that is started from now on.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    /// Takes a variable away from everything that is started from now on.
    pub fn unset(&mut self, name: &str) {
        self.variables.remove(name);
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name)
    }

    /// Lets the daemon choose the runtime of a launch that names none.
    pub fn configure_no_default(&self) {
        let file = self.path(CONFIGURATION);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(file, text.split_once('\n').unwrap().1).unwrap();
    }

    /// Appends to the configuration file.
    pub fn configure(&self, text: &str) {
        let file = self.path(CONFIGURATION);
        let before = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, before + text).unwrap();
    }

    /// A path below the site's folder.
    #[must_use]
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The state directory.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.variables.get("SUBAGENTD_STATE_DIR").map(PathBuf::from).unwrap()
    }

    /// The directory that children work in unless told otherwise.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// A new directory beside [`Site::work`].
    #[must_use]
    pub fn directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// Rises with each call: for names of files.
    pub(crate) fn number(&self) -> usize {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// A program with the site's environment and nothing else.
    #[must_use]
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().envs(&self.variables).current_dir(self.work()).stdin(Stdio::null());
        command
    }

    /// Where daemon and clients of this site meet.
    #[must_use]
    pub fn place(&self) -> Place {
        let given = |name: &str| self.variables.get(name).cloned();
        let environment = Environment {
            state_dir: given("SUBAGENTD_STATE_DIR"),
            socket: given("SUBAGENTD_SOCKET"),
            xdg_state_home: given("XDG_STATE_HOME"),
            xdg_runtime_dir: given("XDG_RUNTIME_DIR"),
            home: given("HOME"),
            uid: rustix::process::geteuid().as_raw(),
        };
        let place = Place::find(&environment).unwrap();
        self.remember(&place.socket);
        place
    }

    /// Remembers the directory of a socket, to be removed with the site.
    pub(crate) fn remember(&self, socket: &Path) {
        let directory = socket.parent().unwrap();
        if !directory.starts_with(self.folder.path()) {
            self.strays.lock().unwrap().push(directory.to_owned());
        }
    }

    /// Everything of this site that runs.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        let mut mark = format!("{MARK}=");
        mark.push_str(&self.folder.path().to_string_lossy());
        processes::of_site(&mark, self.folder.path())
    }

    /// Children and what they started.
    #[must_use]
    pub fn attempts(&self) -> Vec<Process> {
        self.processes().into_iter().filter(|process| process.attempt.is_some()).collect()
    }

    /// The shim of a run.
    #[must_use]
    pub fn shim(&self, run: &str) -> Process {
        let found = self.processes().into_iter().find(|process| process.is_shim_of(run));
        found.unwrap_or_else(|| panic!("{run} has no shim among {:#?}", self.processes()))
    }

    /// Processes of the launch whose tree was named so by [`Ask::tree`](crate::Ask::tree), whatever marks they cleared.
    #[must_use]
    pub fn tree(&self, name: &str) -> Vec<Process> {
        processes::carrying(&format!("{TREE}={}", self.tree_name(name)))
    }

    pub(crate) fn tree_name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Waits until no child of this site is left, nor anything that one started.
    pub async fn until_no_attempts(&self) {
        until("no child left", async || self.attempts().is_empty().then_some(())).await;
    }

    /// Daemons of this site: processes that run the daemon's program and are neither shim nor child.
    #[must_use]
    pub fn daemons(&self) -> Vec<Process> {
        let serves = |process: &Process| {
            let program = process.command.first().is_some_and(|word| word.ends_with("/subagentd"));
            program && process.attempt.is_none() && !process.is_shim()
        };
        self.processes().into_iter().filter(serves).collect()
    }

    /// All that the daemons of this site have logged.
    #[must_use]
    pub fn logs(&self) -> String {
        self.log_files()
            .iter()
            .filter_map(|file| fs::read(file).ok())
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .collect()
    }

    fn log_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            self.path("logs").read_dir().into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        files.sort();
        files.push(self.state().join("daemon.log"));
        files
    }

    fn show_logs(&self) {
        for file in self.log_files() {
            let text = fs::read(&file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            if !lines.is_empty() {
                eprintln!("--- end of {}", file.display());
                eprintln!("{}", lines[lines.len().saturating_sub(TAIL)..].join("\n"));
            }
        }
    }

    fn end_all(&self) {
        until_blocking("the site's processes are gone", || {
            let left = self.processes();
            left.iter().for_each(|process| process.signal(Signal::KILL));
            left.is_empty().then_some(())
        });
    }
}

impl Default for Site {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.show_logs();
        }
        self.end_all();
        for stray in self.strays.lock().unwrap().drain(..) {
            // Named twice, or never made.
            fs::remove_dir_all(stray).ok();
        }
    }
}
