//! `result`: a run's answer, and nothing else, on standard output.

use subagentd_proto::limits::TEXT_SLICE_BYTES;
use subagentd_proto::method::{RunGet, RunResult};
use subagentd_proto::run::{GetParams, ResultParams, ResultResponse, State, TextSlice};

use crate::args::Answer;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::{Failure, Problem};
use crate::output::Screen;
use crate::render::words;

pub(crate) async fn result(args: Answer, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let daemon = Daemon::reach_run(caller, &args.run).await?;
    let ask = |offset: u64| ResultParams {
        run: args.run.clone(),
        child: args.child,
        offset: (!args.path).then_some(offset),
        limit: (!args.path).then_some(TEXT_SLICE_BYTES),
    };
    let first = daemon.call::<RunResult>(ask(0)).await?;
    if screen.json {
        screen.document(&first)?;
    } else if args.path {
        screen.text(&format!("{}\n", first.reference.path))?;
    } else {
        let mut slice = first.text.clone().ok_or_else(textless)?;
        loop {
            screen.text(&fit(&slice.text, screen.terminal))?;
            let Some(offset) = next(&slice)? else { break };
            slice = daemon.call::<RunResult>(ask(offset)).await?.text.ok_or_else(textless)?;
        }
        if screen.terminal && !slice.text.ends_with('\n') {
            screen.text("\n")?;
        }
    }
    if !screen.json {
        for line in remarks(&daemon, &first).await {
            screen.note(&line);
        }
    }
    if let Some(notice) = first.notice.filter(|_| first.state.is_end()) {
        daemon.acknowledge(notice, screen).await;
    }
    Ok(if first.state == State::Succeeded { Exit::Succeeded } else { Exit::Failed })
}

/// Where the next part begins. One that does not lie ahead would be asked for again and again.
fn next(slice: &TextSlice) -> Result<Option<u64>, Failure> {
    match slice.next_offset {
        Some(next) if next <= slice.offset => {
            Err(malformed(format!("The daemon's part at byte {} leads back to byte {next}.", slice.offset)))
        }
        next => Ok(next),
    }
}

fn textless() -> Failure {
    malformed("The daemon sent no text, though it was asked for some.".to_owned())
}

fn malformed(message: String) -> Failure {
    Problem::new(Exit::Failed, "malformed", message)
        .hint("`subagentd-cli result RUN --path` tells the file that holds the whole answer.")
        .into()
}

/// What has to be known of this answer, beside it.
async fn remarks(daemon: &Daemon<'_>, result: &ResultResponse) -> Vec<String> {
    let run = daemon.call::<RunGet>(GetParams { run: result.run.clone() }).await.ok();
    let child = run.as_ref().and_then(|run| run.children.iter().find(|child| child.index == result.child));
    let nothing_done = child.and_then(words::nothing_done).map(str::to_owned);
    standing(result).into_iter().chain(nothing_done).collect()
}

/// That it may not be what was asked for.
fn standing(result: &ResultResponse) -> Option<String> {
    let name = words::ending(&result.run);
    let state = words::state(result.state);
    match (result.complete, result.state) {
        (true, State::Succeeded) => None,
        (true, _) => Some(format!("This answer was finished, but run {name}: {state}.")),
        (false, _) => Some(format!("This answer is not finished: run {name} {state}.")),
    }
}

/// A child's text as it is, but on a terminal without sequences that could steer it.
pub(super) fn fit(text: &str, terminal: bool) -> String {
    if !terminal {
        return text.to_owned();
    }
    // A bare CR would write over the line.
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_steered_and_a_pipe_gets_every_byte() {
        let text = "a\u{1b}]0;title\u{7}\r\n\tb\rc";
        assert_eq!(fit(text, false), text);
        assert_eq!(fit(text, true), "a\u{fffd}]0;title\u{fffd}\n\tb\u{fffd}c");
    }

    #[test]
    fn parts_must_lead_ahead() {
        let slice = |next_offset| TextSlice { offset: 8, text: "x".to_owned(), next_offset };
        assert_eq!(next(&slice(None)).unwrap(), None);
        assert_eq!(next(&slice(Some(9))).unwrap(), Some(9));
        assert!(next(&slice(Some(8))).is_err());
    }
}
