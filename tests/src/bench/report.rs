//! From samples to the table.

use std::fmt::Write as _;
use std::time::Duration;

use crate::rounds::Samples;

/// One row's figures, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figures {
    p50: f64,
    p90: f64,
    p99: f64,
}

impl Figures {
    fn of(samples: &[Duration]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        Self { p50: rank(&sorted, 50), p90: rank(&sorted, 90), p99: rank(&sorted, 99) }
    }
}

/// The smallest sample that so many percent do not exceed.
fn rank(sorted: &[Duration], percent: usize) -> f64 {
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).map_or(f64::NAN, |sample| sample.as_secs_f64() * 1_000.0)
}

/// The table: floors, then the three times with their ratios and bars.
pub(crate) fn table(samples: &Samples) -> String {
    let [echo, sync, commit, nothing, program, status] =
        [&samples.echo, &samples.sync, &samples.commit, &samples.nothing, &samples.program, &samples.status]
            .map(|times| Figures::of(times));
    let [acknowledged, first, notice] =
        [&samples.acknowledged, &samples.first, &samples.notice].map(|times| Figures::of(times));
    let first_bar = if sync.p50 <= 0.2 { 3.0 } else { 1.5 + 12.0 * sync.p50 };
    let notice_bar = (4.0 * sync.p99).max(5.0);

    let mut table = format!("{} rounds, each with every row once; milliseconds\n\n", samples.acknowledged.len());
    row(&mut table, "", ["p50", "p90", "p99"].map(str::to_owned), "");
    let mut add = |name: &str, figures: Figures, against: &str| {
        row(&mut table, name, [figures.p50, figures.p90, figures.p99].map(|figure| format!("{figure:.3}")), against);
    };
    add("floor: 500 bytes to a thread and back", echo, "");
    add("floor: write 4 KiB, fdatasync", sync, "");
    add("floor: SQLite, one row, FULL commit", commit, "");
    add("floor: daemon/status, kept connection", status, "");
    add("floor: /bin/true, start to end", nothing, "");
    add("floor: the daemon's program, the same", program, "");
    add(
        "launch -> acknowledged",
        acknowledged,
        &format!(
            "{:.2} x (status + commit), {:.2} x (echo + commit); bar 2",
            acknowledged.p50 / (status.p50 + commit.p50),
            acknowledged.p50 / (echo.p50 + commit.p50)
        ),
    );
    add(
        "launch -> child's first instruction",
        first,
        &format!("{:.2} x two starts of the program; bar {first_bar:.1} ms at p50", first.p50 / (2.0 * program.p50)),
    );
    add(
        "child's last act -> notice",
        notice,
        &format!("{:.2} x commit; bar 1 ms at p50, {notice_bar:.1} ms at p99", notice.p50 / commit.p50),
    );
    table
}

fn row(table: &mut String, name: &str, [p50, p90, p99]: [String; 3], against: &str) {
    let line = format!("{name:<39}{p50:>8}{p90:>8}{p99:>8}   {against}");
    // Writing to a string cannot fail.
    writeln!(table, "{}", line.trim_end()).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(numbers: impl Iterator<Item = u64>) -> Vec<Duration> {
        numbers.map(Duration::from_millis).collect()
    }

    #[test]
    fn ranks_are_samples_that_were_seen() {
        let figures = Figures::of(&milliseconds((1..=200).rev()));
        assert_eq!(figures, Figures { p50: 100.0, p90: 180.0, p99: 198.0 });
        let one = Figures::of(&milliseconds(std::iter::once(7)));
        assert_eq!(one, Figures { p50: 7.0, p90: 7.0, p99: 7.0 });
        assert!(Figures::of(&[]).p50.is_nan());
    }

    #[test]
    fn ratios_are_of_medians() {
        let constant = |number: u64| milliseconds(std::iter::repeat_n(number, 30));
        let samples = Samples {
            echo: constant(0),
            sync: constant(1),
            commit: constant(2),
            nothing: constant(1),
            program: constant(1),
            status: constant(2),
            acknowledged: constant(6),
            first: constant(9),
            notice: constant(3),
        };
        let table = table(&samples);
        for says in ["1.50 x (status + commit), 3.00 x (echo", "4.50 x two starts", "bar 13.5 ms", "1.50 x commit"] {
            assert!(table.contains(says), "{says}:\n{table}");
        }
        assert!(table.starts_with("30 rounds"), "{table}");
    }
}
