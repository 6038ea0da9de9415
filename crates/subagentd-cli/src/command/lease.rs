//! `lease list` and `lease release`: who holds which workspace.

use subagentd_proto::lease::{ListParams, ListResponse, ReleaseParams};
use subagentd_proto::method::{LeaseList, LeaseRelease};

use crate::args;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::Hints;
use crate::output::Screen;
use crate::render::time::Clock;
use crate::render::{lease as render, words};

pub(crate) async fn lease(action: args::Lease, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    match action {
        args::Lease::List => list(caller, screen).await,
        args::Lease::Release(args) => release(args, caller, screen).await,
    }
}

async fn list(caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let response = match Daemon::reach_stored(caller).await? {
        Some(daemon) => daemon.call::<LeaseList>(ListParams {}).await?,
        None => ListResponse { leases: Vec::new() },
    };
    screen.result(&response, || render::leases(&response, screen, &Clock::local()))?;
    let Some(stuck) = render::stuck(&response) else {
        screen.hints(&next(&response));
        return Ok(Exit::Succeeded);
    };
    let name = words::ending(&stuck.run);
    screen.note(&format!("Run {name} has ended, but processes of it are left and may still write there."));
    screen.hints(
        &Hints::default()
            .and(format_args!("show {name}"), "what is known of it")
            .and(format_args!("lease release {name}"), "once they are gone: let the next writer in"),
    );
    Ok(Exit::Succeeded)
}

/// The holder that writers wait for longest.
fn next(response: &ListResponse) -> Hints {
    let Some(lease) = response.leases.first() else { return Hints::default() };
    let name = words::ending(&lease.run);
    Hints::default()
        .and(format_args!("wait {name}"), "until it gives its workspace up")
        .and(format_args!("show {name}"), "what it does")
}

async fn release(args: args::Named, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let daemon = Daemon::reach_run(caller, &args.run).await?;
    let response = daemon.call::<LeaseRelease>(ReleaseParams { run: args.run.clone() }).await?;
    screen.result(&response, || screen.sentences(&render::released(&response, &args.run)))?;
    Ok(Exit::Succeeded)
}
