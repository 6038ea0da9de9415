//! `explain`: what a launch would decide.

use subagentd_proto::method::RunPreflight;

use super::run::{TASK, params};
use crate::args::Explain;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Screen;
use crate::render::explain as render;

/// Stands for a task that nobody has said yet; a launch without one is refused.
const NO_TASK: &str = "-";

pub(crate) async fn explain(args: Explain, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let Explain { agent, task, options } = args;
    let with_task = task.is_some();
    let task = task.map_or_else(|| Ok(NO_TASK.to_owned()), |task| TASK.take(Some(task)))?;
    let params = params(agent, task, options)?;
    let daemon = Daemon::reach(caller).await?;
    let response = daemon.call::<RunPreflight>(params).await?;
    screen.result(&response, || render::tree(&response, with_task, screen))?;
    Ok(Exit::Succeeded)
}
