//! The same for several runs, one after the other.

use crate::connection::Caller;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names;
use crate::output::Screen;

/// Does `one` to each run in the order given. What goes wrong with one is told in its place and stops only where it would
/// go wrong with the others too. The exit code is the first that is not 0.
pub(super) async fn each(
    runs: &[String],
    caller: &Caller,
    screen: &Screen,
    mut one: impl AsyncFnMut(&str) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let mut first = Exit::Succeeded;
    for run in runs {
        let exit = match one(run).await {
            Ok(exit) => exit,
            Err(failure) => match names::explained(failure, caller, run).await {
                Failure::Problem(problem) if runs.len() > 1 && concerns_one(problem.exit) => {
                    screen.problem(&problem);
                    problem.exit
                }
                failure => return Err(failure),
            },
        };
        if first == Exit::Succeeded {
            first = exit;
        }
    }
    Ok(first)
}

const fn concerns_one(exit: Exit) -> bool {
    !matches!(exit, Exit::ByUser | Exit::Unreachable)
}
