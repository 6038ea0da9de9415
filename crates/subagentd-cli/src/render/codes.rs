//! The daemon's stable codes in plain words. A code that this program does not know is told as it is.

use subagentd_proto::run::{ChildView, Decisions};

use super::time::limit;
use super::words;

/// What was remarked on the way, by code.
const REMARKS: [(&str, &str); 23] = [
    ("definition.problems", "something in its agent's file does not count; `agents` tells what"),
    ("max-turns.not-enforced", "its agent limits the turns; nothing holds that limit yet"),
    ("access.not-enforced", "its agent restricts what may be written; nothing holds that yet"),
    ("environment.of-daemon", "it has the environment of the daemon: the client stated none"),
    ("settings.problems", "something in the settings is wrong and without effect; `explain` tells what"),
    ("thinking.above-ceiling", "its model has no level as low as the ceiling, and thinks at its lowest"),
    ("leftovers", "processes of it could not be ended; its workspace stays locked until `lease release`"),
    ("answer.kept", "its watcher went away; whether it was done with this answer is not known"),
    ("answer.not-stored", "its answer could not be written to the disk"),
    ("record.shortened", "what it reported of its end was too long and was cut"),
    ("child.lingered", "it did not go by itself after its answer and was ended"),
    ("tree.left-behind", "it left processes behind, which were ended"),
    ("start.retried", "its program ended before its first word and was started once more"),
    ("start.contended", "a file that its program writes at its start was changed meanwhile"),
    ("line.too-long", "it wrote a line that was too long and was left out"),
    ("output.noise", "it wrote lines that are no events; they are among its logs"),
    ("tools.changed", "its tools changed after its start"),
    ("tools.missing", "it lacks tools that its agent lists"),
    ("cancel.refused", "it refused to be cancelled and was ended by force"),
    ("steer.overflow", "it was told more than it can keep; some was not heard"),
    ("steer.refused", "it refused a text it was told"),
    ("steer.handled", "it took a text it was told for a command"),
    ("dialog.cancelled", "it asked a question in a dialog, which nobody can answer; it was told so"),
];
/// Why a child stands where it stands, by code. The limits are told with their lengths.
const REASONS: [(&str, &str); 18] = [
    ("answer.missing", "it ended without an answer"),
    ("answer.not-stored", "its answer could not be written to the disk"),
    ("answer.cut-off", "its answer was cut off"),
    ("model.error", "the model's provider failed"),
    ("model.mismatch", "it started with another model"),
    ("model.unavailable", "its runtime cannot run the model"),
    ("thinking.mismatch", "it started with another thinking level"),
    ("tools.mismatch", "it started with other tools"),
    ("prompt.refused", "it refused its task"),
    ("child.aborted", "it gave up by itself"),
    ("child.exited", "its program ended before it was done"),
    ("child.signalled", "its program was killed by somebody else"),
    ("child.protocol", "its program said what cannot be understood"),
    ("start.failed", "its program could not be started"),
    ("workspace.gone", "its workspace is gone"),
    ("workspace.replaced", "another directory stands in place of its workspace"),
    ("shim.lost", "its watcher went away, with the machine or by force"),
    ("shim.terminated", "its watcher was told to end, by a logout or shutdown"),
];

/// Remarks as sentences, one a line.
pub(super) fn remarks(codes: &[String]) -> Option<String> {
    let told: Vec<String> = codes.iter().map(|code| remark(code)).collect();
    (!told.is_empty()).then(|| told.join("\n"))
}

fn remark(code: &str) -> String {
    match code {
        // It could not even be told.
        "dialog.unanswered" => "it asked a question in a dialog, which nobody can answer".to_owned(),
        code => found(&REMARKS, code).map_or_else(|| words::line(code), str::to_owned),
    }
}

/// The reason of an end as a sentence, the code behind it.
pub(super) fn reason(child: &ChildView) -> Option<String> {
    // `cancelled` says the same again.
    let code = child.reason.as_deref().filter(|code| *code != words::state(child.state))?;
    let told = timeout(code, &child.decisions).or_else(|| found(&REASONS, code).map(str::to_owned));
    Some(told.map_or_else(|| words::line(code), |told| format!("{told} ({code})")))
}

fn timeout(code: &str, decided: &Decisions) -> Option<String> {
    let length = |ms: Option<u64>| ms.map(|ms| format!(" of {}", limit(ms))).unwrap_or_default();
    Some(match code {
        "timeout.total" => format!("it reached its total limit{}", length(Some(decided.timeout_ms))),
        "timeout.idle" => format!("it was silent for its limit{}", length(Some(decided.idle_timeout_ms))),
        "timeout.first-event" => format!("it said nothing within its limit{}", length(decided.first_event_timeout_ms)),
        "timeout.tool-call" => format!("one tool call took its limit{}", length(decided.tool_call_timeout_ms)),
        _ => return None,
    })
}

fn found(table: &[(&str, &'static str)], code: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == code).map(|(_, told)| *told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    #[test]
    fn codes_are_told_once_each_and_in_words() {
        for table in [&REMARKS[..], &REASONS] {
            for (at, (code, told)) in table.iter().enumerate() {
                assert!(table.iter().skip(at + 1).all(|(other, _)| other != code), "{code} is there twice");
                assert!(told.len() <= 90 && !told.ends_with('.'), "{told}");
            }
        }
        assert_eq!(remarks(&["moonrise".to_owned(), "leftovers".to_owned()]).unwrap().lines().next(), Some("moonrise"));
        assert_eq!(remarks(&[]), None);
    }

    #[test]
    fn a_time_limit_is_told_with_its_length() {
        let mut run = samples::failed();
        let child = &mut run.children[0];
        let table = [
            ("timeout.total", "it reached its total limit of 4h (timeout.total)"),
            ("timeout.idle", "it was silent for its limit of 10m (timeout.idle)"),
            ("timeout.first-event", "it said nothing within its limit of 2m (timeout.first-event)"),
            ("timeout.tool-call", "one tool call took its limit (timeout.tool-call)"),
            ("child.exited", "its program ended before it was done (child.exited)"),
            ("moonrise", "moonrise"),
        ];
        child.decisions.tool_call_timeout_ms = None;
        for (code, wanted) in table {
            child.reason = Some(code.to_owned());
            assert_eq!(reason(child).as_deref(), Some(wanted));
        }
        child.reason = Some("failed".to_owned());
        assert_eq!(reason(child), None, "the state says that");
    }
}
