//! `run/preflight`: what a launch would decide now.

use std::sync::Arc;

use subagentd_ipc::connection::Connection;
use subagentd_proto::error::Fault;
use subagentd_proto::run::{LaunchParams, PreflightResponse};

use super::settle::{Asked, Settled, settled};
use super::{Api, convert, launch, run};
use crate::hub::ANSWER;

/// The same way as a launch, up to where that would store something.
pub(super) async fn preflight(
    api: Arc<Api>,
    connection: Arc<Connection>,
    params: LaunchParams,
) -> Result<PreflightResponse, Fault> {
    launch::check(&params)?;
    let owner = run::session(&connection)?.owner.clone();
    settled(&api, Asked { owner, params }, |_, settled| Ok(response(settled))).await
}

fn response(settled: Settled) -> PreflightResponse {
    let Settled { plan, definition, problems, .. } = settled;
    let mut decisions = convert::decisions(&plan);
    decisions.definition = definition;
    PreflightResponse {
        agent: plan.agent,
        decisions,
        output: ANSWER.to_owned(),
        digest: plan.digest.unwrap_or_default(),
        remarks: plan.remarks,
        problems: problems.iter().map(convert::setting).collect(),
    }
}
