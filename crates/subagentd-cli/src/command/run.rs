//! `run`: hands over work and, unless told otherwise, waits for its end.

use subagentd_proto::limits::FRAME_BYTES;
use subagentd_proto::method::RunLaunch;
use subagentd_proto::run::{Capture, CapturedTool, LaunchParams, LaunchResponse};

use super::wait;
use crate::args::{LaunchOptions, Run};
use crate::connection::{Caller, Daemon};
use crate::environment;
use crate::exit::Exit;
use crate::failure::{Failure, Problem};
use crate::hints::Hints;
use crate::input::Wanted;
use crate::interrupt::{Interrupt, WAIT_INTERRUPTED};
use crate::output::{Screen, writes_over};
use crate::render::time::Clock;
use crate::render::{run as render, words};

/// A longer one fits no frame.
pub(super) const TASK: Wanted = Wanted { what: "task", most: FRAME_BYTES as u64 };

pub(crate) async fn run(args: Run, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let detach = args.options.detach;
    let params = params(args.agent, TASK.take(Some(args.task))?, args.options)?;
    // As the catalogue spells it.
    let agent = params.agent.trim().to_lowercase();
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
    let leave = if writes_over() { " Ctrl-C stops waiting; the run goes on." } else { "" };
    screen.note(&format!("{}{leave}", render::accepted(&reply, &agent)));
    let waited = interrupt.or(&reply.run, wait::until_end(&mut daemon, &reply.run, None, screen)).await?;
    wait::finish(&daemon, &waited, screen, true).await
}

/// What is asked of the daemon.
pub(super) fn params(agent: String, task: String, options: LaunchOptions) -> Result<LaunchParams, Failure> {
    let LaunchOptions { detach, model, thinking, runtime, title, directory, .. } = options;
    let LaunchOptions { timeout, idle_timeout, key, trust_project, parent_tools, context, .. } = options;
    let tool = |name: String| CapturedTool { name, ..CapturedTool::default() };
    let stated = trust_project || parent_tools.is_some();
    Ok(LaunchParams {
        agent,
        task,
        directory: environment::directory(directory.as_deref())?,
        title,
        model,
        thinking,
        background: Some(detach),
        runtime,
        timeout,
        idle_timeout,
        key,
        capture: Capture {
            environment: Some(environment::capture()),
            tools: parent_tools.map(|names| names.into_iter().map(tool).collect()),
            trusted: trust_project.then_some(true),
            stated_by: stated.then(|| "flag".to_owned()),
            ..Capture::default()
        },
        context,
    })
}

async fn launch(
    daemon: &Daemon<'_>,
    params: LaunchParams,
    swapped: bool,
    interrupt: &mut Interrupt,
) -> Result<LaunchResponse, Failure> {
    let call = async { daemon.call::<RunLaunch>(params).await.map_err(|failure| unanswered(failure, swapped)) };
    interrupt.reply(call, |reply| &reply.run, unknown_end).await
}

fn unknown_end() -> Problem {
    Problem::new(Exit::ByUser, WAIT_INTERRUPTED, "The launch was on its way: the run may have been accepted.")
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
    fn a_task_in_the_agents_place_is_seen() {
        for (agent, task, wanted) in
            [("where is it?", "explore", true), ("explore", "where is it?", false), ("explroe", "x", false)]
        {
            assert_eq!(swapped(agent, task), wanted, "{agent} {task}");
        }
    }
}
