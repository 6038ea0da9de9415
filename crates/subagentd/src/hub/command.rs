//! What connections ask of the hub.

use subagentd_core::id::{ChildId, RunId};
use subagentd_core::life::State;
use subagentd_core::outcome::Delivery;
use subagentd_core::schedule::Waits;
use subagentd_proto::error::{Fault, Kind};
use subagentd_store::{NewContinuation, NewRun, RunRow};
use tokio::sync::{mpsc, oneshot, watch};

use super::progress::Snapshot;

/// A launch that was resolved and checked.
pub(crate) struct Submission {
    /// What to store.
    pub run: NewRun,
}

/// A launch that is committed.
#[derive(Debug)]
pub(crate) enum Launched {
    /// It is new: its state, and behind whom its first child waits.
    Accepted(State, Option<Waits>),
    /// Its key named this run.
    Repeated(RunId),
}

/// What became of a cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// It never started and is cancelled.
    Now,
    /// It is live in this state and will end as cancelled.
    Soon(State),
    /// It had ended as this.
    Before(State),
    /// The hub has no such open run.
    NotOpen,
}

/// What became of a steer.
#[derive(Debug)]
pub(crate) enum Steering {
    /// It is stored.
    Stored {
        /// Its number.
        number: u32,
        /// The child's state.
        state: State,
        /// Told once the child's word about it is stored, closed when the child settles; none if it has no shim now.
        heard: Option<oneshot::Receiver<()>>,
    },
    /// The child has ended, or the hub has no such open run.
    NotOpen,
    /// The child is being cancelled.
    Cancelled,
    /// As many as may wait for it do.
    TooMany,
}

/// What became of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paused {
    /// It waited and is paused.
    Now,
    /// It is live in this state and will settle.
    Soon(State),
    /// It had settled as this.
    Before(State),
    /// It is being cancelled.
    Cancelled,
    /// The hub has no such open run.
    NotOpen,
}

/// A resume that was checked.
pub(crate) struct Resumption {
    /// What to store; the hub sets the run's state.
    pub(crate) continuation: NewContinuation,
    /// The run as it is stored.
    pub(crate) row: Box<RunRow>,
}

/// A resume that is committed.
#[derive(Debug)]
pub(crate) struct Resumed {
    /// Number of the attempt to come.
    pub(crate) attempt: u32,
    /// The run's state.
    pub(crate) state: State,
    /// Behind whom the child waits.
    pub(crate) waits: Option<Waits>,
}

pub(super) enum Command {
    Launch(Box<LaunchCommand>),
    Cancel { run: RunId, reply: oneshot::Sender<Result<Cancelled, Fault>> },
    Steer { child: ChildId, text: String, delivery: Delivery, reply: oneshot::Sender<Result<Steering, Fault>> },
    Pause { run: RunId, reply: oneshot::Sender<Result<Paused, Fault>> },
    Resume { resumption: Resumption, reply: oneshot::Sender<Result<Resumed, Fault>> },
    Wait { run: RunId, reply: oneshot::Sender<()> },
    Progress { run: RunId, reply: oneshot::Sender<Option<watch::Receiver<Snapshot>>> },
    Waits { children: Vec<ChildId>, reply: oneshot::Sender<Vec<Option<Waits>>> },
    Counts { reply: oneshot::Sender<(usize, usize, bool)> },
    Release { child: ChildId, reply: oneshot::Sender<Result<(), Fault>> },
    Stop { reply: oneshot::Sender<(usize, usize)> },
}

impl Command {
    /// The stored run that it is about, if it is about one and depends on whether that is open.
    pub(super) const fn run(&self) -> Option<RunId> {
        match self {
            Self::Cancel { run, .. }
            | Self::Pause { run, .. }
            | Self::Wait { run, .. }
            | Self::Progress { run, .. } => Some(*run),
            Self::Steer { child, .. } => Some(child.run),
            Self::Resume { resumption, .. } => Some(resumption.continuation.child.run),
            Self::Launch(_) | Self::Waits { .. } | Self::Counts { .. } | Self::Release { .. } | Self::Stop { .. } => {
                None
            }
        }
    }
}

