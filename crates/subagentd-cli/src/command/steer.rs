//! `steer`: tells a run something while it works or waits.

use subagentd_proto::limits::STEER_BYTES;
use subagentd_proto::method::RunSteer;
use subagentd_proto::run::{Delivery, Receipt, State, SteerParams, SteerResponse};

use super::next;
use crate::args::Steer;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::Hints;
use crate::input::Wanted;
use crate::output::Screen;
use crate::render::words;

/// What a run is told.
pub(super) const TEXT: Wanted = Wanted { what: "text", most: STEER_BYTES as u64 };

pub(crate) async fn steer(args: Steer, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let text = TEXT.take(args.text)?;
    let delivery = if args.after { Delivery::FollowUp } else { Delivery::Steer };
    let daemon = Daemon::reach_run(caller, &args.run).await?;
    let params = SteerParams { run: args.run.clone(), child: args.child, text, delivery: Some(delivery) };
    let reply = match daemon.call::<RunSteer>(params).await {
        Ok(reply) => reply,
        Err(failure) => {
            let failure = next::unanswered(failure, &args.run, "The text may or may not have been stored.");
            return Err(next::refused(failure, &daemon, &args.run, |problem, run| {
                let settled = run.state.is_end() || run.state == State::Paused;
                let at_work = || next::waiting(words::ending(&run.run));
                (problem.kind == "wrongState")
                    .then(|| if settled { next::steps(run, daemon.owner()) } else { at_work() })
            })
            .await);
        }
    };
    screen.result(&reply, || screen.sentences(&told(&reply, delivery)))?;
    screen.hints(&hints(&reply));
    Ok(if reply.receipt == Receipt::Undelivered { Exit::Failed } else { Exit::Succeeded })
}

/// The receipt in plain words.
fn told(reply: &SteerResponse, delivery: Delivery) -> String {
    let name = words::ending(&reply.run);
    let text = format!("Text {}", reply.number);
    match (reply.receipt, reply.state) {
        (Receipt::Delivered, _) => format!("{text}: run {name} has heard it.\n"),
        (Receipt::Accepted, _) if delivery == Delivery::FollowUp => {
            format!("{text}: run {name} has it, and hears it when it would otherwise be done.\n")
        }
        (Receipt::Accepted, _) => {
            format!("{text}: run {name} has it, and hears it after its tool calls under way.\n")
        }
        (Receipt::Stored, State::Paused) => {
            format!("{text} is stored: run {name} is paused, and hears it when resumed.\n")
        }
        (Receipt::Stored, State::Queued) => format!("{text} is stored: run {name} hears it once it is started.\n"),
        (Receipt::Stored, _) => format!("{text} is stored: it goes to run {name} as soon as that takes it.\n"),
        (Receipt::Undelivered, State::Paused) => format!("{text}: run {name} was paused without hearing it.\n"),
        (Receipt::Undelivered, state) => {
            format!("{text}: run {name} ended without hearing it ({}).\n", words::state(state))
        }
        (Receipt::Unknown, _) => format!("{text} was taken for run {name}.\n"),
    }
}

fn hints(reply: &SteerResponse) -> Hints {
    let name = words::ending(&reply.run);
    let heard = (format!("show {name}"), "see whether it was heard");
    match (reply.receipt, reply.state) {
        (Receipt::Undelivered, _) => {
            Hints::default().and(format_args!("resume {name} \"TEXT\""), "say it in its conversation")
        }
        (Receipt::Delivered, _) => next::waiting(name),
        (_, State::Paused) => Hints::default().and(format_args!("resume {name}"), "let it go on"),
        _ => next::waiting(name).and(heard.0, heard.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    fn reply(receipt: Receipt, state: State) -> SteerResponse {
        SteerResponse { run: samples::RUN.to_owned(), child: 0, number: 3, receipt, state }
    }

    #[test]
    fn every_receipt_has_its_sentence() {
        let table = [
            (Receipt::Delivered, State::Running, "Text 3: run 1a2b3c4d has heard it.\n"),
            (
                Receipt::Accepted,
                State::Running,
                "Text 3: run 1a2b3c4d has it, and hears it after its tool calls under way.\n",
            ),
            (Receipt::Stored, State::Queued, "Text 3 is stored: run 1a2b3c4d hears it once it is started.\n"),
            (Receipt::Stored, State::Paused, "Text 3 is stored: run 1a2b3c4d is paused, and hears it when resumed.\n"),
            (Receipt::Stored, State::Running, "Text 3 is stored: it goes to run 1a2b3c4d as soon as that takes it.\n"),
            (Receipt::Undelivered, State::Succeeded, "Text 3: run 1a2b3c4d ended without hearing it (succeeded).\n"),
            (Receipt::Undelivered, State::Paused, "Text 3: run 1a2b3c4d was paused without hearing it.\n"),
            (Receipt::Unknown, State::Running, "Text 3 was taken for run 1a2b3c4d.\n"),
        ];
        for (receipt, state, wanted) in table {
            assert_eq!(told(&reply(receipt, state), Delivery::Steer), wanted, "{receipt:?} {state:?}");
            assert!(wanted.len() <= 81, "{wanted}");
        }
        assert_eq!(
            told(&reply(Receipt::Accepted, State::Running), Delivery::FollowUp),
            "Text 3: run 1a2b3c4d has it, and hears it when it would otherwise be done.\n"
        );
    }
}
