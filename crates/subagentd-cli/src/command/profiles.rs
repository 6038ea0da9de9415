//! `profiles`: the ladders that models are chosen by.

use subagentd_proto::method::ProfileList;
use subagentd_proto::profile::ListParams;

use crate::args::Profiles;
use crate::connection::{Caller, Daemon};
use crate::environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Screen;
use crate::render::profiles as render;

pub(crate) async fn profiles(args: &Profiles, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    // What is here means nothing unless it is trusted, and the list is to be had from anywhere.
    let meant = args.directory.is_some() || args.trust_project;
    let directory = meant.then(|| environment::directory(args.directory.as_deref())).transpose()?;
    let daemon = Daemon::reach(caller).await?;
    let response =
        daemon.call::<ProfileList>(ListParams { directory, trusted: args.trust_project.then_some(true) }).await?;
    screen.result(&response, || render::profiles(&response, screen))?;
    Ok(Exit::Succeeded)
}
