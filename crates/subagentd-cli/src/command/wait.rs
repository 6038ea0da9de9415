//! `wait`, and the waiting of `run` and `resume`.

use std::time::Duration;

use subagentd_proto::limits::WAIT_MS;
use subagentd_proto::method::{RunResult, RunWait};
use subagentd_proto::run::{ResultParams, RunView, State, WaitParams, WaitResponse};
use tokio::time::Instant;

use super::live::Live;
use super::{next, result, several};
use crate::args::Wait;
use crate::connection::{Caller, Daemon, Gone};
use crate::exit::Exit;
use crate::failure::{Failure, Problem};
use crate::interrupt::Interrupt;
use crate::output::{Screen, writes_over};
use crate::render::time::{Clock, limit};
use crate::render::{run as render, words};

/// Connections lost in a row, without an answer between, after which waiting is given up: a daemon that takes the
/// connection and drops it at once would otherwise be asked for ever.
const LOST_IN_A_ROW: u32 = 5;
/// A daemon that went away is looked for so long; then the command says that it is gone.
const LOOK_FOR: Duration = Duration::from_secs(10);
/// The same where somebody looks on and can start one.
const LOOK_FOR_WATCHED: Duration = Duration::from_secs(60);
/// A daemon that was there for so long counts as one that came back.
const CAME_BACK: Duration = Duration::from_secs(1);
/// A daemon that is going takes about so long to have gone.
const LEAVE: Duration = Duration::from_millis(100);

/// An answer of so many bytes and lines at most is printed at once to whoever reads on a terminal.
const SHORT_BYTES: u32 = 2 * 1024;
/// See [`SHORT_BYTES`].
const SHORT_LINES: u64 = 20;

pub(crate) async fn wait(args: Wait, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let Some(first) = args.runs.first() else { return Ok(Exit::Succeeded) };
    let mut daemon = Daemon::reach_run(caller, first).await?;
    let deadline = args.timeout.map(|timeout| Instant::now() + Duration::from_millis(timeout));
    let mut interrupt = Interrupt::listen()?;
    let alone = args.runs.len() == 1;
    let mut shown = false;
    several::each(&args.runs, caller, screen, async |run| {
        let waited = interrupt.or(run, until_end(&mut daemon, run, deadline, screen)).await?;
        if std::mem::replace(&mut shown, true) && !screen.json {
            screen.text("\n")?;
        }
        finish(&daemon, &waited, screen, alone).await
    })
    .await
}

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
    let mut away = None;
    let mut live = Live::new(screen);
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let slice = left.map_or(WAIT_MS, |left| u64::try_from(left.as_millis()).unwrap_or(WAIT_MS).min(WAIT_MS));
        // What is shown here is kept from the owner's watchers.
        let params = WaitParams { run: run.clone(), timeout_ms: Some(slice), foreground: daemon.may_acknowledge() };
        let asked = Instant::now();
        match live.beside(daemon, &run, daemon.call::<RunWait>(params)).await {
            Ok(reply) if reply.ended || reply.run.state == State::Paused => return Ok(reply),
            Ok(reply) if deadline.is_some_and(|deadline| deadline <= Instant::now()) => return Ok(reply),
            Ok(reply) => {
                // An ending that was unique may be so no longer.
                run = reply.run.run;
                (lost, away) = (0, None);
            }
            Err(Failure::Problem(problem)) if problem.is_away() && lost < LOST_IN_A_ROW => {
                if asked.elapsed() >= CAME_BACK {
                    (lost, away) = (0, None);
                }
                lost += u32::from(problem.is_lost());
                let until = match away {
                    Some(until) if until <= Instant::now() => return Err(without_daemon(*problem, &run)),
                    Some(until) => until,
                    None => goodbye(daemon, deadline, screen).await,
                };
                away = Some(until);
                daemon.reach_again(until).await.map_err(|failure| unanswered(failure, &run))?;
            }
            Err(failure) => return Err(unanswered(failure, &run)),
        }
    }
}

