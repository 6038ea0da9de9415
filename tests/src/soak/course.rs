//! From the first daemon to the last look.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use subagentd_proto::daemon::StatusParams;
use subagentd_proto::method::{DaemonStatus, RunList};
use subagentd_proto::run::{ListParams, State};

use super::board::Board;
use super::dice::Dice;
use super::history::History;
use super::killer::Killer;
use super::line::{Call, Line};
use super::load::{Errand, Launcher};
use super::order::Order;
use super::rig::{ROOTS, Rig};
use super::watcher::Watcher;
use super::{Plan, observe};

/// Owners, each with an inbox, a watcher and a launching client.
pub(super) const OWNERS: [&str; 3] = ["one", "two", "three"];
/// The owner of the last launches.
pub(super) const PROBE: &str = "probe";
/// Everything has to have ended so long after the last kill.
const DRAIN: Duration = Duration::from_secs(30);
/// Between two looks at what nobody announces.
const LOOK: Duration = Duration::from_millis(10);
/// How long the last daemon may take to go, and what is left of its children.
const GO: Duration = Duration::from_secs(5);

pub(super) async fn run(plan: &Plan, rig: &Arc<Rig>, board: &Arc<Board>) -> anyhow::Result<History> {
    let until = Instant::now() + plan.time;
    let mut killer = Killer::new(rig, board, Dice::of(plan.seed, 0), plan.daemon_kills, plan.shim_kills);
    let killing = std::thread::spawn(move || {
        killer.run(until);
        killer
    });
    let mut launchers = tokio::task::JoinSet::new();
    let mut watchers = tokio::task::JoinSet::new();
    for (actor, owner) in (1_u64..).zip(OWNERS) {
        launchers.spawn(launcher(plan, rig, board, owner, actor, until).run());
        watchers.spawn(watcher(plan, rig, board, owner, actor).run());
    }
    watchers.spawn(watcher(plan, rig, board, PROBE, 0).run());
    let killing = tokio::task::spawn_blocking(move || killing.join());
    let mut killer = killing.await?.map_err(|_| anyhow::anyhow!("the killer panicked"))?;
    let deadline = Instant::now() + DRAIN;
    let launched = tokio::time::timeout(plan.time + DRAIN, async {
        while let Some(launched) = launchers.join_next().await {
            launched??;
        }
        anyhow::Ok(())
    });
    match launched.await {
        Ok(launched) => launched?,
        Err(_) => board.trouble("launching clients did not come to their end"),
    }
    drain(rig, board, &mut killer, deadline.max(Instant::now() + DRAIN)).await;
    killer.restart();
    for root in 0..ROOTS {
        Errand::new(rig, board, Order::probe(rig, PROBE, root)?).run().await;
    }
    drain(rig, board, &mut killer, Instant::now() + DRAIN).await;
    let mut aftermath = observe::store(rig, board).await.context("the store cannot be looked at")?;
    board.over.store(true, Ordering::Relaxed);
    watchers.join_all().await;
    killer.terminate(GO);
    observe::folders(rig, &mut aftermath).await;
    Ok(observe::history(rig, board, aftermath))
}

fn launcher(plan: &Plan, rig: &Arc<Rig>, board: &Arc<Board>, owner: &str, actor: u64, until: Instant) -> Launcher {
    Launcher {
        rig: Arc::clone(rig),
        board: Arc::clone(board),
        owner: owner.to_owned(),
        dice: Dice::of(plan.seed, actor),
        runs: plan.runs as usize,
        until,
    }
}

fn watcher(plan: &Plan, rig: &Arc<Rig>, board: &Arc<Board>, owner: &str, actor: u64) -> Watcher {
    let dice = Dice::of(plan.seed, 100 + actor);
    Watcher { rig: Arc::clone(rig), board: Arc::clone(board), owner: owner.to_owned(), dice }
}

/// Waits until every run has ended, was announced, and nothing is live or waits.
async fn drain(rig: &Arc<Rig>, board: &Arc<Board>, killer: &mut Killer, deadline: Instant) {
    let mut line = Line::new(rig, board, PROBE);
    while Instant::now() < deadline {
        killer.check();
        if tokio::time::timeout(GO, is_quiet(&mut line, board)).await == Ok(true) {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
    board.trouble(format!("not everything came to its end within {} s", DRAIN.as_secs()));
}

async fn is_quiet(line: &mut Line, board: &Board) -> bool {
    let Call::Answer(status) = line.call::<DaemonStatus>(StatusParams {}).await else { return false };
    let open = ListParams {
        states: vec![State::Queued, State::Starting, State::Running],
        limit: Some(1),
        ..ListParams::default()
    };
    let Call::Answer(list) = line.call::<RunList>(open).await else { return false };
    let (_, unannounced) = board.counts();
    status.live == 0 && status.queued == 0 && list.runs.is_empty() && unannounced == 0
}
