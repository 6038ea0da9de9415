//! Cancels and waits.

use std::time::Duration;

use subagentd_core::id::{AttemptId, ChildId, RunId};
use subagentd_core::life::{Reason, State};
use subagentd_core::schedule;
use subagentd_proto::error::{Fault, Kind};
use subagentd_store::{self as store, Intent, NewIntent, StoreError};
use tokio::sync::oneshot;

use super::command::Cancelled;
use super::live::Pending;
use super::{Done, Event, Hub};
use crate::clock::now_ms;

type Reply = oneshot::Sender<Result<Cancelled, Fault>>;

/// Beside the grace, for a shim to confirm a cancel.
const CONFIRMATION: Duration = Duration::from_secs(1);

/// A cancel whose commit came back.
pub(super) struct Intended {
    child: ChildId,
    result: Result<store::Intended, StoreError>,
    reply: Option<Reply>,
}

fn refuse(reply: Option<Reply>) {
    if let Some(reply) = reply {
        let text = "the database cannot be written, so no cancel can be stored; free some space or repair the disk";
        reply.send(Err(Fault::new(Kind::Storage, text))).ok();
    }
}

impl Hub {
    pub(super) async fn cancel(&mut self, run: RunId, reply: Reply) {
        let Some(live) = self.runs.get(&run) else {
            // A client that went away does not need it.
            reply.send(Ok(Cancelled::NotOpen)).ok();
            return;
        };
        let open: Vec<(u32, State)> = (0..).zip(&live.children).map(|(index, child)| (index, child.state)).collect();
        // One answer for the run: that of its first child that has not ended, else of the first one.
        // While nothing can be stored no intent is taken: they would fill the writer's queue and hold up everybody.
        let answering = open.iter().find(|(_, state)| !state.is_end()).or(open.first()).map(|(index, _)| *index);
        let mut reply = Some(reply);
        for (index, state) in open {
            let reply = if Some(index) == answering { reply.take() } else { None };
            let child = ChildId { run, index };
            match state {
                _ if !*self.healthy.borrow() => refuse(reply),
                State::Queued | State::Paused => self.cancel_waiting(child, reply).await,
                _ => self.cancel_live(child, reply).await,
            }
        }
    }

    /// A waiting child leaves the queue at once, a paused one is in none; its end is the answer.
    async fn cancel_waiting(&mut self, child: ChildId, reply: Option<Reply>) {
        self.step(schedule::Event::Withdrawn { child }).await;
        self.end_unstarted(None, child, Reason::Cancelled, None).await;
        if let Some(reply) = reply {
            self.answer_after_end(child, reply).await;
        }
    }

    /// Answers once the commits queued so far are done: the settlement above is one of them.
    async fn answer_after_end(&mut self, child: ChildId, reply: Reply) {
        // Right behind the end in the writer's queue, so that it reports the stored end: later, a resume might have come
        // between.
        let intent = NewIntent { child, intent: Intent::Cancel, at_ms: now_ms() };
        let receipt = self.context.writer.intend(intent).await;
        self.commit(async move {
            let answer = match receipt.await {
                Ok(store::Intended::Ended { state: State::Cancelled }) => Ok(Cancelled::Now),
                Ok(store::Intended::Ended { state }) => Ok(Cancelled::Before(state)),
                Ok(_) => Ok(Cancelled::Soon(State::Queued)),
                Err(error) => Err(crate::api::fault::storage(&error)),
            };
            reply.send(answer).ok();
            Done::Other
        });
    }

    /// The intent is stored first and sent second; a child that ended before answers with its end.
    async fn cancel_live(&mut self, child: ChildId, reply: Option<Reply>) {
        let intent = NewIntent { child, intent: Intent::Cancel, at_ms: now_ms() };
        let receipt = self.context.writer.intend(intent).await;
        if let Some(live) = self.runs.get_mut(&child.run).and_then(|run| run.child(child.index))
            && live.cancel.is_none()
            && !live.settling
        {
            live.cancel = Some(Pending { number: None, confirmed: false, timed: false });
        }
        self.commit(async move { Done::Intended(Intended { child, result: receipt.await, reply }) });
    }

