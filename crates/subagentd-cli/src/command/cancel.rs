//! `cancel`: ends runs.

use subagentd_proto::method::RunCancel;
use subagentd_proto::run::{CancelParams, CancelResponse};

use super::several;
use crate::args::Several;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::Hints;
use crate::output::Screen;
use crate::render::words;

pub(crate) async fn cancel(args: Several, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let Some(first) = args.runs.first() else { return Ok(Exit::Succeeded) };
    let daemon = Daemon::reach_run(caller, first).await?;
    let mut ending = Vec::new();
    let exit = several::each(&args.runs, caller, screen, async |run| {
        let reply = daemon.call::<RunCancel>(CancelParams { run: run.to_owned() }).await?;
        screen.result(&reply, || screen.sentences(&told(&reply)))?;
        if reply.outcome == "cancelling" {
            ending.push(words::ending(&reply.run).to_owned());
        }
        Ok(Exit::Succeeded)
    })
    .await?;
    if !ending.is_empty() {
        let have = if ending.len() == 1 { "until it has ended" } else { "until they have ended" };
        screen.hints(&Hints::default().and(format_args!("wait {}", ending.join(" ")), have));
    }
    Ok(exit)
}

fn told(reply: &CancelResponse) -> String {
    let name = words::ending(&reply.run);
    let state = words::state(reply.state);
    match reply.outcome.as_str() {
        "cancelled" => format!("Run {name} is cancelled.\n"),
        "cancelling" => format!("Run {name} is being cancelled.\n"),
        "already-ended" => format!("Run {name} had already ended: {state}.\n"),
        other => format!("Run {name} is {state} ({}).\n", words::line(other)),
    }
}

#[cfg(test)]
mod tests {
    use subagentd_proto::run::State;

    use super::*;
    use crate::render::samples;

    #[test]
    fn every_outcome_has_its_sentence() {
        let table = [
            ("cancelled", State::Cancelled, "Run 1a2b3c4d is cancelled.\n"),
            ("cancelling", State::Running, "Run 1a2b3c4d is being cancelled.\n"),
            ("already-ended", State::Succeeded, "Run 1a2b3c4d had already ended: succeeded.\n"),
            ("postponed", State::Running, "Run 1a2b3c4d is running (postponed).\n"),
        ];
        for (outcome, state, wanted) in table {
            let reply = CancelResponse { run: samples::RUN.to_owned(), state, outcome: outcome.to_owned() };
            assert_eq!(told(&reply), wanted);
        }
    }
}
