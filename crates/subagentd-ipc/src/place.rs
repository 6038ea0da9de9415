//! Where state and socket are: one rule for daemon and clients, and the client's order of looking.
//!
//! [`Place::decide`] is pure; [`Place::find`] asks the file system for the few facts it needs.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::daemon_file::DaemonFile;

/// The longest path that a Unix socket can have, in bytes.
pub const SOCKET_PATH_BYTES: usize = 107;
/// Hexadecimal digits that tell state directories apart in a socket's name.
const HASH_DIGITS: usize = 12;

/// The variables that count. An empty one counts as unset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// `SUBAGENTD_STATE_DIR`.
    pub state_dir: Option<OsString>,
    /// `SUBAGENTD_SOCKET`.
    pub socket: Option<OsString>,
    /// `XDG_STATE_HOME`.
    pub xdg_state_home: Option<OsString>,
    /// `XDG_RUNTIME_DIR`.
    pub xdg_runtime_dir: Option<OsString>,
    /// `HOME`.
    pub home: Option<OsString>,
    /// The effective user.
    pub uid: u32,
}

impl Environment {
    /// The variables of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            state_dir: std::env::var_os("SUBAGENTD_STATE_DIR"),
            socket: std::env::var_os("SUBAGENTD_SOCKET"),
            xdg_state_home: std::env::var_os("XDG_STATE_HOME"),
            xdg_runtime_dir: std::env::var_os("XDG_RUNTIME_DIR"),
            home: std::env::var_os("HOME"),
            uid: nix::unistd::geteuid().as_raw(),
        }
    }
}

/// What the file system says about `XDG_RUNTIME_DIR`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuntimeDirectory {
    /// The variable is not set.
    Unset,
    /// A directory of this user.
    Usable(PathBuf),
    /// Not absolute, not there, no directory, or another user's, in words.
    Unusable(String),
}

/// What the file system says about the state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The state directory without links, whether it exists yet or not.
    pub state: PathBuf,
    /// The same for the one that is used when `SUBAGENTD_STATE_DIR` is not set, if there is one.
    pub default_state: Option<PathBuf>,
    /// The runtime directory.
    pub runtime: RuntimeDirectory,
}

/// Why there is no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// A relative path would mean another place for everybody.
    #[error("{variable} is {value:?}, which is not absolute; give a path that begins with /")]
    Relative {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: PathBuf,
    },
    /// Nothing says where home is.
    #[error("HOME is not set; set it, or SUBAGENTD_STATE_DIR to the directory for the daemon's state")]
    NoHome,
    /// The system does not take such a path.
    #[error(
        "SUBAGENTD_SOCKET has {length} bytes, {SOCKET_PATH_BYTES} are allowed: {path}; choose a shorter path",
        path = path.display()
    )]
    TooLong {
        /// The path.
        path: PathBuf,
        /// Its length.
        length: usize,
    },
}

/// Where one daemon and its clients meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The state directory, as it was named.
    pub state: PathBuf,
    /// Where a daemon binds.
    pub socket: PathBuf,
    /// Whether `SUBAGENTD_SOCKET` named the socket. Then it is the only place that counts.
    pub explicit: bool,
    /// Why the socket is not where one would look first. For people.
    pub warning: Option<String>,
    /// The place when there is no runtime directory; a daemon started in another environment may be there.
    fallback: PathBuf,
    state_without_links: PathBuf,
}

impl Place {
    /// The place of this environment.
    ///
    /// # Errors
    /// When a variable is relative or too long, or there is no home.
    pub fn find(environment: &Environment) -> Result<Self, PlaceError> {
        let facts = Facts {
            state: without_links(&state_directory(environment)?),
            default_state: default_state(environment).ok().map(|path| without_links(&path)),
            runtime: runtime_directory(environment),
        };
        Self::decide(environment, facts)
    }

    /// The place, from the environment and the facts alone.
    ///
    /// # Errors
    /// As [`Place::find`].
    pub fn decide(environment: &Environment, facts: Facts) -> Result<Self, PlaceError> {
        let state = state_directory(environment)?;
        let hash = hash(&facts.state);
        let fallback = PathBuf::from(format!("/tmp/subagentd-{}-{hash}/rpc.sock", environment.uid));
        let explicit = explicit_socket(environment)?;
        let is_default = facts.default_state.as_ref() == Some(&facts.state);
        let computed = match &facts.runtime {
            RuntimeDirectory::Unset => Err(None),
            RuntimeDirectory::Unusable(why) => Err(Some(why.clone())),
            RuntimeDirectory::Usable(directory) => {
                let name = if is_default { "rpc.sock".to_owned() } else { format!("rpc-{hash}.sock") };
                fitting(directory.join("subagentd").join(name)).map_err(Some)
            }
        };
        let (socket, warning) = match (explicit.clone(), computed) {
            (Some(socket), _) | (None, Ok(socket)) => (socket, None),
            (None, Err(why)) => {
                let warning = why.map(|why| format!("{why}; the socket is {} instead", fallback.display()));
                (fallback.clone(), warning)
            }
        };
        Ok(Self { state, socket, explicit: explicit.is_some(), warning, fallback, state_without_links: facts.state })
    }

