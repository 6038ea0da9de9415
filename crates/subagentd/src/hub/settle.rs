//! Ends: one transaction that stores the end and all that follows from it, then its effects.

use subagentd_core::deliver::{Ended, Notice};
use subagentd_core::id::{AttemptId, ChildId};
use subagentd_core::life::{Reason, State};
use subagentd_core::outcome::{Outcome, Told};
use subagentd_core::schedule;
use subagentd_proto::error::Fault;
use subagentd_runtime::format::{End, Phase, REMARK_LEFTOVERS, Record, Word};
use subagentd_runtime::runner::Lost;
use subagentd_store::{self as store, Settlement, StoreError};
use tokio::sync::oneshot;

use super::live::LiveChild;
use super::{Done, Hub, NOT_BEFORE, spool};
use crate::clock::now_ms;

/// Remark: the shim was lost after it had stored this answer; nobody can tell whether the child had settled with it.
const REMARK_KEPT: &str = "answer.kept";
/// Why a child waits again that another daemon's writer keeps out (N16); such a start does not count as a failed one.
const BUSY_ELSEWHERE: &str = "scope.busy-elsewhere";

/// A settlement whose commit came back.
pub(super) struct Settled {
    child: ChildId,
    state: State,
    held_slot: bool,
    keep_scope: bool,
    record: Option<String>,
    result: Result<store::Settled, StoreError>,
}

impl Hub {
    /// The child of an attempt, if that is where it stands.
    pub(super) fn live(&mut self, attempt: AttemptId) -> Option<&mut LiveChild> {
        let child = self.runs.get_mut(&attempt.child.run)?.child(attempt.child.index)?;
        child.is_at(attempt).then_some(child)
    }

    pub(super) async fn on_word(&mut self, attempt: AttemptId, word: Word) {
        match word {
            Word::Hello { phase, .. } => {
                self.send_everything(attempt);
                self.on_phase(attempt, phase, now_ms()).await;
            }
            Word::Phase { phase, at_ms } => self.on_phase(attempt, phase, at_ms).await,
            Word::Progress(progress) => self.on_progress(attempt, progress),
            Word::Confirmed { intent } => self.on_confirmed(attempt, intent).await,
            Word::Steered { intent, receipt } => self.on_receipt(attempt, intent, receipt).await,
        }
    }

    async fn on_phase(&mut self, attempt: AttemptId, phase: Phase, at_ms: u64) {
        let Some(run) = self.runs.get_mut(&attempt.child.run) else {
            return;
        };
        let run_state = run.state_with(attempt.child.index, State::Running);
        let Some(child) = run.child(attempt.child.index).filter(|child| child.is_at(attempt)) else {
            return;
        };
        if phase < Phase::Running || child.state != State::Starting {
            return;
        }
        child.state = State::Running;
        child.failed_starts = 0;
        self.show(attempt.child.run);
        let receipt = self.context.writer.running(attempt, run_state, at_ms).await;
        self.commit(async move {
            if let Err(error) = receipt.await {
                tracing::warn!(%attempt, %error, "a child runs and that could not be stored");
            }
            Done::Other
        });
    }

    pub(super) async fn on_record(&mut self, record: Record, name: String) {
        let attempt = record.attempt;
        if self.live(attempt).is_none() {
            self.dispose_of_record(attempt, name);
            return;
        }
        match record.end {
            End::Ended(outcome) => {
                let keep_scope = outcome.remarks.iter().any(|remark| remark == REMARK_LEFTOVERS);
                self.store_end(Some(attempt), attempt.child, *outcome, Some(name), keep_scope).await;
            }
            End::BusyElsewhere => self.on_busy_elsewhere(attempt, name).await,
        }
    }

