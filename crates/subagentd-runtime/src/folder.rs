//! The folder of an attempt, as the daemon makes it and looks at it (design 2 and 7).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use subagentd_core::id::{AttemptId, RunId};

use crate::files;
use crate::format::{RECORD_SPACE, Record, RecordFault, Request};

/// Held by the shim as long as it lives.
pub const LOCK: &str = "lock";
/// Held open by the child and what it starts, a witness for life.
pub const TREE: &str = "tree";
/// There once the child is about to run.
pub const STARTED: &str = "started";
/// What the shim was asked to do.
pub const REQUEST: &str = "request.json";
/// The shim's control socket.
pub const CONTROL: &str = "ctl";
/// The exit record before it is published.
pub const RECORD: &str = "record";
/// The runtime's records, without text deltas.
pub const EVENTS: &str = "events.jsonl";
/// One line per finished tool call.
pub const FACTS: &str = "facts.jsonl";
/// The child's standard error.
pub const STDERR: &str = "stderr.log";
/// The shim's own messages.
pub const SHIM_LOG: &str = "shim.log";
/// The folder of conversations, in the run's folder.
pub const SESSION: &str = "session";
/// The agent's standing instructions.
pub const INSTRUCTIONS: &str = "instructions.md";
/// A task too long for the database.
pub const TASK_PREFIX: &str = "task-";

/// A request, in bytes: the largest task plus everything else.
const REQUEST_BYTES: usize = 64 * 1024 * 1024;

/// The directories that attempts live in.
#[derive(Debug, Clone)]
pub struct Places {
    state: PathBuf,
}

impl Places {
    /// The places below a state directory.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self { state: state.to_owned() }
    }

    /// Where exit records are published.
    #[must_use]
    pub fn spool(&self) -> PathBuf {
        self.state.join("spool")
    }

    /// Where records go that say nothing.
    #[must_use]
    pub fn bad(&self) -> PathBuf {
        self.state.join("spool/bad")
    }

    /// Where environments are kept.
    #[must_use]
    pub fn environments(&self) -> PathBuf {
        self.state.join("env")
    }

    /// The folder of a run.
    #[must_use]
    pub fn run(&self, run: RunId) -> PathBuf {
        self.state.join("runs").join(run.to_string())
    }

    /// The folder of an attempt.
    #[must_use]
    pub fn attempt(&self, attempt: AttemptId) -> PathBuf {
        self.run(attempt.child.run).join(attempt.folder())
    }

    /// Makes the directories that all runs share.
    ///
    /// # Errors
    /// As the system says.
    pub fn make(&self) -> io::Result<()> {
        let state = files::open_folder(&self.state)?;
        let spool = files::make_folder_in(&state, Path::new("spool"))?;
        files::make_folder_in(&spool, Path::new("bad"))?;
        files::make_folder_in(&state, Path::new("env"))?;
        files::make_folder_in(&state, Path::new("runs"))?;
        Ok(())
    }

    /// Makes the folder of a run and gives it open.
    ///
    /// # Errors
    /// As the system says.
    pub fn make_run(&self, run: RunId) -> io::Result<OwnedFd> {
        let runs = files::open_folder(&self.state.join("runs"))?;
        files::make_folder_in(&runs, Path::new(&run.to_string()))
    }

    /// Makes an attempt's folder with everything its shim needs. A folder that a daemon left before it committed the
    /// attempt is replaced: no shim can have been started in it.
    ///
    /// # Errors
    /// As the system says.
    pub fn prepare(&self, request: &Request, instructions: &str) -> io::Result<PathBuf> {
        let run = self.make_run(request.attempt.child.run)?;
        let name = request.attempt.folder();
        let path = self.attempt(request.attempt);
        if path.symlink_metadata().is_ok() {
            std::fs::remove_dir_all(&path)?;
        }
        let folder = files::make_folder_in(&run, Path::new(&name))?;
        write_new(&folder, REQUEST, &serde_json::to_vec(request)?)?;
        if !instructions.is_empty() {
            write_new(&folder, INSTRUCTIONS, instructions.as_bytes())?;
        }
        files::create_file_in(&folder, LOCK)?;
        files::create_file_in(&folder, TREE)?;
        Ok(path)
    }
}

/// The name that an earlier attempt's answer is kept under: `result.md` of attempt 1 becomes `result.1.md`.
#[must_use]
pub fn earlier_answer(name: &Path, attempt: u32) -> PathBuf {
    let mut kept = name.file_stem().unwrap_or_default().to_owned();
    kept.push(format!(".{attempt}"));
    if let Some(extension) = name.extension() {
        kept.push(".");
        kept.push(extension);
    }
    name.with_file_name(kept)
}

fn write_new(folder: impl AsFd, name: &str, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    files::create_file_in(folder, name)?.write_all(bytes)
}

