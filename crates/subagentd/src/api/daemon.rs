//! `daemon/*`.

use std::sync::Arc;
use std::time::Duration;

use subagentd_ipc::connection::{Connection, Session};
use subagentd_proto::daemon::{
    HelloParams, HelloResponse, LimitsView, StatusParams, StatusResponse, StopParams, StopResponse,
};
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::{PROTOCOL, limits, method};

use super::{Api, VERSION, convert, model};

pub(super) async fn hello(
    api: Arc<Api>,
    connection: Arc<Connection>,
    params: HelloParams,
) -> Result<HelloResponse, Fault> {
    if params.protocol != PROTOCOL {
        return Err(Fault::new(
            Kind::Protocol,
            format!(
                "the client speaks protocol {}, this daemon ({VERSION}) speaks {PROTOCOL}; `subagentd-cli daemon stop` \
                 ends this daemon and leaves its children running, the next start takes them up",
                params.protocol
            ),
        ));
    }
    let owners = || std::iter::once(&params.owner).chain(&params.earlier_owners);
    if owners().any(|owner| owner.is_empty() || owner.len() > limits::OWNER_BYTES) {
        let text = format!("an owner has 1 to {} bytes; name a stable one, such as `cli:name`", limits::OWNER_BYTES);
        return Err(Fault::new(Kind::InvalidParams, text));
    }
    if params.earlier_owners.len() > EARLIER_OWNERS {
        return Err(Fault::new(Kind::Limit, format!("at most {EARLIER_OWNERS} earlier owners can be named")));
    }
    connection.greet(Session { owner: params.owner, earlier_owners: params.earlier_owners, client: params.client })?;
    Ok(HelloResponse {
        protocol: PROTOCOL,
        version: VERSION.to_owned(),
        store: api.about.store.clone(),
        features: method::METHODS.iter().map(|name| (*name).to_owned()).collect(),
        limits: LimitsView {
            frame_bytes: limits::FRAME_BYTES as u64,
            in_flight: u32::try_from(limits::IN_FLIGHT).unwrap_or(u32::MAX),
            subscriptions: u32::try_from(limits::SUBSCRIPTIONS).unwrap_or(u32::MAX),
            text_slice_bytes: limits::TEXT_SLICE_BYTES,
            wait_ms: limits::WAIT_MS,
        },
        inside_run: None,
    })
}

/// How long a status waits for runtimes to tell what they can run: it is asked to see whether the daemon lives.
const PATIENCE: Duration = Duration::from_secs(1);

/// Earlier owners of one host process; more are refused.
const EARLIER_OWNERS: usize = 64;

pub(super) async fn status(
    api: Arc<Api>,
    connection: Arc<Connection>,
    _params: StatusParams,
) -> Result<StatusResponse, Fault> {
    let (live, queued, stopping) = api.hub.counts().await?;
    let looked = model::survey(&api, &connection, None, false, PATIENCE);
    let survey = match tokio::time::timeout(PATIENCE * 2, looked).await {
        Ok(Ok(survey)) => survey,
        Ok(Err(_)) | Err(_) => api.runtimes.unseen("the file system did not answer in time; try again later"),
    };
    Ok(StatusResponse {
        version: VERSION.to_owned(),
        protocol: PROTOCOL,
        pid: std::process::id(),
        started_at_ms: api.about.started_at_ms,
        state_directory: api.about.state.display().to_string(),
        socket: api.about.socket.display().to_string(),
        stopping,
        live: count(live),
        queued: count(queued),
        max_children: count(api.context.settings.limits.children),
        default_runtime: convert::default_runtime(survey.default()),
    })
}

pub(super) async fn stop(
    api: Arc<Api>,
    connection: Arc<Connection>,
    _params: StopParams,
) -> Result<StopResponse, Fault> {
    let (live, queued) = api.hub.stop().await?;
    tracing::info!(pid = connection.peer.pid, live, queued, "asked to stop");
    // The server still answers the calls under way, this one among them.
    api.stop.cancel();
    Ok(StopResponse { live: count(live), queued: count(queued) })
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
