//! `agents`: what can be launched.

use subagentd_proto::agent::CatalogParams;
use subagentd_proto::method::AgentCatalog;

use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::Hints;
use crate::output::Screen;
use crate::render::agents as render;

pub(crate) async fn agents(caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let daemon = Daemon::reach(caller).await?;
    let catalog = daemon.call::<AgentCatalog>(CatalogParams::default()).await?;
    screen.result(&catalog, || render::agents(&catalog, screen))?;
    screen.hints(&Hints::default().and("run AGENT \"TASK\"", "put one to work"));
    Ok(Exit::Succeeded)
}
