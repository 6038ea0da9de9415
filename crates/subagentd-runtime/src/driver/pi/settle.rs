//! What the last message before the settlement means.

use subagentd_core::life::Reason;
use subagentd_core::outcome::error_line;

use crate::driver::{Settlement, Stop};

/// The last message of the model.
pub(super) struct Last {
    pub(super) stop: String,
    pub(super) text: String,
    pub(super) error: Option<String>,
}

/// Under which circumstances a child settled.
pub(super) struct Circumstances {
    /// What it was asked to do.
    pub(super) asked: Option<Stop>,
    /// Whether it says that an abort ended it.
    pub(super) aborted: bool,
    /// Whether it was told something that it has not heard.
    pub(super) open_steers: bool,
}

/// Judges a settled child. Only a text that the model ended of its own will is complete. After a tool call that ended the
/// run the text is a remark on the way, not the answer: it is kept, incomplete, under `answer.missing`.
pub(super) fn judge(last: Option<Last>, circumstances: &Circumstances) -> Settlement {
    match circumstances.asked {
        None => verdict(last),
        Some(Stop::Cancel) => Settlement { reason: Reason::Cancelled, error: None, ..verdict(last) },
        Some(Stop::Pause) if came_first(last.as_ref(), circumstances) => verdict(last),
        Some(Stop::Pause) => Settlement::without_answer(Reason::Paused, None),
    }
}

/// Whether the child's own end came before the pause. What it has not heard is work that is left: then it is paused.
fn came_first(last: Option<&Last>, circumstances: &Circumstances) -> bool {
    let answered = last.is_some_and(|last| last.stop == "stop" && !last.text.trim().is_empty());
    let aborted = circumstances.aborted || last.is_some_and(|last| last.stop == "aborted");
    !circumstances.open_steers && (answered || !aborted)
}

fn verdict(last: Option<Last>) -> Settlement {
    let Some(last) = last else {
        return Settlement::without_answer(Reason::AnswerMissing, Some("the child settled without any message"));
    };
    let answer = (!last.text.trim().is_empty()).then_some(last.text);
    let (reason, error) = match last.stop.as_str() {
        "stop" if answer.is_some() => (Reason::Completed, None),
        "stop" => (Reason::AnswerMissing, Some("the last message of the child has no text".to_owned())),
        "length" => (Reason::AnswerCutOff, Some("the answer was cut off at the output limit of the model".to_owned())),
        "error" => {
            (Reason::ModelError, Some(last.error.unwrap_or_else(|| "the model failed and gave no reason".to_owned())))
        }
        "aborted" => (Reason::ChildAborted, Some("the child aborted without having been asked to".to_owned())),
        "toolUse" => {
            (Reason::AnswerMissing, Some("a tool call ended the work of the child before it gave an answer".to_owned()))
        }
        stop => (
            Reason::AnswerMissing,
            Some(format!("the last message of the child ended with {stop:?}, which is no final answer")),
        ),
    };
    let complete = reason == Reason::Completed;
    Settlement { reason, error: error.as_deref().map(error_line), answer, complete }
}
