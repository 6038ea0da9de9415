//! `resume`: goes on with a run that is paused or has ended and, unless told otherwise, waits for its end.

use subagentd_proto::method::RunResume;
use subagentd_proto::run::{Capture, ResumeParams, ResumeResponse, RunView, State};

use super::steer::TEXT;
use super::{next, wait};
use crate::args::Resume;
use crate::connection::{Caller, Daemon};
use crate::environment;
use crate::exit::Exit;
use crate::failure::{Failure, Problem};
use crate::hints::Hints;
use crate::interrupt::{Interrupt, WAIT_INTERRUPTED};
use crate::output::{Screen, writes_over};
use crate::render::time::Clock;
use crate::render::{run as render, words};

pub(crate) async fn resume(args: Resume, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let asked = Asked { text: args.text.is_some(), takeover: args.take_over, run: args.run.clone() };
    let detach = args.detach;
    let params = params(args)?;
    let mut daemon = Daemon::reach_run(caller, &asked.run).await?;
    if detach {
        let reply = send(&daemon, params, &asked).await?;
        screen.result(&reply, || render::resumed(&reply, screen, &Clock::local()))?;
        screen.hints(&next::waiting(words::ending(&reply.run)).and("list", "see how all is going"));
        return Ok(Exit::Succeeded);
    }
    let mut interrupt = Interrupt::listen()?;
    let unknown = || unknown_end(&asked.run);
    let reply = interrupt.reply(send(&daemon, params, &asked), |reply| &reply.run, unknown).await?;
    let leave = if writes_over() { " Ctrl-C stops waiting; the run goes on." } else { "" };
    screen.note(&format!("{}{leave}", render::goes_on(&reply)));
    let waited = interrupt.or(&reply.run, wait::until_end(&mut daemon, &reply.run, None, screen)).await?;
    wait::finish(&daemon, &waited, screen, true).await
}

/// What the command line says, as far as a refusal is explained by it.
struct Asked {
    run: String,
    text: bool,
    takeover: bool,
}

fn params(args: Resume) -> Result<ResumeParams, Failure> {
    // Absent means to just go on: what happens to be on standard input is not asked for.
    let text = args.text.map(|text| TEXT.take(Some(text))).transpose()?;
    Ok(ResumeParams {
        run: args.run,
        child: args.child,
        text,
        agent: None,
        takeover: args.take_over,
        background: Some(args.detach),
        capture: Capture { environment: Some(environment::capture()), ..Capture::default() },
    })
}

async fn send(daemon: &Daemon<'_>, params: ResumeParams, asked: &Asked) -> Result<ResumeResponse, Failure> {
    match daemon.call::<RunResume>(params).await {
        Ok(reply) => Ok(reply),
        Err(failure) => {
            let failure = next::unanswered(failure, &asked.run, "The run may or may not have been resumed.");
            let hints = |problem: &Problem, run: &RunView| asked.hints(problem, run, daemon.owner());
            Err(next::refused(failure, daemon, &asked.run, hints).await)
        }
    }
}

impl Asked {
    /// What helps against a refusal.
    fn hints(&self, problem: &Problem, run: &RunView, owner: &str) -> Option<Hints> {
        let name = words::ending(&run.run);
        let text = if self.text { " \"TEXT\"" } else { "" };
        match problem.kind.as_str() {
            "refused" if run.owner != owner && !self.takeover => {
                Some(Hints::default().and(format_args!("resume {name} --take-over{text}"), "make it yours"))
            }
            "invalidParams" if !self.text => {
                Some(Hints::default().and(format_args!("resume {name} \"TEXT\""), "tell it how to go on"))
            }
            "wrongState" => Some(self.other_steps(run, owner)),
            _ => None,
        }
    }

    /// It stands where it cannot be resumed.
    fn other_steps(&self, run: &RunView, owner: &str) -> Hints {
        let name = words::ending(&run.run);
        let settled = run.state.is_end() || run.state == State::Paused;
        if !settled {
            return next::steps(run, owner);
        }
        if run.children.iter().any(|child| child.resume_refusal.is_none()) {
            // It could go on, if it had not left something behind.
            return Hints::default().and("lease list", "see who holds which workspace");
        }
        Hints::default().and(format_args!("show {name}"), "its task, and why it ended")
    }
}

fn unknown_end(run: &str) -> Problem {
    let hints = Hints::default().and(format_args!("show {}", words::ending(run)), "see how it stands");
    Problem::new(Exit::ByUser, WAIT_INTERRUPTED, "The resume was on its way: the run may go on.").next(hints).run(run)
}
