//! Signals a player answers to, and those it has stopped answering to.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::complain;
use crate::wire::Leave;

/// Blocked signals, of which some are watched. A blocked signal that is not watched has no effect; it is not set to "ignored" since
/// every program started from here would inherit that for good; a mask can be cleared.
pub(crate) struct Signals {
    fd: SignalFd,
    watched: SigSet,
}

impl Signals {
    /// Blocks and watches these.
    pub(crate) fn watch(signals: &[Signal]) -> io::Result<Self> {
        let watched: SigSet = signals.iter().copied().collect();
        watched.thread_block()?;
        let fd = SignalFd::with_flags(&watched, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { fd, watched })
    }

    /// From now on these have no effect.
    pub(crate) fn ignore(&mut self, signals: &[Signal]) -> Result<(), Leave> {
        for &signal in signals {
            self.watched.remove(signal);
        }
        self.update(signals)
    }

    /// From now on this one is answered to, also after it was ignored.
    pub(crate) fn heed(&mut self, signal: Signal) -> Result<(), Leave> {
        self.watched.add(signal);
        self.update(&[signal])
    }

    /// The end that a signal demands, if one has come.
    pub(crate) fn told(&self) -> Result<(), Leave> {
        match self.fd.read_signal() {
            Ok(Some(signal)) => Err(Leave::Told(signal.ssi_signo)),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    fn update(&self, block: &[Signal]) -> Result<(), Leave> {
        let block: SigSet = block.iter().copied().collect();
        block.thread_block().and_then(|()| self.fd.set_mask(&self.watched)).map_err(|error| {
            complain(&format_args!("cannot change the watched signals: {error}"));
            Leave::FAILED
        })
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
