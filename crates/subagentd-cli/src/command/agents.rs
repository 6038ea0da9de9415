//! `agents`: what can be launched, and who suits a task.

use subagentd_proto::agent::{CatalogParams, CatalogResponse, ListParams};
use subagentd_proto::limits::ADVICE_TASK_BYTES;
use subagentd_proto::method::{AgentCatalog, AgentList};

use crate::args::Agents;
use crate::connection::{Caller, Daemon};
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::Hints;
use crate::input::Wanted;
use crate::output::Screen;
use crate::render::agents as render;

const TASK: Wanted = Wanted { what: "task", most: ADVICE_TASK_BYTES as u64 };

pub(crate) async fn agents(args: Agents, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let Agents { directory, trust_project, scope: agent_scope, task } = args;
    // What is here means nothing unless it is trusted, and the list is to be had from anywhere.
    let meant = directory.is_some() || trust_project;
    let directory = meant.then(|| environment::directory(directory.as_deref())).transpose()?;
    let trusted = trust_project.then_some(true);
    if let Some(task) = task {
        let task = Some(TASK.take(Some(task))?);
        let daemon = Daemon::reach(caller).await?;
        let list = daemon.call::<AgentList>(ListParams { directory, trusted, agent_scope, task }).await?;
        screen.result(&list, || render::list(&list))?;
        return Ok(Exit::Succeeded);
    }
    let daemon = Daemon::reach(caller).await?;
    let catalog = daemon.call::<AgentCatalog>(CatalogParams { directory, trusted, agent_scope }).await?;
    screen.result(&catalog, || render::agents(&catalog, screen))?;
    screen.hints(&next(&catalog));
    Ok(Exit::Succeeded)
}

fn next(catalog: &CatalogResponse) -> Hints {
    let hints = Hints::default();
    match catalog.agents.iter().any(|agent| agent.launchable) {
        true => hints.and("run AGENT \"TASK\"", "put one to work"),
        false => hints,
    }
}
