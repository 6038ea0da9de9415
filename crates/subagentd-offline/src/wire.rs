//! Standard input, standard output and signals in one poll loop: there is no second thread, so nothing here can race.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{read, write};
use serde::Serialize;

use crate::signals::Signals;

/// Longest command taken. A longer line is dropped up to its end and answered like malformed JSON.
const COMMAND_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// Bytes of one write. A pipe that polls writable takes this many without blocking, so a stalled reader never keeps us from a signal.
const WRITE_BYTES: usize = 4096;

/// The end of this process. Passed up like an error so that every caller stops at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    /// With this exit code.
    Code(i32),
    /// A signal of this number said so.
    Told(u32),
}

impl Leave {
    /// The client closed our input.
    pub(crate) const INPUT_ENDED: Self = Self::Code(0);
    /// Nobody reads our output any more, or it cannot be written.
    pub(crate) const OUTPUT_GONE: Self = Self::Code(1);
    /// Something that the command line or the script asks for cannot be done.
    pub(crate) const FAILED: Self = Self::Code(1);

    /// The exit code, for a signal as a shell gives it.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Told(signal) => 128_i32.saturating_add_unsigned(signal),
        }
    }
}

/// How long to wait for input.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    Now,
    Until(Instant),
    Forever,
}

#[derive(Debug)]
pub(crate) enum Heard {
    Line(Vec<u8>),
    /// A line above the bound went by.
    TooLong,
    /// The input ended; told once.
    End,
    /// The wait is over.
    Quiet,
}

#[derive(Debug, Default)]
struct Ready {
    input: bool,
    output: bool,
}

pub(crate) struct Wire {
    signals: Signals,
    inbox: Vec<u8>,
    /// Bytes of the inbox known to hold no line end.
    scanned: usize,
    /// Inside a line above the bound.
    skipping: bool,
    ended: bool,
    /// Closed pipes are no reason to leave.
    stubborn: bool,
    /// The output is gone and what is said gets lost.
    mute: bool,
    /// A record is being written.
    torn: bool,
}

impl Wire {
    /// Blocks the signals it answers to and starts watching for them.
    pub(crate) fn open() -> io::Result<Self> {
        let mut blocked = SigSet::empty();
        // A closed output has to arrive as an error of the write, whatever the disposition we were started with.
        blocked.add(Signal::SIGPIPE);
        blocked.thread_block()?;
        Ok(Self {
            signals: Signals::watch(&[Signal::SIGTERM, Signal::SIGHUP])?,
            inbox: Vec::new(),
            scanned: 0,
            skipping: false,
            ended: false,
            stubborn: false,
            mute: false,
            torn: false,
        })
    }

    /// The input has ended and that is a reason to leave.
    pub(crate) fn ended(&self) -> bool {
        self.ended && !self.stubborn
    }

    pub(crate) fn signals(&mut self) -> &mut Signals {
        &mut self.signals
    }

    /// From now on closed pipes are no reason to leave; what is said into them is lost.
    pub(crate) fn outlast_pipes(&mut self) {
        self.stubborn = true;
    }

    /// The reader has got whole records so far and can get more.
    pub(crate) fn is_whole(&self) -> bool {
        !(self.torn || self.mute)
    }

    /// Waits for the next line, the end of the input, or the end of the wait.
    pub(crate) fn hear(&mut self, wait: Wait) -> Result<Heard, Leave> {
        loop {
            if let Some(heard) = self.take_line() {
                return Ok(heard);
            }
            if self.ended() && matches!(wait, Wait::Forever) {
                return Ok(Heard::End);
            }
            let input = if self.ended { None } else { Some(PollFlags::POLLIN) };
            let ready = self.poll(input, Some(PollFlags::empty()), wait)?;
            if ready.input {
                self.ended = !self.fill()?;
                if self.ended() {
                    return Ok(Heard::End);
                }
                continue;
            }
            if ready.output {
                self.lose_output()?;
            }
            if expired(wait) {
                return Ok(Heard::Quiet);
            }
        }
    }

