//! What becomes of a start that came to nothing: another try later, or an end.

use std::sync::Arc;
use std::time::Duration;

use subagentd_core::id::AttemptId;
use subagentd_core::life::{Reason, State};
use subagentd_core::outcome::{Receipt, Told};
use subagentd_core::schedule;
use subagentd_runtime::runner::Handle;
use subagentd_store::{OpenSteer, Requeue};

use super::{Done, Event, Hub, LONGEST_PAUSE, PAUSE, STARTS, spool};
use crate::clock::now_ms;

impl Hub {
    /// Nothing was committed: a full disk, most likely. The child waits a while and tries the same number again, as
    /// often as it takes.
    pub(super) async fn on_not_prepared(&mut self, attempt: AttemptId, error: String) {
        let Some(child) = self.live(attempt) else { return };
        child.failed_starts += 1;
        let pause = pause_after(child.failed_starts);
        tracing::warn!(%attempt, error, "an attempt could not be prepared; it is tried again");
        if let Some(reason) = child.asked_end() {
            self.end_unstarted(None, attempt.child, reason, None).await;
            return;
        }
        child.state = State::Queued;
        child.attempts -= 1;
        let not_before_ms = Some(self.after(pause));
        self.step(schedule::Event::Requeued { child: attempt.child, not_before_ms }).await;
    }

    /// Nothing was committed, and no other time will be better.
    pub(super) async fn on_impossible(&mut self, attempt: AttemptId, error: String) {
        if self.live(attempt).is_some() {
            self.end_unstarted(None, attempt.child, Reason::StartFailed, Some(error)).await;
        }
    }

    /// The store did not let the attempt begin: a cancel came first.
    pub(super) async fn on_not_begun(&mut self, attempt: AttemptId) {
        let Some(child) = self.live(attempt) else { return };
        let (reason, error) = match child.cancel {
            Some(_) => (Reason::Cancelled, None),
            None => (Reason::ShimLost, Some("the stored state allows no start; see the daemon's log".to_owned())),
        };
        if child.cancel.is_none() {
            tracing::error!(%attempt, "hub and store differ about a child that was to be started");
        }
        self.end_unstarted(None, attempt.child, reason, error).await;
    }

    /// The attempt is committed and its child never ran: back to the queue, or the end after too many of them.
    pub(super) async fn on_never_started(&mut self, attempt: AttemptId, error: String) {
        let Some(child) = self.live(attempt) else { return };
        child.failed_starts += 1;
        child.link = None;
        let (failed, running, asked) = (child.failed_starts, child.state == State::Running, child.asked_end());
        tracing::warn!(%attempt, error, "an attempt never started");
        if running {
            // It said that it runs: whoever removed the proof, it is never started again by itself.
            self.end_lost(self.handle(attempt, None));
        } else if let Some(reason) = asked {
            self.end_unstarted(Some(attempt), attempt.child, reason, None).await;
        } else if failed >= STARTS {
            self.end_unstarted(Some(attempt), attempt.child, Reason::StartFailed, Some(error)).await;
        } else {
            let not_before_ms = self.after(pause_after(failed));
            self.requeue(attempt, not_before_ms, error, None).await;
        }
    }

    /// Without a record the child is lost, unless its record came by the spool, was stored and removed before its shim's
    /// end was seen.
    pub(super) fn on_unexplained(&mut self, handle: Handle) {
        if self.live(handle.attempt).is_some() {
            self.end_lost(handle);
        }
    }

    /// Ends what is left of a child that is known to have run, and then the child.
    fn end_lost(&self, handle: Handle) {
        let (runner, report) = (Arc::clone(&self.context.runner), self.report.clone());
        let (attempt, reader) = (handle.attempt, self.context.reader.clone());
        self.tasks.spawn(async move {
            match tokio::task::spawn_blocking(move || runner.clear(&handle)).await {
                Ok(lost) => {
                    let open = reader.open_steers(attempt.child).await.unwrap_or_else(|error| {
                        tracing::warn!(%attempt, %error, "what a lost child had heard stays unknown");
                        Vec::new()
                    });
                    let told = heard(open, &lost.heard);
                    // A hub that is gone has stopped; the next start looks again.
                    report.send(Event::Lost(attempt, lost, told)).await.ok();
                }
                Err(error) => tracing::error!(%attempt, %error, "what is left of it could not be looked for"),
            }
        });
    }

    /// This long from now, by the hub's clock.
    pub(super) fn after(&self, pause: Duration) -> u64 {
        self.clock.now_ms() + u64::try_from(pause.as_millis()).unwrap_or_default()
    }

    /// Puts a live child back into the queue: the commit first, then the schedule. `record` is removed after that.
    pub(super) async fn requeue(
        &mut self,
        attempt: AttemptId,
        not_before_ms: u64,
        why: String,
        record: Option<String>,
    ) {
        let Some(run) = self.runs.get_mut(&attempt.child.run) else { return };
        let run_state = run.state_with(attempt.child.index, State::Queued);
        let Some(child) = run.child(attempt.child.index) else { return };
        child.state = State::Queued;
        child.link = None;
        let not_before_ms = Some(not_before_ms);
        let requeue = Requeue { attempt, run_state, not_before_ms, why, at_ms: now_ms() };
        let receipt = self.context.writer.requeue(requeue).await;
        self.commit(async move {
            match receipt.await {
                Ok(()) => Done::Requeued(Requeued { attempt, not_before_ms, record }),
                Err(error) => {
                    tracing::error!(%attempt, %error, "a child could not be queued again; it waits for the next start");
                    Done::Other
                }
            }
        });
    }

    pub(super) async fn on_requeued(&mut self, requeued: Requeued) {
        let Requeued { attempt, not_before_ms, record } = requeued;
        if let Some(name) = record {
            spool::forget(&self.context.places, &name);
            // Nothing happened in it, and with another daemon's writer in the way there may be thousands.
            self.remove_folder(attempt);
        }
        let child = attempt.child;
        let known = self.runs.get_mut(&child.run).and_then(|run| run.child(child.index));
        // Cancelled in the meantime: what it held is free, and it waits for nothing.
        let event = match known {
            Some(known) if !known.settling => schedule::Event::Requeued { child, not_before_ms },
            _ => schedule::Event::Ended { child },
        };
        self.step(event).await;
        self.show(child.run);
    }

    fn remove_folder(&self, attempt: AttemptId) {
        let runner = Arc::clone(&self.context.runner);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = runner.discard(attempt) {
                tracing::warn!(%attempt, %error, "the folder of an attempt that never ran could not be removed");
            }
        });
    }
}

/// Which steers a lost child had heard, behind its first words; each word stands for one steer.
fn heard(open: Vec<OpenSteer>, words: &[String]) -> Vec<Told> {
    let mut words: Vec<&String> = words.iter().skip(1).collect();
    let heard = open.into_iter().filter(|steer| {
        let at = words.iter().position(|word| **word == steer.text);
        at.map(|at| words.remove(at)).is_some()
    });
    heard.map(|steer| Told { number: steer.steer.number, receipt: Receipt::Delivered }).collect()
}

/// A child that waits again, once that is stored.
pub(super) struct Requeued {
    attempt: AttemptId,
    not_before_ms: Option<u64>,
    record: Option<String>,
}

/// Doubles with each failed start.
fn pause_after(failed: u32) -> Duration {
    PAUSE.saturating_mul(1 << failed.saturating_sub(1).min(16)).min(LONGEST_PAUSE)
}
