//! A settled child goes on: stored with what it is told, then queued like a launch (decisions G34, W6).

use subagentd_core::id::{ChildId, RunId};
use subagentd_core::life::{State, run_state};
use subagentd_proto::error::{Fault, Kind};
use subagentd_store::{self as store, RunRow, StoreError};
use tokio::sync::oneshot;

use super::command::{Resumed as Answer, Resumption};
use super::live::LiveChild;
use super::{Done, Hub, recover};

type Reply = oneshot::Sender<Result<Answer, Fault>>;

/// A resume whose commit came back.
pub(super) struct Resumed {
    child: ChildId,
    row: Box<RunRow>,
    owner: Option<String>,
    result: Result<store::Resumed, StoreError>,
    reply: Reply,
}

impl Hub {
    pub(super) async fn resume(&mut self, resumption: Resumption, reply: Reply) {
        let Resumption { mut continuation, row } = resumption;
        let child = continuation.child;
        // A paused run is counted already.
        let further = usize::from(!self.runs.contains_key(&child.run));
        if let Some(fault) = self.turn_away(further) {
            // A client that went away does not need it.
            reply.send(Err(fault)).ok();
            return;
        }
        let states = match self.runs.get(&child.run) {
            Some(live) => live.children.iter().map(|one| one.state).collect(),
            None => row.children.iter().map(|one| one.state).collect::<Vec<_>>(),
        };
        let states = (0..).zip(states).map(|(index, state)| if index == child.index { State::Queued } else { state });
        continuation.run_state = run_state(states);
        // Until the commit is back the store may have the run open while the hub has not.
        self.reopening.insert(child.run);
        self.launching += 1;
        let owner = continuation.owner.clone();
        let receipt = self.context.writer.resume(continuation).await;
        self.commit(async move { Done::Resumed(Resumed { child, row, owner, result: receipt.await, reply }) });
    }

    pub(super) async fn on_resumed(&mut self, resumed: Resumed) {
        let Resumed { child, row, owner, result, reply } = resumed;
        self.launching = self.launching.saturating_sub(1);
        self.reopening.remove(&child.run);
        let answer = match result {
            Ok(store::Resumed::Queued { attempt }) => Ok(self.reopen(child, &row, owner, attempt).await),
            Ok(store::Resumed::NotSettled { state }) => Err(Fault::new(
                Kind::WrongState,
                format!(
                    "run {} is {state}: only a settled child is resumed; `run/steer` reaches it as it is",
                    child.run
                ),
            )),
            Ok(store::Resumed::Cancelling) => {
                Err(Fault::new(Kind::WrongState, format!("run {} is being cancelled; wait for its end", child.run)))
            }
            Ok(store::Resumed::Detained) => Err(Fault::new(
                Kind::WrongState,
                format!(
                    "run {} left processes behind that hold its workspace; see `lease/list`, and give it up with \
                     `lease/release` first",
                    child.run
                ),
            )),
            Err(error) => Err(crate::api::fault::storage(&error)),
        };
        reply.send(answer).ok();
        self.replay(child.run).await;
    }

    async fn reopen(&mut self, id: ChildId, row: &RunRow, owner: Option<String>, attempt: u32) -> Answer {
        let live = self.runs.entry(id.run).or_insert_with(|| recover::live_run(row));
        if let Some(owner) = owner {
            live.owner = owner;
        }
        if let Some(stored) = row.children.iter().find(|child| child.index == id.index)
            && let Some(child) = live.child(id.index)
        {
            let listeners = std::mem::take(&mut child.listeners);
            *child = LiveChild::new(stored.agent.clone(), &stored.plan, State::Queued);
            child.attempts = attempt.saturating_sub(1);
            child.listeners = listeners;
        }
        self.queue(id.run, id.index, None).await;
        self.show(id.run);
        let state = self.runs.get(&id.run).map_or(State::Queued, super::live::LiveRun::state);
        Answer { attempt, state, waits: self.schedule.waits(id) }
    }

    /// Does what was asked about a run while it was being reopened.
    async fn replay(&mut self, run: RunId) {
        for command in self.deferred.extract_if(.., |command| command.run() == Some(run)).collect::<Vec<_>>() {
            Box::pin(self.on_command(command)).await;
        }
    }
}
