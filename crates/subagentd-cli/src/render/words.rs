//! Words and figures that several screens share.

use subagentd_proto::agent::ProblemView;
use subagentd_proto::run::{ChildView, Receipt, Reference, State, Waits};

use super::time::Clock;

/// Every state with its word, in the order of a run's life.
pub(crate) const STATES: [(State, &str); 11] = [
    (State::Queued, "queued"),
    (State::Starting, "starting"),
    (State::Running, "running"),
    (State::Paused, "paused"),
    (State::Succeeded, "succeeded"),
    (State::Failed, "failed"),
    (State::Cancelled, "cancelled"),
    (State::TimedOut, "timed_out"),
    (State::BudgetExhausted, "budget_exhausted"),
    (State::Interrupted, "interrupted"),
    (State::Rejected, "rejected"),
];

/// Whose agents are meant.
pub(crate) const SCOPES: [&str; 3] = ["user", "project", "both"];

/// Thinking levels, as `run/launch` takes them.
pub(crate) const THINKING: [&str; 7] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The level of a model that has none.
pub(crate) const NO_THINKING: &str = "not-applicable";

/// What a child may begin with, as `run/launch` takes it.
pub(crate) const CONTEXTS: [&str; 2] = ["fresh", "parent"];

/// Hex digits of a run's id that people see.
pub(crate) const ENDING: usize = 8;

pub(crate) fn state(state: State) -> &'static str {
    STATES.iter().find(|(known, _)| *known == state).map_or("unknown", |(_, word)| word)
}

pub(crate) fn state_of(word: &str) -> Option<State> {
    STATES.iter().find(|(_, known)| *known == word).map(|(state, _)| *state)
}

/// How far a text came that a run was told.
pub(crate) const fn receipt(receipt: Receipt) -> &'static str {
    match receipt {
        Receipt::Stored => "stored, not heard yet",
        Receipt::Accepted => "taken, not heard yet",
        Receipt::Delivered => "heard",
        Receipt::Undelivered => "it settled without hearing it",
        Receipt::Unknown => "unknown",
    }
}

/// A state, or what was asked of who stands there and has not happened yet.
pub(crate) fn standing(at: State, intent: Option<&str>) -> &'static str {
    match intent {
        Some("cancel") => "cancelling",
        Some("pause") => "pausing",
        _ => state(at),
    }
}

/// The tail by which people name a run.
pub(crate) fn ending(run: &str) -> &str {
    run.len().checked_sub(ENDING).and_then(|at| run.get(at..)).unwrap_or(run)
}

/// One line without control characters: a title or task may hold sequences that move the cursor.
pub(crate) fn line(text: &str) -> String {
    text.trim().chars().map(|c| if steers(c) { ' ' } else { c }).collect()
}

/// Control characters, and those that end a line or turn the direction of what follows.
pub(crate) fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `N B` under 1024, else KB or MB of 1024 with one decimal.
pub(crate) fn size(bytes: u64) -> String {
    const KB: u64 = 1024;
    const MB: u64 = 1024 * KB;
    match bytes {
        0..KB => format!("{bytes} B"),
        KB..MB => format!("{:.1} KB", tenths(bytes, KB)),
        MB.. => format!("{:.1} MB", tenths(bytes, MB)),
    }
}

// Exact below 2^53 bytes; no answer comes near.
fn tenths(bytes: u64, unit: u64) -> f64 {
    bytes as f64 / unit as f64
}

/// The line that stands for a child's answer.
pub(crate) fn reference(reference: &Reference) -> String {
    let lines = count(reference.lines, "line", "lines");
    format!("Output saved to: {} ({}, {lines})", reference.path, size(reference.bytes))
}

/// What has to be said of a child that should have changed something, and could not.
pub(crate) fn nothing_done(child: &ChildView) -> Option<&'static str> {
    let decided = &child.decisions;
    let ran = child.state.is_end() && child.started_at_ms.is_some();
    (ran && decided.class.value == "exclusive" && decided.runtime.value == "offline")
        .then_some("No model was used: `offline` only searches, nothing was changed.")
}

