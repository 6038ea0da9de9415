//! Starting a shim, by the daemon (design 2, lock hand-over).

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

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
    // Nobody is reaped and no child is taken for an orphan until the new one is known.
    let mut shims = shims();
    let lock = folder::take_lock(attempt)?;
    let (control, theirs) = UnixStream::pair()?;
    let log = files::append_file_in(files::open_folder(attempt)?, folder::SHIM_LOG)?;
    // Nothing that forces a fork: no hook, no bare program name, no other directory (7 ms from a large daemon).
    let mut command = Command::new("/proc/self/exe");
    command.arg0("subagentd").arg("shim").arg(attempt).env_clear();
    command.stdin(Stdio::from(lock)).stdout(Stdio::from(OwnedFd::from(theirs))).stderr(Stdio::from(log));
    let child = command.spawn()?;
    let pid = child.id();
    shims.insert(pid);
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

/// Children of this daemon that are shims; all others were handed to it when their shim died.
static SHIMS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn shims() -> MutexGuard<'static, BTreeSet<u32>> {
    // A panic left the set as it was: still right.
    SHIMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reaps every ended child of the daemon: shims, and orphans that it adopted. Waits for a spawn under way. To be called
/// at each SIGCHLD; nobody else in the daemon waits for children.
pub fn reap() {
    let mut shims = shims();
    while let Ok(Some((pid, _))) = rustix::process::wait(WaitOptions::NOHANG) {
        if let Ok(pid) = u32::try_from(pid.as_raw_nonzero().get()) {
            shims.remove(&pid);
        }
    }
}

/// Kills the daemon's children that are no shims; gives those that were alive.
pub(crate) fn kill_adopted() -> Vec<u32> {
    if !ADOPTS.load(Ordering::Relaxed) {
        return Vec::new();
    }
    let shims = shims();
    let children = process::children_of_all_threads().unwrap_or_default();
    let of_ours = children.into_iter().filter_map(|pid| Some((pid, u32::try_from(pid.as_raw_nonzero().get()).ok()?)));
    let orphans = of_ours.filter(|(_, number)| !shims.contains(number) && !process::is_gone(*number));
    orphans
        .map(|(pid, number)| {
            // Not reaped while the set is locked, so the id is still its own.
            rustix::process::kill_process(pid, Signal::KILL).ok();
            number
        })
        .collect()
}

/// Whether this process takes in the orphans of its shims.
static ADOPTS: AtomicBool = AtomicBool::new(false);

/// Makes the daemon the parent of what its shims leave when they are killed.
///
/// # Errors
/// When the kernel refuses.
pub fn adopt_orphans() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    ADOPTS.store(true, Ordering::Relaxed);
    Ok(())
}

/// The process that listens on an attempt's control socket, which is its shim.
///
/// # Errors
/// When nobody listens, or the shim is gone.
pub fn listener(attempt: &Path) -> io::Result<OwnedFd> {
    let peer = rustix::net::sockopt::socket_peercred(connect(attempt)?)?;
    Ok(rustix::process::pidfd_open(peer.pid, PidfdFlags::empty())?)
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
