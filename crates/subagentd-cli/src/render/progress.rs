//! How far a run is: one line for a terminal that is written over, or one for each change of state.

use subagentd_proto::run::{ChildProgress, RunProgress, RunView, State};

use super::time::{Clock, span};
use super::{fit, words};

/// A sign of life that is older than this is worth a word.
const SILENCE_MS: u64 = 10_000;

/// Columns that stay free at the end of the line: a terminal shows `^C` there, and then the line still is one.
const FREE_COLUMNS: u16 = 4;

/// What a view of the run knows and its progress does not tell, child by child.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known(Vec<(Option<String>, String)>);

impl Known {
    pub(crate) fn of(run: &RunView) -> Self {
        Self(run.children.iter().map(|child| (child.intent.clone(), child.decisions.workspace.clone())).collect())
    }

    fn child(&self, child: &ChildProgress) -> Option<&(Option<String>, String)> {
        self.0.get(usize::try_from(child.index).ok()?)
    }

    /// What was asked of it and has not happened yet.
    fn intent(&self, child: &ChildProgress) -> Option<&str> {
        self.child(child).and_then(|(intent, _)| intent.as_deref())
    }

    fn workspace(&self, child: &ChildProgress) -> Option<&str> {
        self.child(child).map(|(_, workspace)| workspace.as_str())
    }
}

/// The line that is written over again and again. `since_ms` is when its state began.
pub(crate) fn live(progress: &RunProgress, known: &Known, since_ms: u64, clock: &Clock, width: u16) -> String {
    // Whole seconds: it is drawn about once a second, and tenths would only flicker.
    let ms = clock.now_ms.saturating_sub(since_ms);
    let lasted = if ms < 10_000 { format!("{}s", ms / 1_000) } else { span(ms) };
    let parts: Vec<String> = progress.children.iter().map(|child| child_line(child, known, &lasted, clock)).collect();
    let line = format!("{}  {}", words::ending(&progress.run), parts.join("; "));
    fit::cut(&line, usize::from(width.saturating_sub(FREE_COLUMNS)))
}

/// The line for a change of state, where nothing can be written over.
pub(crate) fn plain(progress: &RunProgress, known: &Known, clock: &Clock) -> String {
    let children = progress.children.iter().map(|child| {
        let waits = child.waits.as_ref().map(|waits| words::waits(waits, known.workspace(child), clock));
        let waits = waits.map(|waits| format!(", {waits}")).unwrap_or_default();
        format!("{} {}{waits}", words::line(&child.agent), words::state(child.state))
    });
    format!("Run {}: {}.", words::ending(&progress.run), children.collect::<Vec<_>>().join("; "))
}

/// What a change of state is told by: times and counts are not.
pub(crate) fn standing(progress: &RunProgress) -> Vec<(State, Option<String>)> {
    let children = progress.children.iter();
    children.map(|child| (child.state, child.waits.as_ref().map(|waits| waits.on.clone()))).collect()
}

