//! `pause`: lets a run settle where it is, to go on later.

use subagentd_proto::method::RunPause;
use subagentd_proto::run::{PauseParams, PauseResponse, State};

use super::next;
use crate::args::Named;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::Hints;
use crate::output::Screen;
use crate::render::words;

pub(crate) async fn pause(args: Named, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let daemon = Daemon::reach_run(caller, &args.run).await?;
    let reply = match daemon.call::<RunPause>(PauseParams { run: args.run.clone() }).await {
        Ok(reply) => reply,
        Err(failure) => {
            return Err(next::refused(failure, &daemon, &args.run, |problem, run| {
                (problem.kind == "wrongState").then(|| next::waiting(words::ending(&run.run)))
            })
            .await);
        }
    };
    screen.result(&reply, || screen.sentences(&told(&reply)))?;
    screen.hints(&hints(&reply));
    Ok(Exit::Succeeded)
}

fn told(reply: &PauseResponse) -> String {
    let name = words::ending(&reply.run);
    let state = words::state(reply.state);
    match reply.outcome.as_str() {
        "paused" => format!("Run {name} is paused.\n"),
        "pausing" => format!("Run {name} is being paused; a tool call under way is broken off.\n"),
        "already-ended" => format!("Run {name} had already ended: {state}.\n"),
        other => format!("Run {name} is {state} ({}).\n", words::line(other)),
    }
}

fn hints(reply: &PauseResponse) -> Hints {
    let name = words::ending(&reply.run);
    match reply.state {
        State::Paused => Hints::default().and(format_args!("resume {name}"), "let it go on"),
        state if state.is_end() => Hints::default(),
        _ => Hints::default().and(format_args!("wait {name}"), "until it is paused"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    #[test]
    fn every_outcome_has_its_sentence_and_step() {
        let table = [
            ("paused", State::Paused, "Run 1a2b3c4d is paused.\n", "resume"),
            ("pausing", State::Running, "Run 1a2b3c4d is being paused; a tool call under way is broken off.\n", "wait"),
            ("already-ended", State::Succeeded, "Run 1a2b3c4d had already ended: succeeded.\n", ""),
            ("postponed", State::Running, "Run 1a2b3c4d is running (postponed).\n", "wait"),
        ];
        for (outcome, state, wanted, step) in table {
            let reply = PauseResponse { run: samples::RUN.to_owned(), state, outcome: outcome.to_owned() };
            assert_eq!(told(&reply), wanted);
            assert!(hints(&reply).text(40).contains(step), "{outcome}");
        }
    }
}
