//! The last look: the store as the daemon shows it, folders, spool, process table, stamps and log.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use subagentd_proto::daemon::StatusParams;
use subagentd_proto::limits::PAGE_ROWS;
use subagentd_proto::method::{DaemonStatus, InboxList, LeaseList, Method, RunGet, RunList};
use subagentd_proto::run::{GetParams, ListParams, RunSummary};
use subagentd_proto::{inbox, lease};

use super::board::Board;
use super::course::{OWNERS, PROBE};
use super::history::{Aftermath, Attempt, Folder, History, Record, StoredNotice, StoredRun};
use super::line::{Call, Line};
use super::rig::Rig;

/// A process that is on its way out may take so long.
const GO: Duration = Duration::from_secs(3);
/// Between two looks at the process table.
const LOOK: Duration = Duration::from_millis(10);
/// Lines of each kind that are shown.
const LINES: usize = 10;

/// What the last daemon says.
pub(super) async fn store(rig: &Arc<Rig>, board: &Arc<Board>) -> anyhow::Result<Aftermath> {
    let mut aftermath = Aftermath::default();
    let mut line = Line::new(rig, board, PROBE);
    let status = answer::<DaemonStatus>(&mut line, StatusParams {}).await?;
    aftermath.live_and_queued = (status.live, status.queued);
    for summary in summaries(&mut line).await? {
        let run = stored(&mut line, &summary).await?;
        aftermath.runs.insert(summary.run, run);
    }
    for owner in OWNERS.into_iter().chain([PROBE]) {
        aftermath.notices.extend(notices(rig, board, owner).await?);
    }
    let held = answer::<LeaseList>(&mut line, lease::ListParams {}).await?;
    aftermath.leases = held.leases.iter().map(|lease| format!("{lease:?}")).collect();
    compare(&rig.state(), &aftermath, board);
    Ok(aftermath)
}

async fn answer<M: Method>(line: &mut Line, params: M::Params) -> anyhow::Result<M::Response>
where
    M::Params: Clone,
{
    match line.insist::<M>(params).await {
        Call::Answer(answer) => Ok(answer),
        Call::Refused(why) => bail!("{}: {why}", M::NAME),
        Call::Lost | Call::Over => bail!("{}: no daemon", M::NAME),
    }
}

async fn summaries(line: &mut Line) -> anyhow::Result<Vec<RunSummary>> {
    let mut runs = Vec::new();
    let mut cursor = None;
    loop {
        let params = ListParams { cursor, limit: Some(PAGE_ROWS), ..ListParams::default() };
        let page = answer::<RunList>(line, params).await?;
        runs.extend(page.runs);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(runs);
        }
    }
}

async fn stored(line: &mut Line, summary: &RunSummary) -> anyhow::Result<StoredRun> {
    let view = answer::<RunGet>(line, GetParams { run: summary.run.clone() }).await?;
    let child = view.children.first().with_context(|| format!("{} has no child", summary.run))?;
    let answer = child
        .reference
        .as_ref()
        .map(|reference| fs::read_to_string(&reference.path).unwrap_or_else(|error| format!("unreadable: {error}")));
    Ok(StoredRun {
        key: view.title.clone().unwrap_or_default(),
        owner: view.owner.clone(),
        state: view.state,
        reason: child.reason.clone().unwrap_or_default(),
        attempt: child.attempt,
        ended_at_ms: view.ended_at_ms,
        answer,
        remarks: child.remarks.clone(),
    })
}

async fn notices(rig: &Arc<Rig>, board: &Arc<Board>, owner: &str) -> anyhow::Result<Vec<StoredNotice>> {
    let mut line = Line::new(rig, board, owner);
    let mut notices = Vec::new();
    let mut after = None;
    loop {
        let params = inbox::ListParams { after, limit: Some(PAGE_ROWS), acknowledged: true };
        let page = answer::<InboxList>(&mut line, params).await?;
        notices.extend(page.notices.into_iter().map(|notice| StoredNotice {
            seq: notice.seq,
            owner: owner.to_owned(),
            run: notice.run,
            state: notice.state,
            reason: notice.reason,
        }));
        after = page.next_after;
        if after.is_none() {
            return Ok(notices);
        }
    }
}

/// What the daemon shows is what is stored.
fn compare(state: &Path, aftermath: &Aftermath, board: &Board) {
    let shown = (aftermath.leases.len() as u64, aftermath.notices.len() as u64);
    if let Some(stored) = database(state).filter(|stored| *stored != shown) {
        board.trouble(format!("leases and notices: {stored:?} are stored, {shown:?} are shown"));
    }
}

/// Leases and notices in the database, where there is a program to read it with.
fn database(state: &Path) -> Option<(u64, u64)> {
    let query = "SELECT (SELECT count(*) FROM leases), (SELECT count(*) FROM notices)";
    let output = Command::new("sqlite3").arg("-readonly").arg(state.join("subagentd.db")).arg(query).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (leases, notices) = text.trim().split_once('|')?;
    Some((leases.parse().ok()?, notices.parse().ok()?))
}

/// What lies in the state directory and still runs after the last daemon has gone.
pub(super) async fn folders(rig: &Arc<Rig>, aftermath: &mut Aftermath) {
    let state = rig.state();
    aftermath.spool = names(&state.join("spool")).into_iter().filter(|name| name != "bad").collect();
    aftermath.bad = names(&state.join("spool/bad"));
    for run in names(&state.join("runs")) {
        for attempt in names(&state.join("runs").join(&run)) {
            let path = state.join("runs").join(&run).join(&attempt);
            if let Some(known) = Attempt::parse(&format!("{run}/{attempt}")) {
                aftermath.folders.insert(known, folder(&path));
            }
        }
    }
    let end = Instant::now() + GO;
    loop {
        let shims = rig.shims();
        let children = rig.children();
        if (shims.is_empty() && children.is_empty()) || Instant::now() > end {
            let shims = shims.iter().map(|shim| format!("shim {} of {:?} is left", shim.pid, shim.attempt));
            let others = children.iter().map(|process| {
                format!("process {} of {:?} is left: {:?}", process.pid, process.attempt, process.command)
            });
            aftermath.processes = shims.chain(others).collect();
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn folder(path: &Path) -> Folder {
    let started = path.join("started").symlink_metadata().is_ok();
    let record = match fs::read(path.join("record")) {
        Err(_) => Record::Gone,
        Ok(bytes) if bytes.iter().all(|byte| *byte == 0) => Record::Space,
        Ok(bytes) if bytes.last() == Some(&0) => Record::Half,
        Ok(_) => Record::Written,
    };
    Folder { started, record }
}

/// Everything together.
pub(super) fn history(rig: &Arc<Rig>, board: &Board, mut aftermath: Aftermath) -> History {
    let log = rig.log();
    let is_wrong = |line: &&str| line.contains(" ERROR ") || line.contains("panicked");
    aftermath.log = log.lines().filter(is_wrong).take(LINES).map(str::to_owned).collect();
    let (stamps, unread) = rig.stamps();
    for line in unread.iter().take(LINES) {
        board.trouble(format!("a stamp that cannot be read: {line:?}"));
    }
    let repeated = board.repeated.load(Ordering::Relaxed);
    let lost = board.lost.load(Ordering::Relaxed);
    let notes = std::mem::take(&mut *board.notes());
    History {
        launches: notes.launches,
        kills: notes.kills,
        stamps,
        offers: notes.offers,
        troubles: notes.troubles,
        lost_calls: lost,
        repeated_launches: repeated,
        busy_starts: board.busy_starts.load(Ordering::Relaxed),
        aftermath,
    }
}