/// On whom a child waits, and where if that is known.
pub(crate) fn waits(waits: &Waits, workspace: Option<&str>, clock: &Clock) -> String {
    let since = waits.holder_since_ms.map(|at| format!(", there since {}", clock.at(at))).unwrap_or_default();
    let place = workspace.map_or_else(|| "its workspace".to_owned(), line);
    let on = match (waits.on.as_str(), &waits.holder) {
        ("slot", _) => "a free slot".to_owned(),
        ("scope", Some(holder)) => format!("run {} to finish in {place}{since}", ending(holder)),
        ("scope", None) => format!("another writer to finish in {place}"),
        ("elsewhere", _) => format!("another daemon to finish in {place}"),
        ("not-before", _) => "the next try of its start".to_owned(),
        ("closed", _) => "the daemon to admit runs again".to_owned(),
        (other, _) => line(other),
    };
    format!("waits for {on}; place {} in the queue", waits.place)
}

/// Its place in the queue and on whom a child waits, for one cell of a table.
pub(crate) fn waits_short(waits: &Waits) -> String {
    let on = match (waits.on.as_str(), &waits.holder) {
        ("slot", _) => "for a slot".to_owned(),
        ("scope", Some(holder)) => format!("behind {}", ending(holder)),
        ("scope", None) => "behind a writer".to_owned(),
        ("elsewhere", _) => "behind another daemon".to_owned(),
        ("not-before", _) => "until its next try".to_owned(),
        ("closed", _) => "until runs are admitted".to_owned(),
        (other, _) => format!("for {}", line(other)),
    };
    format!("#{} {on}", waits.place)
}

/// What is wrong in a file, with its place.
pub(crate) fn problem(problem: &ProblemView) -> String {
    line(&format!("{}, line {}: {}", problem.file, problem.line, problem.message))
}

/// Names, as one line.
pub(crate) fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { line(&names.join(", ")) }
}

/// `1 child`, `2 children`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let table = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KB"),
            (1536, "1.5 KB"),
            (1_048_576, "1.0 MB"),
            (5_000_000_000, "4768.4 MB"),
        ];
        for (bytes, wanted) in table {
            assert_eq!(size(bytes), wanted);
        }
    }

    #[test]
    fn the_reference_line_reads_the_same_everywhere() {
        let at = Reference { path: "/s/runs/x/result.md".to_owned(), bytes: 2_150, lines: 41, sha256: String::new() };
        assert_eq!(reference(&at), "Output saved to: /s/runs/x/result.md (2.1 KB, 41 lines)");
        let one = Reference { lines: 1, bytes: 12, ..at };
        assert_eq!(reference(&one), "Output saved to: /s/runs/x/result.md (12 B, 1 line)");
    }

    #[test]
    fn states_are_the_words_of_the_wire() {
        for (state, word) in STATES {
            assert_eq!(serde_json::to_value(state).unwrap(), word);
            assert_eq!(state_of(word), Some(state));
            assert_eq!(super::state(state), word);
        }
        assert_eq!(state(State::Unknown), "unknown");
    }

    #[test]
    fn endings_survive_short_and_odd_names() {
        assert_eq!(ending("01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d"), "1a2b3c4d");
        assert_eq!(ending("abc"), "abc");
        assert_eq!(ending("ääää€€€"), "ääää€€€", "no cut inside a character");
    }

    #[test]
    fn every_reason_to_wait_is_told() {
        let clock = Clock::utc(1_700_000_600_000);
        let holder = Some("01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d".to_owned());
        let table = [
            (
                Waits { on: "slot".to_owned(), place: 3, holder: None, holder_since_ms: None },
                "waits for a free slot; place 3 in the queue",
                "#3 for a slot",
            ),
            (
                Waits { on: "scope".to_owned(), place: 1, holder, holder_since_ms: Some(1_700_000_000_000) },
                "waits for run 1a2b3c4d to finish in /w, there since 22:13; place 1 in the queue",
                "#1 behind 1a2b3c4d",
            ),
            (
                Waits { on: "elsewhere".to_owned(), place: 1, holder: None, holder_since_ms: None },
                "waits for another daemon to finish in /w; place 1 in the queue",
                "#1 behind another daemon",
            ),
            (
                Waits { on: "moonrise".to_owned(), place: 1, holder: None, holder_since_ms: None },
                "waits for moonrise; place 1 in the queue",
                "#1 for moonrise",
            ),
        ];
        for (waits, long, short) in table {
            assert_eq!(super::waits(&waits, Some("/w"), &clock), long);
            assert_eq!(waits_short(&waits), short);
        }
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(line(" a\u{1b}[2Jb\nc\t "), "a [2Jb c");
        assert_eq!(line("abc\u{202e}fed\u{2028}g"), "abc fed g");
    }
}
