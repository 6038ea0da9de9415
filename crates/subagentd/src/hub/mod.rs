//! The hub: one task that owns queue, slots, leases and the lives of all open runs (design 2).
//!
//! It decides nothing itself: [`Schedule`] says who may start, the life table which moves are legal. Everything that
//! takes time — a commit, a start, a look at a lock — runs beside it and comes back as an [`Event`] or a [`Done`].
//! Effects follow commits, never the reverse.

mod cancel;
mod command;
mod launch;
mod link;
mod live;
mod progress;
mod recover;
mod resume;
mod retry;
mod settle;
mod spool;
mod start;
mod steer;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use subagentd_core::id::{AttemptId, ChildId, RunId};
use subagentd_core::outcome::Told;
use subagentd_core::schedule::{self, Effect, Schedule};
use subagentd_runtime::folder::Places;
use subagentd_runtime::format::{Record, Word};
use subagentd_runtime::runner::{self, Lost, Runner};
use subagentd_runtime::spawn::Shim;
use subagentd_store::{Reader, Writer};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use command::{Cancelled, Handle, Launched, Paused, Resumption, Steering, Submission};
pub(crate) use progress::Snapshot;
pub(crate) use start::ANSWER;

use crate::clock::Clock;
use crate::settings::Settings;
use command::Command;
use live::LiveRun;

/// Commands of connections that wait for the hub. A full queue makes connections wait, which pushes back on clients.
const COMMANDS: usize = 256;
/// Events of starts, shims and the spool that wait for the hub. Their tasks wait.
const EVENTS: usize = 1024;
/// Attempts in a row that may fail to start before the child has failed (design 2, free lock).
const STARTS: u32 = 3;
/// Before a child is tried again that another daemon's writer keeps out (N16).
const NOT_BEFORE: Duration = Duration::from_secs(1);
/// Before a failed start is tried again: the first pause, doubled each time, and the longest one.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long a stop waits for starts under way.
const STARTS_PATIENCE: Duration = Duration::from_secs(5);

/// What hub and its tasks share.
pub(crate) struct Context {
    /// Where attempts live.
    pub places: Places,
    /// Where shims run.
    pub runner: Arc<dyn Runner>,
    /// The one writer.
    pub writer: Writer,
    /// Readers.
    pub reader: Reader,
    /// Settings.
    pub settings: Settings,
    /// Open files that the daemon was started with: the limit of a child.
    pub open_files: Option<u64>,
    /// This boot of the machine.
    pub boot: String,
    /// When a child of pi was last started.
    pub last_start: tokio::sync::Mutex<Option<Instant>>,
}

/// What the hub's own tasks report.
#[derive(Debug)]
enum Event {
    /// The attempt is committed and its shim runs.
    Spawned(AttemptId, Box<Shim>),
    /// The attempt could not be prepared now; nothing was committed.
    NotPrepared(AttemptId, String),
    /// The attempt can never be prepared; nothing was committed.
    Impossible(AttemptId, String),
    /// The attempt is committed, its shim could not be started.
    NotSpawned(AttemptId, String),
    /// The attempt is committed, and its lock is held: a shim lives that nobody here has started.
    Held(AttemptId),
    /// The child was cancelled, or is not queued any more, when the attempt was to be committed.
    NotBegun(AttemptId),
    /// A shim said something.
    Word(AttemptId, Word),
    /// A shim's record is in the spool, under this name.
    Record(Box<Record>, String),
    /// The shim is gone, its child had started, and there is no record.
    Unexplained(runner::Handle),
    /// What such a shim left has been ended, and what its child had heard is known.
    Lost(AttemptId, Lost, Vec<Told>),
    /// A shim had its time to confirm a cancel.
    CancelOverdue(AttemptId),
    /// The shim is gone and its child never started.
    NeverStarted(AttemptId, String),
}

/// A commit that came back.
enum Done {
    Launched(launch::Launched),
    Settled(settle::Settled),
    Intended(cancel::Intended),
    Pausing(steer::Pausing),
    Steered(steer::Steered),
    Unheard(steer::Unheard),
    Heard(steer::Heard),
    Resumed(resume::Resumed),
    Requeued(retry::Requeued),
    Released(settle::Released),
    /// Nobody waits for it; a failure was logged.
    Other,
}

