//! `run`: hands over work and, unless told otherwise, waits for its end.

use std::io::{self, IsTerminal, Read};
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
use crate::hints::Hints;
use crate::interrupt::{Interrupt, goes_on};
use crate::output::{Screen, stderr, writes_over};
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
    let swapped = swapped(&params.agent, &params.task);
    let mut daemon = Daemon::reach(caller).await?;
    if detach {
        let reply = daemon.call::<RunLaunch>(params).await;
        let reply = reply.map_err(|failure| unanswered(failure, swapped))?;
        screen.result(&reply, || render::detached(&reply, &agent, screen, &Clock::local()))?;
        screen.hints(
            &Hints::default()
                .and(format_args!("wait {}", words::ending(&reply.run)), "wait for its end")
                .and("list", "see how all is going"),
        );
        return Ok(Exit::Succeeded);
    }
    let mut interrupt = Interrupt::listen()?;
    let reply = launch(&daemon, params, swapped, &mut interrupt).await?;
    let leave = if writes_over() { " Ctrl-C leaves it at work." } else { "" };
    screen.note(&format!("{}{leave}", render::accepted(&reply, &agent)));
    let waited = interrupt.or(&reply.run, wait::until_end(&mut daemon, &reply.run, None, screen)).await?;
    wait::finish(&daemon, &waited, screen).await
}

fn params(args: Run) -> Result<LaunchParams, Failure> {
    let task = if args.task == "-" { read_task(asked_input().lock())? } else { args.task };
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
        capture: Capture { environment: Some(environment::capture()), conversation: None },
        context: None,
    })
}

/// Standard input, with a word where somebody has to type: the program would seem to hang.
fn asked_input() -> io::Stdin {
    let input = io::stdin();
    if input.is_terminal() {
        stderr("Type the task; Ctrl-D on an empty line ends it.");
    }
    input
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
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(usage("there is no task on standard input; pipe one in, or say it in place of `-`"));
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
    swapped: bool,
    interrupt: &mut Interrupt,
) -> Result<LaunchResponse, Failure> {
    let call = daemon.call::<RunLaunch>(params);
    tokio::pin!(call);
    tokio::select! {
        reply = &mut call => return reply.map_err(|failure| unanswered(failure, swapped)),
        () = interrupt.pressed() => {}
    }
    tokio::select! {
        // The reply wins when both are there: the run can then be named.
        biased;
        reply = &mut call => Err(goes_on(&reply.map_err(|failure| unanswered(failure, swapped))?.run)),
        () = interrupt.pressed() => Err(unknown_end().into()),
        () = tokio::time::sleep(REPLY_AFTER_INTERRUPT) => Err(unknown_end().into()),
    }
}

fn unknown_end() -> Problem {
    Problem::new(Exit::ByUser, "interrupted", "The launch was on its way: the run may have been accepted.")
        .hint("`subagentd-cli list` shows it if so.")
}

/// A broken connection leaves open whether the run was accepted; that has to be said. And a slip is named as such.
fn unanswered(failure: Failure, swapped: bool) -> Failure {
    match failure {
        Failure::Problem(problem) if problem.is_lost() => {
            let mut problem = *problem;
            problem.message.push_str(" The run may or may not have been accepted.");
            problem
                .hint("`subagentd-cli list` shows it if so. With --key the same command can safely be repeated.")
                .into()
        }
        Failure::Problem(problem) if swapped && problem.kind == "unknownAgent" => {
            problem.hint("The agent comes first, then the task: `subagentd-cli run AGENT \"TASK\"`.").into()
        }
        other => other,
    }
}

/// Whether the two look as if they stood in each other's place.
fn swapped(agent: &str, task: &str) -> bool {
    agent.contains(char::is_whitespace) && !task.trim().contains(char::is_whitespace)
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
        for input in [&b"ab\xff"[..], b"", b" \n"].map(read_task).into_iter().chain([read_task(endless)]) {
            let failure = input.unwrap_err();
            let Failure::Problem(problem) = failure else { panic!() };
            assert_eq!(problem.exit, Exit::Usage, "{problem:?}");
        }
    }

    #[test]
    fn a_task_in_the_agents_place_is_seen() {
        for (agent, task, wanted) in
            [("where is it?", "explore", true), ("explore", "where is it?", false), ("explroe", "x", false)]
        {
            assert_eq!(swapped(agent, task), wanted, "{agent} {task}");
        }
    }
}
