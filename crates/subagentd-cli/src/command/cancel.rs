//! `cancel`: ends a run.

use subagentd_proto::method::RunCancel;
use subagentd_proto::run::{CancelParams, CancelResponse};

use crate::args::Named;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::Hints;
use crate::output::Screen;
use crate::render::words;

pub(crate) async fn cancel(args: Named, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let daemon = Daemon::reach_run(caller, &args.run).await?;
    let reply = daemon.call::<RunCancel>(CancelParams { run: args.run }).await?;
    screen.result(&reply, || told(&reply))?;
    if reply.outcome == "cancelling" {
        screen.hints(&Hints::default().and(format_args!("wait {}", words::ending(&reply.run)), "until it has ended"));
    }
    Ok(Exit::Succeeded)
}

fn told(reply: &CancelResponse) -> String {
    let name = words::ending(&reply.run);
    let state = words::state(reply.state);
    match reply.outcome.as_str() {
        "cancelled" => format!("Run {name} is cancelled; it never started.\n"),
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
            ("cancelled", State::Cancelled, "Run 1a2b3c4d is cancelled; it never started.\n"),
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
