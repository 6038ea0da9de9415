//! What a shim does before its child exists.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::fs::FlockOperation;
use subagentd_core::life::Reason;
use subagentd_core::workspace::RootIdentity;

use crate::format::{RECORD_SPACE, Request, STARTED_FORMAT, Started};
use crate::{files, folder};

/// Own descriptors stand here and above, so that 3 to 63 are free in the child (Node marks low descriptors
/// close-on-exec up to the first gap).
const OWN_DESCRIPTORS: i32 = 100;
/// Where the child finds `tree`.
const TREE_DESCRIPTOR: i32 = 64;
/// Where an exclusive child finds its locked root.
const SCOPE_DESCRIPTOR: i32 = 65;

/// The shim itself: its folder, its request, its signals.
pub(super) struct Setup {
    /// The attempt's folder.
    pub(super) folder: OwnedFd,
    /// Its path, for the child's arguments.
    pub(super) path: PathBuf,
    /// The run's folder, where answers stand.
    pub(super) run: OwnedFd,
    /// What to do.
    pub(super) request: Request,
    /// Where the record goes.
    pub(super) spool: OwnedFd,
    /// Child ends and requests to end.
    pub(super) signals: SignalFd,
    /// The workspace's root while it is locked against other daemons' writers.
    scope: Option<OwnedFd>,
    /// Locked until the process ends.
    _lock: OwnedFd,
    control: Option<UnixStream>,
}

/// Everything that has to be there before the child runs.
pub(super) struct Prepared {
    /// The daemon that started us, if it still lives.
    pub(super) control: Option<UnixStream>,
    /// For daemons that come later.
    pub(super) listener: UnixListener,
    /// The task's text.
    pub(super) task: String,
    /// The client's environment.
    pub(super) environment: Vec<(String, String)>,
}

/// Whether the child may be started.
pub(super) enum Ready {
    /// It may.
    Go(Box<Prepared>),
    /// A writer of another daemon holds the root.
    BusyElsewhere,
    /// It cannot be.
    Refused(Reason, String),
}

impl Setup {
    /// Takes over lock and control connection, leaves the daemon's session, becomes sub-reaper.
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let lock = rustix::io::fcntl_dupfd_cloexec(io::stdin(), OWN_DESCRIPTORS)?;
        let control = rustix::io::fcntl_dupfd_cloexec(io::stdout(), OWN_DESCRIPTORS)?;
        let null = File::options().read(true).open("/dev/null")?;
        rustix::stdio::dup2_stdin(&null)?;
        rustix::stdio::dup2_stdout(io::stderr())?;

        // Already a leader only if somebody started us by hand: then the session is ours anyway.
        rustix::process::setsid().ok();
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let signals = block_signals()?;

