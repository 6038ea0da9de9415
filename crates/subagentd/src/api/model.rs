//! `model/*`, and what other methods tell of the runtimes.

use std::sync::Arc;
use std::time::Duration;

use subagentd_core::plan::Environment;
use subagentd_ipc::connection::Connection;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::model::{ListParams, ListResponse, ModelView, RuntimeView};

use super::{Api, launch};
use crate::environment;
use crate::runtimes::probe::Model;
use crate::runtimes::{Listed, Survey};

/// How long a list waits for runtimes to tell what they can run; longer than each may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The runtimes as a launch by this client would find them.
pub(super) async fn list(
    api: Arc<Api>,
    connection: Arc<Connection>,
    params: ListParams,
) -> Result<ListResponse, Fault> {
    let only = params.runtime;
    if let Some(name) = only.as_deref().filter(|name| !api.runtimes.names().any(|known| known == *name)) {
        let names: Vec<&str> = api.runtimes.names().collect();
        let text = format!("there is no runtime `{name}`; there are {}", names.join(", "));
        return Err(Fault::new(Kind::RuntimeUnavailable, text));
    }
    let survey = survey(&api, &connection, only.clone(), params.refresh, PATIENCE).await?;
    let wanted = survey.list().filter(|one| only.as_deref().is_none_or(|only| only == one.name));
    Ok(ListResponse { runtimes: wanted.map(view).collect() })
}

/// What is known of all runtimes, or of one, for the client at the other end. Such calls bring no capture: what counts
/// is the environment that the client's process was started with, so that a list tells what its launch will get; where
/// that cannot be read, and for a peer inside a run, the short list of variables that this daemon lends.
pub(super) async fn survey(
    api: &Arc<Api>,
    connection: &Connection,
    only: Option<String>,
    refresh: bool,
    patience: Duration,
) -> Result<Survey, Fault> {
    let peer = connection.peer.pid;
    let look = move |api: &Api| Ok(api.runtimes.look(only.as_deref(), &of_peer(api, peer), refresh));
    let sight = launch::beside(api, "a folder of PATH", look).await?;
    Ok(match api.runtimes.settled(sight) {
        Ok(survey) => survey,
        Err(sight) => api.runtimes.ask(sight, patience).await,
    })
}

/// The variables that stand for those of the client at the other end.
pub(super) fn of_peer(api: &Api, peer: Option<i32>) -> Environment {
    let client = peer.and_then(environment::of_process).unwrap_or_else(environment::lent);
    environment::for_child(&client, &api.context.settings.environment.only)
}

fn view(one: Listed<'_>) -> RuntimeView {
    let Listed { name, default, reason, findings } = one;
    RuntimeView {
        name: name.to_owned(),
        default,
        usable: findings.usable,
        reason: reason.to_owned(),
        command: findings.command.clone(),
        version: findings.version.clone(),
        default_model: findings.default_model.clone(),
        models: findings.models.as_ref().map(|models| models.iter().map(model).collect()),
        warnings: findings.warnings.clone(),
    }
}

fn model(model: &Model) -> ModelView {
    ModelView {
        provider: model.provider.clone(),
        id: model.id.clone(),
        name: model.name.clone(),
        thinking_levels: model.levels.clone(),
        context_window: model.context_window,
    }
}
