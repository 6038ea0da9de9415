//! From a path to a connected socket that can only be this user's.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::Instant;

use crate::place::SOCKET_PATH_BYTES;

/// A daemon whose backlog is full is asked again for so long.
const BACKLOG_WAIT: Duration = Duration::from_secs(1);
/// Between two such tries.
const BACKLOG_PAUSE: Duration = Duration::from_millis(5);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No such socket.
    #[error("no daemon: there is no socket {path}; start it with `subagentd-cli daemon start`", path = path.display())]
    NotThere {
        /// The socket.
        path: PathBuf,
    },
    /// A socket that nobody listens on.
    #[error(
        "no daemon: the socket {path} was left behind by one that has ended; \
         start a new one with `subagentd-cli daemon start`",
        path = path.display()
    )]
    Refused {
        /// The socket.
        path: PathBuf,
    },
    /// Another user could have put the socket there.
    #[error(
        "the socket {path} is not used: its directory belongs to user {uid}; \
         set XDG_RUNTIME_DIR or SUBAGENTD_SOCKET to a place of your own",
        path = path.display()
    )]
    ForeignDirectory {
        /// The socket.
        path: PathBuf,
        /// Who owns its directory.
        uid: u32,
    },
    /// Another user listens.
    #[error(
        "the socket {path} is not used: a process of user {uid} listens there; \
         set XDG_RUNTIME_DIR or SUBAGENTD_SOCKET to a place of your own",
        path = path.display()
    )]
    ForeignDaemon {
        /// The socket.
        path: PathBuf,
        /// Who listens.
        uid: u32,
    },
    /// The system does not take such a path.
    #[error(
        "the socket's path has {length} bytes, {SOCKET_PATH_BYTES} are allowed: {path}; \
         set SUBAGENTD_SOCKET to a shorter one",
        path = path.display()
    )]
    TooLong {
        /// The socket.
        path: PathBuf,
        /// Its length.
        length: usize,
    },
    /// Anything else.
    #[error("the socket {path} cannot be reached: {source}", path = path.display())]
    Io {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl ConnectError {
    /// Whether simply nobody listens: a daemon may be started.
    #[must_use]
    pub const fn nobody(&self) -> bool {
        matches!(self, Self::NotThere { .. } | Self::Refused { .. })
    }
}

pub(crate) async fn open(path: &Path) -> Result<UnixStream, ConnectError> {
    let length = path.as_os_str().as_bytes().len();
    if length > SOCKET_PATH_BYTES {
        return Err(ConnectError::TooLong { path: path.to_owned(), length });
    }
    let own = nix::unistd::geteuid().as_raw();
    check_directory(path, own)?;
    let stream = connect(path).await.map_err(|error| named(path, error))?;
    // The one check that no rename can get round: who called listen on the other end.
    let uid = stream.peer_cred().map_err(|error| named(path, error))?.uid();
    if uid != own {
        return Err(ConnectError::ForeignDaemon { path: path.to_owned(), uid });
    }
    Ok(stream)
}

fn check_directory(path: &Path, own: u32) -> Result<(), ConnectError> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    // Both ends of a link: whoever owns the link says where it leads.
    for found in [directory.symlink_metadata(), directory.metadata()] {
        let uid = found.map_err(|error| named(path, error))?.uid();
        if uid != own {
            return Err(ConnectError::ForeignDirectory { path: path.to_owned(), uid });
        }
    }
    Ok(())
}

async fn connect(path: &Path) -> io::Result<UnixStream> {
    let until = Instant::now() + BACKLOG_WAIT;
    loop {
        match UnixStream::connect(path).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < until => {
                tokio::time::sleep(BACKLOG_PAUSE).await;
            }
            other => return other,
        }
    }
}

fn named(path: &Path, source: io::Error) -> ConnectError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => ConnectError::NotThere { path },
        io::ErrorKind::ConnectionRefused => ConnectError::Refused { path },
        _ => ConnectError::Io { path, source },
    }
}