/// What it does now, in the order of what matters most: lines are cut at their end.
pub(crate) fn doing(child: &ChildProgress, clock: &Clock) -> Option<String> {
    let silent = child.last_event_at_ms.map(|at| clock.now_ms.saturating_sub(at)).filter(|ms| *ms >= SILENCE_MS);
    let parts = [
        child.tool.as_deref().map(|tool| format!("in {}", words::line(tool))),
        silent.map(|silent| format!("silent for {}", span(silent))),
        (child.tool_calls > 0).then(|| words::count(child.tool_calls, "tool call", "tool calls")),
        (child.tokens > 0).then(|| format!("{} tokens", thousands(child.tokens))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn child_line(child: &ChildProgress, known: &Known, lasted: &str, clock: &Clock) -> String {
    let state = words::standing(child.state, known.intent(child));
    let standing = format!("{} {state} for {lasted}", words::line(&child.agent));
    let waits = child.waits.as_ref().map(words::waits_short);
    let parts: Vec<String> = [Some(standing), waits, doing(child, clock)].into_iter().flatten().collect();
    parts.join(", ")
}

fn thousands(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        1_000_000.. => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;
    use subagentd_proto::run::Waits;

    const NOW: u64 = 1_000_000_000_000;

    fn progress(child: ChildProgress) -> RunProgress {
        RunProgress {
            run: "01890a5d-ac96-774b-bcce-b302099a8057".to_owned(),
            state: child.state,
            children: vec![child],
        }
    }

    fn child(state: State) -> ChildProgress {
        ChildProgress {
            index: 0,
            agent: "explore".to_owned(),
            state,
            tool_calls: 0,
            turns: 0,
            tokens: 0,
            tool: None,
            last_event_at_ms: None,
            waits: None,
        }
    }

    fn shown(child: ChildProgress) -> String {
        live(&progress(child), &Known::default(), NOW - 12_000, &Clock::utc(NOW), 80)
    }

    #[test]
    fn a_working_child_shows_what_it_did_and_does() {
        let busy = ChildProgress {
            tool_calls: 3,
            tokens: 12_345,
            tool: Some("bash".to_owned()),
            last_event_at_ms: Some(NOW - 400),
            ..child(State::Running)
        };
        assert_eq!(shown(busy), "099a8057  explore running for 12s, in bash, 3 tool calls, 12.3k tokens");
    }

    #[test]
    fn silence_and_waiting_are_told() {
        let silent = ChildProgress { last_event_at_ms: Some(NOW - 75_000), ..child(State::Running) };
        assert_eq!(shown(silent), "099a8057  explore running for 12s, silent for 1m 15s");
        let waits = Waits { on: "slot".to_owned(), place: 3, holder: None, holder_since_ms: None };
        let waiting = ChildProgress { waits: Some(waits), ..child(State::Queued) };
        assert_eq!(shown(waiting.clone()), "099a8057  explore queued for 12s, #3 for a slot");
        assert_eq!(
            plain(&progress(waiting), &Known::default(), &Clock::utc(NOW)),
            "Run 099a8057: explore queued, waits for a free slot; place 3 in the queue."
        );
    }

    #[test]
    fn what_was_asked_stands_in_place_of_the_state() {
        let mut run = samples::ended();
        run.children[0].intent = Some("cancel".to_owned());
        let known = Known::of(&run);
        let shown = live(&progress(child(State::Running)), &known, NOW - 12_000, &Clock::utc(NOW), 80);
        assert_eq!(shown, "099a8057  explore cancelling for 12s");
        let waits = Waits { on: "scope".to_owned(), place: 1, holder: None, holder_since_ms: None };
        let waiting = ChildProgress { waits: Some(waits), ..child(State::Queued) };
        let told = plain(&progress(waiting), &known, &Clock::utc(NOW));
        assert!(told.contains("for another writer to finish in /home/ada/project;"), "{told}");
    }

    #[test]
    fn a_narrow_line_keeps_what_matters_most() {
        let stuck = ChildProgress {
            tool: Some("bash".to_owned()),
            tool_calls: 300,
            tokens: 1_234_567,
            last_event_at_ms: Some(NOW - 75_000),
            ..child(State::Running)
        };
        let line = live(&progress(stuck), &Known::default(), NOW - 12_000, &Clock::utc(NOW), 70);
        assert_eq!(line, "099a8057  explore running for 12s, in bash, silent for 1m 15s, 30…");
    }

    #[test]
    fn a_long_line_stays_one_line_and_control_characters_do_nothing() {
        for tool in ["a\u{1b}[2Jb".repeat(30), "日本語".repeat(30)] {
            let odd = ChildProgress { tool: Some(tool), ..child(State::Running) };
            let line = shown(odd);
            assert!((75..=76).contains(&fit::width(&line)), "{line}");
            assert!(!line.contains('\u{1b}'), "{line}");
        }
    }

    #[test]
    fn only_states_and_reasons_for_waiting_are_changes() {
        let before = progress(child(State::Running));
        let after = progress(ChildProgress { tool_calls: 9, ..child(State::Running) });
        assert_eq!(standing(&before), standing(&after));
        assert_ne!(standing(&before), standing(&progress(child(State::Succeeded))));
    }
}
