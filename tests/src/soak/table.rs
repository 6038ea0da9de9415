//! Shims in the process table. They carry no mark of the surroundings: their command line names the attempt's folder.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::history::Attempt;

/// A live shim.
#[derive(Debug)]
pub(super) struct Shim {
    pub(super) pid: i32,
    pub(super) attempt: Attempt,
    handle: OwnedFd,
}

impl Shim {
    /// Kills exactly this process; `false` when it had gone.
    pub(super) fn kill(&self) -> bool {
        pidfd_send_signal(&self.handle, Signal::KILL).is_ok()
    }
}

/// The live shims of a state directory.
pub(super) fn shims(state: &Path) -> Vec<Shim> {
    let Ok(table) = Path::new("/proc").read_dir() else { return Vec::new() };
    table.flatten().filter_map(|entry| look(entry.file_name().to_str()?.parse().ok()?, state)).collect()
}

fn look(pid: i32, state: &Path) -> Option<Shim> {
    // Opened before anything is read: should the number change hands meanwhile, a signal reaches nobody.
    let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let folder = folder(pid).filter(|folder| folder.starts_with(state))?;
    // A child between fork and exec still has its shim's command line.
    if parent(pid).and_then(self::folder).as_ref() == Some(&folder) {
        return None;
    }
    Some(Shim { pid, attempt: Attempt::parse(folder.to_str()?)?, handle })
}

/// The attempt's folder in a shim's command line. A zombie has no command line.
fn folder(pid: i32) -> Option<PathBuf> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut words = line.split(|byte| *byte == 0).skip(1).map(|word| std::str::from_utf8(word).unwrap_or_default());
    (words.next() == Some("shim")).then(|| words.next().map(PathBuf::from)).flatten()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name stands in brackets and may hold anything; state and parent follow it.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}
