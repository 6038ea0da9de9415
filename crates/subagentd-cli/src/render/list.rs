//! The screen of `list`.

use subagentd_proto::run::{ListResponse, RunSummary, State};

use super::table::{Columns, plain, state};
use super::time::Clock;
use super::words;
use crate::output::Screen;

/// Runs, newest first, one a line.
pub(crate) fn list(response: &ListResponse, screen: &Screen, clock: &Clock) -> String {
    let mut columns = Columns::new(screen, &["RUN", "STATE", "AGENT", "SINCE", "TOOK", "WHAT"]);
    for run in &response.runs {
        columns.row(vec![
            plain(words::ending(&run.run)),
            state(run.state),
            plain(&agent(run)),
            plain(&clock.at_short(run.created_at_ms)),
            plain(&took(run, clock)),
            plain(&what(run)),
        ]);
    }
    columns.text()
}

fn agent(run: &RunSummary) -> String {
    match run.children {
        0 | 1 => run.agent.clone(),
        several => format!("{} +{}", run.agent, several - 1),
    }
}

fn took(run: &RunSummary, clock: &Clock) -> String {
    run.started_at_ms.map_or_else(|| "-".to_owned(), |start| clock.between(start, run.ended_at_ms))
}

/// The title, behind what a person has to know first.
fn what(run: &RunSummary) -> String {
    let first = match (run.state, &run.waits, &run.reason) {
        (State::Queued, Some(waits), _) => words::waits_short(waits),
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

    #[test]
    fn a_list_fits_80_columns() {
        let mut running = samples::summary(State::Running, "where are stale sockets handled");
        running.ended_at_ms = None;
        let mut queued = samples::summary(State::Queued, "rename the field in every caller and in the tests as well");
        queued.started_at_ms = None;
        queued.ended_at_ms = None;
        queued.waits = Some(samples::waits_on_scope());
        let mut failed = samples::summary(State::BudgetExhausted, "日本語のとても長い題名がここに来て列からはみ出す");
        failed.reason = Some("budget.turns".to_owned());
        failed.agent = "general-purpose".to_owned();
        let mut cancelled = samples::summary(State::Cancelled, "look\u{1b}[2J again");
        cancelled.reason = Some("cancelled".to_owned());
        cancelled.created_at_ms -= 3 * 86_400_000;
        cancelled.children = 3;
        let response = ListResponse { runs: vec![running, queued, failed, cancelled], next_cursor: None };
        let text = list(&response, &samples::screen(), &samples::clock());
        assert_eq!(
            text,
            "\
RUN       STATE             AGENT            SINCE   TOOK    WHAT
1a2b3c4d  running           explore          22:13   9m 59s  where are stale so…
1a2b3c4d  queued            explore          22:13   -       waits for 9f8e7d6c…
1a2b3c4d  budget_exhausted  general-purpose  22:13   2m 3s   budget.turns: 日本…
1a2b3c4d  cancelled         explore +2       Nov 11  2m 3s   look [2J again
"
        );
    }
}
