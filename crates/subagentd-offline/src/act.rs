//! Steps that need no dialect, played by a child and by what it starts alike.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::complain;
use crate::life;
use crate::script::{Act, Ignore, Parting, Sleep};
use crate::search::Pulse;
use crate::signals::Signals;
use crate::stage::{Stage, die};
use crate::wire::Leave;

/// How often the end of a grandchild is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// A process that plays a script.
pub(crate) trait Player {
    fn stage(&mut self) -> &mut Stage;

    fn signals(&mut self) -> &mut Signals;

    /// Waits; with `ignore_end` nothing but a signal cuts it short.
    fn pause(&mut self, until: Instant, ignore_end: bool) -> Result<Pulse, Leave>;

    /// Waits and does nothing at all, whatever comes; only a signal cuts it short.
    fn freeze(&mut self, until: Instant) -> Result<(), Leave>;

    /// Writes to standard output.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Leave>;

    /// From now on closed pipes are no reason to leave.
    fn outlast_pipes(&mut self);

    /// Keeps the steps to play when TERM comes.
    fn promise(&mut self, farewell: Vec<Parting>);

    fn act(&mut self, act: Act) -> Result<Pulse, Leave> {
        match act {
            Act::Sleep(Sleep { ms, ignore_end }) => return self.pause(after(Duration::from_millis(ms)), ignore_end),
            Act::Touch(touch) => self.stage().touch(&touch)?,
            Act::Beat(beat) => self.stage().beat(&beat)?,
            Act::Fork(fork) => {
                let started = self.stage().fork(&fork)?;
                if fork.wait {
                    return self.await_end(started);
                }
            }
            Act::ForkLoop(looped) => self.stage().fork_loop(&looped)?,
            Act::Ignore(Ignore { signals, input }) => {
                life::limit(life::LIFE);
                self.signals().ignore(&signals)?;
                if input {
                    self.outlast_pipes();
                }
            }
            Act::OnTerm(farewell) => {
                self.promise(farewell);
                self.signals().heed(Signal::SIGTERM)?;
            }
            Act::Raw(bytes) => self.put(&bytes)?,
            Act::Stderr(text) => Stage::mutter(&text),
            Act::Hang(time) => {
                self.freeze(after(time))?;
                complain(&format_args!("hang: nobody ended it within {time:?}"));
                return Err(Leave::FAILED);
            }
            Act::Exit(code) => return Err(Leave::Code(i32::from(code))),
            Act::Die(signal) => return Err(die(signal)),
        }
        Ok(Pulse::Go)
    }

    /// Waits for a grandchild; an abort or the end of the input cuts it short as it does a sleep.
    fn await_end(&mut self, mut started: std::process::Child) -> Result<Pulse, Leave> {
        while matches!(started.try_wait(), Ok(None)) {
            if self.pause(after(LOOK), false)? == Pulse::Stop {
                return Ok(Pulse::Stop);
            }
        }
        Ok(Pulse::Go)
    }

    /// A good-bye after TERM: a second TERM, HUP and closed pipes do not disturb it.
    fn begin_farewell(&mut self) -> Result<(), Leave> {
        life::limit(life::LIFE);
        self.outlast_pipes();
        self.signals().ignore(&[Signal::SIGTERM, Signal::SIGHUP])
    }
}

fn after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now)
}