    async fn on_busy_elsewhere(&mut self, attempt: AttemptId, record: String) {
        let asked = self.live(attempt).and_then(|child| child.asked_end());
        if let Some(reason) = asked {
            let outcome = Outcome::bare(reason, None, now_ms());
            self.store_end(Some(attempt), attempt.child, outcome, Some(record), false).await;
        } else {
            if let Some(child) = self.live(attempt) {
                child.elsewhere = true;
            }
            let not_before_ms = self.after(NOT_BEFORE);
            self.requeue(attempt, not_before_ms, BUSY_ELSEWHERE.to_owned(), Some(record)).await;
        }
    }

    /// A record that nobody waits for: one whose end is stored and that was not removed then, or a stranger's.
    fn dispose_of_record(&mut self, attempt: AttemptId, name: String) {
        // Its end is being stored right now; it is removed after that.
        let child = self.runs.get_mut(&attempt.child.run).and_then(|run| run.child(attempt.child.index));
        if child.is_some_and(|child| child.settling) {
            return;
        }
        let context = std::sync::Arc::clone(&self.context);
        self.commit(async move {
            match context.reader.run(attempt.child.run).await {
                Ok(run) => {
                    let children = run.map(|run| run.children).unwrap_or_default();
                    let known = children.iter().find(|child| child.index == attempt.child.index);
                    let over = known.is_some_and(|child| {
                        let newest = child.attempt.as_ref().filter(|newest| newest.number == attempt.number);
                        child.attempts > attempt.number || newest.is_some_and(|newest| newest.ended.is_some())
                    });
                    if over {
                        spool::forget(&context.places, &name);
                    } else if known.is_none_or(|child| child.attempts < attempt.number) {
                        spool::set_aside(&context.places, &name, "it names an attempt that is not stored");
                    }
                }
                Err(error) => {
                    tracing::warn!(%attempt, %error, "a record could not be looked up; it stays in the spool");
                }
            }
            Done::Other
        });
    }

    pub(super) async fn on_lost(&mut self, attempt: AttemptId, lost: Lost, told: Vec<Told>) {
        if self.live(attempt).is_none() {
            return;
        }
        let error = "the child's shim is gone and left no record of the end".to_owned();
        let mut outcome = Outcome::bare(Reason::ShimLost, Some(error), now_ms());
        outcome.told = told;
        if lost.answer.is_some() {
            outcome.remarks.push(REMARK_KEPT.to_owned());
            outcome.answer = lost.answer;
        }
        if let Some(pids) = &lost.leftovers {
            tracing::error!(%attempt, ?pids, "processes could not be ended; their scope stays locked");
            outcome.remarks.push(REMARK_LEFTOVERS.to_owned());
        }
        self.store_end(Some(attempt), attempt.child, outcome, None, lost.leftovers.is_some()).await;
    }

    /// Ends a child whose newest attempt never ran. `attempt` is none when it was not even committed.
    pub(super) async fn end_unstarted(
        &mut self,
        attempt: Option<AttemptId>,
        child: ChildId,
        reason: Reason,
        error: Option<String>,
    ) {
        self.store_end(attempt, child, Outcome::bare(reason, error, now_ms()), None, false).await;
    }

    /// Stores an end. `record` is the spool file to be removed after the commit.
    pub(super) async fn store_end(
        &mut self,
        attempt: Option<AttemptId>,
        id: ChildId,
        mut outcome: Outcome,
        record: Option<String>,
        keep_scope: bool,
    ) {
        let Some(run) = self.runs.get_mut(&id.run) else { return };
        let Some(child) = run.child(id.index) else { return };
        if child.cancel.is_some() {
            // Whatever its record says; a complete answer stays and is marked as such.
            outcome.reason = Reason::Cancelled;
            outcome.error = None;
        }
        // What a paused child left behind keeps its scope, also when it is cancelled.
        let keep_scope = keep_scope || child.detained;
        child.detained = keep_scope;
        let held_slot = !matches!(child.state, State::Queued | State::Paused);
        let state = outcome.reason.state();
        child.settling = true;
        child.state = state;
        child.link = None;
        let run_state = run.state_with(id.index, state);
        let run_ended = run.ended_with(id.index, state);
        let notice = run_ended.then(|| notice_of(run, run_state, &outcome));
        let settlement =
            Settlement { child: id, attempt, outcome, run_state, run_ended, notice, keep_lease: keep_scope };
        let receipt = self.context.writer.settle(settlement).await;
        self.commit(async move {
            Done::Settled(Settled { child: id, state, held_slot, keep_scope, record, result: receipt.await })
        });
    }

