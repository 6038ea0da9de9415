//! `run/steer`, `run/pause`, `run/resume`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use subagentd_core::id::{ChildId, RunId};
use subagentd_core::life::{State, resume_refusal};
use subagentd_ipc::connection::Connection;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::limits::{STEER_BYTES, STEER_WAIT_MS, STEERS};
use subagentd_proto::run::{
    self as wire, PauseParams, PauseResponse, ResumeParams, ResumeResponse, SteerParams, SteerResponse,
};
use subagentd_store::{ChildRow, NewContinuation, RunRow};

use super::{Api, convert, fault, launch, run};
use crate::clock::now_ms;
use crate::hub::{Paused, Resumption, Steering};

pub(super) async fn steer(
    api: Arc<Api>,
    _connection: Arc<Connection>,
    params: SteerParams,
) -> Result<SteerResponse, Fault> {
    check_text(&params.text)?;
    let delivery = convert::asked_delivery(params.delivery.unwrap_or(wire::Delivery::Steer))?;
    let id = run::find(&api, &params.run).await?;
    let index = chosen(&run::row(&api, id).await?, params.child)?.index;
    let child = ChildId { run: id, index };
    let (number, state, heard) = match api.hub.steer(child, params.text, delivery).await? {
        Steering::Stored { number, state, heard } => (number, state, heard),
        Steering::NotOpen => return Err(settled(&api, child).await?),
        Steering::Cancelled => {
            let text = format!("run {id} is being cancelled and hears nothing more");
            return Err(Fault::new(Kind::WrongState, text));
        }
        Steering::TooMany => {
            let text = format!("run {id} has {STEERS} texts that its child has not got yet; wait until it got some");
            return Err(Fault::new(Kind::Overloaded, text));
        }
    };
    if let Some(heard) = heard {
        // The child settled, or its word takes long: what is stored by then is the answer.
        drop(tokio::time::timeout(Duration::from_millis(STEER_WAIT_MS), heard).await);
    }
    let row = run::row(&api, id).await?;
    let steers = &chosen(&row, Some(index))?.steers;
    let receipt = steers.iter().find(|steer| steer.number == number).and_then(|steer| steer.receipt);
    Ok(SteerResponse {
        run: id.to_string(),
        child: index,
        number,
        receipt: convert::receipt(receipt),
        state: convert::state(chosen(&row, Some(index)).map_or(state, |child| child.state)),
    })
}

pub(super) async fn pause(
    api: Arc<Api>,
    _connection: Arc<Connection>,
    params: PauseParams,
) -> Result<PauseResponse, Fault> {
    let id = run::find(&api, &params.run).await?;
    let (state, outcome) = match api.hub.pause(id).await? {
        Paused::Now | Paused::Before(State::Paused) => (State::Paused, "paused"),
        Paused::Soon(state) => (state, "pausing"),
        Paused::Before(state) => (state, "already-ended"),
        Paused::NotOpen => (run::row(&api, id).await?.state, "already-ended"),
        Paused::Cancelled => {
            return Err(Fault::new(Kind::WrongState, format!("run {id} is being cancelled and cannot be paused")));
        }
    };
    Ok(PauseResponse { run: id.to_string(), state: convert::state(state), outcome: outcome.to_owned() })
}

pub(super) async fn resume(
    api: Arc<Api>,
    connection: Arc<Connection>,
    params: ResumeParams,
) -> Result<ResumeResponse, Fault> {
    if let Some(text) = &params.text {
        check_text(text)?;
    }
    let id = run::find(&api, &params.run).await?;
    let row = run::row(&api, id).await?;
    let child = chosen(&row, params.child)?;
    let index = child.index;
    let owner = new_owner(&connection, &row, params.takeover)?;
    check_child(child, id, run::has_conversation(&api, &row, child).await?, &params)?;
    let work = Arc::clone(&api);
    let environment = params.capture.environment;
    let kept = tokio::task::spawn_blocking(move || launch::take_environment(&work, environment)).await;
    let client = kept.map_err(|error| fault::internal(&error))??;
    let continuation = NewContinuation {
        child: ChildId { run: id, index },
        text: params.text,
        environment: Some(client.digest),
        umask: client.umask,
        limits: client.limits,
        background: params.background,
        owner,
        run_state: State::Queued,
        at_ms: now_ms(),
    };
    let resumed = api.hub.resume(Resumption { continuation, row: Box::new(row) }).await?;
    Ok(ResumeResponse {
        run: id.to_string(),
        child: index,
        attempt: resumed.attempt,
        state: convert::state(resumed.state),
        waits: resumed.waits.map(convert::waits),
        remarks: client.remarks,
    })
}

