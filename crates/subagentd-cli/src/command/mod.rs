//! One file for each command.

mod agents;
mod cancel;
mod daemon;
mod explain;
mod inbox;
mod lease;
mod list;
mod live;
mod models;
mod next;
mod pause;
mod profiles;
mod result;
mod resume;
mod run;
mod several;
mod show;
mod steer;
mod wait;

use crate::args::{Cli, Command};
use crate::connection::Caller;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names;
use crate::output::Screen;

/// Does what the command line says.
pub(crate) async fn perform(cli: Cli, screen: &Screen) -> Result<Exit, Failure> {
    let caller = Caller::new(cli.owner)?;
    let named = cli.command.run().map(str::to_owned);
    let ended = dispatch(cli.command, &caller, screen).await;
    match (ended, named) {
        (Err(failure), Some(name)) => Err(names::explained(failure, &caller, &name).await),
        (ended, _) => ended,
    }
}

async fn dispatch(command: Command, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(args, caller, screen).await,
        Command::Explain(args) => explain::explain(args, caller, screen).await,
        Command::List(args) => list::list(&args, caller, screen).await,
        Command::Show(args) => show::show(args, caller, screen).await,
        Command::Wait(args) => wait::wait(args, caller, screen).await,
        Command::Steer(args) => steer::steer(args, caller, screen).await,
        Command::Pause(args) => pause::pause(args, caller, screen).await,
        Command::Resume(args) => resume::resume(args, caller, screen).await,
        Command::Cancel(args) => cancel::cancel(args, caller, screen).await,
        Command::Result(args) => result::result(args, caller, screen).await,
        Command::Inbox(args) => inbox::inbox(args, caller, screen).await,
        Command::Agents(args) => agents::agents(args, caller, screen).await,
        Command::Models(args) => models::models(args, caller, screen).await,
        Command::Profiles(args) => profiles::profiles(&args, caller, screen).await,
        Command::Lease { action } => lease::lease(action, caller, screen).await,
        Command::Daemon { action } => daemon::daemon(&action, caller, screen).await,
    }
}