/// The hub's state. Everything here is a copy of what the store has, or can be found again from it.
pub(crate) struct Hub {
    context: Arc<Context>,
    schedule: Schedule,
    runs: HashMap<RunId, LiveRun>,
    commands: mpsc::Receiver<Command>,
    events: mpsc::Receiver<Event>,
    report: mpsc::Sender<Event>,
    commits: FuturesUnordered<BoxFuture<'static, Done>>,
    tasks: TaskTracker,
    /// Starts under way, which a stop waits for.
    starts: TaskTracker,
    clock: Clock,
    wake: Option<Instant>,
    stopping: bool,
    /// Launches whose commit is under way; they count against the bound of the queue.
    launching: usize,
    /// Runs whose resume is on its way to the store.
    reopening: HashSet<RunId>,
    /// What was asked about those meanwhile. Bounded by the requests that clients may have under way.
    deferred: Vec<Command>,
    /// Whether commits succeed; while they do not, nothing is admitted.
    healthy: watch::Receiver<bool>,
    /// Children whose plan is kept in memory, because they are likely to start soon.
    warm: usize,
}

impl Hub {
    /// Takes up what the store has open, and gives the hub's task to run.
    ///
    /// # Errors
    /// When the store cannot be read or the spool cannot be watched at all.
    pub(crate) async fn open(context: Arc<Context>) -> anyhow::Result<(Self, Handle)> {
        let (commands, received) = mpsc::channel(COMMANDS);
        let (report, events) = mpsc::channel(EVENTS);
        let mut hub = Self {
            schedule: Schedule::new(context.settings.limits.children),
            runs: HashMap::new(),
            commands: received,
            events,
            report,
            commits: FuturesUnordered::new(),
            tasks: TaskTracker::new(),
            starts: TaskTracker::new(),
            clock: Clock::start(),
            wake: None,
            stopping: false,
            launching: 0,
            reopening: HashSet::new(),
            deferred: Vec::new(),
            healthy: context.writer.healthy(),
            context,
            warm: 0,
        };
        // Watch first, then sweep: what is published in between is seen twice, never missed.
        let spool = spool::Spool::watch(&hub.context.places)?;
        hub.recover().await?;
        hub.tasks.spawn(spool.run(hub.report.clone()));
        Ok((hub, Handle::new(commands)))
    }

