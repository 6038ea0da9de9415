//! `agent/*`.

use std::sync::Arc;
use std::time::Duration;

use subagentd_ipc::connection::Connection;
use subagentd_proto::agent::{CatalogParams, CatalogResponse};
use subagentd_proto::error::Fault;

use super::{Api, convert, model};

/// How long the list waits for runtimes to tell what they can run: agents are what it is for.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn catalog(
    api: Arc<Api>,
    connection: Arc<Connection>,
    _params: CatalogParams,
) -> Result<CatalogResponse, Fault> {
    let survey = model::survey(&api, &connection, None, false, PATIENCE).await?;
    Ok(CatalogResponse {
        faults: api.catalog.faults().to_vec(),
        agents: api.catalog.iter().map(convert::agent).collect(),
        runtimes: survey.list().map(convert::runtime).collect(),
    })
}
