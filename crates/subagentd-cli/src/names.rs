//! What is told when a run's name leads nowhere.

use subagentd_proto::limits::PAGE_ROWS;
use subagentd_proto::method::RunList;
use subagentd_proto::run::{ListParams, RunSummary};

use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::Hints;
use crate::ids;
use crate::render::words;

/// Runs that are offered for a name that is the beginning of theirs: all of one minute begin alike.
const OFFERED: usize = 3;

/// The same failure, about the run that was named `name`; with the runs that may have been meant.
pub(crate) async fn explained(failure: Failure, caller: &Caller, name: &str) -> Failure {
    let Failure::Problem(mut problem) = failure else { return failure };
    problem.name(name);
    if problem.exit == Exit::NotFound && problem.kind == "notFound" {
        let meant = beginning_with(caller, name).await;
        if !meant.is_empty() {
            problem.hint = Some("A run is named by the END of its id. Did you mean one of these?".to_owned());
            problem.next = offered(&meant);
        }
    }
    Failure::Problem(problem)
}

fn offered(meant: &[RunSummary]) -> Hints {
    let show = |hints: Hints, run: &RunSummary| {
        hints.and(format_args!("show {}", words::ending(&run.run)), words::state(run.state))
    };
    meant.iter().take(OFFERED).fold(Hints::default(), show)
}

/// The newest runs whose ids begin so, of those that one page holds. Any failure means none: it is only an offer.
async fn beginning_with(caller: &Caller, name: &str) -> Vec<RunSummary> {
    let Ok(Some(daemon)) = Daemon::reach_stored(caller).await else { return Vec::new() };
    let params = ListParams { cursor: None, limit: Some(PAGE_ROWS), states: Vec::new(), owner: None };
    let Ok(page) = daemon.call::<RunList>(params).await else { return Vec::new() };
    page.runs.into_iter().filter(|run| ids::begins(&run.run, name)).collect()
}
