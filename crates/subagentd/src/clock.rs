//! The wall clock, and one that never jumps.

use std::time::Instant;

pub(crate) use subagentd_runtime::clock::now_ms;

/// Tells the time of day as it was at the start plus what has passed since: a clock that is set back must not make
/// anybody wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    wall_ms: u64,
    start: Instant,
}

impl Clock {
    /// Begins now.
    pub(crate) fn start() -> Self {
        Self { wall_ms: now_ms(), start: Instant::now() }
    }

    /// Milliseconds since the epoch, by that clock.
    pub(crate) fn now_ms(&self) -> u64 {
        self.wall_ms.saturating_add(u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}
