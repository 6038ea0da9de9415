//! Directories that only this user can enter.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::OFlag;

const PRIVATE: u32 = 0o700;
const OTHERS: u32 = 0o077;
const STICKY: u32 = 0o1000;

/// Why a directory is not used.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// It is a link or no directory: somebody else may decide where it leads.
    #[error("{path} is a link or no directory; remove it or name another place", path = path.display())]
    NotADirectory {
        /// The directory.
        path: PathBuf,
    },
    /// Another user owns it.
    #[error("{path} belongs to user {uid}; name a place of your own", path = path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        uid: u32,
    },
    /// Others may enter it, and it is not ours alone to close.
    #[error(
        "{path} can be entered by others (mode {mode:o}) and holds other things; \
         make it private with `chmod 700`, or name another place",
        path = path.display()
    )]
    Shared {
        /// The directory.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The system refuses.
    #[error("{path} cannot be made or opened: {source}", path = path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// What a directory is for, and with that when it may be closed to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// All in it is ours.
    State,
    /// A person may have named a directory that serves other ends too.
    Socket,
}

/// Makes the directory (and its parents) with mode 0700 if it is not there, and closes it to others if it is.
pub(crate) fn private_directory(path: &Path, purpose: Purpose) -> Result<File, DirectoryError> {
    let failed = |source| DirectoryError::Io { path: path.to_owned(), source };
    make(path).map_err(failed)?;
    // Everything below is asked of the open directory, so a rename in between changes nothing.
    let directory = OpenOptions::new()
        .read(true)
        .custom_flags((OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW).bits())
        .open(path)
        .map_err(|source| match source.raw_os_error().map(Errno::from_raw) {
            Some(Errno::ENOTDIR | Errno::ELOOP) => DirectoryError::NotADirectory { path: path.to_owned() },
            _ => failed(source),
        })?;
    let found = directory.metadata().map_err(failed)?;
    if found.uid() != nix::unistd::geteuid().as_raw() {
        return Err(DirectoryError::Foreign { path: path.to_owned(), uid: found.uid() });
    }
    let mode = found.mode() & 0o7777;
    if mode & OTHERS == 0 {
        return Ok(directory);
    }
    // A sticky directory is meant for everybody: to close /tmp would break the machine.
    if mode & STICKY != 0 || (purpose == Purpose::Socket && !holds_only_sockets(path).map_err(failed)?) {
        return Err(DirectoryError::Shared { path: path.to_owned(), mode });
    }
    directory.set_permissions(Permissions::from_mode(PRIVATE)).map_err(failed)?;
    Ok(directory)
}

fn make(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        DirBuilder::new().recursive(true).mode(PRIVATE).create(parent)?;
    }
    match DirBuilder::new().mode(PRIVATE).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

fn holds_only_sockets(path: &Path) -> io::Result<bool> {
    for entry in path.read_dir()? {
        let entry = entry?;
        let is_lock = Path::new(&entry.file_name()).extension().is_some_and(|end| end == "lock");
        if !is_lock && !entry.file_type()?.is_socket() {
            return Ok(false);
        }
    }
    Ok(true)
}
