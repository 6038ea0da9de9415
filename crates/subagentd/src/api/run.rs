//! `run/get`, `run/list`, `run/wait`, `run/cancel`.

use std::sync::Arc;
use std::time::Duration;

use subagentd_core::id::{AttemptId, ChildId, RunId, SHORTEST_ENDING};
use subagentd_core::life::{State, resume_refusal};
use subagentd_core::schedule::Waits;
use subagentd_ipc::connection::{Connection, Session};
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::limits;
use subagentd_proto::run::{
    CancelParams, CancelResponse, GetParams, ListParams, ListResponse, RunView, WaitParams, WaitResponse,
};
use subagentd_store::{ChildRow, Found, ListQuery, RunRow};

use super::ledger::{self, Foreground};
use super::{Api, convert, fault, inbox};
use crate::hub::Cancelled;

/// Who is at the other end.
pub(super) fn session(connection: &Connection) -> Result<&Session, Fault> {
    let session = connection.session.get();
    session.ok_or_else(|| Fault::new(Kind::NotHello, "call daemon/hello first on this connection"))
}

/// Finds a run by its id or a unique ending of it.
pub(super) async fn find(api: &Api, named: &str) -> Result<RunId, Fault> {
    if let Ok(id) = named.parse::<RunId>() {
        return Ok(id);
    }
    let ending: String = named.chars().filter(|character| *character != '-').collect::<String>().to_lowercase();
    if ending.len() < SHORTEST_ENDING || !ending.chars().all(|character| character.is_ascii_hexdigit()) {
        let text = format!(
            "`{}` names no run: give its id, or at least the last {SHORTEST_ENDING} digits of it",
            shown(named)
        );
        return Err(Fault::new(Kind::InvalidParams, text));
    }
    match api.context.reader.find(&ending).await.map_err(|error| fault::storage(&error))? {
        Found::One(id) => Ok(id),
        Found::None => {
            Err(Fault::new(Kind::NotFound, format!("no run ends with {ending}; `run/list` shows those there are")))
        }
        Found::Many(ids) => {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            Err(Fault::new(
                Kind::Ambiguous,
                format!("several runs end with {ending}: {}; give more digits", ids.join(", ")),
            ))
        }
    }
}

fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(60).collect()
}

/// The stored run.
pub(super) async fn row(api: &Api, id: RunId) -> Result<RunRow, Fault> {
    let row = api.context.reader.run(id).await.map_err(|error| fault::storage(&error))?;
    row.ok_or_else(|| Fault::new(Kind::NotFound, format!("there is no run {id}; `run/list` shows those there are")))
}

async fn view(api: &Api, id: RunId) -> Result<RunView, Fault> {
    let row = row(api, id).await?;
    let waits = waits_of(api, std::slice::from_ref(&row)).await?;
    let mut view = convert::run(&api.context.places, &row, &waits);
    for (child, shown) in row.children.iter().zip(&mut view.children) {
        let conversation = has_conversation(api, &row, child).await?;
        shown.resume_refusal = resume_refusal(child.state, conversation).map(str::to_owned);
    }
    Ok(view)
}

/// Whether any attempt of a child was told its task.
pub(super) async fn has_conversation(api: &Api, run: &RunRow, child: &ChildRow) -> Result<bool, Fault> {
    if !child.state.may_resume() {
        return Ok(false);
    }
    let next = AttemptId { child: ChildId { run: run.id, index: child.index }, number: child.attempts + 1 };
    let past = api.context.reader.past(next).await.map_err(|error| fault::storage(&error))?;
    Ok(past.is_some_and(|past| past.conversation))
}

/// Behind whom the waiting children of these runs wait.
async fn waits_of(api: &Api, rows: &[RunRow]) -> Result<Vec<(ChildId, Waits)>, Fault> {
    let waiting = rows.iter().flat_map(|row| {
        let queued = row.children.iter().filter(|child| child.state == State::Queued);
        queued.map(|child| ChildId { run: row.id, index: child.index })
    });
    let waiting: Vec<ChildId> = waiting.collect();
    if waiting.is_empty() {
        return Ok(Vec::new());
    }
    // A hub that has stopped knows no queue any more; what is stored is still an answer.
    let waits = api.hub.waits(waiting.clone()).await.unwrap_or_default();
    Ok(waiting.into_iter().zip(waits).filter_map(|(child, waits)| Some((child, waits?))).collect())
}

