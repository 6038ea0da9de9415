//! `run`: hands over work and, unless told otherwise, waits for its end.

use std::io::{self, Read};
use std::time::Duration;

use subagentd_proto::limits::FRAME_BYTES;
use subagentd_proto::method::RunLaunch;
use subagentd_proto::run::{Capture, LaunchParams, LaunchResponse};

use super::wait;
use crate::args::Run;
use crate::connection::{Caller, Daemon};
use crate::environment;
use crate::exit::Exit;
use crate::failure::{Failure, Problem, usage};
use crate::interrupt::{Interrupt, goes_on};
use crate::output::Screen;
use crate::render::time::Clock;
use crate::render::{run as render, words};

/// Bytes of a task that are read from standard input; a longer one fits no frame and is refused.
const TASK_BYTES: u64 = FRAME_BYTES as u64;
/// How long Ctrl-C waits for the reply of a launch that is already on its way, so that the run can be named.
const REPLY_AFTER_INTERRUPT: Duration = Duration::from_secs(2);

pub(crate) async fn run(args: Run, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let detach = args.detach;
    let params = params(args)?;
    let agent = params.agent.clone();
    let mut daemon = Daemon::reach(caller).await?;
    if detach {
        let reply = daemon.call::<RunLaunch>(params).await.map_err(unanswered)?;
        screen.result(&reply, || render::detached(&reply, &agent, &Clock::local()))?;
        let name = words::ending(&reply.run);
        screen.note(&format!(
            "Wait for it with `subagentd-cli wait {name}`; `subagentd-cli inbox` tells when it has ended."
        ));
        return Ok(Exit::Succeeded);
    }
    let mut interrupt = Interrupt::listen()?;
    let reply = launch(&daemon, params, &mut interrupt).await?;
    if !screen.json {
        screen.note(&render::accepted(&reply, &agent, &Clock::local()));
    }
    let waited = interrupt.or(&reply.run, wait::until_end(&mut daemon, &reply.run, None, screen)).await?;
    wait::finish(&daemon, &waited, screen).await
}

fn params(args: Run) -> Result<LaunchParams, Failure> {
    let task = if args.task == "-" { read_task(io::stdin().lock())? } else { args.task };
    Ok(LaunchParams {
        agent: args.agent,
        task,
        directory: environment::directory(args.directory.as_deref())?,
        title: args.title,
        model: args.model,
        thinking: args.thinking,
        background: Some(args.detach),
        runtime: args.runtime,
        timeout: args.timeout,
        idle_timeout: args.idle_timeout,
        key: args.key,
        capture: Capture { environment: Some(environment::capture()) },
    })
}

/// The whole of standard input, byte for byte.
fn read_task(input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    input
        .take(TASK_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Problem::new(Exit::Failed, "input", format!("standard input cannot be read: {error}")))?;
    if bytes.len() as u64 > TASK_BYTES {
        return Err(usage(format!(
            "the task on standard input is larger than {}; put it into a file and name the file in the task",
            words::size(TASK_BYTES)
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        usage(format!("the task on standard input is not UTF-8 (byte {at}); convert it first"))
    })
}

/// The reply to a launch. Ctrl-C does not take back what was sent, so it waits a moment for the run's name.
async fn launch(
    daemon: &Daemon<'_>,
    params: LaunchParams,
    interrupt: &mut Interrupt,
) -> Result<LaunchResponse, Failure> {
    let call = daemon.call::<RunLaunch>(params);
    tokio::pin!(call);
    tokio::select! {
        reply = &mut call => return reply.map_err(unanswered),
        () = interrupt.pressed() => {}
    }
    tokio::select! {
        // The reply wins when both are there: the run can then be named.
        biased;
        reply = &mut call => Err(goes_on(&reply.map_err(unanswered)?.run)),
        () = interrupt.pressed() => Err(unknown_end().into()),
        () = tokio::time::sleep(REPLY_AFTER_INTERRUPT) => Err(unknown_end().into()),
    }
}

fn unknown_end() -> Problem {
    Problem::new(Exit::ByUser, "interrupted", "The launch was on its way: the run may have been accepted.")
        .hint("`subagentd-cli list` shows it if so.")
}

/// A broken connection leaves open whether the run was accepted; that has to be said.
fn unanswered(failure: Failure) -> Failure {
    match failure {
        Failure::Problem(problem) if problem.is_lost() => {
            let mut problem = *problem;
            problem.message.push_str(" The run may or may not have been accepted.");
            problem
                .hint("`subagentd-cli list` shows it if so. With --key the same command can safely be repeated.")
                .into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_byte_for_byte() {
        assert_eq!(read_task(&b"\n-x\n@y \n"[..]).unwrap(), "\n-x\n@y \n");
    }

    #[test]
    fn tasks_that_are_no_text_or_too_long_are_refused() {
        let endless = io::repeat(b'x');
        for failure in [read_task(&b"ab\xff"[..]).unwrap_err(), read_task(endless).unwrap_err()] {
            let Failure::Problem(problem) = failure else { panic!() };
            assert_eq!(problem.exit, Exit::Usage, "{problem:?}");
        }
    }
}