    /// Waits without reading: true when the other side hung up meanwhile, unless `ignore_end`.
    pub(crate) fn rest(&mut self, until: Instant, ignore_end: bool) -> Result<bool, Leave> {
        let hang_up = if ignore_end || self.stubborn { None } else { Some(PollFlags::empty()) };
        loop {
            let ready = self.poll(hang_up, hang_up, Wait::Until(until))?;
            if ready.input {
                return Ok(true);
            }
            if ready.output {
                return Err(Leave::OUTPUT_GONE);
            }
            if expired(Wait::Until(until)) {
                return Ok(false);
            }
        }
    }

    /// Writes one record and its line end.
    pub(crate) fn say(&mut self, record: &impl Serialize) -> Result<(), Leave> {
        let mut line = serde_json::to_vec(record).map_err(|_| Leave::OUTPUT_GONE)?;
        line.push(b'\n');
        self.put(&line)
    }

    /// Writes bytes as they are.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Leave> {
        self.torn = true;
        let mut rest = bytes;
        while !(rest.is_empty() || self.mute) {
            if !self.poll(None, Some(PollFlags::POLLOUT), Wait::Forever)?.output {
                continue;
            }
            let piece = rest.get(..WRITE_BYTES).unwrap_or(rest);
            match write(io::stdout().as_fd(), piece) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(_) => self.lose_output()?,
            }
        }
        self.torn = false;
        Ok(())
    }

    fn lose_output(&mut self) -> Result<(), Leave> {
        if !self.stubborn {
            return Err(Leave::OUTPUT_GONE);
        }
        self.mute = true;
        Ok(())
    }

    /// Waits for what is asked for. A lost output is not polled: it would be ready all the time.
    fn poll(&self, input: Option<PollFlags>, output: Option<PollFlags>, wait: Wait) -> Result<Ready, Leave> {
        let (stdin, stdout) = (io::stdin(), io::stdout());
        let mut watched = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        let output_at = watched.len();
        watched.extend(output.filter(|_| !self.mute).map(|events| PollFd::new(stdout.as_fd(), events)));
        let input_at = watched.len();
        watched.extend(input.map(|events| PollFd::new(stdin.as_fd(), events)));
        match poll(&mut watched, timeout(wait)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return Err(Leave::OUTPUT_GONE),
        }
        self.signals.told()?;
        let seen = |fds: Option<&[PollFd<'_>]>| fds.unwrap_or_default().iter().any(|fd| fd.any().unwrap_or(false));
        Ok(Ready { input: seen(watched.get(input_at..)), output: seen(watched.get(output_at..input_at)) })
    }

    /// Reads what is there; false at the end.
    fn fill(&mut self) -> Result<bool, Leave> {
        let mut piece = vec![0; READ_BYTES];
        match read(io::stdin().as_fd(), &mut piece) {
            Ok(0) => Ok(false),
            Ok(count) => {
                self.inbox.extend_from_slice(piece.get(..count).unwrap_or_default());
                Ok(true)
            }
            Err(Errno::EINTR | Errno::EAGAIN) => Ok(true),
            Err(_) => Ok(false),
        }
    }

    fn take_line(&mut self) -> Option<Heard> {
        let found = self.inbox.iter().skip(self.scanned).position(|&byte| byte == b'\n');
        let Some(offset) = found else {
            self.scanned = self.inbox.len();
            if self.scanned > COMMAND_BYTES {
                self.skipping = true;
            }
            if self.skipping {
                self.inbox.clear();
                self.scanned = 0;
            }
            return None;
        };
        let mut line: Vec<u8> = self.inbox.drain(..=self.scanned.saturating_add(offset)).collect();
        self.scanned = 0;
        if std::mem::take(&mut self.skipping) || line.len() > COMMAND_BYTES {
            return Some(Heard::TooLong);
        }
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(Heard::Line(line))
    }
}

fn expired(wait: Wait) -> bool {
    match wait {
        Wait::Now => true,
        Wait::Until(instant) => Instant::now() >= instant,
        Wait::Forever => false,
    }
}

/// Rounds up, so that a wait never turns into a busy loop for its last millisecond.
pub(crate) fn timeout(wait: Wait) -> PollTimeout {
    match wait {
        Wait::Now => PollTimeout::ZERO,
        Wait::Forever => PollTimeout::NONE,
        Wait::Until(instant) => {
            let left = instant.saturating_duration_since(Instant::now());
            let rounded = left.checked_add(Duration::from_micros(999)).unwrap_or(left);
            PollTimeout::try_from(rounded).unwrap_or(PollTimeout::MAX)
        }
    }
}
