//! `lease/*`.

use std::sync::Arc;

use subagentd_core::id::ChildId;
use subagentd_core::life::State;
use subagentd_ipc::connection::Connection;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::lease::{LeaseView, ListParams, ListResponse, ReleaseParams, ReleaseResponse};
use subagentd_store::LeaseRow;

use super::{Api, convert, fault, run};

async fn leases(api: &Api) -> Result<Vec<LeaseRow>, Fault> {
    api.context.reader.leases().await.map_err(|error| fault::storage(&error))
}

async fn state_of(api: &Api, child: ChildId) -> Result<Option<State>, Fault> {
    let row = api.context.reader.run(child.run).await.map_err(|error| fault::storage(&error))?;
    Ok(row.and_then(|row| row.children.iter().find(|one| one.index == child.index).map(|one| one.state)))
}

pub(super) async fn list(
    api: Arc<Api>,
    _connection: Arc<Connection>,
    _params: ListParams,
) -> Result<ListResponse, Fault> {
    let mut views = Vec::new();
    for row in leases(&api).await? {
        // Ended and released between the two questions.
        let Some(state) = state_of(&api, row.child).await? else { continue };
        views.push(LeaseView {
            run: row.child.run.to_string(),
            child: row.child.index,
            state: convert::state(state),
            workspace: row.lease.path.display().to_string(),
            since_ms: row.since_at_ms,
        });
    }
    Ok(ListResponse { leases: views })
}

pub(super) async fn release(
    api: Arc<Api>,
    connection: Arc<Connection>,
    params: ReleaseParams,
) -> Result<ReleaseResponse, Fault> {
    let id = run::find(&api, &params.run).await?;
    let (mut released, mut at_work) = (0, false);
    for row in leases(&api).await?.into_iter().filter(|row| row.child.run == id) {
        if state_of(&api, row.child).await?.is_some_and(State::may_resume) {
            api.hub.release(row.child).await?;
            tracing::warn!(child = %row.child, pid = connection.peer.pid, "a person gave up its workspace");
            released += 1;
        } else {
            at_work = true;
        }
    }
    if released == 0 && at_work {
        let text = format!("run {id} is still at work and keeps its workspace; `run/cancel` ends it");
        return Err(Fault::new(Kind::WrongState, text));
    }
    Ok(ReleaseResponse { released })
}
