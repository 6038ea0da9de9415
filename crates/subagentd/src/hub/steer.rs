//! What live children are told: steers and pauses. Stored first, sent second, and sent again to every new connection of
//! a shim, which drops repeats.

use subagentd_core::id::{AttemptId, ChildId, RunId};
use subagentd_core::life::{Reason, State};
use subagentd_core::outcome::{Delivery, Receipt};
use subagentd_core::schedule;
use subagentd_proto::error::{Fault, Kind};
use subagentd_runtime::format::Order;
use subagentd_store::{self as store, Intent, NewIntent, OpenSteer, SteerReceipt, StoreError};
use tokio::sync::oneshot;

use super::command::{Paused, Steering};
use super::live::Pending;
use super::{Done, Hub};
use crate::clock::now_ms;

type SteerReply = oneshot::Sender<Result<Steering, Fault>>;
type PauseReply = oneshot::Sender<Result<Paused, Fault>>;

/// A steer whose commit came back.
pub(super) struct Steered {
    child: ChildId,
    result: Result<store::Intended, StoreError>,
    reply: SteerReply,
}

/// A pause whose commit came back.
pub(super) struct Pausing {
    child: ChildId,
    result: Result<store::Intended, StoreError>,
    reply: Option<PauseReply>,
}

/// What the store has for a child to hear.
pub(super) struct Unheard {
    attempt: AttemptId,
    result: Result<Vec<OpenSteer>, StoreError>,
}

/// A receipt whose commit came back.
pub(super) struct Heard {
    child: ChildId,
    number: u32,
    result: Result<(), StoreError>,
}

impl Hub {
    pub(super) async fn steer(&mut self, child: ChildId, text: String, delivery: Delivery, reply: SteerReply) {
        let known = self.runs.get_mut(&child.run).and_then(|run| run.child(child.index));
        if known.is_none_or(|known| known.state.is_end()) {
            // A client that went away does not need it.
            reply.send(Ok(Steering::NotOpen)).ok();
            return;
        }
        if !*self.healthy.borrow() {
            let text = "the database cannot be written, so nothing can be told; free some space or repair the disk";
            reply.send(Err(Fault::new(Kind::Storage, text))).ok();
            return;
        }
        let intent = NewIntent { child, intent: Intent::Steer { text, delivery }, at_ms: now_ms() };
        let receipt = self.context.writer.intend(intent).await;
        self.commit(async move { Done::Steered(Steered { child, result: receipt.await, reply }) });
    }

    pub(super) fn on_steered(&mut self, steered: Steered) {
        let Steered { child: id, result, reply } = steered;
        let answer = match result {
            Ok(store::Intended::Stored { number }) => Ok(self.note_steer(id, number)),
            Ok(store::Intended::Ended { .. }) => Ok(Steering::NotOpen),
            Ok(store::Intended::Cancelling { .. }) => Ok(Steering::Cancelled),
            Ok(store::Intended::TooMany { .. }) => Ok(Steering::TooMany),
            // Only a pause is answered so.
            Ok(store::Intended::Paused) => Ok(Steering::NotOpen),
            Err(error) => Err(crate::api::fault::storage(&error)),
        };
        reply.send(answer).ok();
    }

    fn note_steer(&mut self, id: ChildId, number: u32) -> Steering {
        let Some(child) = self.runs.get_mut(&id.run).and_then(|run| run.child(id.index)) else {
            return Steering::NotOpen;
        };
        let (state, attempt) = (child.state, AttemptId { child: id, number: child.attempts });
        let live = matches!(state, State::Starting | State::Running) && !child.settling;
        let heard = live.then(|| {
            let (told, heard) = oneshot::channel();
            child.listeners.retain(|(_, listener)| !listener.is_closed());
            child.listeners.push((number, told));
            heard
        });
        self.send_unheard(attempt);
        Steering::Stored { number, state, heard }
    }