        let folder = high(files::open_folder(path)?)?;
        let request = folder::read_request(&folder)?;
        let parent = path.parent().ok_or_else(|| io::Error::other("the attempt's folder has no parent"))?;
        let run = high(files::open_folder(parent)?)?;
        let spool = high(files::open_folder(&request.spool)?)?;
        let control = UnixStream::from(control);
        Ok(Self {
            folder,
            path: path.to_owned(),
            run,
            request,
            spool,
            signals,
            scope: None,
            _lock: lock,
            control: Some(control),
        })
    }

    /// Does everything up to the point of no return: after `started` is synced the child counts as started.
    pub(super) fn make_ready(&mut self) -> io::Result<Ready> {
        let listener = self.listen()?;
        make_record_space(&self.folder)?;
        self.hold_tree()?;
        if let Some(end) = self.hold_workspace()? {
            return Ok(end);
        }
        let task = match self.read_task() {
            Ok(task) => task,
            Err(error) => return Ok(refused(format!("the task cannot be read: {error}"))),
        };
        let environment = match self.read_environment() {
            Ok(environment) => environment,
            Err(error) => return Ok(refused(format!("the client's environment cannot be read: {error}"))),
        };
        self.mark_started()?;
        Ok(Ready::Go(Box::new(Prepared { control: self.control.take(), listener, task, environment })))
    }

    /// Lets the root go. Before the record is published: the next writer may start the moment that it is read.
    pub(super) fn release_scope(&mut self) -> io::Result<()> {
        match self.scope.take() {
            // Unlocked by name: copies of the descriptor would keep it locked otherwise.
            Some(root) => Ok(rustix::fs::flock(&root, FlockOperation::Unlock)?),
            None => Ok(()),
        }
    }

    fn listen(&self) -> io::Result<UnixListener> {
        // By way of the descriptor: the path may be longer than a socket's name can be.
        let listener = UnixListener::bind(format!("/proc/self/fd/{}/{}", self.folder.as_raw_fd(), folder::CONTROL))?;
        listener.set_nonblocking(true)?;
        Ok(UnixListener::from(high(listener.into())?))
    }

    /// Holds `tree` for the child and all it starts.
    fn hold_tree(&self) -> io::Result<()> {
        let tree = files::open_file_in(&self.folder, folder::TREE)?;
        rustix::fs::flock(&tree, FlockOperation::NonBlockingLockExclusive)?;
        pass_on(&tree, TREE_DESCRIPTOR)
    }

    /// Checks that the workspace is the one of the launch, and locks its root against writers of other daemons.
    fn hold_workspace(&mut self) -> io::Result<Option<Ready>> {
        let request = &self.request;
        let gone = |what: &Path, error: &dyn std::fmt::Display| {
            let text = format!("the workspace {} is gone: {error}", what.display());
            Some(Ready::Refused(Reason::WorkspaceGone, text))
        };
        let root = match open_directory(&request.root) {
            Ok(root) => root,
            Err(error) => return Ok(gone(&request.root, &error)),
        };
        let found = identity(&root)?;
        if found != request.identity {
            let text = format!("{} is another directory than at launch", request.root.display());
            return Ok(Some(Ready::Refused(Reason::WorkspaceReplaced, text)));
        }
        if let Err(error) = rustix::fs::access(&request.directory, rustix::fs::Access::EXEC_OK) {
            return Ok(gone(&request.directory, &error));
        }
        if request.exclusive {
            match rustix::fs::flock(&root, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    pass_on(&root, SCOPE_DESCRIPTOR)?;
                    self.scope = Some(root);
                }
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(Some(Ready::BusyElsewhere)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Why the child cannot go on working where it works, if its workspace was removed or another one put in its place.
    pub(super) fn workspace_fault(&self) -> Option<String> {
        let request = &self.request;
        let gone =
            |what: &Path, error: &dyn std::fmt::Display| format!("the workspace {} is gone: {error}", what.display());
        match open_directory(&request.root).map_err(io::Error::from).and_then(|root| identity(&root)) {
            Ok(found) if found == request.identity => {}
            Ok(_) => return Some(gone(&request.root, &"another directory stands in its place")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(gone(&request.root, &error)),
            // What cannot be looked at now is not gone.
            Err(_) => {}
        }
        match rustix::fs::stat(&request.directory) {
            Err(error) if error == rustix::io::Errno::NOENT => Some(gone(&request.directory, &error)),
            _ => None,
        }
    }

    fn read_task(&self) -> io::Result<String> {
        use crate::format::TaskText;
        match &self.request.task {
            TaskText::Inline(text) => Ok(text.clone()),
            TaskText::File(path) => std::fs::read_to_string(path),
        }
    }

    fn read_environment(&self) -> io::Result<Vec<(String, String)>> {
        let Some(path) = &self.request.environment else {
            return Ok(Vec::new());
        };
        let environment: subagentd_core::plan::Environment = serde_json::from_slice(&std::fs::read(path)?)?;
        Ok(environment.into_iter().collect())
    }

    fn mark_started(&self) -> io::Result<()> {
        let started = Started { format: STARTED_FORMAT, attempt: self.request.attempt, at_ms: super::now_ms() };
        let mut file = files::create_file_in(&self.folder, folder::STARTED)?;
        file.write_all(&serde_json::to_vec(&started)?)?;
        rustix::fs::fdatasync(&file)?;
        Ok(rustix::fs::fsync(&self.folder)?)
    }
}

fn refused(error: String) -> Ready {
    Ready::Refused(Reason::StartFailed, error)
}

/// Signals come through a descriptor; the child's mask is emptied before its program runs.
fn block_signals() -> io::Result<SignalFd> {
    let mut set = SigSet::empty();
    for signal in [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        set.add(signal);
    }
    set.thread_block()?;
    let signals = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
    Ok(signals)
}

fn make_record_space(folder: &OwnedFd) -> io::Result<()> {
    let mut file = files::create_file_in(folder, folder::RECORD)?;
    file.write_all(&[0; RECORD_SPACE])?;
    Ok(rustix::fs::fdatasync(&file)?)
}

/// Moves a descriptor out of the range that the child must find empty.
fn high(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(descriptor, OWN_DESCRIPTORS)?)
}

/// Leaves a copy of `file` at exactly this number, open for the child. The copy lives as long as the shim.
fn pass_on(file: &impl AsFd, number: i32) -> io::Result<()> {
    let copy = fcntl(file, FcntlArg::F_DUPFD(number))?;
    if copy == number { Ok(()) } else { Err(io::Error::other(format!("descriptor {number} is taken, got {copy}"))) }
}

fn open_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    rustix::fs::open(path, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

fn identity(root: &OwnedFd) -> io::Result<RootIdentity> {
    let stat = rustix::fs::fstat(root)?;
    Ok(RootIdentity { device: stat.st_dev, inode: stat.st_ino })
}
