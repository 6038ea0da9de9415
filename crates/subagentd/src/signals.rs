//! Signals as a daemon needs them, whatever its starter did to them.

use nix::sys::signal::{SigHandler, SigSet, Signal, signal};

/// Default dispositions and an empty mask: `nohup`, a shell's `&` and some hosts leave signals ignored or blocked, and
/// every shim and child would inherit that.
#[expect(unsafe_code, reason = "dispositions are process-wide; nothing else runs yet")]
pub(crate) fn reset() {
    for number in Signal::iterator().filter(|signal| !matches!(signal, Signal::SIGKILL | Signal::SIGSTOP)) {
        // A closed pipe is an error of the write, never the end of the daemon.
        let handler = if number == Signal::SIGPIPE { SigHandler::SigIgn } else { SigHandler::SigDfl };
        // SAFETY: no handler function is installed.
        unsafe { signal(number, handler) }.map(drop).ok();
    }
    SigSet::empty().thread_set_mask().ok();
}
