//! Ctrl-C while waiting: the wait ends, never the run.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;
use crate::failure::{Failure, Problem};
use crate::hints::Hints;
use crate::render::words;

/// How long Ctrl-C waits for the reply to what is already on its way, so that it can be told what became of it.
const REPLY_WITHIN: Duration = Duration::from_secs(2);

/// The word for it in a document. Not `interrupted`, which is an end of a run.
pub(crate) const WAIT_INTERRUPTED: &str = "waitInterrupted";

/// Ctrl-C, from here on.
#[derive(Debug)]
pub(crate) struct Interrupt(Signal);

impl Interrupt {
    /// Takes the signal over from the default, which would end the program without a word.
    pub(crate) fn listen() -> Result<Self, Failure> {
        signal(SignalKind::interrupt())
            .map(Self)
            .map_err(|error| Problem::new(Exit::Failed, "internal", format!("Ctrl-C cannot be caught: {error}")).into())
    }

    /// Cancel-safe: a signal that comes while nobody asks is told at the next call.
    pub(crate) async fn pressed(&mut self) {
        // `None` would mean that the runtime is going away, together with whoever asks.
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// `work`, unless Ctrl-C comes first; then what is told about `run`.
    pub(crate) async fn or<T>(
        &mut self,
        run: &str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            done = work => done,
            () = self.pressed() => Err(goes_on(run)),
        }
    }

    /// The reply to a call that puts a run to work. Ctrl-C does not take back what was sent, so it waits a moment for
    /// the run's name; without it, `unknown` is told.
    pub(crate) async fn reply<T>(
        &mut self,
        call: impl Future<Output = Result<T, Failure>>,
        run: impl Fn(&T) -> &str,
        unknown: impl Fn() -> Problem,
    ) -> Result<T, Failure> {
        tokio::pin!(call);
        tokio::select! {
            reply = &mut call => return reply,
            () = self.pressed() => {}
        }
        tokio::select! {
            // The reply wins when both are there: the run can then be named.
            biased;
            reply = &mut call => Err(goes_on(run(&reply?))),
            () = self.pressed() => Err(unknown().into()),
            () = tokio::time::sleep(REPLY_WITHIN) => Err(unknown().into()),
        }
    }
}

/// What can be done with a run that goes on.
pub(crate) fn hints(name: &str) -> Hints {
    Hints::default().and(format_args!("wait {name}"), "wait for its end").and(format_args!("cancel {name}"), "end it")
}

/// What is told when the user stops waiting for a run.
pub(crate) fn goes_on(run: &str) -> Failure {
    let name = words::ending(run);
    Problem::new(Exit::ByUser, WAIT_INTERRUPTED, format!("Run {name} goes on.")).next(hints(name)).run(run).into()
}