    /// Runs until the token is cancelled; then waits, bounded, for starts that are under way.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut health = self.healthy.clone();
        loop {
            let wake = self.wake;
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(done) = self.commits.next(), if !self.commits.is_empty() => self.on_done(done).await,
                Some(event) = self.events.recv() => self.on_event(event).await,
                Some(command) = self.commands.recv() => self.on_command(command).await,
                changed = health.changed() => {
                    if changed.is_err() {
                        tracing::error!("the store's writer is gone; the daemon ends, the next start finds everything");
                        break;
                    }
                    self.on_health().await;
                }
                () = sleep_until(wake), if wake.is_some() => self.step(schedule::Event::Tick).await,
            }
        }
        self.stopping = true;
        self.step(schedule::Event::AdmissionClosed).await;
        self.starts.close();
        if tokio::time::timeout(STARTS_PATIENCE, self.starts.wait()).await.is_err() {
            tracing::warn!("stopping with starts under way; the next start finds out how far they came");
        }
        self.drain_commits().await;
    }

    /// Commits under way are finished: their callers were promised an answer.
    async fn drain_commits(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(5);
        let drained = async {
            while let Some(done) = self.commits.next().await {
                self.on_done(done).await;
            }
        };
        if tokio::time::timeout(PATIENCE, drained).await.is_err() {
            tracing::warn!("stopping with commits under way; they are stored or not, and the next start finds out");
        }
    }

    /// While commits fail nothing is admitted: a start whose row cannot be stored must not happen.
    async fn on_health(&mut self) {
        let healthy = *self.healthy.borrow();
        tracing::warn!(healthy, "the store");
        if !self.stopping {
            let event = if healthy { schedule::Event::AdmissionOpened } else { schedule::Event::AdmissionClosed };
            self.step(event).await;
        }
    }

    async fn on_command(&mut self, command: Command) {
        if command.run().is_some_and(|run| self.reopening.contains(&run)) {
            self.deferred.push(command);
            return;
        }
        match command {
            Command::Launch(launch) => self.launch(*launch).await,
            Command::Cancel { run, reply } => self.cancel(run, reply).await,
            Command::Steer { child, text, delivery, reply } => self.steer(child, text, delivery, reply).await,
            Command::Pause { run, reply } => self.pause(run, reply).await,
            Command::Resume { resumption, reply } => self.resume(resumption, reply).await,
            Command::Wait { run, reply } => self.wait(run, reply),
            Command::Progress { run, reply } => self.watch_progress(run, reply),
            Command::Waits { children, reply } => {
                let waits = self.waits(&children);
                // A client that went away does not need it.
                reply.send(waits).ok();
            }
            Command::Counts { reply } => {
                reply.send((self.schedule.live(), self.schedule.queued(), self.stopping)).ok();
            }
            Command::Release { child, reply } => self.release(child, reply).await,
            Command::Stop { reply } => {
                self.stopping = true;
                self.step(schedule::Event::AdmissionClosed).await;
                reply.send((self.schedule.live(), self.schedule.queued())).ok();
            }
        }
    }

    /// Each single question costs as much as the queue before the child is long: many are answered by one walk.
    fn waits(&self, children: &[ChildId]) -> Vec<Option<schedule::Waits>> {
        const FEW: usize = 8;
        let all: HashMap<ChildId, schedule::Waits> = match children.len() {
            ..=FEW => children.iter().filter_map(|child| Some((*child, self.schedule.waits(*child)?))).collect(),
            _ => self.schedule.waiting().collect(),
        };
        children.iter().map(|child| all.get(child).map(|waits| self.explained(*child, *waits))).collect()
    }

    /// The schedule knows that a child has to wait a while, the hub knows why.
    fn explained(&self, id: ChildId, waits: schedule::Waits) -> schedule::Waits {
        let index = usize::try_from(id.index).unwrap_or(usize::MAX);
        let child = self.runs.get(&id.run).and_then(|run| run.children.get(index));
        match waits.on {
            schedule::WaitsOn::NotBefore if child.is_some_and(|child| child.elsewhere) => {
                schedule::Waits { on: schedule::WaitsOn::Elsewhere, ..waits }
            }
            _ => waits,
        }
    }

    async fn on_event(&mut self, event: Event) {
        match event {
            Event::Spawned(attempt, shim) => self.on_spawned(attempt, *shim),
            Event::NotPrepared(attempt, error) => self.on_not_prepared(attempt, error).await,
            Event::NotSpawned(attempt, error) | Event::NeverStarted(attempt, error) => {
                self.on_never_started(attempt, error).await;
            }
            Event::Impossible(attempt, error) => self.on_impossible(attempt, error).await,
            Event::Held(attempt) => self.on_held(attempt),
            Event::NotBegun(attempt) => self.on_not_begun(attempt).await,
            Event::Word(attempt, word) => self.on_word(attempt, word).await,
            Event::Record(record, name) => self.on_record(*record, name).await,
            Event::Unexplained(handle) => self.on_unexplained(handle),
            Event::Lost(attempt, lost, told) => self.on_lost(attempt, lost, told).await,
            Event::CancelOverdue(attempt) => self.on_cancel_overdue(attempt),
        }
    }

    async fn on_done(&mut self, done: Done) {
        match done {
            Done::Launched(launched) => self.on_launched(launched).await,
            Done::Settled(settled) => self.on_settled(settled).await,
            Done::Intended(intended) => self.on_intended(intended),
            Done::Pausing(pausing) => self.on_pausing(pausing),
            Done::Steered(steered) => self.on_steered(steered),
            Done::Unheard(unheard) => self.on_unheard(unheard),
            Done::Heard(heard) => self.on_heard(heard),
            Done::Resumed(resumed) => self.on_resumed(resumed).await,
            Done::Requeued(requeued) => self.on_requeued(requeued).await,
            Done::Released(released) => self.on_released(released).await,
            Done::Other => {}
        }
    }

    /// One step of the schedule, and its effects.
    async fn step(&mut self, event: schedule::Event) {
        let effects = self.schedule.step(event, self.clock.now_ms());
        self.wake = None;
        for effect in effects {
            match effect {
                Effect::Admit { child } => self.admit(child).await,
                Effect::WakeAt { at_ms } => {
                    let left = at_ms.saturating_sub(self.clock.now_ms());
                    self.wake = Some(Instant::now() + Duration::from_millis(left));
                }
            }
        }
    }

    /// Runs a commit beside the hub. It is already queued, so the order of calls is the order of commits.
    fn commit(&mut self, commit: impl Future<Output = Done> + Send + 'static) {
        self.commits.push(Box::pin(commit));
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
