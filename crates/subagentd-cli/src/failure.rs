//! Why a command could not do what it says: what happened, what to do, and the exit code that goes with it.

use serde_json::{Value, json};
use subagentd_proto::error::{At, Fault, Kind};

use crate::exit::Exit;
use crate::hints::Hints;
use crate::ids;
use crate::render::words;

/// The word for a connection that broke under a call.
pub(crate) const LOST: &str = "connectionLost";

/// The daemon's word for being about to end.
const DRAINING: &str = "draining";

/// The end of a command that went wrong.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read our output has enough. Not an error: the program ends without a word.
    PipeClosed,
    /// Something to tell.
    Problem(Box<Problem>),
}

/// What is told of a failure.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) exit: Exit,
    /// The stable word: `data.kind` of the daemon, or one of this program's own.
    pub(crate) kind: String,
    /// What happened.
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: Option<String>,
    /// Commands that help.
    pub(crate) next: Hints,
    pub(crate) retryable: bool,
    pub(crate) at: Option<At>,
    /// The run that it concerns, when one is known.
    pub(crate) run: Option<String>,
}

impl Problem {
    pub(crate) fn new(exit: Exit, kind: &str, message: impl Into<String>) -> Self {
        Self {
            exit,
            kind: kind.to_owned(),
            message: message.into(),
            hint: None,
            next: Hints::default(),
            retryable: false,
            at: None,
            run: None,
        }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn next(mut self, next: Hints) -> Self {
        self.next = next;
        self
    }

    #[must_use]
    pub(crate) fn run(mut self, run: impl Into<String>) -> Self {
        self.run = Some(run.into());
        self
    }

    /// Whether the connection broke under a call: what was asked for may or may not have been done.
    pub(crate) fn is_lost(&self) -> bool {
        self.kind == LOST
    }

    /// Whether there is no daemon for this call now: it went away, or is about to.
    pub(crate) fn is_away(&self) -> bool {
        self.is_lost() || self.kind == DRAINING
    }

    /// What is told about any run names the one that was meant, so that commands can be copied.
    pub(crate) fn name(&mut self, run: &str) {
        let name = format!(" {}`", words::ending(run));
        self.message = self.message.replace(" RUN`", &name);
        self.hint = self.hint.take().map(|hint| hint.replace(" RUN`", &name));
    }

    /// What happened, for standard error.
    pub(crate) fn told(&self) -> String {
        // Who pressed Ctrl-C knows that it was no fault.
        let mark = if self.exit == Exit::ByUser { "" } else { "error: " };
        let at = self.at.as_ref().map(|at| format!(" ({})", place(at))).unwrap_or_default();
        format!("{mark}{}\n", sentence(&format!("{}{at}", self.message)))
    }

    /// What happened and what to do, for standard error.
    pub(crate) fn text(&self, columns: usize) -> String {
        let mut text = self.told();
        let next = Some(self.next.text(columns)).filter(|next| !next.is_empty());
        for told in self.hint.iter().chain(&next) {
            text.push_str(told);
            text.push('\n');
        }
        text
    }

    /// What to do, on one line.
    fn advice(&self) -> Option<String> {
        let hint = self.hint.as_ref().map(|hint| hint.lines().collect::<Vec<_>>().join(" "));
        let next = Some(self.next.sentence()).filter(|next| !next.is_empty());
        let told: Vec<String> = hint.into_iter().chain(next).collect();
        (!told.is_empty()).then(|| told.join(" "))
    }

    /// The document for standard output.
    pub(crate) fn document(&self) -> Value {
        let mut error = json!({"kind": self.kind, "message": self.message, "retryable": self.retryable});
        if let Some(error) = error.as_object_mut() {
            if let Some(hint) = self.advice() {
                error.insert("hint".to_owned(), json!(hint));
            }
            if let Some(at) = &self.at {
                error.insert("at".to_owned(), json!(at));
            }
            if let Some(run) = &self.run {
                error.insert("run".to_owned(), json!(run));
            }
        }
        json!({ "error": error })
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let hint = hint_of(fault.kind);
        Self::Problem(Box::new(Problem {
            exit: Exit::of_kind(fault.kind),
            kind: word(fault.kind),
            message: for_people(&fault.message),
            hint: hint.map(str::to_owned),
            next: Hints::default(),
            retryable: fault.kind.retryable(),
            at: fault.at,
            run: None,
        }))
    }
}

/// What clients of the socket call, as this program's commands.
const CALLS: [(&str, &str); 10] = [
    ("`run/cancel`", "`subagentd-cli cancel RUN`"),
    ("`run/list`", "`subagentd-cli list`"),
    ("`run/wait`", "`subagentd-cli wait RUN`"),
    ("`run/get`", "`subagentd-cli show RUN`"),
    ("`run/steer`", "`subagentd-cli steer RUN`"),
    ("`run/resume`", "`subagentd-cli resume RUN`"),
    ("`lease/list`", "`subagentd-cli lease list`"),
    ("`lease/release`", "`subagentd-cli lease release RUN`"),
    ("`takeover: true`", "`--take-over`"),
    ("`agent/catalog`", "`subagentd-cli agents`"),
];

/// The daemon's sentence, which is written for all clients, in the words of this one.
pub(crate) fn for_people(message: &str) -> String {
    ids::shortened(&CALLS.iter().fold(message.to_owned(), |message, (call, command)| message.replace(call, command)))
}

/// The same words, begun and ended as a sentence.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    let mut characters = text.chars();
    let first: String = characters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", characters.as_str())
}

