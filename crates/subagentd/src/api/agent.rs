//! `agent/*`.

use std::sync::Arc;

use subagentd_ipc::connection::Connection;
use subagentd_proto::agent::{CatalogParams, CatalogResponse};
use subagentd_proto::error::Fault;

use super::{Api, convert};

pub(super) async fn catalog(
    api: Arc<Api>,
    _connection: Arc<Connection>,
    _params: CatalogParams,
) -> Result<CatalogResponse, Fault> {
    Ok(CatalogResponse {
        agents: api.catalog.iter().map(convert::agent).collect(),
        runtimes: api.runtimes.list().map(convert::runtime).collect(),
    })
}
