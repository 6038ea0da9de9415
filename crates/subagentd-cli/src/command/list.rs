//! `list`: what is going on, in groups; or runs, newest first.

use std::collections::HashSet;

use subagentd_proto::limits::PAGE_ROWS;
use subagentd_proto::method::RunList;
use subagentd_proto::run::{ListParams, ListResponse, RunSummary, State};

use crate::args::List;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::Hints;
use crate::output::Screen;
use crate::render::list::{self as render, Group, Kind};
use crate::render::time::Clock;
use crate::render::words;

/// Rows of `--all`: more would be no reading matter and much memory. Older ones are reached by `nextCursor`.
const MOST_ROWS: u32 = 10_000;
/// Rows when nothing is said and no groups are shown, which is with `--json`.
const ROWS: u32 = 20;
/// Rows that are read of each group, to count; what is beyond is told as `over N more`.
const COUNTED_ROWS: u32 = 100;
/// The same of those that wait, which are read newest first and shown in the order of their turn. In a longer queue that
/// is the order of the newest so many.
const QUEUED_ROWS: u32 = PAGE_ROWS;

/// States of runs that wait for nothing but somebody who looks.
const BAD: [State; 5] = [State::Failed, State::Rejected, State::TimedOut, State::BudgetExhausted, State::Interrupted];
const WORKING: [State; 2] = [State::Starting, State::Running];
const DONE: [State; 7] = [
    State::Succeeded,
    State::Failed,
    State::Cancelled,
    State::TimedOut,
    State::BudgetExhausted,
    State::Interrupted,
    State::Rejected,
];

static NEEDS_YOU: Kind =
    Kind { title: "Needs you", rows: 10, others: "inbox", next: ("show", "why, and mark it as seen") };
/// They do nothing until their owner says so.
static PAUSED: Kind =
    Kind { title: "Paused", rows: 10, others: "list --state paused", next: ("resume", "let it go on") };
static AT_WORK: Kind = Kind {
    title: "Working",
    rows: 10,
    others: "list --state starting,running",
    next: ("wait", "look on until it ends"),
};
static WAITING: Kind =
    Kind { title: "Queued", rows: 10, others: "list --state queued", next: ("show", "on whom it waits") };
/// Few rows: the newest are what one looks for.
static ENDED: Kind = Kind { title: "Done", rows: 5, others: "list --all", next: ("result", "read its answer") };

pub(crate) async fn list(args: &List, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let Some(daemon) = Daemon::reach_stored(caller).await? else {
        let nothing = ListResponse { runs: Vec::new(), next_cursor: None };
        screen.result(&nothing, || "No runs.\n".to_owned())?;
        screen.hints(&first_steps());
        return Ok(Exit::Succeeded);
    };
    let chosen = args.all || args.limit.is_some() || !args.state.is_empty() || args.agent.is_some();
    if chosen || screen.json { table(&daemon, args, screen).await } else { overview(&daemon, args.long, screen).await }
}

/// Runs, newest first, as many as were asked for.
async fn table(daemon: &Daemon<'_>, args: &List, screen: &Screen) -> Result<Exit, Failure> {
    let rows = if args.all { MOST_ROWS } else { args.limit.unwrap_or(ROWS) };
    let response = read(daemon, args, rows).await?;
    screen.result(&response, || {
        if response.runs.is_empty() {
            "No such runs.\n".to_owned()
        } else {
            render::list(&response, args.long, screen, &Clock::local())
        }
    })?;
    if response.next_cursor.is_some() && args.all {
        screen.note(&format!("There are more than {MOST_ROWS}; the oldest are not shown."));
    } else if response.next_cursor.is_some() {
        screen.note("There are older ones: add --all.");
    }
    Ok(Exit::Succeeded)
}

