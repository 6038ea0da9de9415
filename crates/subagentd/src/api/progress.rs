//! `run/progress`: lossy, the newest state only.

use std::sync::Arc;
use std::time::Duration;

use subagentd_core::id::{ChildId, RunId};
use subagentd_core::life::State;
use subagentd_ipc::connection::Connection;
use subagentd_ipc::router::Sink;
use subagentd_proto::run::{ProgressParams, RunProgress};

use super::{Api, convert, run};
use crate::hub::Snapshot;

/// Between two looks at the queue: who stands before a child changes without anything happening to it.
const QUEUE: Duration = Duration::from_secs(1);

pub(super) async fn watch(
    api: Arc<Api>,
    _connection: Arc<Connection>,
    params: ProgressParams,
    sink: Sink<RunProgress>,
) {
    // A run that is not open, or not known, has no progress: the subscription ends.
    let Ok(id) = run::find(&api, &params.run).await else { return };
    let Ok(Some(mut snapshots)) = api.hub.progress(id).await else { return };
    let mut told = None;
    loop {
        let snapshot = snapshots.borrow_and_update().clone();
        let waits = snapshot.children.iter().any(|child| child.state == State::Queued);
        let item = item(&api, id, &snapshot).await;
        if told.as_ref() != Some(&item) {
            if sink.send(&item).await.is_err() {
                return;
            }
            told = Some(item);
        }
        if snapshot.state.is_end() {
            return;
        }
        tokio::select! {
            changed = snapshots.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(QUEUE), if waits => {}
            () = sink.closed() => return,
        }
    }
}

async fn item(api: &Api, id: RunId, snapshot: &Snapshot) -> RunProgress {
    let queued = (0_u32..).zip(&snapshot.children).filter(|(_, child)| child.state == State::Queued);
    let children: Vec<ChildId> = queued.map(|(index, _)| ChildId { run: id, index }).collect();
    // Without an answer there is still progress to show.
    let waits = api.hub.waits(children.clone()).await.unwrap_or_default();
    let waits: Vec<_> = children.into_iter().zip(waits).filter_map(|(child, waits)| Some((child, waits?))).collect();
    convert::progress(id, snapshot, &waits)
}
