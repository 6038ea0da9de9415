//! The process table, as far as a test's own processes go.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The mark of an attempt.
const ATTEMPT: &str = "SUBAGENTD_ATTEMPT=";
/// The word after the program in the command line of a shim.
const SHIM: &str = "shim";

/// A process of a site: it carries the site's mark in its environment, or is the shim of an attempt below it.
#[derive(Debug)]
pub struct Process {
    /// Its id, for messages.
    pub pid: i32,
    /// The attempt it belongs to, for a child and what that started.
    pub attempt: Option<String>,
    /// Its command line.
    pub command: Vec<String>,
    handle: OwnedFd,
}

impl Process {
    /// Sends a signal to exactly this process, however long ago it was found.
    pub fn signal(&self, signal: Signal) {
        // It may have ended by itself.
        pidfd_send_signal(&self.handle, signal).ok();
    }

    /// Whether it is the shim of an attempt.
    #[must_use]
    pub fn is_shim(&self) -> bool {
        self.command.get(1).is_some_and(|word| word == SHIM)
    }

    /// Whether it is the shim of an attempt of this run.
    #[must_use]
    pub fn is_shim_of(&self, run: &str) -> bool {
        let folder = self.command.get(2).map(Path::new);
        self.is_shim() && folder.is_some_and(|folder| folder.iter().any(|part| part == run))
    }
}

/// Every process with this mark (`NAME=value`) in its environment. Zombies tell nothing and so are not among them.
pub(crate) fn carrying(mark: &str) -> Vec<Process> {
    table().filter(|found| found.environment.iter().any(|variable| variable == mark)).map(Found::process).collect()
}

/// Those that carry the mark, and the shims of attempts below the folder: a shim has no environment, its arguments name
/// the attempt's folder.
pub(crate) fn of_site(mark: &str, folder: &Path) -> Vec<Process> {
    let is_our_shim = |found: &Found| {
        let mut words = found.command.iter().skip(1);
        words.next().is_some_and(|word| word == SHIM)
            && words.next().is_some_and(|path| Path::new(path).starts_with(folder))
    };
    let is_ours = |found: &Found| found.environment.iter().any(|variable| variable == mark) || is_our_shim(found);
    table().filter(is_ours).map(Found::process).collect()
}

/// A process as /proc shows it.
struct Found {
    pid: i32,
    environment: Vec<String>,
    command: Vec<String>,
    handle: OwnedFd,
}

fn table() -> impl Iterator<Item = Found> {
    let entries = Path::new("/proc").read_dir().into_iter().flatten().flatten();
    entries.filter_map(|entry| Found::read(entry.file_name().to_str()?.parse().ok()?))
}

impl Found {
    fn read(pid: i32) -> Option<Self> {
        // Opened before anything is read: should the number change hands meanwhile, a signal reaches nobody.
        let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        let words = |name: &str| -> Option<Vec<String>> {
            let bytes = std::fs::read(format!("/proc/{pid}/{name}")).ok()?;
            Some(bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect())
        };
        Some(Self { pid, environment: words("environ")?, command: words("cmdline")?, handle })
    }

    fn process(self) -> Process {
        let attempt = self.environment.iter().find_map(|variable| variable.strip_prefix(ATTEMPT)).map(str::to_owned);
        Process { pid: self.pid, attempt, command: self.command, handle: self.handle }
    }
}