/// What a look at an attempt's lock told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// A shim lives.
    Held,
    /// No shim lives.
    Free,
    /// The file is not there: not a free lock. Boot, process id and start time decide.
    Missing,
}

/// Looks at an attempt's lock.
///
/// # Errors
/// When the file is there and cannot be looked at.
pub fn look_at_lock(folder: &Path) -> io::Result<Lock> {
    let file = match files::open_folder(folder).and_then(|open| files::open_file_in(&open, LOCK)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::Missing),
        Err(error) => return Err(error),
    };
    // Taken and given back by the close: nobody else takes it once the shim's copy is gone.
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock::Free),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(Lock::Held),
        Err(error) => Err(error.into()),
    }
}

/// Whether anybody still has the `tree` that the attempt's child got: its lock goes with the open file. A `tree` that is
/// not there, or cannot be looked at, is held by nobody as far as can be told.
#[must_use]
pub fn is_tree_held(folder: &Path) -> bool {
    let Ok(tree) = files::open_folder(folder).and_then(|open| files::open_file_in(&open, TREE)) else { return false };
    let taken = rustix::fs::flock(&tree, FlockOperation::NonBlockingLockExclusive);
    matches!(taken, Err(rustix::io::Errno::WOULDBLOCK))
}

/// Takes an attempt's lock for the shim that is about to be started.
///
/// # Errors
/// `ResourceBusy` when it is held, which means that a shim lives, or as the system says.
pub fn take_lock(folder: &Path) -> io::Result<File> {
    let open = files::open_folder(folder)?;
    let file = files::open_file_in(&open, LOCK)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(io::Error::new(io::ErrorKind::ResourceBusy, "its lock is held")),
        Err(error) => Err(error.into()),
    }
}

/// Whether the child of this attempt was about to run.
///
/// # Errors
/// When nobody can tell: an error is never read as "no".
pub fn has_started(folder: &Path) -> io::Result<bool> {
    match folder.join(STARTED).symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The record that a shim left in its folder without publishing it; none if it wrote none, or not to its end.
///
/// # Errors
/// When nobody can tell.
pub fn unpublished_record(folder: &Path) -> io::Result<Option<Record>> {
    match files::open_folder(folder).and_then(|open| files::read_in(&open, RECORD, RECORD_SPACE)) {
        Ok(bytes) => Ok(Record::from_bytes(&bytes).ok()),
        Err(error) if says_nothing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether an error proves that there is no record: anything else may pass, and the record is there after all.
fn says_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData | io::ErrorKind::NotADirectory)
        // A link, or a socket, where a file should be.
        || [rustix::io::Errno::LOOP, rustix::io::Errno::NXIO].map(|errno| Some(errno.raw_os_error())).contains(&error.raw_os_error())
}

/// Why a published record could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// It could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no record.
    #[error(transparent)]
    Record(#[from] RecordFault),
}

impl ReadFault {
    /// Whether the file itself is at fault. Otherwise it may be read another time.
    #[must_use]
    pub fn is_final(&self) -> bool {
        match self {
            Self::Io(error) => says_nothing(error),
            Self::Record(_) => true,
        }
    }
}

/// Reads a published record.
///
/// # Errors
/// When there is none, or it cannot be understood.
pub fn read_record(spool: impl AsFd, name: &str) -> Result<Record, ReadFault> {
    Ok(Record::from_bytes(&files::read_in(spool, name, RECORD_SPACE)?)?)
}

/// Reads a request back.
///
/// # Errors
/// When it is not there or not understood.
pub fn read_request(folder: impl AsFd) -> io::Result<Request> {
    let request: Request = serde_json::from_slice(&files::read_in(folder, REQUEST, REQUEST_BYTES)?)?;
    if request.format == crate::format::REQUEST_FORMAT {
        Ok(request)
    } else {
        Err(io::Error::other(format!("{REQUEST} has format {}, which this program does not know", request.format)))
    }
}

/// The last line of a shim's log, for errors.
#[must_use]
pub fn last_log_line(folder: &Path) -> Option<String> {
    const TAIL: u64 = 4096;
    use std::io::{Read as _, Seek as _, SeekFrom};
    let open = files::open_folder(folder).ok()?;
    let mut file = files::open_file_in(&open, SHIM_LOG).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    String::from_utf8_lossy(&tail).lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_answer_keeps_its_extension_last() {
        for (name, kept) in [
            ("result.md", "result.2.md"),
            ("outputs/0-explore.md", "outputs/0-explore.2.md"),
            ("answer", "answer.2"),
            ("a.b.md", "a.b.2.md"),
        ] {
            assert_eq!(earlier_answer(Path::new(name), 2), Path::new(kept));
        }
    }
}