    pub(super) fn on_intended(&mut self, intended: Intended) {
        let Intended { child: id, result, reply } = intended;
        let answer = match result {
            Ok(store::Intended::Stored { number }) => Ok(self.note_cancel(id, number)),
            Ok(store::Intended::Ended { state }) => Ok(Cancelled::Before(state)),
            // Answers to other intents.
            Ok(store::Intended::Cancelling { state } | store::Intended::TooMany { state }) => {
                Ok(Cancelled::Soon(state))
            }
            Ok(store::Intended::Paused) => Ok(Cancelled::Soon(State::Paused)),
            Err(error) => {
                if let Some(child) = self.runs.get_mut(&id.run).and_then(|run| run.child(id.index)) {
                    child.cancel = child.cancel.filter(|cancel| cancel.number.is_some());
                }
                Err(crate::api::fault::storage(&error))
            }
        };
        if let Some(reply) = reply {
            reply.send(answer).ok();
        }
    }

    fn note_cancel(&mut self, id: ChildId, number: u32) -> Cancelled {
        let Some(child) = self.runs.get_mut(&id.run).and_then(|run| run.child(id.index)) else {
            return Cancelled::Before(State::Cancelled);
        };
        // A repeat is stored under the first one's number: what is known of that one stays known.
        let known = child.cancel.filter(|cancel| cancel.number == Some(number));
        child.cancel = known.or(Some(Pending { number: Some(number), confirmed: false, timed: false }));
        let (state, attempt) = (child.state, AttemptId { child: id, number: child.attempts });
        self.send_cancel(attempt);
        Cancelled::Soon(state)
    }

    /// Sends a stored cancel that the shim has not confirmed; it drops repeats. A shim that does not confirm in time is
    /// killed: it is not doing what it is there for.
    pub(super) fn send_cancel(&mut self, attempt: AttemptId) {
        let patience = self.context.settings.grace() + CONFIRMATION;
        let Some(child) = self.live(attempt) else { return };
        let Some(cancel @ Pending { number: Some(number), confirmed: false, .. }) = child.cancel else { return };
        let Some(link) = &child.link else { return };
        link.cancel(number);
        if cancel.timed {
            return;
        }
        child.cancel = Some(Pending { timed: true, ..cancel });
        let report = self.report.clone();
        self.tasks.spawn(async move {
            tokio::time::sleep(patience).await;
            // A hub that is gone has stopped; the next one sends it again.
            report.send(Event::CancelOverdue(attempt)).await.ok();
        });
    }

    pub(super) fn on_cancel_overdue(&mut self, attempt: AttemptId) {
        let Some(child) = self.live(attempt) else { return };
        if child.cancel.is_some_and(|cancel| !cancel.confirmed)
            && let Some(link) = &child.link
        {
            tracing::warn!(%attempt, "the shim does not confirm its cancel and is killed");
            link.kill();
        }
    }

    pub(super) async fn on_confirmed(&mut self, attempt: AttemptId, intent: u32) {
        let Some(child) = self.live(attempt) else { return };
        for stored in [&mut child.cancel, &mut child.pause].into_iter().flatten() {
            stored.confirmed |= stored.number == Some(intent);
        }
        let receipt = self.context.writer.confirm(attempt.child, intent, now_ms()).await;
        self.commit(async move {
            if let Err(error) = receipt.await {
                tracing::warn!(%attempt, %error, "a confirmed intent could not be marked; it is sent again");
            }
            Done::Other
        });
    }

    pub(super) fn wait(&mut self, run: RunId, reply: oneshot::Sender<()>) {
        match self.runs.get_mut(&run) {
            // Nothing more happens by itself.
            Some(live) if live.is_paused() => drop(reply.send(())),
            Some(live) => {
                // Waiters that gave up are dropped here, so that the list does not grow.
                live.waiters.retain(|waiter| !waiter.is_closed());
                live.waiters.push(reply);
            }
            None => drop(reply.send(())),
        }
    }
}
