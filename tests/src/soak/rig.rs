//! The private surroundings: state directory, workspaces, scripts, stamps, and the daemon's program.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use subagentd_ipc::DaemonFile;
use tempfile::TempDir;

use super::history::Stamp;
use super::table;
use crate::processes;
use crate::site::MARK;

/// Workspaces. Few, so that writers wait for each other.
pub(super) const ROOTS: usize = 4;
/// Children at once.
const CHILDREN: usize = 6;
/// How long everything may take to end when the surroundings are taken down.
const PATIENCE: Duration = Duration::from_secs(10);

/// The surroundings. Dropping them ends every process that belongs to them.
#[derive(Debug)]
pub(super) struct Rig {
    folder: TempDir,
    program: PathBuf,
    children: usize,
    kept: AtomicBool,
}

impl Rig {
    pub(super) fn new(program: &Path) -> anyhow::Result<Self> {
        Self::with_children(program, CHILDREN)
    }

    /// With another number of children at once.
    pub(super) fn with_children(program: &Path, children: usize) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("soak-").tempdir()?;
        let rig = Self { folder, program: program.to_owned(), children, kept: AtomicBool::new(false) };
        for name in ["run", "home", "stamps", "scripts"] {
            fs::create_dir(rig.path(name))?;
        }
        rustix::fs::chmod(rig.path("run"), rustix::fs::Mode::from_raw_mode(0o700))?;
        for root in 0..ROOTS {
            fs::create_dir(rig.root(root))?;
        }
        Ok(rig)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn state(&self) -> PathBuf {
        self.path("state")
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.path("run/rpc.sock")
    }

    pub(super) fn root(&self, number: usize) -> PathBuf {
        self.path(&format!("root-{number}"))
    }

    pub(super) fn stamps_of(&self, root: usize) -> PathBuf {
        self.path("stamps").join(root.to_string())
    }

    pub(super) fn log(&self) -> String {
        let bytes = fs::read(self.path("daemon.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Keeps a script and gives what a launch states as the client's environment.
    pub(super) fn script(&self, key: &str, lines: &[serde_json::Value]) -> io::Result<BTreeMap<String, String>> {
        let path = self.path("scripts").join(key);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, text)?;
        let mut variables = self.variables();
        variables.insert("SUBAGENTD_OFFLINE_SCRIPT".to_owned(), path.to_string_lossy().into_owned());
        Ok(variables)
    }

    /// What every launch states as the client's environment.
    pub(super) fn variables(&self) -> BTreeMap<String, String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        BTreeMap::from([
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("HOME".to_owned(), text(&self.path("home"))),
            (MARK.to_owned(), text(self.folder.path())),
        ])
    }

    /// Starts a daemon; it serves when it does.
    pub(super) fn start(&self, number: u32) -> io::Result<Child> {
        let mut log = OpenOptions::new().create(true).append(true).open(self.path("daemon.log"))?;
        writeln!(log, "--- daemon {number}")?;
        Command::new(&self.program)
            .arg("serve")
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env(MARK, self.folder.path())
            .env("SUBAGENTD_STATE_DIR", self.state())
            .env("SUBAGENTD_SOCKET", self.socket())
            .env("SUBAGENTD_LIMITS__GRACE", "200ms")
            .env("SUBAGENTD_LIMITS__CHILDREN", self.children.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
    }

    /// Whether this daemon has come to serve.
    pub(super) fn serves(&self, pid: u32) -> bool {
        DaemonFile::read(&self.state()).is_some_and(|file| u32::try_from(file.pid) == Ok(pid))
    }

    /// Whether an exit record waits in the spool.
    pub(super) fn has_record(&self) -> bool {
        let entries = fs::read_dir(self.state().join("spool")).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name() != "bad")
    }

    /// Whether the answer of a run is stored.
    pub(super) fn has_answer(&self, run: &str) -> bool {
        self.state().join("runs").join(run).join("result.md").exists()
    }

    /// Children and what they started.
    pub(super) fn children(&self) -> Vec<processes::Process> {
        processes::carrying(&format!("{MARK}={}", self.folder.path().display()))
    }

    pub(super) fn shims(&self) -> Vec<table::Shim> {
        table::shims(&self.state())
    }

    pub(super) fn stamps(&self) -> (Vec<Stamp>, Vec<String>) {
        let mut stamps = Vec::new();
        let mut unread = Vec::new();
        for root in 0..ROOTS {
            let bytes = fs::read(self.stamps_of(root)).unwrap_or_default();
            for line in String::from_utf8_lossy(&bytes).lines() {
                match Stamp::parse(line, root) {
                    Some(stamp) => stamps.push(stamp),
                    None => unread.push(line.to_owned()),
                }
            }
        }
        (stamps, unread)
    }

    /// Keeps the folder for a person to look at.
    pub(super) fn keep(&self) -> PathBuf {
        self.kept.store(true, Ordering::Relaxed);
        self.folder.path().to_owned()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if self.kept.load(Ordering::Relaxed) {
            self.folder.disable_cleanup(true);
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let (shims, others) = (self.shims(), self.children());
            if (shims.is_empty() && others.is_empty()) || Instant::now() > end {
                return;
            }
            for shim in &shims {
                shim.kill();
            }
            others.iter().for_each(|process| process.signal(Signal::KILL));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