    /// Sends what the store has for a live child and its shim has not got on this connection. The store is asked each
    /// time, so that texts are kept nowhere else and go out in the order of their numbers.
    pub(super) fn send_unheard(&mut self, attempt: AttemptId) {
        let Some(child) = self.live(attempt) else { return };
        let Some(link) = &mut child.link else { return };
        if link.asking {
            link.ask_again = true;
            return;
        }
        link.asking = true;
        let reader = self.context.reader.clone();
        self.commit(async move {
            let result = reader.open_steers(attempt.child).await;
            Done::Unheard(Unheard { attempt, result })
        });
    }

    pub(super) fn on_unheard(&mut self, unheard: Unheard) {
        let Unheard { attempt, result } = unheard;
        let Some(child) = self.live(attempt) else { return };
        let Some(link) = &mut child.link else { return };
        link.asking = false;
        let again = std::mem::take(&mut link.ask_again);
        match result {
            Ok(rows) => {
                for OpenSteer { steer, text } in rows {
                    let number = steer.number;
                    if number <= link.told {
                        continue;
                    }
                    let order = Order::Steer { intent: number, text, delivery: steer.delivery };
                    if !link.order(order) {
                        // Sent again when the shim greets, or with the next steer.
                        return;
                    }
                    link.told = number;
                }
            }
            Err(error) => {
                tracing::warn!(%attempt, %error, "what a child was told cannot be read; it is sent with the next word");
            }
        }
        if again {
            self.send_unheard(attempt);
        }
    }

    /// A shim greets: whatever an earlier connection lost is sent again.
    pub(super) fn send_everything(&mut self, attempt: AttemptId) {
        self.send_cancel(attempt);
        self.send_pause(attempt);
        if let Some(link) = self.live(attempt).and_then(|child| child.link.as_mut()) {
            link.told = 0;
        }
        self.send_unheard(attempt);
    }

    /// Row first, word after: who waits hears of it once it is stored.
    pub(super) async fn on_receipt(&mut self, attempt: AttemptId, number: u32, receipt: Receipt) {
        if self.live(attempt).is_none() {
            return;
        }
        let child = attempt.child;
        let stored = self.context.writer.receipt(SteerReceipt { child, number, receipt, at_ms: now_ms() }).await;
        self.commit(async move { Done::Heard(Heard { child, number, result: stored.await }) });
    }

    pub(super) fn on_heard(&mut self, heard: Heard) {
        let Heard { child: id, number, result } = heard;
        if let Err(error) = result {
            tracing::warn!(child = %id, number, %error, "a receipt could not be stored");
            return;
        }
        let Some(child) = self.runs.get_mut(&id.run).and_then(|run| run.child(id.index)) else { return };
        for (_, listener) in child.listeners.extract_if(.., |(listened, _)| *listened == number) {
            // A client that went away does not need it.
            listener.send(()).ok();
        }
    }

    pub(super) async fn pause(&mut self, run: RunId, reply: PauseReply) {
        let Some(live) = self.runs.get(&run) else {
            reply.send(Ok(Paused::NotOpen)).ok();
            return;
        };
        let open: Vec<(u32, State)> = (0..).zip(&live.children).map(|(index, child)| (index, child.state)).collect();
        // One answer for the run: that of its first child that has not settled, else of the first one.
        let settled = |state: State| state.is_end() || state == State::Paused;
        let answering = open.iter().find(|(_, state)| !settled(*state)).or(open.first()).map(|(index, _)| *index);
        let mut reply = Some(reply);
        for (index, state) in open {
            let reply = if Some(index) == answering { reply.take() } else { None };
            let child = ChildId { run, index };
            match state {
                _ if !*self.healthy.borrow() => refuse(reply),
                _ if state.is_end() => answer(reply, Ok(Paused::Before(state))),
                State::Paused => self.answer_after_pause(child, reply).await,
                State::Queued => self.pause_waiting(child, reply).await,
                _ => self.pause_live(child, reply).await,
            }
        }
    }

    /// A waiting child leaves the queue at once.
    async fn pause_waiting(&mut self, child: ChildId, reply: Option<PauseReply>) {
        self.step(schedule::Event::Withdrawn { child }).await;
        self.end_unstarted(None, child, Reason::Paused, None).await;
        self.answer_after_pause(child, reply).await;
    }

