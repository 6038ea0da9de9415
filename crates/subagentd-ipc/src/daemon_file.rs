//! `daemon.json` in the state directory: how clients find the daemon, and what people read. Never proof of life.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use serde::{Deserialize, Serialize};

const NAME: &str = "daemon.json";
/// A longer file is not one of ours and is not read.
const BYTES: u64 = 8 * 1024;

/// What a daemon writes down about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonFile {
    /// Its socket.
    pub socket: PathBuf,
    /// Its process.
    pub pid: i32,
    /// When that process started, in clock ticks since the boot.
    pub start: u64,
    /// The boot it started in.
    pub boot: String,
    /// Its version.
    pub version: String,
}

impl DaemonFile {
    /// The entry of this process.
    ///
    /// # Errors
    /// When /proc cannot be read.
    pub fn of_process(socket: PathBuf, version: &str) -> io::Result<Self> {
        let pid = nix::unistd::getpid().as_raw();
        let (start, _) = start_of(pid).ok_or_else(|| io::Error::other("/proc has no start time of this process"))?;
        Ok(Self { socket, pid, start, boot: boot()?, version: version.to_owned() })
    }

    /// Whether the process that wrote it lives. One that only waits to be reaped is gone, and so is one whose number was
    /// given to another.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let this_boot = boot().is_ok_and(|boot| boot == self.boot);
        this_boot && start_of(self.pid).is_some_and(|(start, gone)| start == self.start && !gone)
    }

    /// What the last daemon wrote, if that can be understood. Anything else counts as nothing: after a power cut the
    /// file may be empty or hold anything.
    #[must_use]
    pub fn read(state: &Path) -> Option<Self> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
            .open(state.join(NAME))
            .ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut text = String::new();
        file.take(BYTES).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Writes the file beside and renames it, so that a reader sees the old one or the new one. Only the holder of the
    /// state directory's lock writes.
    ///
    /// # Errors
    /// When the state directory cannot be written.
    pub fn write(&self, state: &Path) -> io::Result<()> {
        let beside = state.join(format!("{NAME}.new"));
        remove_file(&beside)?;
        let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.write_all(b"\n")?;
        std::fs::rename(beside, state.join(NAME))
    }

    /// Removes the file, whoever wrote it. Only the holder of the state directory's lock removes.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn remove(state: &Path) -> io::Result<()> {
        remove_file(&state.join(NAME))
    }
}

fn boot() -> io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// When a process started, in clock ticks since the boot, and whether only its remains are left.
fn start_of(pid: i32) -> Option<(u64, bool)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name stands in brackets and may hold anything; the fields after it are numbered from 3.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let gone = matches!(fields.next()?, "Z" | "X");
    Some((fields.nth(22 - 4)?.parse().ok()?, gone))
}

fn remove_file(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
