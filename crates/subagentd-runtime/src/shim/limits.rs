//! Time limits of an attempt, on the monotonic clock, which stands still in suspend (N12).

use std::time::{Duration, Instant};

use subagentd_core::life::Reason;
use subagentd_core::plan::TimeLimits;

/// Watches the limits; a pure function of the instants it is given.
#[derive(Debug)]
pub(super) struct Limits {
    limits: TimeLimits,
    started: Instant,
    child_started: Instant,
    last_event: Option<Instant>,
    open_tools: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    id: String,
    parent: Option<String>,
    since: Instant,
}

/// Open tool calls that are timed. Beyond it the oldest is forgotten, which only makes the idle limit stricter.
const OPEN_TOOLS: usize = 1024;

impl Limits {
    /// Begins at the start of the child.
    pub(super) fn new(limits: TimeLimits, now: Instant) -> Self {
        Self { limits, started: now, child_started: now, last_event: None, open_tools: Vec::new() }
    }

    /// The child was started again: its first event is awaited anew, in what is left of the total time.
    pub(super) fn child_started(&mut self, now: Instant) {
        (self.child_started, self.last_event) = (now, None);
        self.open_tools.clear();
    }

    /// The child gave a sign of life.
    pub(super) fn event(&mut self, now: Instant) {
        self.last_event = Some(now);
    }

    /// A tool call began: idle time is not counted while it is open.
    pub(super) fn tool_started(&mut self, id: &str, parent: Option<&str>, now: Instant) {
        if self.open_tools.len() == OPEN_TOOLS {
            self.open_tools.remove(0);
        }
        self.open_tools.push(Open { id: id.to_owned(), parent: parent.map(str::to_owned), since: now });
    }

    /// A tool call ended, and with it those that it had made: a script that ends drops its open calls without a word.
    pub(super) fn tool_ended(&mut self, id: &str) {
        let mut ended = vec![id.to_owned()];
        while let Some(id) = ended.pop() {
            let of_it = |open: &mut Open| open.id == id || open.parent.as_deref() == Some(id.as_str());
            let gone = self.open_tools.extract_if(.., of_it);
            ended.extend(gone.map(|open| open.id).filter(|gone| *gone != id));
        }
    }

    /// The next limit to be reached, and which one it is.
    pub(super) fn next(&self) -> Option<(Instant, Reason)> {
        let of = |from: Instant, ms: u64| (ms > 0).then(|| from.checked_add(Duration::from_millis(ms))).flatten();
        let total = of(self.started, self.limits.total_ms).map(|at| (at, Reason::TimeoutTotal));
        let silence = match (self.last_event, self.open_tools.first()) {
            (None, _) => of(self.child_started, self.limits.first_event_ms).map(|at| (at, Reason::TimeoutFirstEvent)),
            (Some(_), Some(open)) => of(open.since, self.limits.tool_call_ms).map(|at| (at, Reason::TimeoutToolCall)),
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
        limits.tool_started("a", None, at(70));
        assert_eq!(
            next_after(&limits, start),
            Some((470, Reason::TimeoutToolCall)),
            "idle is not counted in a tool call"
        );
        limits.tool_started("b", None, at(80));
        limits.tool_ended("a");
        limits.event(at(300));
        assert_eq!(next_after(&limits, start), Some((480, Reason::TimeoutToolCall)));
        limits.tool_ended("b");
        assert_eq!(next_after(&limits, start), Some((350, Reason::TimeoutIdle)));
        limits.event(at(990));
        assert_eq!(next_after(&limits, start), Some((1000, Reason::TimeoutTotal)));
    }

    #[test]
    fn calls_inside_a_call_count_as_that_call_and_end_with_it() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut limits = Limits::new(LIMITS, start);
        limits.event(at(10));
        limits.tool_started("outer", None, at(10));
        for (number, ms) in (0..5).zip([20, 100, 200, 300, 380]) {
            let id = format!("inner-{number}");
            limits.tool_started(&id, Some("outer"), at(ms));
            limits.tool_started(&format!("deep-{number}"), Some(&id), at(ms));
            limits.event(at(ms));
            assert_eq!(next_after(&limits, start), Some((410, Reason::TimeoutToolCall)), "{number}");
        }
        limits.tool_ended("inner-0");
        limits.tool_ended("outer");
        assert_eq!(next_after(&limits, start), Some((430, Reason::TimeoutIdle)), "none is left open");
    }

    #[test]
    fn a_child_started_again_gets_a_first_event_anew_and_no_more_time_in_all() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut limits = Limits::new(LIMITS, start);
        limits.event(at(20));
        limits.child_started(at(60));
        assert_eq!(next_after(&limits, start), Some((160, Reason::TimeoutFirstEvent)));
        limits.child_started(at(950));
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