pub(super) async fn get(api: Arc<Api>, _connection: Arc<Connection>, params: GetParams) -> Result<RunView, Fault> {
    let id = find(&api, &params.run).await?;
    view(&api, id).await
}

pub(super) async fn list(
    api: Arc<Api>,
    _connection: Arc<Connection>,
    params: ListParams,
) -> Result<ListResponse, Fault> {
    let before = match params.cursor.as_deref().map(str::parse) {
        None => None,
        Some(Ok(position)) => Some(position),
        Some(Err(_)) => {
            return Err(Fault::new(Kind::InvalidParams, "`cursor` is not one that `run/list` gave"));
        }
    };
    let limit = params.limit.unwrap_or(limits::PAGE_ROWS_DEFAULT).clamp(1, limits::PAGE_ROWS);
    let states = params.states.into_iter().map(convert::asked_state).collect::<Result<_, _>>()?;
    // One more than asked tells whether there is a next page.
    let query = ListQuery { before, limit: limit + 1, states, owner: params.owner };
    let mut rows = api.context.reader.list(query).await.map_err(|error| fault::storage(&error))?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_cursor = rows.last().filter(|_| more).map(|row| row.position.to_string());
    let waits = waits_of(&api, &rows).await?;
    Ok(ListResponse { runs: rows.iter().map(|row| convert::summary(row, &waits)).collect(), next_cursor })
}

pub(super) async fn wait(
    api: Arc<Api>,
    connection: Arc<Connection>,
    params: WaitParams,
) -> Result<WaitResponse, Fault> {
    let id = find(&api, &params.run).await?;
    let limit = Duration::from_millis(params.timeout_ms.unwrap_or(limits::WAIT_MS).min(limits::WAIT_MS));
    let foreground = foreground(&api, &connection, id, params.foreground).await?;
    // First the waiter, then the look: an end in between is told at once.
    let ended = api.hub.wait(id).await?;
    tokio::select! {
        // An error means that the hub is gone: the stored state is still an answer.
        _ = ended => {}
        () = tokio::time::sleep(limit) => {}
        () = connection.closed.cancelled() => {}
        () = api.stop.cancelled() => {}
    }
    let run = view(&api, id).await?;
    let ended = run.state.is_end();
    if let Some((foreground, notice)) = foreground.zip(run.notice).filter(|_| ended) {
        match notice.acknowledged {
            true => ledger::give_back(&api, connection.id, id),
            false => foreground.told(notice.seq),
        }
    }
    Ok(WaitResponse { ended, run })
}

/// Whether this connection shows the run's outcome: its latest wait says so, and only an owner can.
async fn foreground<'a>(
    api: &'a Arc<Api>,
    connection: &'a Connection,
    run: RunId,
    wanted: bool,
) -> Result<Option<Foreground<'a>>, Fault> {
    if !wanted {
        ledger::give_back(api, connection.id, run);
        return Ok(None);
    }
    let owner = row(api, run).await?.owner;
    let own = inbox::owners(session(connection)?).contains(&owner);
    Ok(own.then(|| Foreground::begin(api, connection, owner, run)))
}

pub(super) async fn cancel(
    api: Arc<Api>,
    _connection: Arc<Connection>,
    params: CancelParams,
) -> Result<CancelResponse, Fault> {
    let id = find(&api, &params.run).await?;
    let (state, outcome) = match api.hub.cancel(id).await? {
        Cancelled::Now => (State::Cancelled, "cancelled"),
        Cancelled::Soon(state) => (state, "cancelling"),
        Cancelled::Before(state) => (state, "already-ended"),
        Cancelled::NotOpen => (row(&api, id).await?.state, "already-ended"),
    };
    Ok(CancelResponse { run: id.to_string(), state: convert::state(state), outcome: outcome.to_owned() })
}
