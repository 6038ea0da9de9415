//! Times and durations as people read them.

use std::cell::OnceCell;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A date.
const DAY: &str = "%Y-%m-%d";

/// What time it is, and where.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    pub(crate) now_ms: u64,
    /// Read when the first time of day is printed: it costs more than a submit, which prints none.
    zone: OnceCell<TimeZone>,
}

impl Clock {
    /// Now, in the user's time zone.
    pub(crate) fn local() -> Self {
        Self { now_ms: u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0), zone: OnceCell::new() }
    }

    #[cfg(test)]
    pub(crate) fn utc(now_ms: u64) -> Self {
        Self { now_ms, zone: OnceCell::from(TimeZone::UTC) }
    }

    /// `14:05` today, else `2025-11-30 14:05`.
    pub(crate) fn at(&self, at_ms: u64) -> String {
        self.format(at_ms, "%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M")
    }

    /// `14:05` today, `Nov 30` this year, else `2025-11-30`: for columns.
    pub(crate) fn at_short(&self, at_ms: u64) -> String {
        self.format(at_ms, "%H:%M", "%b %e", "%Y-%m-%d")
    }

    /// Moments with what happened then, to the second. A date is told once, and not that of today.
    pub(crate) fn moments(&self, moments: &[(&str, u64)]) -> String {
        let mut day = self.format(self.now_ms, DAY, DAY, DAY);
        let told = moments.iter().map(|(what, at)| {
            let its_day = self.format(*at, DAY, DAY, DAY);
            let same = its_day == day;
            day = its_day;
            let form = if same { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
            format!("{what} {}", self.format(*at, form, form, form))
        });
        told.collect::<Vec<_>>().join(", ")
    }

    fn format(&self, at_ms: u64, today: &str, this_year: &str, earlier: &str) -> String {
        let (Some(at), Some(now)) = (timestamp(at_ms), timestamp(self.now_ms)) else {
            return "?".to_owned();
        };
        let zone = self.zone.get_or_init(TimeZone::system);
        let at = at.to_zoned_datetime(zone.clone());
        let now = now.to_zoned_datetime(zone.clone());
        let format = if at.date() == now.date() {
            today
        } else if at.date().year() == now.date().year() {
            this_year
        } else {
            earlier
        };
        at.strftime(format).to_string()
    }

    /// From `start` to `end`, or until now.
    pub(crate) fn between(&self, start_ms: u64, end_ms: Option<u64>) -> String {
        // A clock set back in between must not make a duration of centuries.
        span(end_ms.unwrap_or(self.now_ms).saturating_sub(start_ms))
    }
}

fn timestamp(ms: u64) -> Option<Timestamp> {
    i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok())
}

/// A limit, which is a round number: `2s` and not `2.0s`; 0 is none.
pub(crate) fn limit(ms: u64) -> String {
    match ms {
        0 => "no limit".to_owned(),
        1..1_000 => format!("{ms}ms"),
        ms if ms < 10_000 && ms.is_multiple_of(1_000) => format!("{}s", ms / 1_000),
        ms => span(ms),
    }
}

/// `0.4s`, `12s`, `2m 3s`, `1h 5m`, `3d 4h`: at most two units.
pub(crate) fn span(ms: u64) -> String {
    let seconds = ms / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let two = |large: u64, large_unit: &str, small: u64, small_unit: &str| {
        if small == 0 { format!("{large}{large_unit}") } else { format!("{large}{large_unit} {small}{small_unit}") }
    };
    match seconds {
        0..10 => format!("{seconds}.{}s", ms % 1000 / 100),
        10..60 => format!("{seconds}s"),
        60..3600 => two(minutes, "m", seconds % 60, "s"),
        3600..86_400 => two(hours, "h", minutes % 60, "m"),
        86_400.. => two(days, "d", hours % 24, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_at_most_two_units() {
        let table = [
            (0, "0.0s"),
            (430, "0.4s"),
            (9_999, "9.9s"),
            (12_000, "12s"),
            (60_000, "1m"),
            (123_000, "2m 3s"),
            (3_900_000, "1h 5m"),
            (273_600_000, "3d 4h"),
        ];
        for (ms, wanted) in table {
            assert_eq!(span(ms), wanted, "{ms}");
        }
    }

    #[test]
    fn limits_are_round() {
        for (ms, wanted) in [(0, "no limit"), (250, "250ms"), (2_000, "2s"), (2_500, "2.5s"), (90_000, "1m 30s")] {
            assert_eq!(limit(ms), wanted, "{ms}");
        }
    }

    #[test]
    fn moments_have_their_date_once() {
        let clock = Clock::utc(1_700_000_600_000);
        let told = |first: u64| clock.moments(&[("accepted", first), ("ended", first + 2_000)]);
        assert_eq!(told(1_700_000_000_000), "accepted 22:13:20, ended 22:13:22");
        assert_eq!(told(1_699_900_000_000), "accepted 2023-11-13 18:26:40, ended 18:26:42");
        assert_eq!(told(1_700_006_398_000 - 86_400_000), "accepted 2023-11-13 23:59:58, ended 2023-11-14 00:00:00");
    }

    #[test]
    fn times_of_today_are_without_a_date() {
        let clock = Clock::utc(1_700_000_600_000);
        assert_eq!(clock.at(1_700_000_000_000), "22:13");
        assert_eq!(clock.at(1_699_900_000_000), "2023-11-13 18:26");
        assert_eq!(clock.at_short(1_700_000_000_000), "22:13");
        assert_eq!(clock.at_short(1_699_900_000_000), "Nov 13");
        assert_eq!(clock.at_short(1_600_000_000_000), "2020-09-13");
        assert_eq!(clock.at(u64::MAX), "?");
        assert_eq!(clock.between(1_700_000_700_000, None), "0.0s", "the clock was set back");
    }
}
