//! `inbox/*`. A watch queues nothing: it holds a cursor, wakes when the newest number rises, reads rows, sends,
//! advances.

use std::sync::Arc;
use std::time::Duration;

use subagentd_ipc::connection::{Connection, Session};
use subagentd_ipc::router::Sink;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::inbox::{AckParams, AckResponse, ListParams, ListResponse, Notice, WatchParams};
use subagentd_proto::limits;
use subagentd_store::{Acknowledge, NoticeQuery};

use super::ledger::{Place, UNACKNOWLEDGED};
use super::{Api, convert, fault, run};
use crate::clock::now_ms;

/// Rows read at once.
const ROWS: u32 = 64;
/// Before a failed read is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// Between two looks at a full ledger: acknowledgements are not announced, they are rare beside this bound.
const FULL: Duration = Duration::from_millis(100);

/// The owner of a connection and those it took over.
fn owners(session: &Session) -> Vec<String> {
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
        after: params.after.unwrap_or(0),
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
    let mut seqs = params.seqs;
    if let Some(up_to) = params.up_to {
        seqs.extend(api.ledger.sent_up_to(connection.id, up_to));
    }
    let acknowledge =
        Acknowledge { owners: owners(run::session(&connection)?), seqs: seqs.clone(), up_to: None, at_ms: now_ms() };
    let acknowledged =
        api.context.writer.acknowledge(acknowledge).await.await.map_err(|error| fault::storage(&error))?;
    api.ledger.acknowledged(&seqs);
    Ok(AckResponse { acknowledged })
}

pub(super) async fn watch(api: Arc<Api>, connection: Arc<Connection>, params: WatchParams, sink: Sink<Notice>) {
    // The hello gate stands before this.
    let Ok(session) = run::session(&connection) else { return };
    let owners = owners(session);
    let mut place = Place::take(&api, &session.owner, connection.id);
    let mut newest = api.context.writer.newest_notice();
    // A number of another store means nothing here: from the beginning.
    let mut after = params.after.filter(|cursor| cursor.store == api.about.store).map_or(0, |cursor| cursor.seq);
    loop {
        tokio::select! {
            () = place.turn() => {}
            () = sink.closed() => return,
        }
        // Marked as seen before the read: a notice that comes in between wakes us again.
        newest.borrow_and_update();
        let query = NoticeQuery { owners: owners.clone(), after, limit: ROWS, acknowledged: false };
        let rows = match api.context.reader.notices(query).await {
            Ok(rows) => rows,
            Err(error) => {
                tracing::warn!(%error, "an inbox could not be read; it is tried again");
                tokio::time::sleep(AGAIN).await;
                continue;
            }
        };
        if rows.is_empty() {
            tokio::select! {
                changed = newest.changed() => if changed.is_err() { return },
                () = place.superseded() => {}
                () = sink.closed() => return,
            }
            continue;
        }
        for row in rows {
            while api.ledger.open(connection.id) >= UNACKNOWLEDGED {
                tokio::time::sleep(FULL).await;
            }
            if !place.is_newest() {
                break;
            }
            let seq = row.seq;
            // Before it is sent: its acknowledgement may come before we go on.
            api.ledger.sent(connection.id, seq);
            if sink.send(&convert::notice(row)).await.is_err() {
                return;
            }
            after = seq;
        }
    }
}
