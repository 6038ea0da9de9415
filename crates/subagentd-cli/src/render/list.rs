//! The screens of `list`: runs in groups by what they ask of a person, or in one table.

use std::collections::BTreeSet;

use subagentd_proto::run::{ListResponse, RunSummary, State};

use super::fit;
use super::table::{self, Columns, plain, state};
use super::time::Clock;
use super::words;
use crate::output::Screen;

/// A longer name of an agent would leave no room for what its run is about.
const AGENT_COLUMNS: usize = 24;
/// A longer directory shows its end, which tells it from others.
const WHERE_COLUMNS: usize = 24;
/// So many columns have room for directories without being asked.
const WIDE: u16 = 110;

/// What the runs of a group have in common.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) title: &'static str,
    /// Rows that are shown.
    pub(crate) rows: usize,
    /// The command that shows the others.
    pub(crate) others: &'static str,
    /// The command for one of them that fits next, and what it does.
    pub(crate) next: (&'static str, &'static str),
}

/// Runs that ask the same of a person.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) kind: &'static Kind,
    /// The first ones, newest first.
    pub(crate) runs: Vec<RunSummary>,
    /// How many more were found, and whether there may be still more.
    pub(crate) more: usize,
    pub(crate) and_more: bool,
    /// One more line to tell.
    pub(crate) remark: Option<String>,
}

/// The groups that are not empty, below one header. `long` as in [`list`].
pub(crate) fn groups(groups: &[Group], long: bool, screen: &Screen, clock: &Clock) -> String {
    let shown: Vec<&Group> = groups.iter().filter(|group| !group.runs.is_empty()).collect();
    let runs: Vec<&RunSummary> = shown.iter().flat_map(|group| &group.runs).collect();
    let table = table(&runs, long, &Screen { width: screen.width.saturating_sub(2), ..*screen }, clock);
    let mut lines = table.lines();
    let mut text = format!("  {}\n", lines.next().unwrap_or_default());
    for group in shown {
        text.push_str(&screen.bold(group.kind.title));
        text.push('\n');
        for line in lines.by_ref().take(group.runs.len()) {
            text.push_str(&format!("  {line}\n"));
        }
        if group.more > 0 {
            let over = if group.and_more { "over " } else { "" };
            text.push_str(&format!("  {over}{} more: subagentd-cli {}\n", group.more, group.kind.others));
        }
        if let Some(remark) = &group.remark {
            text.push_str(&format!("  {remark}\n"));
        }
    }
    text
}

/// Runs, newest first, one a line. `long`: with where they work, which is else told where there is room and need.
pub(crate) fn list(response: &ListResponse, long: bool, screen: &Screen, clock: &Clock) -> String {
    table(&response.runs.iter().collect::<Vec<_>>(), long, screen, clock)
}

fn table(runs: &[&RunSummary], long: bool, screen: &Screen, clock: &Clock) -> String {
    let directories: BTreeSet<&str> = runs.iter().map(|run| run.directory.as_str()).collect();
    let placed = long || screen.width >= WIDE && directories.len() > 1;
    let narrow = table::narrow(screen);
    let mut columns = match placed {
        true => Columns::new(screen, &["RUN", "STATE", "AGENT", "SINCE", "TOOK", "WHERE", "WHAT"], &[2, 3, 4]),
        false => Columns::new(screen, &["RUN", "STATE", "AGENT", "SINCE", "TOOK", "WHAT"], &[2, 3, 4]),
    };
    for run in runs {
        let mut cells = vec![
            plain(words::ending(&run.run)),
            state(run.state, run.intent.as_deref()),
            plain(&agent(run)),
            plain(&clock.at_short(run.since_ms.unwrap_or(run.created_at_ms))),
            plain(&took(run, clock)),
        ];
        cells.extend(placed.then(|| plain(&fit::cut_front(&words::line(&run.directory), WHERE_COLUMNS))));
        cells.push(plain(&what(run, narrow)));
        columns.row(cells);
    }
    columns.text()
}

fn agent(run: &RunSummary) -> String {
    let name = fit::cut(&words::line(&run.agent), AGENT_COLUMNS);
    match run.children {
        0 | 1 => name,
        several => format!("{name} +{}", several - 1),
    }
}

