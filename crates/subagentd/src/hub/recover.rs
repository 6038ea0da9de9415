//! Taking up what an earlier daemon left: live shims are adopted, the rest is judged by lock, spool and `started`.

use subagentd_core::id::{AttemptId, ChildId};
use subagentd_core::life::{Reason, State};
use subagentd_core::schedule;
use subagentd_runtime::runner::Handle;
use subagentd_store::{AttemptRow, ChildRow, IntentKind, RunRow};

use super::live::{LiveChild, LiveRun, Pending};
use super::{Hub, LONGEST_PAUSE};

impl Hub {
    /// Fills the hub with every run that has not ended, oldest first.
    pub(super) async fn recover(&mut self) -> anyhow::Result<()> {
        let rows = self.context.reader.open_runs().await?;
        for row in &rows {
            self.runs.insert(row.id, live_run(row));
        }
        // Those with a shim hold what they hold; only then does anything wait for them.
        for row in &rows {
            for child in &row.children {
                if let Some(attempt) = with_shim(child) {
                    self.take_up(row, child, attempt).await;
                }
            }
        }
        self.detain().await?;
        for row in &rows {
            for child in row.children.iter().filter(|child| child.state == State::Queued) {
                self.queue_again(row, child).await;
            }
        }
        if !rows.is_empty() {
            tracing::info!(runs = rows.len(), live = self.schedule.live(), queued = self.schedule.queued(), "taken up");
        }
        Ok(())
    }

    /// Scopes of children that have ended or are paused and left something behind stay locked.
    async fn detain(&mut self) -> anyhow::Result<()> {
        for row in self.context.reader.leases().await? {
            let child = row.child;
            match self.runs.get_mut(&child.run).and_then(|run| run.child(child.index)) {
                // It holds its scope as a live child does.
                Some(one) if !one.state.is_end() && one.state != State::Paused => continue,
                Some(one) => one.detained = true,
                None => {}
            }
            let request = schedule::Request {
                child,
                // It waits for nothing any more.
                position: schedule::Position { run: 0, index: 0 },
                owner: String::new(),
                scope: Some(row.lease.identity),
                not_before_ms: None,
            };
            self.step(schedule::Event::Restored { request, since_ms: row.since_at_ms }).await;
            self.step(schedule::Event::Detained { child }).await;
        }
        Ok(())
    }

    async fn take_up(&mut self, row: &RunRow, child: &ChildRow, attempt: &AttemptRow) {
        let id = ChildId { run: row.id, index: child.index };
        let Some(run) = self.runs.get(&row.id) else { return };
        let Some(request) = run.request(row.id, child.index) else { return };
        let since_ms = attempt.begun_at_ms;
        self.step(schedule::Event::Restored { request, since_ms }).await;
        let handle = Handle {
            attempt: AttemptId { child: id, number: attempt.number },
            boot: attempt.boot.clone(),
            process: attempt.pid.zip(attempt.pid_start),
        };
        let gone = self.context.runner.watch(&handle).unwrap_or_else(|error| {
            tracing::warn!(attempt = %handle.attempt, %error, "a shim cannot be watched; it is looked at every second");
            None
        });
        // A shim that is gone already is found out by the first look.
        self.link(handle, None, gone);
    }

    /// A cancel that was stored and not acted on holds: such a child is not started any more. So does a pause: one whose
    /// shim was lost before it ran went back to the queue with it.
    async fn queue_again(&mut self, row: &RunRow, child: &ChildRow) {
        let id = ChildId { run: row.id, index: child.index };
        if child.intents.iter().any(|intent| intent.kind == IntentKind::Cancel) {
            self.end_unstarted(None, id, Reason::Cancelled, None).await;
        } else if child.intents.iter().any(|intent| intent.kind == IntentKind::Pause) {
            self.end_unstarted(None, id, Reason::Paused, None).await;
        } else {
            // The clock may have been set back meanwhile.
            let not_before_ms = child.not_before_ms.map(|at| at.min(self.after(LONGEST_PAUSE)));
            self.queue(row.id, child.index, not_before_ms).await;
        }
    }
}

fn with_shim(child: &ChildRow) -> Option<&AttemptRow> {
    child.attempt.as_ref().filter(|_| matches!(child.state, State::Starting | State::Running))
}

pub(super) fn live_run(row: &RunRow) -> LiveRun {
    LiveRun {
        owner: row.owner.clone(),
        title: row.title.clone(),
        position: row.position,
        children: row.children.iter().map(live_child).collect(),
        waiters: Vec::new(),
        progress: None,
    }
}

fn live_child(row: &ChildRow) -> LiveChild {
    let mut child = LiveChild::new(row.agent.clone(), &row.plan, row.state);
    child.attempts = row.attempts;
    child.failed_starts = row.never_ran;
    let stored = |kind| {
        let intent = row.intents.iter().find(|intent| intent.kind == kind)?;
        Some(Pending { number: Some(intent.number), confirmed: intent.confirmed, timed: false })
    };
    child.cancel = stored(IntentKind::Cancel);
    child.pause = stored(IntentKind::Pause);
    child
}
