//! Starting a shim, by the daemon (design 2, lock hand-over).

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

use crate::{files, folder, process};

/// A live shim.
#[derive(Debug)]
pub struct Shim {
    /// Its process.
    pub pid: u32,
    /// Its start time in clock ticks since boot; none if it could not be read.
    pub started: Option<u64>,
    /// Readable once it has ended; none if the system was short of descriptors.
    pub pidfd: Option<OwnedFd>,
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
/// When the program cannot be started, or with `ResourceBusy` when the lock is held: then a shim lives. Once the shim
/// exists there is no error any more, however little can be learnt about it.
pub fn spawn(attempt: &Path) -> io::Result<Shim> {
    let lock = folder::take_lock(attempt)?;
    let (control, theirs) = UnixStream::pair()?;
    let log = files::append_file_in(files::open_folder(attempt)?, folder::SHIM_LOG)?;
    // Nothing that forces a fork: no hook, no bare program name, no other directory (7 ms from a large daemon).
    let mut command = Command::new("/proc/self/exe");
    command.arg0("subagentd").arg("shim").arg(attempt).env_clear();
    command.stdin(Stdio::from(lock)).stdout(Stdio::from(OwnedFd::from(theirs))).stderr(Stdio::from(log));
    // Nobody is reaped and no child is taken for an orphan until the new one is known: its id cannot change hands.
    let mut children = children();
    let spawned = command.spawn().map(|child| child.id());
    let known = spawned.map(|pid| {
        children.own.insert(pid);
        let pidfd = pid_of(pid).and_then(|id| rustix::process::pidfd_open(id, PidfdFlags::empty()).ok());
        (pid, process::start_time(pid), pidfd)
    });
    drop(children);
    reap();
    // The command owns the daemon's copies of the lock and of the far end of the connection.
    drop(command);
    let (pid, started, pidfd) = known?;
    Ok(Shim { pid, started, pidfd, control })
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Starts another process of the daemon's own, which is no orphan and is left alone when orphans are ended. Reaped with
/// the others.
///
/// # Errors
/// When it cannot be started.
pub fn own(command: &mut Command) -> io::Result<()> {
    let mut children = children();
    let spawned = command.spawn().map(|child| children.own.insert(child.id()));
    drop(children);
    reap();
    spawned.map(drop)
}

/// The daemon's children: which it started itself, and which were there before it. All others were handed to it when
/// their shim died.
struct Children {
    own: BTreeSet<u32>,
    /// None until the daemon takes in orphans at all.
    before: Option<BTreeSet<u32>>,
}

static CHILDREN: Mutex<Children> = Mutex::new(Children { own: BTreeSet::new(), before: None });

fn children() -> MutexGuard<'static, Children> {
    // A panic left the sets as they were: still right.
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reaps every ended child of the daemon: shims, and orphans that it adopted. To be called at each SIGCHLD; nobody else
/// in the daemon waits for children. Never waits: whoever keeps it from reaping reaps afterwards.
pub fn reap() {
    let mut children = match CHILDREN.try_lock() {
        Ok(children) => children,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    while let Ok(Some((pid, _))) = rustix::process::wait(WaitOptions::NOHANG) {
        if let Ok(pid) = u32::try_from(pid.as_raw_nonzero().get()) {
            children.own.remove(&pid);
        }
    }
}

/// Kills the daemon's children that were handed to it; gives those that were alive. Nobody else's: a daemon that is the
/// first process of a container is handed everybody's orphans and leaves them alone.
pub(crate) fn kill_adopted() -> Vec<u32> {
    let listed = process::children_of_all_threads().unwrap_or_default();
    let children = children();
    let Some(before) = &children.before else { return Vec::new() };
    let own = std::process::id();
    let numbers = listed.into_iter().filter_map(|pid| Some((pid, u32::try_from(pid.as_raw_nonzero().get()).ok()?)));
    let orphans = numbers.filter(|(_, number)| {
        // Asked again under the lock: not reaped by now, so the id is still its own.
        let ours = process::parent(*number) == Some(own) && !process::is_gone(*number);
        ours && !children.own.contains(number) && !before.contains(number)
    });
    let killed = orphans.map(|(pid, number)| {
        rustix::process::kill_process(pid, Signal::KILL).ok();
        number
    });
    let killed = killed.collect();
    drop(children);
    reap();
    killed
}

/// Makes the daemon the parent of what its shims leave when they are killed.
///
/// # Errors
/// When the kernel refuses.
pub fn adopt_orphans() -> io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    if std::process::id() != 1 {
        let before = process::children_of_all_threads()?;
        let numbers = before.into_iter().filter_map(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
        children().before = Some(numbers.collect());
    }
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
