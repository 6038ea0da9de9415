//! A child's part in playing: how it waits while it speaks the dialect, and its good-bye.

use std::time::Instant;

use crate::act::Player;
use crate::play::Speech;
use crate::record::Stop;
use crate::script::Parting;
use crate::search::Pulse;
use crate::session::Session;
use crate::signals::Signals;
use crate::stage::Stage;
use crate::wire::Leave;

impl Player for Session {
    fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn signals(&mut self) -> &mut Signals {
        self.wire.signals()
    }

    /// Commands stay unread before the first output and in a good-bye.
    fn pause(&mut self, until: Instant, ignore_end: bool) -> Result<Pulse, Leave> {
        if self.reading { self.sleep(until, ignore_end) } else { self.rest(until, ignore_end).map(|()| Pulse::Go) }
    }

    fn freeze(&mut self, until: Instant) -> Result<(), Leave> {
        self.rest(until, true)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Leave> {
        self.wire.put(bytes)
    }

    fn outlast_pipes(&mut self) {
        self.wire.outlast_pipes();
    }

    fn promise(&mut self, farewell: Vec<Parting>) {
        self.farewell = Some(farewell);
    }
}

impl Session {
    /// Plays the good-bye, if there is one, after TERM.
    pub(crate) fn part(&mut self) -> Result<(), Leave> {
        let Some(steps) = self.farewell.take() else { return Ok(()) };
        self.begin_farewell()?;
        self.reading = false;
        let mut speech = Speech::silent();
        for step in steps {
            match step {
                Parting::Say(say) => speech.add(say),
                Parting::Act(act) => drop(self.act(act)?),
            }
        }
        self.say_goodbye(&speech)
    }

    /// Ends the run at hand with these words, if one is open and its reader was left with whole records.
    fn say_goodbye(&mut self, speech: &Speech) -> Result<(), Leave> {
        if speech.is_silent() || !self.is_busy() || !self.wire.is_whole() {
            return Ok(());
        }
        speech.deliver(self)?;
        self.settle(speech.stop == Stop::Aborted)
    }
}
