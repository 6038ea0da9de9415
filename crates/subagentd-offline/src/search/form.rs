//! Word forms: `handled`, `handling` and `handlers` find `handle`, and the other way round.

/// Endings that turn one word into another form of it.
const ENDINGS: [&str; 20] = [
    "s", "es", "d", "ed", "er", "ers", "or", "ors", "ing", "ings", "ion", "ions", "ation", "ations", "able", "ment",
    "ments", "ness", "ly", "e",
];

/// Endings of a word whose final `e` was cut.
const AFTER_E: [&str; 15] =
    ["e", "es", "ed", "er", "ers", "or", "ors", "ing", "ings", "ion", "ions", "ation", "ations", "able", "ely"];

/// Endings of a word whose final `y` was cut.
const AFTER_Y: [&str; 6] = ["y", "ies", "ied", "ying", "ier", "iers"];

/// Shortest stem; below it nearly everything is a form of it.
const SHORTEST: usize = 3;

/// What was cut from a word, which decides what may stand there instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cut {
    /// Nothing: the word as written.
    Nothing,
    /// A final `e`.
    E,
    /// A final `y`.
    Y,
    /// An ending such as `ing`; the word may have had an `e` there.
    Ending,
}

/// The beginning that all forms of a word share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stem {
    pub(crate) text: String,
    cut: Cut,
}

/// How well a word of a text fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fit {
    /// Another form of the word.
    Form,
    /// A longer word that begins with it, such as `lockfile` for `lock`.
    Compound,
}

impl Stem {
    /// Judges what follows the stem in a text, up to the end of the word.
    pub(crate) fn fit(&self, tail: &str) -> Option<Fit> {
        let endings: &[&str] = match self.cut {
            Cut::Nothing | Cut::Ending => &ENDINGS,
            Cut::E => &AFTER_E,
            Cut::Y => &AFTER_Y,
        };
        let plain = matches!(self.cut, Cut::Nothing | Cut::Ending);
        if (plain && tail.is_empty()) || endings.contains(&tail) {
            return Some(Fit::Form);
        }
        if plain && self.doubled(tail).is_some_and(|rest| endings.contains(&rest)) {
            return Some(Fit::Form);
        }
        let compound = self.cut == Cut::Nothing && self.text.len() > SHORTEST;
        compound.then_some(Fit::Compound)
    }

    /// Whether the tail makes another form of the word.
    pub(crate) fn forms(&self, tail: &str) -> bool {
        self.fit(tail) == Some(Fit::Form)
    }

    /// The rest of a tail that begins with the stem's own last letter: `stop` in `stopped`.
    fn doubled<'a>(&self, tail: &'a str) -> Option<&'a str> {
        self.text.chars().last().and_then(|last| tail.strip_prefix(last))
    }
}

/// The stems of a lower-case word, the word itself first.
pub(crate) fn stems(word: &str) -> Vec<Stem> {
    let mut found = vec![Stem { text: word.to_owned(), cut: Cut::Nothing }];
    if word.is_ascii() && word.len() > SHORTEST {
        cut(word, &mut found);
    }
    found.dedup();
    found
}

fn cut(word: &str, found: &mut Vec<Stem>) {
    if let Some(rest) = word.strip_suffix("ies").or_else(|| word.strip_suffix("ied")) {
        return add(found, rest, Cut::Y);
    }
    if let Some(rest) = word.strip_suffix('y') {
        return add(found, rest, Cut::Y);
    }
    if let Some(rest) = word.strip_suffix('e') {
        return add(found, rest, Cut::E);
    }
    if let Some(rest) = word.strip_suffix("es").filter(|rest| hisses(rest)) {
        add(found, rest, Cut::Nothing);
    }
    if let Some(rest) = word.strip_suffix('s').filter(|rest| !rest.ends_with(['s', 'u', 'i'])) {
        add(found, rest, Cut::Nothing);
        return cut(rest, found);
    }
    for ending in ["ing", "ed", "ation", "ion", "er", "or"] {
        let Some(rest) = word.strip_suffix(ending).filter(|rest| rest.contains(vowel) && !rest.ends_with('e')) else {
            continue;
        };
        // `order` and `error` are words of their own.
        if !matches!(ending, "ing" | "ed") && rest.len() <= SHORTEST {
            continue;
        }
        add(found, rest, Cut::Ending);
        let mut letters = rest.chars().rev();
        if letters.next().is_some_and(|last| letters.next() == Some(last) && !vowel(last)) {
            let undoubled: String = rest.chars().take(rest.len().saturating_sub(1)).collect();
            add(found, &undoubled, Cut::Ending);
        }
        return;
    }
}

fn add(found: &mut Vec<Stem>, text: &str, cut: Cut) {
    if text.len() >= SHORTEST {
        found.push(Stem { text: text.to_owned(), cut });
    }
}

/// Words such as `process` and `match` take `es`.
fn hisses(word: &str) -> bool {
    ["s", "x", "z", "ch", "sh"].into_iter().any(|end| word.ends_with(end))
}

fn vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(word: &str, other: &str) -> Option<Fit> {
        stems(word)
            .iter()
            .filter_map(|stem| other.strip_prefix(stem.text.as_str()).and_then(|tail| stem.fit(tail)))
            .min_by_key(|fit| *fit != Fit::Form)
    }

    #[test]
    fn forms_of_a_word_find_each_other() {
        for (word, other) in [
            ("handled", "handle"),
            ("handling", "handler"),
            ("handlers", "handle"),
            ("handle", "handled"),
            ("sockets", "socket"),
            ("socket", "sockets"),
            ("stopped", "stop"),
            ("stop", "stopped"),
            ("retries", "retry"),
            ("retry", "retried"),
            ("processes", "process"),
            ("matches", "match"),
            ("created", "create"),
            ("cancellation", "cancel"),
            ("cancel", "cancellation"),
            ("connection", "connect"),
            ("closing", "close"),
            ("queue", "queued"),
            ("controlled", "control"),
        ] {
            assert_eq!(fits(word, other), Some(Fit::Form), "{word} should find {other}");
        }
    }

    #[test]
    fn other_words_stay_apart() {
        for (word, other) in [("stale", "stalled"), ("retry", "retrieve"), ("error", "erratic"), ("state", "static")] {
            assert_eq!(fits(word, other), None, "{word} should not find {other}");
        }
        assert_eq!(fits("lock", "lockfile"), Some(Fit::Compound));
    }
}
