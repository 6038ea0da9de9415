//! Words that programs use for the same thing. They help where a comment says it otherwise than the task does, and count less.

use super::form::{self, Stem};

/// Each row is one meaning.
const ROWS: [&[&str]; 18] = [
    &["stale", "leftover", "dead", "orphaned", "abandoned", "outdated", "expired"],
    &["remove", "delete", "unlink", "erase", "discard"],
    &["start", "launch", "spawn", "boot"],
    &["stop", "kill", "terminate", "shutdown", "quit"],
    &["cancel", "abort", "interrupt"],
    &["error", "failure", "fault"],
    &["limit", "bound", "maximum", "quota"],
    &["timeout", "deadline", "expiry"],
    &["config", "configuration", "settings", "preferences"],
    &["store", "save", "persist"],
    &["lock", "mutex", "lease"],
    &["send", "emit", "publish", "dispatch"],
    &["verify", "validate", "check"],
    &["cleanup", "sweep", "prune", "purge"],
    &["parse", "decode", "deserialize"],
    &["retry", "backoff"],
    &["crash", "panic"],
    &["child", "subprocess"],
];

/// Stems of the words that mean about the same as one that has these stems.
pub(crate) fn kin(stems: &[Stem], word: &str) -> Vec<Stem> {
    let names = |other: &str| {
        other == word
            || stems.iter().any(|stem| other.strip_prefix(stem.text.as_str()).is_some_and(|tail| stem.forms(tail)))
    };
    ROWS.iter()
        .filter(|row| row.iter().any(|other| names(other)))
        .flat_map(|row| row.iter().filter(|other| !names(other)))
        .flat_map(|other| form::stems(other))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_form_finds_its_kin_and_not_itself() {
        let found =
            |word: &str| -> Vec<String> { kin(&form::stems(word), word).into_iter().map(|stem| stem.text).collect() };
        assert!(found("stale").contains(&"leftover".to_owned()), "{:?}", found("stale"));
        assert!(found("removed").contains(&"unlink".to_owned()), "{:?}", found("removed"));
        assert!(!found("removed").contains(&"remove".to_owned()), "{:?}", found("removed"));
        assert!(found("socket").is_empty());
    }
}