/// The wrong use of the command line that only we can see, not the argument parser.
pub(crate) fn usage(message: impl Into<String>) -> Failure {
    Problem::new(Exit::Usage, "usage", message).into()
}

/// The command that helps, where there is one that the daemon's sentence cannot know.
const fn hint_of(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::UnknownAgent => Some("`subagentd-cli agents` tells what each is for."),
        Kind::NoResult => Some("`subagentd-cli show RUN` tells how it stands."),
        Kind::ResultGone => Some("`subagentd-cli show RUN` tells where its files were."),
        Kind::RuntimeUnavailable => Some("`subagentd-cli agents` shows the runtimes there are."),
        Kind::Overloaded => Some("`subagentd-cli list` shows what waits; try again when some of it is done."),
        Kind::Protocol | Kind::MethodNotFound => {
            Some("The daemon is of another version: `subagentd-cli daemon stop`, then try again. Runs go on.")
        }
        _ => None,
    }
}

fn word(kind: Kind) -> String {
    match serde_json::to_value(kind) {
        Ok(Value::String(word)) => word,
        _ => "unknown".to_owned(),
    }
}

fn place(at: &At) -> String {
    let mut place = at.path.clone();
    for number in [at.line, at.column].into_iter().flatten() {
        place.push_str(&format!(":{number}"));
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(failure: Failure) -> Problem {
        match failure {
            Failure::Problem(problem) => *problem,
            Failure::PipeClosed => panic!("no problem"),
        }
    }

    #[test]
    fn a_fault_keeps_its_word_and_gets_a_hint() {
        let problem = problem(Fault::new(Kind::UnknownAgent, "There is no agent \"explroe\".").into());
        assert_eq!(problem.exit, Exit::Refused);
        assert_eq!(
            problem.text(80),
            "error: There is no agent \"explroe\".\n`subagentd-cli agents` tells what each is for.\n"
        );
        assert_eq!(
            problem.document(),
            json!({"error": {
                "kind": "unknownAgent",
                "message": "There is no agent \"explroe\".",
                "retryable": false,
                "hint": "`subagentd-cli agents` tells what each is for.",
            }})
        );
    }

    #[test]
    fn a_document_has_its_hint_on_one_line() {
        let problem = Problem::new(Exit::Failed, "x", "It failed.")
            .hint("One.\nTwo.")
            .next(Hints::default().and("list", "see").and("agents", "look"));
        assert_eq!(
            problem.document()["error"]["hint"],
            "One. Two. `subagentd-cli list`: see; `subagentd-cli agents`: look"
        );
        assert_eq!(
            problem.text(80),
            "error: It failed.\nOne.\nTwo.\nNext: subagentd-cli list     see\n      subagentd-cli agents   look\n"
        );
    }

    #[test]
    fn a_run_that_is_meant_is_named() {
        let mut problem = problem(
            Fault::new(Kind::NoResult, "run 01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d is queued; `run/wait` waits for it")
                .into(),
        );
        problem.name("00001a2b3c4d");
        assert_eq!(
            problem.text(80),
            "error: Run 1a2b3c4d is queued; `subagentd-cli wait 1a2b3c4d` waits for it.\n`subagentd-cli show 1a2b3c4d` tells how it stands.\n"
        );
    }

    #[test]
    fn a_place_in_a_file_is_told() {
        let mut fault = Fault::new(Kind::AgentBroken, "`tools` is no list");
        fault.at = Some(At { path: "/a/explore.md".to_owned(), line: Some(3), column: Some(8) });
        let problem = problem(fault.into());
        assert_eq!(problem.text(80), "error: `tools` is no list (/a/explore.md:3:8).\n");
        assert_eq!(problem.document()["error"]["at"], json!({"path": "/a/explore.md", "line": 3, "column": 8}));
    }

    #[test]
    fn a_retryable_refusal_says_so() {
        let problem = problem(Fault::new(Kind::Overloaded, "The queue is full.").into());
        assert_eq!(problem.document()["error"]["retryable"], true);
        assert_eq!(problem.exit, Exit::Refused);
    }

    #[test]
    fn the_daemons_words_become_sentences_about_commands() {
        let problem = problem(Fault::new(Kind::NotFound, "no run ends with abcdef; `run/list` shows those").into());
        assert!(problem.text(80).starts_with("error: No run ends with abcdef; `subagentd-cli list` shows those.\n"));
        assert_eq!(sentence("größer?"), "Größer?");
        assert_eq!(sentence("`task` is blank"), "`task` is blank.");
        assert_eq!(sentence(""), ".");
    }
}
