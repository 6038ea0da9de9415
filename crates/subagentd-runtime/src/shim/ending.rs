//! How a child and its tree are brought to an end: politely first, and never believed gone before `waitpid` says so.

use std::time::{Duration, Instant};

/// Between two passes of killing, while something still lives: first, and at most.
const PASS: Duration = Duration::from_millis(10);
const LONGEST_PASS: Duration = Duration::from_secs(1);
/// What lives on after so long of killing cannot be killed.
const PATIENCE: Duration = Duration::from_secs(10);
/// For what outlives the child after a polite signal. Such processes belong to nobody: they get less time than a child.
const TREE_GRACE: Duration = Duration::from_millis(500);

/// The longest grace after the shim itself was told to end: three of them stay below the 8 s that a logout gives.
const HURRY: Duration = Duration::from_secs(2);

/// What the shim has to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// Close the child's standard input.
    CloseInput,
    /// Signal all direct children to end.
    Terminate,
    /// Kill all direct children; those of theirs become ours and are killed in the next pass.
    Kill,
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Nobody asked for an end.
    None,
    /// The dialect's own way was taken.
    Asked,
    /// Standard input is closed.
    InputClosed,
    /// The polite signal was sent.
    Terminated,
    /// Killing until nobody is left.
    Killing,
}

/// The escalation, as a function of the instants it is given.
#[derive(Debug)]
pub(super) struct Ending {
    stage: Stage,
    until: Option<Instant>,
    grace: Duration,
    pass: Duration,
    killing_since: Option<Instant>,
}

impl Ending {
    /// Nothing has been asked yet.
    pub(super) fn new(grace: Duration) -> Self {
        Self { stage: Stage::None, until: None, grace, pass: PASS, killing_since: None }
    }

    /// When [`Self::due`] has something to do.
    pub(super) fn next(&self) -> Option<Instant> {
        self.until
    }

    /// The dialect was asked to stop; it has the grace to settle.
    pub(super) fn asked(&mut self, now: Instant) {
        self.advance(Stage::Asked, now, self.grace);
    }

    /// The shim itself has to end soon: from now on every grace is short.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.grace = self.grace.min(HURRY);
        self.until = self.until.map(|until| until.min(now + HURRY));
        self.asked(now);
    }

    /// The child settled: its input is closed at once, and it has the grace to leave.
    pub(super) fn settled(&mut self, now: Instant) -> Option<Means> {
        (self.stage < Stage::InputClosed).then(|| {
            self.advance(Stage::InputClosed, now, self.grace);
            Means::CloseInput
        })
    }

    /// The child is gone, others of its tree are not.
    pub(super) fn orphaned(&mut self, now: Instant) -> Option<Means> {
        match self.stage {
            Stage::None | Stage::Asked | Stage::InputClosed => {
                self.advance(Stage::Terminated, now, self.grace.min(TREE_GRACE));
                Some(Means::Terminate)
            }
            Stage::Terminated | Stage::Killing => None,
        }
    }

    /// Whether killing has been of no use for so long that it never will be.
    pub(super) fn is_hopeless(&self, now: Instant) -> bool {
        self.killing_since.is_some_and(|since| now >= since + PATIENCE)
    }

    /// The next means, once its time has come.
    pub(super) fn due(&mut self, now: Instant) -> Option<Means> {
        if self.until.is_none_or(|until| until > now) {
            return None;
        }
        match self.stage {
            Stage::None => None,
            Stage::Asked => {
                self.advance(Stage::InputClosed, now, self.grace);
                Some(Means::CloseInput)
            }
            Stage::InputClosed => {
                self.advance(Stage::Terminated, now, self.grace);
                Some(Means::Terminate)
            }
            Stage::Terminated | Stage::Killing => {
                self.stage = Stage::Killing;
                self.killing_since = self.killing_since.or(Some(now));
                self.until = Some(now + self.pass);
                self.pass = (self.pass * 2).min(LONGEST_PASS);
                Some(Means::Kill)
            }
        }
    }

    fn advance(&mut self, stage: Stage, now: Instant, time: Duration) {
        if self.stage < stage {
            self.stage = stage;
            self.until = Some(now + time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_millis(100);

    #[test]
    fn a_child_that_ignores_everything_is_killed_again_and_again() {
        let start = Instant::now();
        let mut ending = Ending::new(GRACE);
        assert_eq!(ending.due(start + GRACE * 100), None, "nobody asked");
        ending.asked(start);
        assert_eq!(ending.due(start), None);
        assert_eq!(ending.due(start + GRACE), Some(Means::CloseInput));
        assert_eq!(ending.due(start + GRACE * 2), Some(Means::Terminate));
        assert_eq!(ending.due(start + GRACE * 3), Some(Means::Kill));
        assert_eq!(ending.due(start + GRACE * 3), None);
        assert_eq!(ending.due(start + GRACE * 3 + PASS), Some(Means::Kill));
        assert!(!ending.is_hopeless(start + GRACE * 3 + PATIENCE - PASS));
        assert!(ending.is_hopeless(start + GRACE * 3 + PATIENCE));
    }

    #[test]
    fn asking_again_gives_no_new_time() {
        let start = Instant::now();
        let mut ending = Ending::new(GRACE);
        ending.asked(start);
        ending.asked(start + GRACE / 2);
        assert_eq!(ending.due(start + GRACE), Some(Means::CloseInput));
        assert_eq!(ending.settled(start + GRACE), None, "its input is closed already");
    }

    #[test]
    fn a_shim_told_to_end_shortens_what_is_under_way() {
        let start = Instant::now();
        let mut ending = Ending::new(Duration::from_secs(60));
        ending.asked(start);
        ending.hurry(start);
        let mut at = start;
        for means in [Means::CloseInput, Means::Terminate, Means::Kill] {
            at += HURRY;
            assert_eq!(ending.due(at), Some(means));
        }
    }

    #[test]
    fn orphans_get_the_polite_signal_once() {
        let start = Instant::now();
        let mut ending = Ending::new(GRACE);
        assert_eq!(ending.settled(start), Some(Means::CloseInput));
        assert_eq!(ending.orphaned(start), Some(Means::Terminate));
        assert_eq!(ending.orphaned(start), None);
        assert_eq!(ending.due(start + GRACE), Some(Means::Kill));
    }
}