/// The owner that the run gets, if it changes hands (W6).
fn new_owner(connection: &Connection, row: &RunRow, takeover: bool) -> Result<Option<String>, Fault> {
    let session = run::session(connection)?;
    if session.owner == row.owner {
        return Ok(None);
    }
    // The same host under an earlier name.
    if takeover || session.earlier_owners.contains(&row.owner) {
        return Ok(Some(session.owner.clone()));
    }
    let text = format!(
        "run {} belongs to {}, you are {}; resume it with `takeover: true` to make it yours",
        row.id, row.owner, session.owner
    );
    Err(Fault::new(Kind::Refused, text))
}

fn check_child(child: &ChildRow, run: RunId, conversation: bool, params: &ResumeParams) -> Result<(), Fault> {
    if let Some(agent) = &params.agent
        && !agent.eq_ignore_ascii_case(&child.agent)
    {
        let text = format!("run {run} is of the agent `{}`, not `{agent}`; leave `agent` out", child.agent);
        return Err(Fault::new(Kind::InvalidParams, text));
    }
    if let Some(why) = resume_refusal(child.state, conversation) {
        return Err(Fault::new(Kind::WrongState, format!("run {run} cannot be resumed: {why}")));
    }
    if params.text.is_none() && !matches!(child.state, State::Paused | State::Interrupted) {
        let text = format!("run {run} ended as {}; say what its agent shall do now (`text`)", child.state);
        return Err(Fault::new(Kind::InvalidParams, text));
    }
    if !Path::new(&child.plan.workspace.directory).is_dir() {
        let text = format!("the directory {} of run {run} is gone", child.plan.workspace.directory.display());
        return Err(Fault::new(Kind::WorkspaceUnusable, text));
    }
    Ok(())
}

/// The child that the caller means.
fn chosen(row: &RunRow, index: Option<u32>) -> Result<&ChildRow, Fault> {
    let found = match index {
        Some(index) => row.children.iter().find(|child| child.index == index),
        None if row.children.len() > 1 => {
            let text = format!("run {} has {} children; name one by `child`", row.id, row.children.len());
            return Err(Fault::new(Kind::InvalidParams, text));
        }
        None => row.children.first(),
    };
    found.ok_or_else(|| {
        let text = format!("run {} has no child {}", row.id, index.unwrap_or_default());
        Fault::new(Kind::NotFound, text)
    })
}

/// Why a child that has ended hears nothing.
async fn settled(api: &Api, child: ChildId) -> Result<Fault, Fault> {
    let row = run::row(api, child.run).await?;
    let state = chosen(&row, Some(child.index))?.state;
    if !state.is_end() {
        let text =
            format!("run {} is just ending and hears nothing more; `run/resume` goes on with it then", child.run);
        return Ok(Fault::new(Kind::WrongState, text));
    }
    let text = format!("run {} has ended as {state}; `run/resume` goes on with it in its conversation", child.run);
    Ok(Fault::new(Kind::WrongState, text))
}

fn check_text(text: &str) -> Result<(), Fault> {
    if text.len() > STEER_BYTES {
        let message = format!("`text` has {} bytes; at most {STEER_BYTES} are taken", text.len());
        return Err(Fault::new(Kind::Limit, message));
    }
    if text.trim().is_empty() {
        return Err(Fault::new(Kind::InvalidParams, "`text` is blank; say what the child shall hear"));
    }
    if text.contains('\0') {
        return Err(Fault::new(Kind::InvalidParams, "`text` has a NUL byte, which no program takes; remove it"));
    }
    Ok(())
}
