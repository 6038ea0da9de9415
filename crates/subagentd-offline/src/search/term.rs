//! One thing to look for, and how well a line fits it.

use super::form::{self, Fit, Stem};
use super::kin::kin;

/// A line that writes a name in another letter case fits less.
const OTHER_CASE: f64 = 0.75;
/// A name inside a longer name.
const PART: f64 = 0.6;
/// Another form of a word.
const FORM: f64 = 0.88;
/// Another form of a very short word.
const SHORT_FORM: f64 = 0.6;
/// A word at the beginning of a longer one.
const COMPOUND: f64 = 0.4;
/// A word that means about the same.
const KIN: f64 = 0.4;
/// A word inside a text literal: more often a message or a sample than the thing itself.
const QUOTED: f64 = 0.5;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Term {
    /// As the task wrote it.
    pub(crate) shown: String,
    pub(crate) weight: f64,
    lower: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// A name, path or phrase, looked for as it stands.
    Exact,
    /// A word in any form.
    Word { stems: Vec<Stem>, kin: Vec<Stem> },
}

/// Where a term stands in a line, and how well it fits (0 to 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) strength: f64,
    /// Another word of about the same meaning stands there.
    pub(crate) kin: bool,
}

impl Term {
    pub(crate) fn exact(text: &str, weight: f64) -> Self {
        Self { shown: text.to_owned(), weight, lower: text.to_lowercase(), kind: Kind::Exact }
    }

    pub(crate) fn word(text: &str, weight: f64) -> Self {
        let lower = text.to_lowercase();
        let stems = form::stems(&lower);
        let kin = kin(&stems, &lower);
        Self { shown: lower.clone(), weight, lower, kind: Kind::Word { stems, kin } }
    }

    /// Tells two terms apart.
    pub(crate) fn key(&self) -> &str {
        &self.lower
    }

    /// Names a file or folder rather than something inside one.
    pub(crate) fn is_path(&self) -> bool {
        matches!(self.kind, Kind::Exact) && (self.lower.contains('/') || self.lower.contains('.'))
    }

    /// Texts one of which is in every line that fits.
    pub(crate) fn literals(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Exact => vec![&self.lower],
            Kind::Word { stems, kin } => stems.iter().chain(kin).map(|stem| stem.text.as_str()).collect(),
        }
    }

    /// The best place in a line; `lower` is the line in lower case.
    pub(crate) fn find(&self, line: &str, lower: &str) -> Option<Found> {
        let best = |a: Found, b: Found| if b.strength > a.strength { b } else { a };
        match &self.kind {
            Kind::Exact => lower
                .match_indices(&self.lower)
                .map(|(at, text)| self.exact_at(line, lower, at, at.saturating_add(text.len())))
                .reduce(best),
            Kind::Word { stems, kin } => {
                let direct = self.words(stems, line, lower).reduce(best);
                direct.or_else(|| {
                    let related =
                        self.words(kin, line, lower).filter(|found| found.strength > COMPOUND).reduce(best)?;
                    Some(Found { strength: related.strength * KIN, kin: true, ..related })
                })
            }
        }
    }

    fn words(&self, stems: &[Stem], line: &str, lower: &str) -> impl Iterator<Item = Found> {
        stems
            .iter()
            .flat_map(|stem| lower.match_indices(stem.text.as_str()).map(move |(at, _)| (stem, at)))
            .filter_map(|(stem, at)| self.word_at(stem, line, lower, at))
    }

    fn exact_at(&self, line: &str, lower: &str, at: usize, end: usize) -> Found {
        let before = lower.get(..at).and_then(|text| text.chars().next_back());
        let after = lower.get(end..).and_then(|text| text.chars().next());
        let whole = !before.is_some_and(names) && !after.is_some_and(names);
        let same_case = line.get(at..end) == Some(self.shown.as_str());
        let strength = if whole { 1.0 } else { PART } * if same_case { 1.0 } else { OTHER_CASE };
        Found { at, end, strength, kin: false }
    }

    fn word_at(&self, stem: &Stem, line: &str, lower: &str, at: usize) -> Option<Found> {
        // Letter case marks word borders only where lower-casing kept every byte in its place.
        let cased = if line.len() == lower.len() { line } else { lower };
        let end = at.saturating_add(stem.text.len());
        if !begins_word(cased, at) {
            return None;
        }
        let tail_end = word_end(cased, end);
        let tail = lower.get(end..tail_end)?;
        let strength = if lower.get(at..tail_end) == Some(self.lower.as_str()) {
            1.0
        } else {
            match stem.fit(tail)? {
                Fit::Form if stem.text.len() > 3 => FORM,
                Fit::Form => SHORT_FORM,
                Fit::Compound => COMPOUND,
            }
        };
        let strength = if quoted(lower, at) { strength * QUOTED } else { strength };
        Some(Found { at, end: tail_end, strength, kin: false })
    }
}

/// Whether a byte of a line stands inside a text literal; comments are none.
fn quoted(line: &str, at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    let code = !before.contains("//") && !before.trim_start().starts_with(['#', '*', '-']);
    code && before.matches('"').count() % 2 == 1
}

/// Part of a name.
fn names(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Whether a word, or a part of a camel-case name, begins at this byte.
fn begins_word(text: &str, at: usize) -> bool {
    let Some(before) = text.get(..at).and_then(|text| text.chars().next_back()) else {
        return true;
    };
    let first = text.get(at..).and_then(|text| text.chars().next());
    !before.is_alphabetic() || (before.is_lowercase() && first.is_some_and(char::is_uppercase))
}

/// Where the word, or the part of a camel-case name, that goes through this byte ends.
fn word_end(text: &str, from: usize) -> usize {
    let mut last = text.get(..from).and_then(|text| text.chars().next_back()).unwrap_or_default();
    let Some(rest) = text.get(from..) else { return from };
    for (offset, letter) in rest.char_indices() {
        if !letter.is_alphabetic() || (letter.is_uppercase() && last.is_lowercase()) {
            return from.saturating_add(offset);
        }
        last = letter;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strength(term: &Term, line: &str) -> f64 {
        term.find(line, &line.to_lowercase()).map_or(0.0, |found| found.strength)
    }

    #[test]
    fn words_are_found_at_word_borders_only() {
        let lock = Term::word("lock", 1.0);
        for (line, expected) in [
            ("let lock = 1;", 1.0),
            ("fn take_lock()", 1.0),
            ("struct TakeLock;", 1.0),
            ("LOCKED", FORM),
            ("lockfile", COMPOUND),
            ("block the clock", 0.0),
        ] {
            assert!((strength(&lock, line) - expected).abs() < 1e-9, "{line}: {}", strength(&lock, line));
        }
    }

    #[test]
    fn names_are_found_whole_before_parts_and_other_cases() {
        let bind = Term::exact("bind_socket", 3.0);
        let (whole, part, other) =
            (strength(&bind, "bind_socket()"), strength(&bind, "re_bind_socket2()"), strength(&bind, "BIND_SOCKET"));
        assert!(whole > other && other > part && part > 0.0, "{whole} {other} {part}");
    }

    #[test]
    fn odd_letters_do_not_break_it() {
        // Lower-casing makes this letter longer by a byte.
        assert!(strength(&Term::word("socket", 1.0), "İ an open socketÜ").is_finite());
        assert!(strength(&Term::word("größe", 1.0), "die Größe").is_sign_positive());
    }
}
