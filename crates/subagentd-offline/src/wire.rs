//! Standard input, standard output and signals in one poll loop: there is no second thread, so nothing here can race.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{read, write};
use serde::Serialize;

/// Longest command taken. A longer line is dropped up to its end and answered like malformed JSON.
const COMMAND_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// Bytes of one write. A pipe that polls writable takes this many without blocking, so a stalled reader never keeps us from a signal.
const WRITE_BYTES: usize = 4096;

/// The end of this process, with its exit code. Passed up like an error so that every caller stops at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leave(pub(crate) i32);

impl Leave {
    /// The client closed our input.
    pub(crate) const INPUT_ENDED: Self = Self(0);
    /// Nobody reads our output any more, or it cannot be written.
    pub(crate) const OUTPUT_GONE: Self = Self(1);
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
    signals: SignalFd,
    inbox: Vec<u8>,
    /// Bytes of the inbox known to hold no line end.
    scanned: usize,
    /// Inside a line above the bound.
    skipping: bool,
    ended: bool,
}

impl Wire {
    /// Blocks the signals it answers to and starts watching for them.
    pub(crate) fn open() -> io::Result<Self> {
        let mut watched = SigSet::empty();
        watched.add(Signal::SIGTERM);
        watched.add(Signal::SIGHUP);
        let mut blocked = watched;
        // A closed output has to arrive as an error of the write, whatever the disposition we were started with.
        blocked.add(Signal::SIGPIPE);
        blocked.thread_block()?;
        let signals = SignalFd::with_flags(&watched, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { signals, inbox: Vec::new(), scanned: 0, skipping: false, ended: false })
    }

    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Waits for the next line, the end of the input, or the end of the wait.
    pub(crate) fn hear(&mut self, wait: Wait) -> Result<Heard, Leave> {
        loop {
            if let Some(heard) = self.take_line() {
                return Ok(heard);
            }
            if self.ended && matches!(wait, Wait::Forever) {
                return Ok(Heard::End);
            }
            let input = if self.ended { None } else { Some(PollFlags::POLLIN) };
            let ready = self.poll(input, PollFlags::empty(), wait)?;
            if ready.input {
                if self.fill()? {
                    continue;
                }
                self.ended = true;
                return Ok(Heard::End);
            }
            if ready.output {
                return Err(Leave::OUTPUT_GONE);
            }
            if expired(wait) {
                return Ok(Heard::Quiet);
            }
        }
    }

    /// Waits without reading: true when the other side hung up meanwhile, unless `ignore_end`.
    pub(crate) fn rest(&mut self, until: Instant, ignore_end: bool) -> Result<bool, Leave> {
        loop {
            let input = if ignore_end { None } else { Some(PollFlags::empty()) };
            let ready = self.poll(input, PollFlags::empty(), Wait::Until(until))?;
            if ready.input {
                return Ok(true);
            }
            if ready.output && !ignore_end {
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
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            if !self.poll(None, PollFlags::POLLOUT, Wait::Forever)?.output {
                continue;
            }
            let piece = rest.get(..WRITE_BYTES).unwrap_or(rest);
            match write(io::stdout().as_fd(), piece) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(_) => return Err(Leave::OUTPUT_GONE),
            }
        }
        Ok(())
    }

    fn poll(&self, input: Option<PollFlags>, output: PollFlags, wait: Wait) -> Result<Ready, Leave> {
        let (stdin, stdout) = (io::stdin(), io::stdout());
        let mut watched =
            vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN), PollFd::new(stdout.as_fd(), output)];
        if let Some(events) = input {
            watched.push(PollFd::new(stdin.as_fd(), events));
        }
        match poll(&mut watched, timeout(wait)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return Err(Leave::OUTPUT_GONE),
        }
        if let Ok(Some(signal)) = self.signals.read_signal() {
            return Err(Leave(128_i32.saturating_add_unsigned(signal.ssi_signo)));
        }
        let seen = |at: usize| watched.get(at).and_then(PollFd::any).unwrap_or(false);
        Ok(Ready { input: seen(2), output: seen(1) })
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
fn timeout(wait: Wait) -> PollTimeout {
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
