//! `list`: runs, newest first.

use subagentd_proto::limits::PAGE_ROWS;
use subagentd_proto::method::RunList;
use subagentd_proto::run::{ListParams, ListResponse};

use crate::args::List;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Screen;
use crate::render::list as render;
use crate::render::time::Clock;

/// Rows of `--all`: more would be no reading matter and much memory. Older ones are reached by `nextCursor`.
const MOST_ROWS: u32 = 10_000;

pub(crate) async fn list(args: &List, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let rows = if args.all { MOST_ROWS } else { args.limit };
    let response = match Daemon::reach_stored(caller).await? {
        Some(daemon) => read(&daemon, args, rows).await?,
        None => ListResponse { runs: Vec::new(), next_cursor: None },
    };
    screen.result(&response, || {
        if response.runs.is_empty() {
            "No runs.\n".to_owned()
        } else {
            render::list(&response, screen, &Clock::local())
        }
    })?;
    screen.note(&hint(&response, args));
    Ok(Exit::Succeeded)
}

/// Page after page until there are `rows`, or no more.
async fn read(daemon: &Daemon<'_>, args: &List, rows: u32) -> Result<ListResponse, Failure> {
    let mut runs = Vec::new();
    let mut cursor = None;
    let mut left = rows;
    loop {
        let params = ListParams { cursor, limit: Some(left.min(PAGE_ROWS)), states: args.state.clone(), owner: None };
        let page = daemon.call::<RunList>(params).await?;
        let count = u32::try_from(page.runs.len()).unwrap_or(u32::MAX);
        runs.extend(page.runs);
        cursor = page.next_cursor;
        left = left.saturating_sub(count);
        // An empty page that names a next one would be asked for for ever.
        if cursor.is_none() || left == 0 || count == 0 {
            return Ok(ListResponse { runs, next_cursor: cursor });
        }
    }
}

fn hint(response: &ListResponse, args: &List) -> String {
    if response.runs.is_empty() && args.state.is_empty() {
        "Launch one with `subagentd-cli run explore \"…\"`.".to_owned()
    } else if response.next_cursor.is_some() && !args.all {
        "There are older ones: `subagentd-cli list --all`. One of them: `subagentd-cli show RUN`.".to_owned()
    } else if response.next_cursor.is_some() {
        format!("There are more than {MOST_ROWS}; the oldest are not shown.")
    } else {
        "More about one: `subagentd-cli show RUN`.".to_owned()
    }
}