    /// Answers once the pause is stored, which may still be on its way.
    async fn answer_after_pause(&mut self, child: ChildId, reply: Option<PauseReply>) {
        let Some(reply) = reply else { return };
        let receipt = self.context.writer.intend(NewIntent { child, intent: Intent::Pause, at_ms: now_ms() }).await;
        self.commit(async move {
            // Behind the pause in the writer's queue: it changes nothing and tells where the child stands.
            let answer = match receipt.await {
                Ok(store::Intended::Paused) => Ok(Paused::Now),
                Ok(store::Intended::Ended { state }) => Ok(Paused::Before(state)),
                Ok(store::Intended::Cancelling { .. }) => Ok(Paused::Cancelled),
                Ok(store::Intended::Stored { .. } | store::Intended::TooMany { .. }) => Ok(Paused::Soon(State::Queued)),
                Err(error) => Err(crate::api::fault::storage(&error)),
            };
            reply.send(answer).ok();
            Done::Other
        });
    }

    async fn pause_live(&mut self, child: ChildId, reply: Option<PauseReply>) {
        // At once: a start that comes to nothing meanwhile does not go back to the queue.
        if let Some(live) = self.runs.get_mut(&child.run).and_then(|run| run.child(child.index))
            && !live.settling
        {
            live.pause.get_or_insert_default();
        }
        let receipt = self.context.writer.intend(NewIntent { child, intent: Intent::Pause, at_ms: now_ms() }).await;
        self.commit(async move { Done::Pausing(Pausing { child, result: receipt.await, reply }) });
    }

    pub(super) fn on_pausing(&mut self, pausing: Pausing) {
        let Pausing { child: id, result, reply } = pausing;
        let outcome = match result {
            Ok(store::Intended::Stored { number }) => Ok(self.note_pause(id, number)),
            Ok(store::Intended::Ended { state }) => Ok(Paused::Before(state)),
            Ok(store::Intended::Paused) => Ok(Paused::Before(State::Paused)),
            Ok(store::Intended::Cancelling { .. }) => Ok(Paused::Cancelled),
            // Only a steer is answered so.
            Ok(store::Intended::TooMany { state }) => Ok(Paused::Soon(state)),
            Err(error) => {
                if let Some(child) = self.runs.get_mut(&id.run).and_then(|run| run.child(id.index)) {
                    child.pause = child.pause.filter(|pause| pause.number.is_some());
                }
                Err(crate::api::fault::storage(&error))
            }
        };
        answer(reply, outcome);
    }

    fn note_pause(&mut self, id: ChildId, number: u32) -> Paused {
        let Some(child) = self.runs.get_mut(&id.run).and_then(|run| run.child(id.index)) else {
            return Paused::NotOpen;
        };
        // A repeat is stored under the first one's number: what is known of that one stays known.
        let known = child.pause.filter(|pause| pause.number == Some(number));
        child.pause = known.or(Some(Pending { number: Some(number), ..Pending::default() }));
        let (state, attempt) = (child.state, AttemptId { child: id, number: child.attempts });
        self.send_pause(attempt);
        Paused::Soon(state)
    }

    /// Sends a stored pause that the shim has not confirmed.
    fn send_pause(&mut self, attempt: AttemptId) {
        let Some(child) = self.live(attempt) else { return };
        if let Some(Pending { number: Some(intent), confirmed: false, .. }) = child.pause
            && let Some(link) = &child.link
        {
            // Sent again when the shim greets.
            link.order(Order::Pause { intent });
        }
    }
}

fn refuse(reply: Option<PauseReply>) {
    let text = "the database cannot be written, so no pause can be stored; free some space or repair the disk";
    answer(reply, Err(Fault::new(Kind::Storage, text)));
}

fn answer(reply: Option<PauseReply>, answer: Result<Paused, Fault>) {
    if let Some(reply) = reply {
        // A client that went away does not need it.
        reply.send(answer).ok();
    }
}
