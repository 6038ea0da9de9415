//! `show`: one run, whole.

use subagentd_proto::method::RunGet;
use subagentd_proto::run::GetParams;

use super::next;
use crate::args::Named;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Screen;
use crate::render::run as render;
use crate::render::time::Clock;

pub(crate) async fn show(args: Named, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let daemon = Daemon::reach_run(caller, &args.run).await?;
    let run = daemon.call::<RunGet>(GetParams { run: args.run }).await?;
    screen.result(&run, || render::whole(&run, screen, &Clock::local()))?;
    screen.hints(&next::steps(&run, daemon.owner()));
    daemon.acknowledge_run(&run, screen).await;
    Ok(Exit::Succeeded)
}
