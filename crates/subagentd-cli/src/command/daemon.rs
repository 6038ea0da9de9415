//! `daemon start`, `stop`, `status`: work with a daemon of any version, so nothing here greets.

use std::fs;
use std::io;
use std::time::Duration;

use serde_json::json;
use subagentd_proto::daemon::{StatusParams, StatusResponse, StopParams};
use subagentd_proto::method::{DaemonStatus, DaemonStop};
use tokio::time::Instant;

use crate::args;
use crate::connection::{Caller, call};
use crate::exit::Exit;
use crate::failure::{Failure, Problem};
use crate::hints::Hints;
use crate::leftovers;
use crate::output::Screen;
use crate::render::daemon as render;
use crate::render::time::Clock;

/// A daemon that was told to stop has so long to go; then the command says that it is still there.
const STOP_WITHIN: Duration = Duration::from_secs(10);
/// Between two looks whether it is gone.
const LOOK_EVERY: Duration = Duration::from_millis(5);

pub(crate) async fn daemon(action: &args::Daemon, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    match action {
        args::Daemon::Start => start(caller, screen).await,
        args::Daemon::Stop => stop(caller, screen).await,
        args::Daemon::Status => status(caller, screen).await,
    }
}

async fn start(caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let (client, found) = match caller.running().await? {
        Some(client) => (client, true),
        None => (caller.started().await?, false),
    };
    let status = call::<DaemonStatus>(&client, StatusParams {}).await?;
    show(&status, screen)?;
    if found {
        screen.note("It was running already.");
    } else {
        screen.hints(&Hints::default().and("daemon stop", "stops it; runs go on meanwhile"));
    }
    Ok(Exit::Succeeded)
}

async fn status(caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let Some(client) = caller.running().await? else {
        return Err(Problem::new(Exit::Unreachable, "notRunning", "No daemon is running.")
            .hint("`subagentd-cli daemon start` starts it, `subagentd-cli run` does so by itself.")
            .into());
    };
    let status = call::<DaemonStatus>(&client, StatusParams {}).await?;
    show(&status, screen)?;
    Ok(Exit::Succeeded)
}

fn show(status: &StatusResponse, screen: &Screen) -> Result<(), Failure> {
    screen.result(status, || render::status(status, screen, &Clock::local()))
}

async fn stop(caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let Some(client) = caller.running().await? else {
        leftovers::remove(&caller.place)?;
        screen.result(&json!({"running": false}), || "No daemon is running.\n".to_owned())?;
        return Ok(Exit::Succeeded);
    };
    // Only to wait for its end; a daemon that cannot tell is stopped all the same.
    let pid = call::<DaemonStatus>(&client, StatusParams {}).await.ok().map(|status| status.pid);
    let stopped = call::<DaemonStop>(&client, StopParams {}).await?;
    drop(client);
    let is_gone = match pid {
        Some(pid) => until_gone(pid).await,
        None => true,
    };
    screen.result(&stopped, || screen.sentences(&render::stopped(&stopped)))?;
    if !is_gone {
        screen.warn("its process is still there; `subagentd-cli daemon status` tells more");
    }
    Ok(Exit::Succeeded)
}

/// Waits until the process has ended, so that the next command meets no daemon that is about to go.
async fn until_gone(pid: u32) -> bool {
    let end = Instant::now() + STOP_WITHIN;
    while !gone(pid) {
        if Instant::now() >= end {
            return false;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    true
}

/// A process that ended and was not collected yet counts as gone.
fn gone(pid: u32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        // The program's name stands in brackets and may hold anything; the state follows it.
        Ok(stat) => stat.rsplit_once(')').is_some_and(|(_, fields)| fields.trim_start().starts_with(['Z', 'X'])),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn an_ended_process_is_gone_collected_or_not() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        assert!(!gone(child.id()));
        drop(child.stdin.take());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        assert!(runtime.block_on(until_gone(child.id())), "not collected");
        child.wait().unwrap();
        assert!(gone(child.id()), "collected");
    }
}
