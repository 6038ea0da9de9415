//! The daemon's side of the place: the lock that makes it the only one, and a socket that only its user can reach.

use std::fs::{File, Permissions, TryLockError};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use tokio::net::{UnixListener, UnixSocket};

use crate::daemon_file::DaemonFile;
use crate::directory::{DirectoryError, Purpose, private_directory};
use crate::place::SOCKET_PATH_BYTES;

/// Connections that the kernel keeps until they are accepted. A client that finds it full tries again for a second.
const BACKLOG: u32 = 1_024;

/// Proof that this process is the only daemon of its state directory. The lock is on the directory itself, so there is
/// no lock file to be removed, and it ends with the process in whatever way that ends.
#[derive(Debug)]
pub struct StateLock {
    directory: File,
}

/// Why the state directory is not ours.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// A daemon of this state directory is running.
    #[error(
        "another daemon uses {state} already{who}; `subagentd-cli daemon status` asks it, `subagentd-cli daemon stop` ends it",
        state = state.display(),
        who = pid.map(|pid| format!(" (it says to be process {pid})")).unwrap_or_default()
    )]
    Held {
        /// The state directory.
        state: PathBuf,
        /// The process that the other daemon wrote down. For people.
        pid: Option<i32>,
    },
    /// The directory cannot be used.
    #[error("the state directory cannot be used: {0}")]
    Directory(#[from] DirectoryError),
    /// The file system does not lock.
    #[error("the state directory {state} cannot be locked: {source}; put it on a local file system", state = state.display())]
    Io {
        /// The state directory.
        state: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// How long the lock of a daemon that is gone may be held by what it was just starting, and between two looks.
const INHERITED: Duration = Duration::from_secs(1);
const INHERITED_LOOK: Duration = Duration::from_millis(5);

impl StateLock {
    /// Makes the state directory private, with its parents if need be, and locks it. Waits only while the lock is held
    /// and the daemon that wrote itself down is gone: one that was killed while it started a program leaves its lock to
    /// the copy of itself that is about to become that program.
    ///
    /// # Errors
    /// [`LockError::Held`] when a daemon has it; others when it cannot be used at all.
    pub fn take(state: &Path) -> Result<Self, LockError> {
        let directory = private_directory(state, Purpose::State)?;
        let end = Instant::now() + INHERITED;
        loop {
            match directory.try_lock() {
                Ok(()) => return Ok(Self { directory }),
                Err(TryLockError::Error(source)) => return Err(LockError::Io { state: state.to_owned(), source }),
                Err(TryLockError::WouldBlock) => {}
            }
            let recorded = DaemonFile::read(state);
            if recorded.as_ref().is_some_and(DaemonFile::is_alive) || Instant::now() >= end {
                return Err(LockError::Held { state: state.to_owned(), pid: recorded.map(|file| file.pid) });
            }
            std::thread::sleep(INHERITED_LOOK);
        }
    }

    /// The locked directory, for opening what lies beneath it.
    #[must_use]
    pub const fn directory(&self) -> &File {
        &self.directory
    }
}

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The system does not take such a path.
    #[error(
        "the socket's path has {length} bytes, {SOCKET_PATH_BYTES} are allowed: {path}; \
         set SUBAGENTD_SOCKET to a shorter one",
        path = path.display()
    )]
    TooLong {
        /// The path.
        path: PathBuf,
        /// Its length.
        length: usize,
    },
    /// Its directory cannot be used.
    #[error("the socket's directory cannot be used: {0}")]
    Directory(#[from] DirectoryError),
    /// Something that is not a socket is in the way. It is not touched.
    #[error("{path} is no socket and is left alone; move it away or set SUBAGENTD_SOCKET", path = path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// Somebody listens there: a daemon of another state directory.
    #[error(
        "a daemon of another state directory listens on {path}; set SUBAGENTD_SOCKET to another path",
        path = path.display()
    )]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// Anything else.
    #[error("the socket {path} cannot be made: {source}", path = path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// A listening socket and what its path was when it was made.
#[derive(Debug)]
pub struct Bound {
    /// For [`crate::serve::Server::run`] or [`crate::serve::Handle::rebind`].
    pub listener: UnixListener,
    /// Kept by whoever checks and removes the path.
    pub address: Address,
}

/// A socket's path with the identity of the file there. While its listener is open the inode cannot be given to
/// another file, so equal numbers mean the same socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Bound {
    /// See [`Address::still_mine`].
    #[must_use]
    pub fn still_mine(&self) -> bool {
        self.address.still_mine()
    }
}

impl Address {
    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path still leads to this socket. If not, somebody cleaned up or took it: bind anew.
    #[must_use]
    pub fn still_mine(&self) -> bool {
        let found = self.path.symlink_metadata();
        found.is_ok_and(|found| (found.dev(), found.ino()) == (self.device, self.inode))
    }

    /// Removes the path, if it is still this socket's. Says whether it was.
    ///
    /// # Errors
    /// When it is still ours and cannot be removed.
    pub fn remove(&self) -> io::Result<bool> {
        if !self.still_mine() {
            return Ok(false);
        }
        std::fs::remove_file(&self.path).map(|()| true)
    }
}

/// Binds a socket that nobody else can reach at any moment: its directory is private before it appears. A socket that
/// was left behind is removed, one that somebody listens on is not. Only the holder of the [`StateLock`] may call this.
/// Needs a tokio runtime.
///
/// # Errors
/// Says what is in the way. Nothing but a dead socket is ever removed.
pub fn bind_private(path: &Path) -> Result<Bound, BindError> {
    let length = path.as_os_str().as_bytes().len();
    if length > SOCKET_PATH_BYTES {
        return Err(BindError::TooLong { path: path.to_owned(), length });
    }
    private_directory(path.parent().unwrap_or(Path::new("/")), Purpose::Socket)?;
    remove_dead(path)?;
    listen(path).map_err(|source| BindError::Io { path: path.to_owned(), source })
}

/// Removes a socket that nobody listens on; says whether there was one.
///
/// # Errors
/// When the path is not a socket, or somebody listens.
pub fn remove_dead(path: &Path) -> Result<bool, BindError> {
    let failed = |source| BindError::Io { path: path.to_owned(), source };
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(BindError::NotASocket { path: path.to_owned() });
        }
        Ok(_) => {}
    }
    if is_served(path).map_err(failed)? {
        return Err(BindError::InUse { path: path.to_owned() });
    }
    std::fs::remove_file(path).map(|()| true).map_err(failed)
}

/// Asks the kernel, not the file: a refused connection is the only proof that nobody listens.
fn is_served(path: &Path) -> io::Result<bool> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let probe = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    match connect(probe.as_raw_fd(), &UnixAddr::new(path)?) {
        // EAGAIN: the backlog is full, so there is one.
        Ok(()) | Err(Errno::EAGAIN) => Ok(true),
        Err(Errno::ECONNREFUSED | Errno::ENOENT) => Ok(false),
        // A socket of another kind; nobody of ours.
        Err(error) => Err(error.into()),
    }
}

fn listen(path: &Path) -> io::Result<Bound> {
    let socket = UnixSocket::new_stream()?;
    socket.bind(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    let listener = socket.listen(BACKLOG)?;
    let found = path.symlink_metadata()?;
    Ok(Bound { listener, address: Address { path: path.to_owned(), device: found.dev(), inode: found.ino() } })
}

#[cfg(test)]
#[path = "socket_tests.rs"]
mod tests;
