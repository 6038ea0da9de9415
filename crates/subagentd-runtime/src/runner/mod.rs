//! Where shims run: the second of the two seams of design 10. The first, the dialect of a child program, is
//! [`crate::driver`].
//!
//! [`Local`] starts them on this machine. Another place (a host reached by SSH, a cluster's scheduler) is another
//! implementation of [`Runner`]; the hub knows no other way to a shim. Every operation is idempotent on the attempt and
//! may be repeated by a later daemon, which knows no more than a [`Handle`]. All of them may block: the hub calls them
//! beside itself.

mod local;

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use subagentd_core::id::AttemptId;
use subagentd_core::outcome::Answer;

use crate::format::{Record, Request};
use crate::spawn::Shim;

pub use local::Local;

/// A place where shims run.
pub trait Runner: Send + Sync {
    /// What this place can hold to. Policy refuses what it cannot, instead of guessing.
    fn capabilities(&self) -> Capabilities;

    /// Makes everything that the shim needs. What an earlier daemon left of an attempt that it never committed is
    /// replaced.
    ///
    /// # Errors
    /// As the place says. Nothing was started.
    fn prepare(&self, request: &Request, instructions: &str) -> io::Result<()>;

    /// Starts the shim of a prepared attempt, which must have been committed as starting before.
    ///
    /// # Errors
    /// See [`LaunchFault`].
    fn launch(&self, attempt: AttemptId) -> Result<Shim, LaunchFault>;

    /// Gives a descriptor that becomes readable once the shim is gone; none when there is nobody to watch, or nobody can
    /// tell: then [`Runner::collect`] is asked again and again.
    ///
    /// # Errors
    /// When it cannot be looked for now. That says nothing about the shim.
    fn watch(&self, handle: &Handle) -> io::Result<Option<OwnedFd>>;

    /// Connects to a live shim. Orders go in and words come out as lines of [`crate::format`]; a cancel, a pause or a
    /// steer is such an order. Losing the connection is never read as death.
    ///
    /// # Errors
    /// When the shim cannot be reached now.
    fn attach(&self, attempt: AttemptId) -> io::Result<UnixStream>;

    /// Kills a shim that does not do what it is there for. One that is gone needs no killing.
    fn kill(&self, handle: &Handle);

    /// Looks whether the shim lives, and if not, what there is of it.
    ///
    /// # Errors
    /// When nobody can tell now: never read as death or as "never started".
    fn collect(&self, handle: &Handle) -> io::Result<Collected>;

    /// Ends what is left of an attempt that has started and has no record, whatever its folder says. Blocks up to
    /// [`crate::leftovers::PATIENCE`].
    fn clear(&self, handle: &Handle) -> Lost;

    /// Removes an attempt in which nothing happened.
    ///
    /// # Errors
    /// As the place says; what remains does no harm.
    fn discard(&self, attempt: AttemptId) -> io::Result<()>;
}

/// What a place can hold to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Shims outlive the daemon and are found again by the next one.
    pub adoption: bool,
    /// The end of a whole process tree can be proved.
    pub whole_trees: bool,
    /// A scope's root can be locked against writers of other daemons.
    pub shared_locks: bool,
}

/// What is stored of a shim, enough to find it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle {
    /// Which attempt.
    pub attempt: AttemptId,
    /// The boot of the machine that it was started in.
    pub boot: String,
    /// Its process id and start time, if known.
    pub process: Option<(u32, u64)>,
}

/// Why a launch came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum LaunchFault {
    /// The attempt's lock is held: a shim of it lives already.
    #[error("its lock is held: a shim lives already")]
    Held,
    /// It could not be started; nothing runs.
    #[error("the shim cannot be started: {0}")]
    Failed(io::Error),
}

/// What a look at an attempt told.
#[derive(Debug)]
pub enum Collected {
    /// Its shim lives.
    Alive,
    /// Its record, and the name it has in the spool.
    Record(Box<Record>, String),
    /// Its child had started, and there is no record: it is lost, unless its end was stored in the meantime.
    Unexplained,
    /// Its child never started, with the shim's last words.
    NeverStarted(String),
}

/// Words that a lost child had heard; later ones are left out.
pub const HEARD: usize = crate::driver::STEERS + 1;

/// What remains of an attempt whose shim is gone.
#[derive(Debug)]
pub struct Lost {
    /// Processes that could not be ended, as far as they could be found.
    pub leftovers: Option<Vec<u32>>,
    /// An answer that had been stored before; whether the child had settled with it nobody can tell any more.
    pub answer: Option<Answer>,
    /// What the child was told and had heard, in order: its first words, then steers. At most [`HEARD`].
    pub heard: Vec<String>,
}
