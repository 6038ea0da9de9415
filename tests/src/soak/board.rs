//! Where clients and killer write down what they saw, while it happens.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use subagentd_proto::run::State;

use super::history::{Cancel, CancelAnswer, Kill, Launch, Offer};

/// The board.
#[derive(Debug, Default)]
pub(super) struct Board {
    // Held for a few operations, never across a wait.
    notes: Mutex<Notes>,
    /// Launches whose answer is under way.
    launching: AtomicU32,
    /// Whether the killer is done.
    pub(super) killed: AtomicBool,
    /// Whether everybody shall go home.
    pub(super) over: AtomicBool,
    /// Connections that were lost during a call.
    pub(super) lost: AtomicU32,
    /// Daemons that found the lock of the one before them still held.
    pub(super) busy_starts: AtomicU32,
    /// Answers that said a launch was known already.
    pub(super) repeated: AtomicU32,
}

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) launches: Vec<Launch>,
    pub(super) kills: Vec<Kill>,
    pub(super) offers: Vec<Offer>,
    pub(super) troubles: Vec<String>,
    /// Runs whose end was announced.
    pub(super) ended: BTreeSet<String>,
    /// Notices whose acknowledgement was confirmed.
    pub(super) acknowledged: BTreeSet<u64>,
}

/// Counts a launch whose answer is under way.
pub(super) struct Launching<'a>(&'a Board);

impl Drop for Launching<'_> {
    fn drop(&mut self) {
        self.0.launching.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Board {
    pub(super) fn notes(&self) -> MutexGuard<'_, Notes> {
        // Whoever panicked left whole notes.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn launching(&self) -> Launching<'_> {
        self.launching.fetch_add(1, Ordering::Relaxed);
        Launching(self)
    }

    pub(super) fn is_launching(&self) -> bool {
        self.launching.load(Ordering::Relaxed) > 0
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    pub(super) fn trouble(&self, what: impl Into<String>) {
        self.notes().troubles.push(what.into());
    }

    pub(super) fn kill(&self, kill: Kill) {
        self.notes().kills.push(kill);
    }

    /// Launches, and how many of them have not been announced as ended.
    pub(super) fn counts(&self) -> (usize, usize) {
        let notes = self.notes();
        (notes.launches.len(), notes.launches.len().saturating_sub(notes.ended.len()))
    }

    fn of_key(&self, key: &str, note: impl FnOnce(&mut Launch)) {
        if let Some(launch) = self.notes().launches.iter_mut().rfind(|launch| launch.key == key) {
            note(launch);
        }
    }

    pub(super) fn acknowledge(&self, key: &str, run: &str) {
        self.of_key(key, |launch| {
            if !launch.acknowledged.iter().any(|known| known == run) {
                launch.acknowledged.push(run.to_owned());
            }
        });
    }

    /// A cancel is about to be sent: from now on it may have an effect.
    pub(super) fn cancel(&self, key: &str) {
        self.of_key(key, |launch| launch.cancels.push(Cancel { answer: None }));
    }

    pub(super) fn cancel_answered(&self, key: &str, answer: CancelAnswer) {
        self.of_key(key, |launch| launch.cancels.push(Cancel { answer: Some(answer) }));
    }

    /// A client was told of an end.
    pub(super) fn told(&self, key: &str, state: State, by: &'static str) {
        self.of_key(key, |launch| launch.told.push((state, by)));
    }
}