fn took(run: &RunSummary, clock: &Clock) -> String {
    // A paused run takes no more time.
    let end = run.ended_at_ms.or(run.since_ms.filter(|_| run.state == State::Paused));
    run.started_at_ms.map_or_else(|| "-".to_owned(), |start| clock.between(start, end))
}

/// The title, behind what a person has to know first; in a narrow table that leaves room for the title.
fn what(run: &RunSummary, narrow: bool) -> String {
    let first = match (run.state, &run.waits, &run.reason) {
        (State::Queued, Some(waits), _) if narrow => format!("#{}", waits.place),
        (State::Queued, Some(waits), _) => words::waits_short(waits),
        _ if narrow => return run.title.clone(),
        // `cancelled` says the same again.
        (state, _, Some(reason)) if state.is_end() && state != State::Succeeded && words::state(state) != reason => {
            reason.clone()
        }
        _ => return run.title.clone(),
    };
    format!("{first}: {}", run.title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    const fn kind(title: &'static str, others: &'static str) -> Kind {
        Kind { title, rows: 1, others, next: ("show", "why") }
    }

    static NEEDS: Kind = kind("Needs you", "inbox");
    static WORKING: Kind = kind("Working", "list --state starting,running");
    static QUEUED: Kind = kind("Queued", "list --state queued");
    static DONE: Kind = kind("Done", "list --all");

    fn some() -> [RunSummary; 4] {
        let mut running = samples::summary(State::Running, "where are stale sockets handled");
        running.ended_at_ms = None;
        running.since_ms = running.started_at_ms;
        let mut queued = samples::summary(State::Queued, "rename the field in every caller and in the tests as well");
        queued.started_at_ms = None;
        queued.ended_at_ms = None;
        queued.since_ms = Some(queued.created_at_ms);
        queued.waits = Some(samples::waits_on_scope());
        let mut failed = samples::summary(State::BudgetExhausted, "日本語のとても長い題名がここに来て列からはみ出す");
        failed.reason = Some("budget.turns".to_owned());
        failed.agent = "general-purpose".to_owned();
        let mut cancelled = samples::summary(State::Cancelled, "look\u{1b}[2J again");
        cancelled.reason = Some("cancelled".to_owned());
        cancelled.since_ms = cancelled.ended_at_ms.map(|at| at - 3 * 86_400_000);
        cancelled.children = 3;
        [running, queued, failed, cancelled]
    }

    fn grouped() -> Vec<Group> {
        let [running, queued, failed, cancelled] = some();
        let remark = Some("2 not seen yet: subagentd-cli inbox".to_owned());
        vec![
            Group { kind: &NEEDS, runs: vec![failed], more: 0, and_more: false, remark: None },
            Group { kind: &WORKING, runs: vec![running], more: 0, and_more: false, remark: None },
            Group { kind: &QUEUED, runs: vec![queued], more: 99, and_more: true, remark: None },
            Group { kind: &DONE, runs: vec![cancelled], more: 37, and_more: false, remark },
        ]
    }

    #[test]
    fn groups_stand_below_one_header_and_fit_80_columns() {
        assert_eq!(
            groups(&grouped(), false, &samples::screen(), &samples::clock()),
            "  \
  RUN       STATE             AGENT            SINCE   TOOK    WHAT
Needs you
  1a2b3c4d  budget_exhausted  general-purpose  22:15   2m 3s   budget.turns: 日…
Working
  1a2b3c4d  running           explore          22:13   9m 59s  where are stale …
Queued
  1a2b3c4d  queued            explore          22:13   -       #1 behind 9f8e7d…
  over 99 more: subagentd-cli list --state queued
Done
  1a2b3c4d  cancelled         explore +2       Nov 11  2m 3s   look [2J again
  37 more: subagentd-cli list --all
  2 not seen yet: subagentd-cli inbox
"
        );
    }

    #[test]
    fn an_empty_group_is_not_mentioned() {
        let mut all = grouped();
        all.truncate(2);
        all[0].runs.clear();
        let text = groups(&all, false, &samples::screen(), &samples::clock());
        assert!(!text.contains("Needs you") && text.contains("Working\n"), "{text}");
    }

    #[test]
    fn a_narrow_terminal_gets_what_matters_most() {
        let mut screen = samples::screen();
        screen.width = 40;
        let text = groups(&grouped(), false, &screen, &samples::clock());
        assert!(text.starts_with("  RUN       STATE             WHAT\n"), "{text}");
        assert!(text.contains("  #1: rena"), "its title is there: {text}");
        for line in text.lines().filter(|line| line.contains("1a2b3c4d")) {
            assert!(fit::width(line) <= 40, "{line}");
        }
    }

    #[test]
    fn half_a_screen_still_tells_what_each_is_about() {
        let [running, queued, ..] = some();
        let mut groups = grouped();
        groups.retain(|group| [WORKING.title, QUEUED.title].contains(&group.kind.title));
        (groups[0].runs, groups[1].runs) = (vec![running], vec![queued]);
        let mut screen = samples::screen();
        screen.width = 50;
        assert_eq!(
            super::groups(&groups, false, &screen, &samples::clock()),
            "  \
  RUN       STATE    WHAT
Working
  1a2b3c4d  running  where are stale sockets hand…
Queued
  1a2b3c4d  queued   #1: rename the field in ever…
  over 99 more: subagentd-cli list --state queued
"
        );
    }

    #[test]
    fn a_list_fits_80_columns() {
        let response = ListResponse { runs: some().to_vec(), next_cursor: None };
        assert_eq!(
            list(&response, false, &samples::screen(), &samples::clock()),
            "\
RUN       STATE             AGENT            SINCE   TOOK    WHAT
1a2b3c4d  running           explore          22:13   9m 59s  where are stale so…
1a2b3c4d  queued            explore          22:13   -       #1 behind 9f8e7d6c…
1a2b3c4d  budget_exhausted  general-purpose  22:15   2m 3s   budget.turns: 日本…
1a2b3c4d  cancelled         explore +2       Nov 11  2m 3s   look [2J again
"
        );
    }

    #[test]
    fn what_was_asked_of_a_run_stands_in_place_of_its_state() {
        for (intent, wanted) in [("cancel", "  cancelling  "), ("pause", "  pausing  ")] {
            let run = RunSummary { intent: Some(intent.to_owned()), ..samples::summary(State::Running, "the title") };
            let response = ListResponse { runs: vec![run], next_cursor: None };
            let text = list(&response, false, &samples::screen(), &samples::clock());
            assert!(text.contains(wanted) && text.contains("  the title\n"), "{text}");
        }
    }

    #[test]
    fn since_is_when_its_state_began() {
        let run = RunSummary { since_ms: Some(samples::CREATED + 180_000), ..samples::summary(State::Running, "t") };
        let unknown = RunSummary { since_ms: None, ..run.clone() };
        let response = ListResponse { runs: vec![run, unknown], next_cursor: None };
        let text = list(&response, false, &samples::screen(), &samples::clock());
        let column = |line: &str| line.split_whitespace().nth(3).map(str::to_owned);
        assert_eq!(
            text.lines().map(column).collect::<Vec<_>>(),
            ["SINCE", "22:16", "22:13"].map(|at| Some(at.to_owned()))
        );
    }

    #[test]
    fn directories_are_told_where_they_differ_and_there_is_room() {
        let elsewhere = "/home/ada/work/a-very-long/name/of-a/project".to_owned();
        let run = samples::summary(State::Running, "the title");
        let other = RunSummary { directory: elsewhere, ..run.clone() };
        let mut wide = samples::screen();
        wide.width = WIDE;
        let list = |runs: &[&RunSummary], long, screen: &Screen| {
            let runs = runs.iter().map(|run| (*run).clone()).collect();
            list(&ListResponse { runs, next_cursor: None }, long, screen, &samples::clock())
        };
        let both = list(&[&run, &other], false, &wide);
        assert!(both.contains("  …-long/name/of-a/project  "), "{both}");
        assert!(both.contains("/home/ada/project"), "{both}");
        assert!(!list(&[&run, &run], false, &wide).contains("WHERE"));
        assert!(!list(&[&run, &other], false, &samples::screen()).contains("WHERE"));
        let asked = list(&[&run], true, &samples::screen());
        assert!(asked.contains("WHERE") && asked.contains("the title"), "{asked}");
    }

    #[test]
    fn a_very_long_agent_leaves_room_for_the_title() {
        let mut run = samples::summary(State::Running, "the title");
        run.agent = "a".repeat(64);
        let response = ListResponse { runs: vec![run], next_cursor: None };
        let text = list(&response, false, &samples::screen(), &samples::clock());
        assert!(text.lines().all(|line| fit::width(line) <= 80) && text.contains("the title"), "{text}");
    }
}
