//! How far open runs are: the newest snapshot only, for whoever looks.

use subagentd_core::id::{AttemptId, RunId};
use subagentd_core::life::State;
use subagentd_runtime::format::Progress;
use tokio::sync::{oneshot, watch};

use super::Hub;

/// One run as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// The run's state.
    pub(crate) state: State,
    /// Its children, in flat order.
    pub(crate) children: Vec<ChildSnapshot>,
}

/// One child as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChildSnapshot {
    /// The agent.
    pub(crate) agent: String,
    /// The child's state.
    pub(crate) state: State,
    /// What its shim told last.
    pub(crate) progress: Progress,
}

impl Hub {
    pub(super) fn watch_progress(&mut self, run: RunId, reply: oneshot::Sender<Option<watch::Receiver<Snapshot>>>) {
        let watched = self.runs.get_mut(&run).map(|live| {
            let snapshot = live.snapshot();
            live.progress.get_or_insert_with(|| watch::channel(snapshot).0).subscribe()
        });
        // A client that went away does not need it.
        reply.send(watched).ok();
        self.show(run);
    }

    pub(super) fn on_progress(&mut self, attempt: AttemptId, progress: Progress) {
        let Some(child) = self.live(attempt) else { return };
        child.progress = progress;
        self.show(attempt.child.run);
    }

    /// Shows a run anew to those who look; nobody may be looking.
    pub(super) fn show(&mut self, run: RunId) {
        let Some(live) = self.runs.get_mut(&run) else { return };
        let snapshot = live.snapshot();
        if let Some(progress) = &live.progress
            && progress.send(snapshot).is_err()
        {
            live.progress = None;
        }
    }
}
