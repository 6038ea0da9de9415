//! A grandchild that plays steps. Signals end it as they end any program, until a step says otherwise.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};

use crate::act::Player;
use crate::complain;
use crate::script::{Act, Parting};
use crate::search::Pulse;
use crate::signals::Signals;
use crate::stage::Stage;
use crate::wire::{Leave, Wait, timeout};

pub(super) struct Orphan {
    stage: Stage,
    signals: Signals,
    farewell: Vec<Parting>,
}

impl Orphan {
    pub(super) fn new(stage: Stage) -> io::Result<Self> {
        Ok(Self { stage, signals: Signals::watch(&[])?, farewell: Vec::new() })
    }

    /// Plays to the last step and gives the exit code.
    pub(super) fn play(mut self, acts: Vec<Act>) -> i32 {
        let leave = match acts.into_iter().try_for_each(|act| self.act(act).map(drop)) {
            Ok(()) => Leave::Code(0),
            Err(Leave::Code(code)) => Leave::Code(code),
            Err(told @ Leave::Told(_)) => self.part().err().unwrap_or(told),
        };
        leave.code()
    }

    fn part(&mut self) -> Result<(), Leave> {
        self.begin_farewell()?;
        for step in std::mem::take(&mut self.farewell) {
            match step {
                // There is nobody to say it to.
                Parting::Say(_) => {}
                Parting::Act(act) => drop(self.act(act)?),
            }
        }
        Ok(())
    }
}

impl Player for Orphan {
    fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn signals(&mut self) -> &mut Signals {
        &mut self.signals
    }

    fn pause(&mut self, until: Instant, _ignore_end: bool) -> Result<Pulse, Leave> {
        self.freeze(until).map(|()| Pulse::Go)
    }

    fn freeze(&mut self, until: Instant) -> Result<(), Leave> {
        loop {
            let mut watched = [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
            match poll(&mut watched, timeout(Wait::Until(until))) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return Err(Leave::FAILED),
            }
            self.signals.told()?;
            if Instant::now() >= until {
                return Ok(());
            }
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Leave> {
        let mut output = io::stdout().lock();
        output.write_all(bytes).and_then(|()| output.flush()).map_err(|error| {
            complain(&format_args!("raw: {error}"));
            Leave::OUTPUT_GONE
        })
    }

    /// It looks at none.
    fn outlast_pipes(&mut self) {}

    fn promise(&mut self, farewell: Vec<Parting>) {
        self.farewell = farewell;
    }
}
