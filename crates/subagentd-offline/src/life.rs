//! Bounds on a life: nothing that a script starts outlives its test for long, whatever goes wrong.

use std::fs;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::alarm;

/// Longest life of a grandchild with all that it starts, and of a child from the moment it ignores something or hangs.
pub(crate) const LIFE: Duration = Duration::from_secs(120);

/// Has the kernel end this process by ALRM after `left`, at most [`LIFE`], unless an earlier end is set already.
pub(crate) fn limit(left: Duration) {
    let seconds = u32::try_from(left.min(LIFE).as_millis().div_ceil(1000)).unwrap_or(1).max(1);
    let mut set = SigSet::empty();
    set.add(Signal::SIGALRM);
    set.thread_unblock().ok();
    if let Some(earlier) = alarm::set(seconds).filter(|earlier| *earlier < seconds) {
        alarm::set(earlier.max(1));
    }
}

/// Milliseconds since the machine started, in steps of ten: a clock that processes share and nobody sets.
pub(crate) fn since_boot() -> Option<u64> {
    let text = fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, hundredths) = text.split_whitespace().next()?.split_once('.')?;
    seconds.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(hundredths.parse::<u64>().ok()?.checked_mul(10)?)
}
