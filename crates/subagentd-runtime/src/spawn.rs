//! Starting a shim, by the daemon (design 2, lock hand-over).

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions};

use crate::{files, folder, process};

/// A live shim.
#[derive(Debug)]
pub struct Shim {
    /// Its process.
    pub pid: u32,
    /// Its start time in clock ticks since boot.
    pub started: u64,
    /// Readable once it has ended.
    pub pidfd: OwnedFd,
    /// The first control connection. The shim reads orders from it and writes its words to it.
    pub control: UnixStream,
}

/// Starts the shim of a prepared attempt. The attempt must have been committed as starting before.
///
/// The lock is taken first and handed over as standard input: there is no moment in which a shim lives and the lock is
/// free. The control connection is handed over as standard output, because that reaches exactly this child: an
/// inheritable descriptor would leak into others.
///
/// # Errors
/// When the lock is held or the program cannot be started.
pub fn spawn(attempt: &Path) -> io::Result<Shim> {
    let lock = folder::take_lock(attempt)?;
    let (control, theirs) = UnixStream::pair()?;
    let log = files::append_file_in(files::open_folder(attempt)?, folder::SHIM_LOG)?;
    // Nothing that forces a fork: no hook, no bare program name, no other directory (7 ms from a large daemon).
    let mut command = Command::new("/proc/self/exe");
    command.arg0("subagentd").arg("shim").arg(attempt).env_clear();
    command.stdin(Stdio::from(lock)).stdout(Stdio::from(OwnedFd::from(theirs))).stderr(Stdio::from(log));
    let child = command.spawn()?;
    let pid = child.id();
    // The command owns the daemon's copies of the lock and of the far end of the connection.
    drop(command);
    let id = pid_of(pid)?;
    // Not reaped by anybody else, so the id cannot have changed hands.
    let pidfd = rustix::process::pidfd_open(id, PidfdFlags::empty())?;
    let started = process::start_time(pid).ok_or_else(|| io::Error::other("the shim's start time cannot be read"))?;
    Ok(Shim { pid, started, pidfd, control })
}

fn pid_of(pid: u32) -> io::Result<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other(format!("{pid} is no process id")))
}

/// Reaps an ended shim, so that no zombie stays. Shims of an earlier daemon are nobody's children of ours: that is fine.
pub fn reap(pidfd: &OwnedFd) {
    use std::os::fd::AsFd as _;
    // Not our child, or reaped already: nothing to do in either case.
    rustix::process::waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG).ok();
}

/// Connects to the control socket of a live shim, from any path length (design 7).
///
/// # Errors
/// When the shim is not there.
pub fn connect(attempt: &Path) -> io::Result<UnixStream> {
    use std::os::fd::AsRawFd as _;
    let open: File = File::from(files::open_folder(attempt)?);
    UnixStream::connect(format!("/proc/self/fd/{}/{}", open.as_raw_fd(), folder::CONTROL))
}