/// Tells how the daemon went, and until when it is looked for.
async fn goodbye(daemon: &Daemon<'_>, deadline: Option<Instant>, screen: &Screen) -> Instant {
    tokio::time::sleep(LEAVE).await;
    let patience = if writes_over() { LOOK_FOR_WATCHED } else { LOOK_FOR };
    let until = Instant::now() + patience;
    let until = deadline.map_or(until, |deadline| deadline.min(until));
    let left = deadline.map_or(patience, |_| until.saturating_duration_since(Instant::now()));
    // To the second.
    let within =
        limit((u64::try_from(left.as_millis()).unwrap_or(u64::MAX).saturating_add(999) / 1_000).max(1) * 1_000);
    screen.note(&match daemon.gone() {
        Gone::Stopped => format!(
            "The daemon was stopped. This waits {within} for the next one; `subagentd-cli daemon start` brings it back."
        ),
        Gone::Crashed => "The daemon crashed; starting the next one. The run goes on.".to_owned(),
        Gone::Unknown => format!("The daemon went away; looking {within} for the next one."),
    });
    until
}

/// What went wrong under a wait for a run that is stored: that nothing was started is not true, so no exit code says so.
fn unanswered(failure: Failure, run: &str) -> Failure {
    match failure {
        Failure::Problem(problem) if matches!(problem.exit, Exit::Unreachable | Exit::Refused) => {
            without_daemon(*problem, run)
        }
        Failure::Problem(problem) if problem.exit != Exit::NotFound && problem.run.is_none() => problem.run(run).into(),
        failure => failure,
    }
}

fn without_daemon(mut problem: Problem, run: &str) -> Failure {
    let name = words::ending(run);
    problem.exit = Exit::Unreachable;
    problem.message.push_str(&format!(" Run {name} is stored and goes on."));
    problem.hint(format!("`subagentd-cli wait {name}` starts the daemon again and waits on.")).run(run).into()
}

/// Shows where the wait ended, and marks the run's notice as seen. `alone`: what fits next is told too.
pub(crate) async fn finish(
    daemon: &Daemon<'_>,
    waited: &WaitResponse,
    screen: &Screen,
    alone: bool,
) -> Result<Exit, Failure> {
    let run = &waited.run;
    screen.result(waited, || render::outcome(run, screen, &Clock::local()))?;
    if !waited.ended {
        let why = if run.state == State::Paused { "It is paused" } else { "The time is up; the run goes on" };
        screen.note(&format!("{why}."));
        if alone {
            screen.hints(&next::after_wait(run, daemon.owner(), false));
        }
        return Ok(Exit::StillRunning);
    }
    let read = short_answer(daemon, run, screen).await?;
    daemon.acknowledge_run(run, screen).await;
    if alone {
        screen.hints(&next::after_wait(run, daemon.owner(), read));
    }
    Ok(match Exit::of_state(run.state) {
        // The daemon says that it ended, in a word that this program does not know.
        Exit::StillRunning => Exit::Failed,
        exit => exit,
    })
}

/// The answer itself, where a person reads and it is short; whether it was printed.
async fn short_answer(daemon: &Daemon<'_>, run: &RunView, screen: &Screen) -> Result<bool, Failure> {
    let [child] = run.children.as_slice() else { return Ok(false) };
    let short = child.reference.as_ref().is_some_and(|it| it.bytes <= SHORT_BYTES.into() && it.lines <= SHORT_LINES);
    if !short || !screen.terminal || screen.json {
        return Ok(false);
    }
    let params =
        ResultParams { run: run.run.clone(), child: Some(child.index), offset: Some(0), limit: Some(SHORT_BYTES) };
    // Without it the reference is still there.
    let Ok(Some(slice)) = daemon.call::<RunResult>(params).await.map(|reply| reply.text) else { return Ok(false) };
    screen.text(&format!("\n{}\n\n", result::fit(slice.text.trim_end(), screen.terminal)))?;
    Ok(true)
}