    pub(super) async fn on_settled(&mut self, settled: Settled) {
        let Settled { child: id, state, held_slot, keep_scope, record, result } = settled;
        match result {
            Ok(store::Settled::Stored { .. }) => tracing::info!(child = %id, %state, "ended"),
            Ok(store::Settled::AlreadyEnded { state }) => tracing::warn!(child = %id, %state, "had ended already"),
            Err(error) => {
                // The writer retries what the disk refused; this is a fault of ours. The record stays for the next start.
                tracing::error!(child = %id, %error, "an end could not be stored");
                return;
            }
        }
        if let Some(name) = record {
            spool::forget(&self.context.places, &name);
        }
        if let Some(child) = self.runs.get_mut(&id.run).and_then(|run| run.child(id.index)) {
            // Whoever waits for its word looks at what is stored now.
            child.listeners.clear();
            child.stored_end = state.is_end();
            if state == State::Paused {
                child.pause = None;
                // A cancel may be on its way to the store already.
                child.settling = child.state.is_end();
            }
        }
        self.show(id.run);
        if state == State::Paused
            && let Some(run) = self.runs.get_mut(&id.run).filter(|run| run.is_paused())
        {
            for waiter in run.waiters.drain(..) {
                waiter.send(()).ok();
            }
        }
        let all_ended = self.runs.get(&id.run).is_some_and(|run| run.children.iter().all(|one| one.stored_end));
        if all_ended && let Some(run) = self.runs.remove(&id.run) {
            for waiter in run.waiters {
                // A client that went away does not need it.
                waiter.send(()).ok();
            }
        }
        if held_slot {
            let event = match keep_scope {
                true => schedule::Event::Detained { child: id },
                false => schedule::Event::Ended { child: id },
            };
            self.step(event).await;
        }
    }
}

/// A given-up scope whose commit came back.
pub(super) struct Released {
    child: ChildId,
    result: Result<(), StoreError>,
    reply: oneshot::Sender<Result<(), Fault>>,
}

impl Hub {
    /// A person takes it upon himself that what is left of a child does no harm.
    pub(super) async fn release(&mut self, child: ChildId, reply: oneshot::Sender<Result<(), Fault>>) {
        let receipt = self.context.writer.release(child).await;
        self.commit(async move { Done::Released(Released { child, result: receipt.await, reply }) });
    }

    pub(super) async fn on_released(&mut self, released: Released) {
        let Released { child, result, reply } = released;
        if result.is_ok() {
            if let Some(live) = self.runs.get_mut(&child.run).and_then(|run| run.child(child.index)) {
                live.detained = false;
            }
            self.step(schedule::Event::Ended { child }).await;
        }
        // A client that went away does not need it.
        reply.send(result.map_err(|error| crate::api::fault::storage(&error))).ok();
    }
}

fn notice_of(run: &super::live::LiveRun, state: State, outcome: &Outcome) -> Notice {
    let agent = run.children.first().map_or("", |child| child.agent.as_str());
    Notice::ended(&Ended {
        state,
        reason: outcome.reason,
        agent,
        title: run.title.as_deref(),
        children: u32::try_from(run.children.len()).unwrap_or(u32::MAX),
        reference: outcome.answer.as_ref().map(|answer| &answer.reference),
        at_ms: outcome.ended_at_ms,
    })
}
