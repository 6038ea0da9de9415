//! What children wrote down themselves: when each began and ended, told from outside the daemon.

use std::collections::BTreeMap;
use std::path::Path;

/// The stamps of one file: lines `<nanoseconds> <label> <attempt>`.
#[derive(Debug)]
pub struct Stamps {
    lines: Vec<(u128, String, String)>,
}

impl Stamps {
    /// Reads them, by time. A file that is not there has none.
    #[must_use]
    pub fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let mut lines: Vec<_> = text.lines().map(line).collect();
        lines.sort();
        Self { lines }
    }

    /// How often each attempt wrote this label.
    #[must_use]
    pub fn counts(&self, label: &str) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for (_, _, attempt) in self.lines.iter().filter(|(_, found, _)| found == label) {
            *counts.entry(attempt.as_str()).or_default() += 1;
        }
        counts
    }

    /// When the first one with this label was written, in nanoseconds.
    #[must_use]
    pub fn first(&self, label: &str) -> Option<u128> {
        self.lines.iter().find(|(_, found, _)| found == label).map(|(at, _, _)| *at)
    }

    /// When the last one of all was written, in nanoseconds.
    #[must_use]
    pub fn last(&self) -> Option<u128> {
        self.lines.last().map(|(at, _, _)| *at)
    }

    /// The most that were between `start` and `end` at one time.
    #[must_use]
    pub fn peak(&self) -> usize {
        let (mut now, mut peak) = (0_usize, 0);
        for (_, label, _) in &self.lines {
            match label.as_str() {
                "start" => now += 1,
                "end" => now -= 1,
                _ => {}
            }
            peak = peak.max(now);
        }
        peak
    }
}

fn line(text: &str) -> (u128, String, String) {
    let mut words = text.split(' ').map(str::to_owned);
    let mut word = || words.next().unwrap_or_else(|| panic!("no stamp: {text}"));
    (word().parse().unwrap(), word(), word())
}
