//! `inbox/*`. A watch queues nothing: it wakes when the newest number rises or the ledger says that a notice is its own
//! now, reads rows, sends, advances.

use std::sync::Arc;
use std::time::Duration;

use subagentd_ipc::connection::{Connection, Session};
use subagentd_ipc::router::{Closed, Sink};
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::inbox::{AckParams, AckResponse, ListParams, ListResponse, Notice, WatchParams};
use subagentd_proto::limits;
use subagentd_store::{Acknowledge, NoticeQuery, NoticeRow};
use tokio::sync::watch::Receiver;

use super::ledger::{Acknowledging, Place, Turn};
use super::{Api, convert, fault, run};
use crate::clock::now_ms;

/// Rows read at once.
const ROWS: u32 = 64;
/// The database knows no higher numbers.
const HIGHEST: u64 = i64::MAX.cast_unsigned();
/// Before a failed read is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// The owner of a connection and those it took over.
pub(super) fn owners(session: &Session) -> Vec<String> {
    std::iter::once(&session.owner).chain(&session.earlier_owners).cloned().collect()
}

pub(super) async fn list(
    api: Arc<Api>,
    connection: Arc<Connection>,
    params: ListParams,
) -> Result<ListResponse, Fault> {
    let limit = params.limit.unwrap_or(limits::PAGE_ROWS_DEFAULT).clamp(1, limits::PAGE_ROWS);
    let query = NoticeQuery {
        owners: owners(run::session(&connection)?),
        after: params.after.unwrap_or(0).min(HIGHEST),
        // One more than asked tells whether there is a next page.
        limit: limit + 1,
        acknowledged: params.acknowledged,
    };
    let mut rows = api.context.reader.notices(query).await.map_err(|error| fault::storage(&error))?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_after = rows.last().filter(|_| more).map(|row| row.seq);
    Ok(ListResponse { notices: rows.into_iter().map(convert::notice).collect(), next_after })
}

pub(super) async fn ack(api: Arc<Api>, connection: Arc<Connection>, params: AckParams) -> Result<AckResponse, Fault> {
    if params.up_to.is_none() && params.seqs.is_empty() {
        return Err(Fault::new(Kind::InvalidParams, "give `upTo`, or notices by number in `seqs`"));
    }
    if params.seqs.len() > limits::ACK_NUMBERS {
        let text = format!("`seqs` has {} numbers; at most {} are taken", params.seqs.len(), limits::ACK_NUMBERS);
        return Err(Fault::new(Kind::Limit, text));
    }
    if !*api.context.writer.healthy().borrow() {
        // They would fill the writer's queue and hold up everybody.
        let text = "the database cannot be written now; free some space or repair the disk, then acknowledge again";
        return Err(Fault::new(Kind::Storage, text));
    }
    let owners = owners(run::session(&connection)?);
    let acknowledging = Acknowledging::begin(&api, connection.id, &owners, params.up_to, params.seqs);
    let acknowledge = Acknowledge { owners, seqs: acknowledging.seqs.clone(), up_to: None, at_ms: now_ms() };
    let acknowledged =
        api.context.writer.acknowledge(acknowledge).await.await.map_err(|error| fault::storage(&error))?;
    acknowledging.committed();
    Ok(AckResponse { acknowledged })
}

pub(super) async fn watch(api: Arc<Api>, connection: Arc<Connection>, params: WatchParams, sink: Sink<Notice>) {
    // The hello gate stands before this.
    let Ok(session) = run::session(&connection) else { return };
    // A number of another store means nothing here: from the beginning.
    let from =
        params.after.filter(|cursor| cursor.store == api.about.store).map_or(0, |cursor| cursor.seq.min(HIGHEST));
    let owners = owners(session);
    let place = Place::take(&api, &connection, &owners, from);
    let mut newest = api.context.writer.newest_notice();
    let mut next = Next::Read;
    loop {
        if next == Next::Wait || next == Next::Stopped {
            tokio::select! {
                open = wait(&place, &mut newest, next == Next::Stopped) => if !open { return },
                () = sink.closed() => return,
            }
        }
        // Marked as seen before the read: a notice that comes in between wakes us again.
        let newest_now = *newest.borrow_and_update();
        let walk = place.walk();
        let query = NoticeQuery { owners: owners.clone(), after: walk.after, limit: ROWS, acknowledged: false };
        let mut rows = match api.context.reader.notices(query).await {
            Ok(rows) => rows,
            Err(error) => {
                tracing::warn!(%error, "an inbox could not be read; it is tried again");
                tokio::time::sleep(AGAIN).await;
                next = Next::Read;
                continue;
            }
        };
        // Owners are read one after the other: beyond this number a lower one of another owner may be missing.
        rows.retain(|row| row.seq <= newest_now);
        let wanted = walk.after.saturating_add(1);
        if walk.again && rows.first().is_none_or(|row| row.seq != wanted) {
            place.forget(wanted);
        }
        let Ok(sent) = offer(&place, rows, &sink).await else { return };
        next = if walk.again { Next::Read } else { sent };
    }
}

/// What a watch does after a page of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Reads on.
    Read,
    /// There is nothing more until a notice comes.
    Wait,
    /// There is more, and it is out with another connection, or this one has to acknowledge first.
    Stopped,
}

/// Completes when there may be something to read; `false` with the daemon's end.
async fn wait(place: &Place, newest: &mut Receiver<u64>, stopped: bool) -> bool {
    loop {
        tokio::select! {
            changed = newest.changed() => return changed.is_ok(),
            () = place.changed() => if stopped || place.walk().again { return true },
        }
    }
}

/// Sends those of the rows whose turn it is.
async fn offer(place: &Place, rows: Vec<NoticeRow>, sink: &Sink<Notice>) -> Result<Next, Closed> {
    let next = if rows.len() < ROWS as usize { Next::Wait } else { Next::Read };
    for row in rows {
        match place.turn(&row) {
            Turn::Send => sink.send(&convert::notice(row)).await?,
            Turn::Pass => {}
            Turn::Stop => return Ok(Next::Stopped),
        }
    }
    Ok(next)
}