/// Page after page until there are `rows`, or no more. Of one agent's runs, those among the newest [`MOST_ROWS`].
async fn read(daemon: &Daemon<'_>, args: &List, rows: u32) -> Result<ListResponse, Failure> {
    let mut runs = Vec::new();
    let mut cursor = None;
    let agent = args.agent.as_deref().map(|agent| agent.trim().to_lowercase());
    let mut seen = 0;
    loop {
        // No more than are wanted, so that the cursor goes on where they end.
        let left = rows.saturating_sub(count(&runs));
        let limit = Some(left.min(PAGE_ROWS));
        let params = ListParams { cursor, limit, states: args.state.clone(), owner: None };
        let page = daemon.call::<RunList>(params).await?;
        let came = count(&page.runs);
        seen += came;
        runs.extend(page.runs.into_iter().filter(|run| agent.as_ref().is_none_or(|agent| *agent == run.agent)));
        cursor = page.next_cursor;
        // An empty page that names a next one would be asked for for ever.
        if cursor.is_none() || came == 0 || count(&runs) >= rows || seen >= MOST_ROWS {
            return Ok(ListResponse { runs, next_cursor: cursor });
        }
    }
}

fn count(runs: &[RunSummary]) -> u32 {
    u32::try_from(runs.len()).unwrap_or(u32::MAX)
}

/// Everybody's work, and first what is left to this caller: others see theirs where they launched it.
async fn overview(daemon: &Daemon<'_>, long: bool, screen: &Screen) -> Result<Exit, Failure> {
    let page = |states: &[State], owner: Option<&str>| {
        let (states, owner) = (states.to_vec(), owner.map(str::to_owned));
        let limit = if states == [State::Queued] { QUEUED_ROWS } else { COUNTED_ROWS };
        daemon.call::<RunList>(ListParams { cursor: None, limit: Some(limit), states, owner })
    };
    // In the order of a run's life, one after the other: what goes on meanwhile is then found at least once.
    let mut queued = page(&[State::Queued], None).await?;
    queued.runs.sort_by_key(|run| run.waits.as_ref().map_or(u32::MAX, |waits| waits.place));
    let working = page(&WORKING, None).await?;
    let paused = page(&[State::Paused], None).await?;
    let (bad, done) = tokio::try_join!(page(&BAD, Some(daemon.owner())), page(&DONE, None))?;
    let paused = moved_on(paused, &[&bad, &done]);
    let working = moved_on(working, &[&paused, &bad, &done]);
    let queued = moved_on(queued, &[&working, &paused, &bad, &done]);
    let needs = |run: &RunSummary| needs(run, daemon.owner());
    let groups = [
        group(&NEEDS_YOU, bad, needs),
        group(&PAUSED, paused, |_| true),
        group(&AT_WORK, working, |_| true),
        group(&WAITING, queued, |_| true),
        done_group(done, needs, daemon.owner()),
    ];
    if groups.iter().all(|group| group.runs.is_empty()) {
        screen.text("No runs.\n")?;
        screen.hints(&first_steps());
        return Ok(Exit::Succeeded);
    }
    screen.text(&render::groups(&groups, long, screen, &Clock::local()))?;
    screen.hints(&next_steps(&groups, daemon.owner()));
    Ok(Exit::Succeeded)
}

/// Without those that a later look found further on.
fn moved_on(mut page: ListResponse, later: &[&ListResponse]) -> ListResponse {
    let further: HashSet<&str> = later.iter().flat_map(|page| &page.runs).map(|run| run.run.as_str()).collect();
    page.runs.retain(|run| !further.contains(run.run.as_str()));
    page
}

fn group(kind: &'static Kind, page: ListResponse, belongs: impl Fn(&RunSummary) -> bool) -> Group {
    let mut runs: Vec<RunSummary> = page.runs.into_iter().filter(belongs).collect();
    let more = runs.len().saturating_sub(kind.rows);
    runs.truncate(kind.rows);
    Group { kind, runs, more, and_more: page.next_cursor.is_some(), remark: None }
}

fn done_group(page: ListResponse, needs: impl Fn(&RunSummary) -> bool, owner: &str) -> Group {
    let unseen = page.runs.iter().filter(|run| !needs(run) && unseen(run, owner)).count();
    let mut group = group(&ENDED, page, |run| !needs(run));
    group.remark = (unseen > 0).then(|| format!("{unseen} not seen yet: subagentd-cli inbox"));
    group
}