    /// Where a client looks for the daemon, in this order: what the daemon wrote down itself, then the places that
    /// one of this state directory would have chosen. A socket that was named is the only candidate.
    #[must_use]
    pub fn candidates(&self, recorded: Option<&DaemonFile>) -> Vec<PathBuf> {
        if self.explicit {
            return vec![self.socket.clone()];
        }
        let mut candidates: Vec<PathBuf> = recorded.map(|file| file.socket.clone()).into_iter().collect();
        for path in [&self.socket, &self.fallback] {
            if !candidates.contains(path) {
                candidates.push(path.clone());
            }
        }
        candidates
    }

    /// Whether a daemon's word for its state directory means this one.
    #[must_use]
    pub fn is_state(&self, directory: &Path) -> bool {
        directory == self.state || without_links(directory) == self.state_without_links
    }
}

fn given(value: Option<&OsString>) -> Option<PathBuf> {
    value.filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn absolute(variable: &'static str, value: PathBuf) -> Result<PathBuf, PlaceError> {
    if value.is_absolute() { Ok(value) } else { Err(PlaceError::Relative { variable, value }) }
}

fn state_directory(environment: &Environment) -> Result<PathBuf, PlaceError> {
    match given(environment.state_dir.as_ref()) {
        Some(directory) => absolute("SUBAGENTD_STATE_DIR", directory),
        None => default_state(environment),
    }
}

fn default_state(environment: &Environment) -> Result<PathBuf, PlaceError> {
    if let Some(base) = given(environment.xdg_state_home.as_ref()) {
        return Ok(absolute("XDG_STATE_HOME", base)?.join("subagentd"));
    }
    let home = given(environment.home.as_ref()).ok_or(PlaceError::NoHome)?;
    Ok(absolute("HOME", home)?.join(".local/state/subagentd"))
}

fn explicit_socket(environment: &Environment) -> Result<Option<PathBuf>, PlaceError> {
    let Some(path) = given(environment.socket.as_ref()) else {
        return Ok(None);
    };
    let path = absolute("SUBAGENTD_SOCKET", path)?;
    let length = path.as_os_str().as_bytes().len();
    if length > SOCKET_PATH_BYTES {
        return Err(PlaceError::TooLong { path, length });
    }
    Ok(Some(path))
}

fn fitting(path: PathBuf) -> Result<PathBuf, String> {
    let length = path.as_os_str().as_bytes().len();
    if length <= SOCKET_PATH_BYTES {
        return Ok(path);
    }
    Err(format!(
        "{} has {length} bytes, {SOCKET_PATH_BYTES} are allowed for a socket (XDG_RUNTIME_DIR)",
        path.display()
    ))
}

fn hash(path: &Path) -> String {
    let digest = Sha256::digest(path.as_os_str().as_bytes());
    let mut text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    text.truncate(HASH_DIGITS);
    text
}

fn runtime_directory(environment: &Environment) -> RuntimeDirectory {
    let Some(path) = given(environment.xdg_runtime_dir.as_ref()) else {
        return RuntimeDirectory::Unset;
    };
    let unusable = |why: String| RuntimeDirectory::Unusable(format!("XDG_RUNTIME_DIR {} {why}", path.display()));
    if !path.is_absolute() {
        return unusable("is not absolute".to_owned());
    }
    match path.metadata() {
        Err(error) => unusable(format!("cannot be used: {error}")),
        Ok(found) if !found.is_dir() => unusable("is no directory".to_owned()),
        Ok(found) if found.uid() != environment.uid => unusable(format!("belongs to user {}", found.uid())),
        Ok(_) => RuntimeDirectory::Usable(path),
    }
}

/// The same answer before and after the directory is made: links are followed as far as the path exists.
fn without_links(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            other => {
                resolved.push(other);
                if let Ok(real) = resolved.canonicalize() {
                    resolved = real;
                }
            }
        }
    }
    resolved
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
