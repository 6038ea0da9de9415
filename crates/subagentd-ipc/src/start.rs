//! Finding the daemon, and starting it when there is none, so that any number of clients at once end up with one.
//!
//! The daemon is a plain child of the client, in the client's process group. That is on purpose: a leader of a process
//! group cannot make a session, and the daemon's first act is `setsid`, which takes it away from the terminal. Until its
//! ready line it may still die with the client, which has promised nothing by then.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use subagentd_proto::daemon::StatusParams;
use subagentd_proto::method::DaemonStatus;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use crate::client::{CallError, Client};
use crate::daemon_file::DaemonFile;
use crate::directory::{DirectoryError, Purpose, private_directory};
use crate::place::Place;
use crate::reach::ConnectError;

/// The exit code of a daemon that found another one in its place.
pub const ALREADY_RUNNING: i32 = 10;
/// Between two looks while another client starts the daemon.
const PAUSE: Duration = Duration::from_millis(10);
/// Looks for a daemon that another one reported: 3 s in all.
const JOIN_TRIES: u32 = 300;
/// The ready line, in bytes; the socket's path is at most 107.
const READY_BYTES: u64 = 512;
/// What is looked at of the log when a start fails, in bytes.
const LOG_TAIL_BYTES: u64 = 4_096;
/// What a message repeats of the log's last line, in characters.
const LOG_LINE_SHOWN: usize = 300;

/// Why no daemon was reached.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nobody listens in any of the places; the first one is named.
    #[error(transparent)]
    Nobody(ConnectError),
    /// Somebody may listen, but cannot be used.
    #[error(transparent)]
    Connect(ConnectError),
    /// The daemon there answers nothing that can be used.
    #[error("the daemon at {socket} did not say whose it is: {source}", socket = socket.display())]
    Silent {
        /// Its socket.
        socket: PathBuf,
        /// What came instead.
        source: CallError,
    },
}

/// Why there is no daemon after all.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// One is there and cannot be used.
    #[error(transparent)]
    Find(FindError),
    /// A directory cannot be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The program cannot be run.
    #[error("the daemon {program} cannot be started: {source}", program = program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It ended before it was ready.
    #[error("the daemon ended before it was ready ({status}){said}; its log is {log}", log = log.display())]
    Ended {
        /// How.
        status: String,
        /// The last line of the log, with a colon before it, or nothing.
        said: String,
        /// Its log.
        log: PathBuf,
    },
    /// Another daemon holds the state directory and is in none of the places.
    #[error(
        "a daemon of {state} runs already but was not reached in time at {socket}{recorded}; its log is {log}",
        state = state.display(),
        socket = socket.display(),
        log = log.display()
    )]
    Elsewhere {
        /// The state directory.
        state: PathBuf,
        /// Where it was looked for.
        socket: PathBuf,
        /// Where it says to be, for people.
        recorded: String,
        /// Its log.
        log: PathBuf,
    },
    /// Time is up.
    #[error("the daemon was not ready in time; its log is {log}", log = log.display())]
    Late {
        /// Its log.
        log: PathBuf,
    },
    /// A file that the start needs failed.
    #[error("{path} cannot be used: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Connects to the daemon of this place, wherever it was started from.
///
/// # Errors
/// [`FindError::Nobody`] when a daemon may be started; others when that would not help.
pub async fn find(place: &Place) -> Result<Client, FindError> {
    let recorded = DaemonFile::read(&place.state);
    let mut nobody = None;
    for socket in place.candidates(recorded.as_ref()) {
        match Client::connect(&socket).await {
            Ok(client) => {
                if belongs(&client, place, recorded.as_ref(), &socket).await? {
                    return Ok(client);
                }
                nobody.get_or_insert(ConnectError::NotThere { path: socket });
            }
            Err(error) if error.nobody() => {
                nobody.get_or_insert(error);
            }
            Err(error) => return Err(FindError::Connect(error)),
        }
    }
    Err(FindError::Nobody(nobody.unwrap_or(ConnectError::NotThere { path: place.socket.clone() })))
}

/// Two state directories can lead to one path. The process that `daemon.json` names has our state directory; any other
/// one is asked.
async fn belongs(
    client: &Client,
    place: &Place,
    recorded: Option<&DaemonFile>,
    socket: &Path,
) -> Result<bool, FindError> {
    let is_recorded = recorded.is_some_and(|file| client.daemon_pid() == Some(file.pid) && file.socket == socket);
    if place.explicit || is_recorded {
        return Ok(true);
    }
    match client.call::<DaemonStatus>(StatusParams {}).await {
        Ok(status) => Ok(place.is_state(Path::new(&status.state_directory))),
        // It is just ending.
        Err(CallError::Closed) => Ok(false),
        Err(source) => Err(FindError::Silent { socket: socket.to_owned(), source }),
    }
}

