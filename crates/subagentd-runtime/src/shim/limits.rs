//! Time limits of an attempt, on the monotonic clock, which stands still in suspend (N12).

use std::time::{Duration, Instant};

use subagentd_core::life::Reason;
use subagentd_core::plan::TimeLimits;

/// Watches the limits; a pure function of the instants it is given.
#[derive(Debug)]
pub(super) struct Limits {
    limits: TimeLimits,
    started: Instant,
    last_event: Option<Instant>,
    open_tools: Vec<(String, Instant)>,
}

/// Open tool calls that are timed. Beyond it the oldest is forgotten, which only makes the idle limit stricter.
const OPEN_TOOLS: usize = 1024;

impl Limits {
    /// Begins at the start of the child.
    pub(super) fn new(limits: TimeLimits, now: Instant) -> Self {
        Self { limits, started: now, last_event: None, open_tools: Vec::new() }
    }

    /// The child gave a sign of life.
    pub(super) fn event(&mut self, now: Instant) {
        self.last_event = Some(now);
    }

    /// A tool call began: idle time is not counted while it is open.
    pub(super) fn tool_started(&mut self, id: &str, now: Instant) {
        if self.open_tools.len() == OPEN_TOOLS {
            self.open_tools.remove(0);
        }
        self.open_tools.push((id.to_owned(), now));
    }

    /// A tool call ended.
    pub(super) fn tool_ended(&mut self, id: &str) {
        self.open_tools.retain(|(open, _)| open != id);
    }

    /// The next limit to be reached, and which one it is.
    pub(super) fn next(&self) -> Option<(Instant, Reason)> {
        let of = |from: Instant, ms: u64| (ms > 0).then(|| from.checked_add(Duration::from_millis(ms))).flatten();
        let total = of(self.started, self.limits.total_ms).map(|at| (at, Reason::TimeoutTotal));
        let silence = match (self.last_event, self.open_tools.first()) {
            (None, _) => of(self.started, self.limits.first_event_ms).map(|at| (at, Reason::TimeoutFirstEvent)),
            (Some(_), Some((_, since))) => of(*since, self.limits.tool_call_ms).map(|at| (at, Reason::TimeoutToolCall)),
            (Some(last), None) => of(last, self.limits.idle_ms).map(|at| (at, Reason::TimeoutIdle)),
        };
        [total, silence].into_iter().flatten().min_by_key(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: TimeLimits =
        TimeLimits { first_event_ms: 100, idle_ms: 50, tool_call_ms: 400, total_ms: 1000, grace_ms: 0 };

    fn next_after(limits: &Limits, start: Instant) -> Option<(u128, Reason)> {
        limits.next().map(|(at, reason)| ((at - start).as_millis(), reason))
    }

    #[test]
    fn silence_is_judged_by_what_went_before() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut limits = Limits::new(LIMITS, start);
        assert_eq!(next_after(&limits, start), Some((100, Reason::TimeoutFirstEvent)));
        limits.event(at(60));
        assert_eq!(next_after(&limits, start), Some((110, Reason::TimeoutIdle)));
        limits.tool_started("a", at(70));
        assert_eq!(
            next_after(&limits, start),
            Some((470, Reason::TimeoutToolCall)),
            "idle is not counted in a tool call"
        );
        limits.tool_started("b", at(80));
        limits.tool_ended("a");
        limits.event(at(300));
        assert_eq!(next_after(&limits, start), Some((480, Reason::TimeoutToolCall)));
        limits.tool_ended("b");
        assert_eq!(next_after(&limits, start), Some((350, Reason::TimeoutIdle)));
        limits.event(at(990));
        assert_eq!(next_after(&limits, start), Some((1000, Reason::TimeoutTotal)));
    }

    #[test]
    fn zero_means_none() {
        let none = TimeLimits { first_event_ms: 0, idle_ms: 0, tool_call_ms: 0, total_ms: 0, grace_ms: 0 };
        let mut limits = Limits::new(none, Instant::now());
        assert_eq!(limits.next(), None);
        limits.event(Instant::now());
        assert_eq!(limits.next(), None);
    }
}
