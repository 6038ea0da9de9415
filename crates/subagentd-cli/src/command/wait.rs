//! `wait`, and the waiting of `run`.

use std::time::Duration;

use subagentd_proto::limits::WAIT_MS;
use subagentd_proto::method::RunWait;
use subagentd_proto::run::{State, WaitParams, WaitResponse};
use tokio::time::Instant;

use super::live::Live;
use super::next;
use crate::args::Wait;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::Screen;
use crate::render::time::Clock;
use crate::render::{run as render, words};

pub(crate) async fn wait(args: Wait, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let mut daemon = Daemon::reach_run(caller, &args.run).await?;
    let deadline = args.timeout.map(|timeout| Instant::now() + Duration::from_millis(timeout));
    let mut interrupt = Interrupt::listen()?;
    let waited = interrupt.or(&args.run, until_end(&mut daemon, &args.run, deadline, screen)).await?;
    finish(&daemon, &waited, screen).await
}

/// Connections lost in a row, without an answer between, after which waiting is given up: a daemon that takes the
/// connection and drops it at once would otherwise be asked for ever.
const LOST_IN_A_ROW: u32 = 5;

/// Waits in slices until the run has ended, is paused, or the time is up. A daemon that goes away meanwhile is looked
/// for again: the run does not depend on it.
pub(crate) async fn until_end(
    daemon: &mut Daemon<'_>,
    run: &str,
    deadline: Option<Instant>,
    screen: &Screen,
) -> Result<WaitResponse, Failure> {
    let mut run = run.to_owned();
    let mut lost = 0;
    let mut live = Live::new(screen);
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let slice = left.map_or(WAIT_MS, |left| u64::try_from(left.as_millis()).unwrap_or(WAIT_MS).min(WAIT_MS));
        // What is shown here is kept from the owner's watchers.
        let params = WaitParams { run: run.clone(), timeout_ms: Some(slice), foreground: daemon.may_acknowledge() };
        match live.beside(daemon, &run, daemon.call::<RunWait>(params)).await {
            Ok(reply) if reply.ended || reply.run.state == State::Paused => return Ok(reply),
            Ok(reply) if deadline.is_some_and(|deadline| deadline <= Instant::now()) => return Ok(reply),
            Ok(reply) => {
                // An ending that was unique may be so no longer.
                run = reply.run.run;
                lost = 0;
            }
            Err(Failure::Problem(problem)) if problem.is_lost() && lost < LOST_IN_A_ROW => {
                lost += 1;
                screen.note("The daemon went away; looking for the next one.");
                daemon.reach_again().await.map_err(|failure| without_daemon(failure, &run))?;
            }
            Err(failure) => return Err(failure),
        }
    }
}

fn without_daemon(failure: Failure, run: &str) -> Failure {
    match failure {
        Failure::Problem(problem) => {
            let name = words::ending(run);
            let mut problem = *problem;
            problem.message.push_str(&format!(" Run {name} is stored and goes on."));
            problem.hint(format!("`subagentd-cli wait {name}` starts the daemon again and waits on.")).run(run).into()
        }
        Failure::PipeClosed => failure,
    }
}

/// Shows where the wait ended, and marks the run's notice as seen.
pub(crate) async fn finish(daemon: &Daemon<'_>, waited: &WaitResponse, screen: &Screen) -> Result<Exit, Failure> {
    let run = &waited.run;
    screen.result(waited, || render::outcome(run, screen, &Clock::local()))?;
    if !waited.ended {
        let why = if run.state == State::Paused { "It is paused" } else { "The time is up; the run goes on" };
        screen.note(&format!("{why}."));
        screen.hints(&next::after_wait(run, daemon.owner()));
        return Ok(Exit::StillRunning);
    }
    daemon.acknowledge_run(run, screen).await;
    screen.hints(&next::after_wait(run, daemon.owner()));
    Ok(match Exit::of_state(run.state) {
        // The daemon says that it ended, in a word that this program does not know.
        Exit::StillRunning => Exit::Failed,
        exit => exit,
    })
}