/// Connects to the daemon of this place and starts it when there is none: look, take the start lock, look again, start,
/// read its ready line, connect. Never waits for a file to appear.
///
/// # Errors
/// Says what happened and where the daemon's log is. After `deadline` nobody waits; a daemon that is slow may still come up.
pub async fn connect_or_start(program: &Path, place: &Place, deadline: Instant) -> Result<Client, StartError> {
    let log = place.state.join("daemon.log");
    let late = || StartError::Late { log: log.clone() };
    let starting = async {
        if let Some(client) = running(place).await? {
            return Ok(client);
        }
        let lock = match start_lock(place).await? {
            Turn::Lock(lock) => lock,
            Turn::Reached(client) => return Ok(*client),
        };
        if let Some(client) = running(place).await? {
            return Ok(client);
        }
        let client = start(program, place, &log).await;
        drop(lock);
        client
    };
    tokio::time::timeout_at(deadline.into(), starting).await.unwrap_or_else(|_| Err(late()))
}

async fn running(place: &Place) -> Result<Option<Client>, StartError> {
    match find(place).await {
        Ok(client) => Ok(Some(client)),
        Err(FindError::Nobody(_)) => Ok(None),
        Err(error) => Err(StartError::Find(error)),
    }
}

enum Turn {
    Lock(File),
    Reached(Box<Client>),
}

/// Waits for its turn or for somebody else's daemon, whatever comes first. The caller's deadline bounds it.
async fn start_lock(place: &Place) -> Result<Turn, StartError> {
    let directory = place.socket.parent().unwrap_or(Path::new("/"));
    private_directory(directory, Purpose::Socket)?;
    let path = directory.join("start.lock");
    let failed = |source| StartError::Io { path: path.clone(), source };
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(&path)
        .map_err(failed)?;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(Turn::Lock(lock)),
            Err(std::fs::TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
            Err(std::fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        if let Some(client) = running(place).await? {
            return Ok(Turn::Reached(Box::new(client)));
        }
    }
}

async fn start(program: &Path, place: &Place, log: &Path) -> Result<Client, StartError> {
    let mut started = spawn(program, place, log)?;
    let mut line = Vec::new();
    let mut output = BufReader::new(&mut started.output).take(READY_BYTES);
    output.read_until(b'\n', &mut line).await.map_err(|source| StartError::Io { path: log.to_owned(), source })?;
    if let Some(socket) = ready_socket(&line) {
        return match Client::connect(&socket).await {
            Ok(client) => Ok(client),
            Err(error) => Err(StartError::Find(FindError::Connect(error))),
        };
    }
    let status = started.end.await.ok().and_then(Result::ok);
    match status {
        Some(status) if status.code() == Some(ALREADY_RUNNING) => join(place, log).await,
        status => Err(StartError::Ended {
            status: status.map_or_else(|| "in a way that is not known".to_owned(), |status| status.to_string()),
            said: last_line(log, started.log_start).map(|line| format!(": {line}")).unwrap_or_default(),
            log: log.to_owned(),
        }),
    }
}

fn ready_socket(line: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = line.strip_prefix(b"ready ")?.strip_suffix(b"\n")?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
}

/// Another daemon was faster. It may hold its lock and not listen yet.
async fn join(place: &Place, log: &Path) -> Result<Client, StartError> {
    for _ in 0..JOIN_TRIES {
        if let Some(client) = running(place).await? {
            return Ok(client);
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(StartError::Elsewhere {
        state: place.state.clone(),
        socket: place.socket.clone(),
        recorded: DaemonFile::read(&place.state)
            .map(|file| format!("; it says to be at {}", file.socket.display()))
            .unwrap_or_default(),
        log: log.to_owned(),
    })
}

struct Started {
    output: pipe::Receiver,
    end: oneshot::Receiver<io::Result<ExitStatus>>,
    log_start: u64,
}

fn spawn(program: &Path, place: &Place, log: &Path) -> Result<Started, StartError> {
    private_directory(&place.state, Purpose::State)?;
    let failed = |source| StartError::Io { path: log.to_owned(), source };
    let errors = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(log)
        .map_err(failed)?;
    let log_start = errors.metadata().map_err(failed)?.len();
    let mut command = Command::new(program);
    command
        .arg("serve")
        // Said again so that a place which does not come from this process's variables is the daemon's too.
        .env("SUBAGENTD_STATE_DIR", &place.state)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(errors);
    if place.explicit {
        command.env("SUBAGENTD_SOCKET", &place.socket);
    }
    let spawned = command.spawn();
    // The write end of the ready pipe must be the daemon's alone, or its end would never be seen.
    drop(command);
    let mut child = spawned.map_err(|source| StartError::Spawn { program: program.to_owned(), source })?;
    let output = child.stdout.take().map(OwnedFd::from);
    let output = output.ok_or_else(|| io::Error::other("no pipe")).and_then(pipe::Receiver::from_owned_fd);
    let (sender, end) = oneshot::channel();
    // Reaps the daemon if it ends before this client does; otherwise it outlives the thread.
    std::thread::spawn(move || sender.send(child.wait()));
    Ok(Started { output: output.map_err(failed)?, end, log_start })
}

/// The daemon's own last words since the start, without control characters.
fn last_line(log: &Path, from: u64) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let end = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(from.max(end.saturating_sub(LOG_TAIL_BYTES)))).ok()?;
    let mut tail = Vec::new();
    file.take(LOG_TAIL_BYTES).read_to_end(&mut tail).ok()?;
    let text = String::from_utf8_lossy(&tail);
    let line = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(line.chars().filter(|letter| !letter.is_control()).take(LOG_LINE_SHOWN).collect())
}

#[cfg(test)]
#[path = "start_tests.rs"]
mod tests;