pub(super) struct LaunchCommand {
    pub(super) submission: Submission,
    pub(super) reply: oneshot::Sender<Result<Launched, Fault>>,
}

/// The way to the hub.
#[derive(Clone)]
pub(crate) struct Handle {
    commands: mpsc::Sender<Command>,
}

impl Handle {
    pub(super) fn new(commands: mpsc::Sender<Command>) -> Self {
        Self { commands }
    }

    /// Stores a launch and queues it. Answered after the commit.
    ///
    /// # Errors
    /// Overloaded, draining, storage, or a key that stands for another request; nothing was stored then.
    pub(crate) async fn launch(&self, submission: Submission) -> Result<Launched, Fault> {
        self.ask(|reply| Command::Launch(Box::new(LaunchCommand { submission, reply }))).await?
    }

    /// Cancels every child of a run that has not ended. Answered after the commit of the intent or of the end.
    ///
    /// # Errors
    /// When the daemon is stopping or the store fails.
    pub(crate) async fn cancel(&self, run: RunId) -> Result<Cancelled, Fault> {
        self.ask(|reply| Command::Cancel { run, reply }).await?
    }

    /// A receiver that is told when the run has ended; at once when it is not open.
    ///
    /// # Errors
    /// When the daemon is stopping.
    pub(crate) async fn wait(&self, run: RunId) -> Result<oneshot::Receiver<()>, Fault> {
        let (reply, told) = oneshot::channel();
        self.commands.send(Command::Wait { run, reply }).await.map_err(|_| gone())?;
        Ok(told)
    }

    /// Tells a child something. Answered after the commit.
    ///
    /// # Errors
    /// When the daemon is stopping or the store fails.
    pub(crate) async fn steer(&self, child: ChildId, text: String, delivery: Delivery) -> Result<Steering, Fault> {
        self.ask(|reply| Command::Steer { child, text, delivery, reply }).await?
    }

    /// Lets a run settle. Answered after the commit of the intent or of the pause.
    ///
    /// # Errors
    /// When the daemon is stopping or the store fails.
    pub(crate) async fn pause(&self, run: RunId) -> Result<Paused, Fault> {
        self.ask(|reply| Command::Pause { run, reply }).await?
    }

    /// Goes on with a settled child. Answered after the commit.
    ///
    /// # Errors
    /// When the child has not settled, the daemon is stopping or the store fails.
    pub(crate) async fn resume(&self, resumption: Resumption) -> Result<Resumed, Fault> {
        self.ask(|reply| Command::Resume { resumption, reply }).await?
    }

    /// How far an open run is, and how far it gets; none if it is not open.
    ///
    /// # Errors
    /// When the daemon is stopping.
    pub(crate) async fn progress(&self, run: RunId) -> Result<Option<watch::Receiver<Snapshot>>, Fault> {
        self.ask(|reply| Command::Progress { run, reply }).await
    }

    /// Behind whom each of these children waits.
    ///
    /// # Errors
    /// When the daemon is stopping.
    pub(crate) async fn waits(&self, children: Vec<ChildId>) -> Result<Vec<Option<Waits>>, Fault> {
        self.ask(|reply| Command::Waits { children, reply }).await
    }

    /// Live children, waiting children, and whether the daemon is stopping.
    ///
    /// # Errors
    /// When the hub is gone.
    pub(crate) async fn counts(&self) -> Result<(usize, usize, bool), Fault> {
        self.ask(|reply| Command::Counts { reply }).await
    }

    /// Gives up the scope that an ended child kept. Answered after the commit.
    ///
    /// # Errors
    /// When the daemon is stopping or the store fails.
    pub(crate) async fn release(&self, child: ChildId) -> Result<(), Fault> {
        self.ask(|reply| Command::Release { child, reply }).await?
    }

    /// Admits nothing more. Gives the children that live and those that wait.
    ///
    /// # Errors
    /// When the hub is gone.
    pub(crate) async fn stop(&self) -> Result<(usize, usize), Fault> {
        self.ask(|reply| Command::Stop { reply }).await
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, Fault> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())
    }
}

fn gone() -> Fault {
    Fault::new(Kind::Draining, "the daemon is stopping; try again once it is back")
}
