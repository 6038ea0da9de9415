//! `show`: one run, whole.

use std::time::Duration;

use subagentd_proto::method::{self, RunGet};
use subagentd_proto::run::{GetParams, ProgressParams, RunProgress, RunView, State};

use super::next;
use crate::args::Named;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Screen;
use crate::render::show as render;
use crate::render::time::Clock;

/// A daemon that does not tell within this time what the run does is not waited for.
const PROGRESS_WITHIN: Duration = Duration::from_millis(500);

pub(crate) async fn show(args: Named, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let daemon = Daemon::reach_run(caller, &args.run).await?;
    let run = daemon.call::<RunGet>(GetParams { run: args.run }).await?;
    let now = if screen.json { None } else { progress(&daemon, &run).await };
    screen.result(&run, || render::whole(&run, now.as_ref(), screen, &Clock::local()))?;
    screen.hints(&next::steps(&run, daemon.owner()));
    daemon.acknowledge_run(&run, screen).await;
    Ok(Exit::Succeeded)
}

/// What a run at work does now.
async fn progress(daemon: &Daemon<'_>, run: &RunView) -> Option<RunProgress> {
    if !matches!(run.state, State::Starting | State::Running) {
        return None;
    }
    let first = async {
        let mut items = daemon.subscribe::<method::RunProgress>(ProgressParams { run: run.run.clone() }).await.ok()?;
        items.next().await.and_then(Result::ok)
    };
    tokio::time::timeout(PROGRESS_WITHIN, first).await.ok().flatten()
}
