//! Taking up what an earlier daemon left: live shims are adopted, the rest is judged by lock, spool and `started`.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use subagentd_core::id::{AttemptId, ChildId};
use subagentd_core::life::State;
use subagentd_core::schedule;
use subagentd_runtime::folder::{self, Lock};
use subagentd_runtime::format::Record;
use subagentd_runtime::{files, process};
use subagentd_store::{AttemptRow, ChildRow, IntentKind, RunRow};

use super::link::{Adopted, Link};
use super::live::{Cancel, LiveChild, LiveRun};
use super::{Context, Hub};

/// What lock, spool and folder say of an attempt.
pub(super) enum Look {
    /// Its shim lives.
    Alive,
    /// Its record, and the name it has in the spool.
    Record(Box<Record>, String),
    /// Its child had started, and there is no record.
    Lost,
    /// Its child never started.
    NeverStarted(String),
}

/// The lock first, the spool second: a free lock and then no record proves that none will come. After another boot an
/// attempt counts as started, since nobody can tell what the disk forgot.
pub(super) fn look(context: &Context, attempt: AttemptId, other_boot: bool) -> Look {
    let place = context.places.attempt(attempt);
    match folder::look_at_lock(&place) {
        Ok(Lock::Held) => return Look::Alive,
        Ok(Lock::Free | Lock::Missing) => {}
        Err(error) => {
            // Never read as death: a writer might still be at work.
            tracing::error!(%attempt, %error, "an attempt's lock cannot be looked at");
            return Look::Alive;
        }
    }
    let name = attempt.record();
    let spool = files::open_folder(&context.places.spool());
    let published = spool.map_err(Into::into).and_then(|spool| folder::read_record(&spool, &name)).ok();
    match published.or_else(|| folder::unpublished_record(&place)) {
        Some(record) if record.attempt == attempt => Look::Record(Box::new(record), name),
        _ if other_boot || folder::has_started(&place) => Look::Lost,
        _ => Look::NeverStarted(folder::last_log_line(&place).unwrap_or_else(|| "the shim never started".to_owned())),
    }
}

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
        for row in &rows {
            for child in row.children.iter().filter(|child| child.state == State::Queued) {
                self.queue(row.id, child.index).await;
            }
        }
        if !rows.is_empty() {
            tracing::info!(runs = rows.len(), live = self.schedule.live(), queued = self.schedule.queued(), "taken up");
        }
        Ok(())
    }

    async fn take_up(&mut self, row: &RunRow, child: &ChildRow, attempt: &AttemptRow) {
        let id = ChildId { run: row.id, index: child.index };
        let Some(run) = self.runs.get(&row.id) else { return };
        let Some(request) = run.request(row.id, child.index) else {
            return;
        };
        let since_ms = attempt.begun_at_ms;
        self.step(schedule::Event::Restored { request, since_ms }).await;
        let attempt_id = AttemptId { child: id, number: attempt.number };
        let pidfd = watch(&self.context, attempt).unwrap_or_else(|error| {
            tracing::warn!(attempt = %attempt_id, %error, "a shim cannot be watched; its lock is looked at every second");
            None
        });
        // A shim that is gone already is found out by the first look.
        let shim = Adopted { pidfd, other_boot: attempt.boot != self.context.boot };
        let link = Link::adopted(Arc::clone(&self.context), attempt_id, shim, self.report.clone(), &self.tasks);
        if let Some(live) = self.runs.get_mut(&row.id).and_then(|run| run.child(child.index)) {
            live.link = Some(link);
        }
    }
}

/// Opens the shim by pid and compares its start time; the lock is looked at again after that.
fn watch(context: &Context, attempt: &AttemptRow) -> io::Result<Option<OwnedFd>> {
    match (attempt.pid, attempt.pid_start) {
        (Some(pid), Some(start)) if attempt.boot == context.boot => process::watch(pid, start),
        _ => Ok(None),
    }
}

fn with_shim(child: &ChildRow) -> Option<&AttemptRow> {
    child.attempt.as_ref().filter(|_| matches!(child.state, State::Starting | State::Running))
}

fn live_run(row: &RunRow) -> LiveRun {
    LiveRun {
        owner: row.owner.clone(),
        title: row.title.clone(),
        position: row.position,
        children: row.children.iter().map(live_child).collect(),
        waiters: Vec::new(),
    }
}

fn live_child(row: &ChildRow) -> LiveChild {
    let mut child = LiveChild::new(row.agent.clone(), &row.plan, row.state);
    child.attempts = row.attempts;
    child.failed_starts = row.never_ran;
    let cancel = row.intents.iter().find(|intent| intent.kind == IntentKind::Cancel);
    child.cancel = cancel.map(|intent| Cancel { number: Some(intent.number), confirmed: intent.confirmed });
    child
}
