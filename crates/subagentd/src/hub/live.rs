//! Open runs as the hub knows them.

use std::sync::Arc;

use subagentd_core::id::{AttemptId, ChildId, RunId};
use subagentd_core::life::{Reason, State, run_state};
use subagentd_core::plan::{Class, Plan};
use subagentd_core::schedule::{Position, Request};
use subagentd_core::workspace::RootIdentity;
use subagentd_runtime::format::Progress;
use subagentd_store::Task;
use tokio::sync::{oneshot, watch};

use super::link::Link;
use super::progress::{ChildSnapshot, Snapshot};

/// A run with a child that has not ended.
pub(super) struct LiveRun {
    pub(super) owner: String,
    pub(super) title: Option<String>,
    pub(super) position: u64,
    pub(super) children: Vec<LiveChild>,
    /// Told when the run has ended.
    pub(super) waiters: Vec<oneshot::Sender<()>>,
    /// Shown to those who look how far it is, once somebody has looked.
    pub(super) progress: Option<watch::Sender<Snapshot>>,
}

/// One child of it.
pub(super) struct LiveChild {
    pub(super) agent: String,
    pub(super) state: State,
    /// The root it has to have for itself; `None` for a shared child.
    pub(super) scope: Option<RootIdentity>,
    pub(super) scope_path: std::path::PathBuf,
    /// Attempts so far; the newest one's number.
    pub(super) attempts: u32,
    /// Attempts in a row that never started.
    pub(super) failed_starts: u32,
    /// From the moment that a cancel is on its way to the store the child ends as cancelled.
    pub(super) cancel: Option<Pending>,
    /// A stored pause. Unlike a cancel it decides nothing by itself: a child that completes first has completed.
    pub(super) pause: Option<Pending>,
    /// It is paused or ended and left something behind that keeps its scope.
    pub(super) detained: bool,
    /// Clients that wait for the child's word about a steer, by its number.
    pub(super) listeners: Vec<(u32, oneshot::Sender<()>)>,
    /// Its end is on its way to the store.
    pub(super) settling: bool,
    /// Its end is stored.
    pub(super) stored_end: bool,
    /// Another daemon's writer kept it out at its last start.
    pub(super) elsewhere: bool,
    /// What its shim told last.
    pub(super) progress: Progress,
    /// The way to its shim.
    pub(super) link: Option<Link>,
    /// What a start needs, while it is kept in memory.
    pub(super) material: Option<Arc<Material>>,
}

/// A cancel or a pause on its way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pending {
    /// Its number, once it is stored.
    pub(super) number: Option<u32>,
    /// The shim has it.
    pub(super) confirmed: bool,
    /// Somebody looks at the clock for its confirmation.
    pub(super) timed: bool,
}

/// What a start needs.
pub(super) struct Material {
    pub(super) plan: Plan,
    pub(super) task: Task,
}

impl LiveRun {
    /// The state of the run, if `child` stood at `state`.
    pub(super) fn state_with(&self, child: u32, state: State) -> State {
        run_state(self.states_with(child, state))
    }

    /// Whether the run has ended, if `child` stood at `state`.
    pub(super) fn ended_with(&self, child: u32, state: State) -> bool {
        self.states_with(child, state).all(State::is_end)
    }

    /// How far it is.
    pub(super) fn snapshot(&self) -> Snapshot {
        let child = |child: &LiveChild| ChildSnapshot {
            agent: child.agent.clone(),
            state: child.state,
            progress: child.progress.clone(),
        };
        Snapshot { state: self.state(), children: self.children.iter().map(child).collect() }
    }

    /// Whether it is paused, and that is stored.
    pub(super) fn is_paused(&self) -> bool {
        self.state() == State::Paused && !self.children.iter().any(|child| child.settling && !child.stored_end)
    }

    pub(super) fn state(&self) -> State {
        run_state(self.children.iter().map(|child| child.state))
    }

    fn states_with(&self, changed: u32, state: State) -> impl Iterator<Item = State> {
        (0_u32..).zip(&self.children).map(move |(index, child)| if index == changed { state } else { child.state })
    }

    pub(super) fn child(&mut self, index: u32) -> Option<&mut LiveChild> {
        self.children.get_mut(usize::try_from(index).ok()?)
    }

    /// What the schedule has to know of a child.
    pub(super) fn request(&self, run: RunId, index: u32) -> Option<Request> {
        let child = self.children.get(usize::try_from(index).ok()?)?;
        Some(Request {
            child: ChildId { run, index },
            position: Position { run: self.position, index },
            owner: self.owner.clone(),
            scope: child.scope,
            not_before_ms: None,
        })
    }
}

impl LiveChild {
    pub(super) fn new(agent: String, plan: &Plan, state: State) -> Self {
        Self {
            agent,
            state,
            scope: (plan.class.value == Class::Exclusive).then_some(plan.workspace.identity),
            scope_path: plan.workspace.root.clone(),
            attempts: 0,
            failed_starts: 0,
            cancel: None,
            pause: None,
            detained: false,
            listeners: Vec::new(),
            settling: false,
            stored_end: state.is_end(),
            elsewhere: false,
            progress: Progress::default(),
            link: None,
            material: None,
        }
    }

    /// What a client wants of it that decides what becomes of a start that came to nothing.
    pub(super) fn asked_end(&self) -> Option<Reason> {
        match (self.cancel, self.pause) {
            (Some(_), _) => Some(Reason::Cancelled),
            (None, Some(_)) => Some(Reason::Paused),
            (None, None) => None,
        }
    }

    /// Whether this is the child's newest attempt, and it has not ended.
    pub(super) fn is_at(&self, attempt: AttemptId) -> bool {
        self.attempts == attempt.number && !self.settling && matches!(self.state, State::Starting | State::Running)
    }
}