/// Whether somebody has to look at it: it ended badly and its owner has not seen that.
fn needs(run: &RunSummary, owner: &str) -> bool {
    BAD.contains(&run.state) && unseen(run, owner)
}

/// A daemon that does not tell counts everything as seen: the inbox has it all the same.
fn unseen(run: &RunSummary, owner: &str) -> bool {
    run.owner == owner && run.notice.is_some_and(|notice| !notice.acknowledged)
}

fn first_steps() -> Hints {
    Hints::default()
        .and("agents", "see who there is")
        .and("run explore \"where is the config read?\"", "put one to work")
}

/// One step for each group, with a run of it to copy.
fn next_steps(groups: &[Group], owner: &str) -> Hints {
    let mut hints = Hints::default();
    for group in groups {
        let (command, what) = group.kind.next;
        let fits = |run: &&RunSummary| match command {
            // Only what succeeded is sure to have an answer.
            "result" => run.state == State::Succeeded,
            "resume" => run.owner == owner,
            _ => true,
        };
        if let Some(run) = group.runs.iter().find(fits) {
            hints = hints.and(format_args!("{command} {}", words::ending(&run.run)), what);
        }
    }
    hints
}

#[cfg(test)]
mod tests {
    use subagentd_proto::run::NoticeRef;

    use super::*;
    use crate::render::samples;

    const OWNER: &str = "cli:ada";

    fn noticed(state: State, acknowledged: bool) -> RunSummary {
        let mut run = samples::summary(state, "t");
        run.notice = Some(NoticeRef { seq: 1, acknowledged });
        run
    }

    #[test]
    fn only_what_ended_badly_and_unseen_needs_its_owner() {
        for state in BAD {
            assert!(needs(&noticed(state, false), OWNER), "{state:?}");
            assert!(!needs(&noticed(state, true), OWNER), "{state:?} was seen");
            assert!(!needs(&noticed(state, false), "pi:other"), "{state:?} of another owner");
            assert!(!needs(&samples::summary(state, "t"), OWNER), "{state:?} without a notice");
        }
        for state in [State::Succeeded, State::Cancelled, State::Running, State::Queued, State::Paused] {
            assert!(!needs(&noticed(state, false), OWNER), "{state:?}");
        }
    }

    #[test]
    fn every_state_is_in_a_group() {
        for (state, _) in words::STATES {
            let groups = [&BAD[..], &[State::Paused], &WORKING, &[State::Queued], &DONE];
            assert!(groups.iter().any(|group| group.contains(&state)), "{state:?}");
        }
    }

    #[test]
    fn only_an_own_paused_run_is_resumed() {
        let paused = |owner: &str| {
            let run = RunSummary { owner: owner.to_owned(), ..samples::summary(State::Paused, "t") };
            let page = ListResponse { runs: vec![run], next_cursor: None };
            next_steps(&[group(&PAUSED, page, |_| true)], OWNER).text(80)
        };
        assert_eq!(paused(OWNER), "Next: subagentd-cli resume 1a2b3c4d   let it go on");
        assert_eq!(paused("pi:other"), "");
    }

    #[test]
    fn rows_beyond_the_bound_are_counted() {
        let runs = vec![samples::summary(State::Succeeded, "t"); 12];
        let page = ListResponse { runs, next_cursor: Some("7".to_owned()) };
        let group = group(&ENDED, page, |_| true);
        assert_eq!((group.runs.len(), group.more, group.and_more), (5, 7, true));
    }

    #[test]
    fn unseen_successes_are_counted_beside_what_is_done() {
        let runs =
            vec![noticed(State::Succeeded, false), noticed(State::Failed, false), noticed(State::Succeeded, true)];
        let group = done_group(ListResponse { runs, next_cursor: None }, |run| needs(run, OWNER), OWNER);
        assert_eq!(group.runs.len(), 2, "what needs somebody stands there only");
        assert_eq!(group.remark.as_deref(), Some("1 not seen yet: subagentd-cli inbox"));
    }
}
