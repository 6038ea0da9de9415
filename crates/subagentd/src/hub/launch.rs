//! A launch: one transaction, then the queue, then the reply.

use std::sync::Arc;

use subagentd_core::id::{ChildId, RunId};
use subagentd_core::life::State;
use subagentd_core::schedule;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::limits::QUEUED_CHILDREN;
use subagentd_store::{NewRun, StoreError, Submitted};
use tokio::sync::oneshot;

use super::command::{LaunchCommand, Launched as Answer};
use super::live::{LiveChild, LiveRun, Material};
use super::{Done, Hub};

/// Waiting children whose plan and task stay in memory; those further back are read from the store when they start.
const WARM: usize = 64;

type Reply = oneshot::Sender<Result<Answer, Fault>>;

/// A launch whose commit came back.
pub(super) struct Launched {
    run: NewRun,
    result: Result<Submitted, StoreError>,
    reply: Reply,
}

impl Hub {
    pub(super) async fn launch(&mut self, command: LaunchCommand) {
        let LaunchCommand { submission, reply } = command;
        if let Some(fault) = self.turn_away(submission.run.children.len()) {
            // A client that went away does not need it.
            reply.send(Err(fault)).ok();
            return;
        }
        self.launching += submission.run.children.len();
        let run = submission.run;
        let receipt = self.context.writer.submit(run.clone()).await;
        self.commit(async move { Done::Launched(Launched { run, result: receipt.await, reply }) });
    }

    /// Whether a launch has to be refused before anything is stored.
    pub(super) fn turn_away(&self, children: usize) -> Option<Fault> {
        if self.stopping {
            return Some(Fault::new(
                Kind::Draining,
                "the daemon is stopping and takes no new work; try again once it is back",
            ));
        }
        // Paused runs count, too: every daemon that starts has to take them up.
        let paused = self.runs.len().saturating_sub(self.schedule.queued() + self.schedule.live());
        if self.schedule.queued() + paused + self.launching + children > QUEUED_CHILDREN {
            let text = format!("{QUEUED_CHILDREN} children wait or are paused; try again when some of them have ended");
            return Some(Fault::new(Kind::Overloaded, text));
        }
        None
    }

    pub(super) async fn on_launched(&mut self, launched: Launched) {
        let Launched { run, result, reply } = launched;
        self.launching = self.launching.saturating_sub(run.children.len());
        let answer = match result {
            Ok(Submitted::Accepted { position }) => Ok(self.accept(run, position).await),
            Ok(Submitted::Repeated { run }) => Ok(Answer::Repeated(run)),
            Ok(Submitted::KeyConflict { run }) => Err(Fault::new(
                Kind::KeyConflict,
                format!("this key stands for another request, the one of run {run}; use a new key for a new request"),
            )),
            Err(error) => Err(crate::api::fault::storage(&error)),
        };
        reply.send(answer).ok();
    }

    async fn accept(&mut self, new: NewRun, position: u64) -> Answer {
        let id = new.id;
        let indices = 0_u32..;
        let children = new.children.into_iter().map(|child| {
            let mut live = LiveChild::new(child.agent, &child.plan, State::Queued);
            if self.warm < WARM {
                self.warm += 1;
                live.material = Some(Arc::new(Material { plan: child.plan, task: child.task }));
            }
            live
        });
        let run = LiveRun {
            owner: new.owner,
            title: new.title,
            position,
            children: children.collect(),
            waiters: Vec::new(),
            progress: None,
        };
        let count = run.children.len();
        self.runs.insert(id, run);
        for index in indices.take(count) {
            self.queue(id, index, None).await;
        }
        let first = ChildId { run: id, index: 0 };
        let state = self.runs.get(&id).map_or(State::Queued, LiveRun::state);
        Answer::Accepted(state, self.schedule.waits(first))
    }

    /// Puts a waiting child into the schedule.
    pub(super) async fn queue(&mut self, run: RunId, index: u32, not_before_ms: Option<u64>) {
        if let Some(request) = self.runs.get(&run).and_then(|live| live.request(run, index)) {
            self.step(schedule::Event::Submitted(schedule::Request { not_before_ms, ..request })).await;
        }
    }
}
