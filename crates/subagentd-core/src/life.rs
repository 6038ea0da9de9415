//! The states of a child and of a run, and the legal moves between them (design 4).

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a child, or a run, stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Accepted and waiting for a slot or for its scope.
    Queued,
    /// A shim may exist: the attempt is committed, the child has not yet been verified.
    Starting,
    /// The child was verified and has its prompt.
    Running,
    /// Settled and resumable; holds neither slot nor scope.
    Paused,
    /// It ended well and its answer is stored.
    Succeeded,
    /// It ended without a usable answer, or could not be started.
    Failed,
    /// A person or client ended it.
    Cancelled,
    /// A time limit ended it.
    TimedOut,
    /// A turn or tool-call limit ended it.
    BudgetExhausted,
    /// The daemon, the shim or the machine went away under it.
    Interrupted,
    /// The review gate did not accept it.
    Rejected,
}

impl State {
    /// Every state, in the order of the table above.
    pub const ALL: [Self; 11] = [
        Self::Queued,
        Self::Starting,
        Self::Running,
        Self::Paused,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
        Self::TimedOut,
        Self::BudgetExhausted,
        Self::Interrupted,
        Self::Rejected,
    ];

    /// The word in the database and on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::BudgetExhausted => "budget_exhausted",
            Self::Interrupted => "interrupted",
            Self::Rejected => "rejected",
        }
    }

    /// Reads a stored word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }

    /// Whether the state is an end: never overwritten by a late event.
    #[must_use]
    pub const fn is_end(self) -> bool {
        match self {
            Self::Queued | Self::Starting | Self::Running | Self::Paused => false,
            Self::Succeeded
            | Self::Failed
            | Self::Cancelled
            | Self::TimedOut
            | Self::BudgetExhausted
            | Self::Interrupted
            | Self::Rejected => true,
        }
    }

    /// Whether a child may go from here to `next`. Ends are left only through a resume, which is a move to `Queued`
    /// with a new attempt and is asked for by name ([`State::may_resume`]).
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        match self {
            // A queued child can be cancelled, wait too long, or lose its workspace; it cannot succeed unseen.
            Self::Queued => {
                matches!(
                    next,
                    Self::Starting | Self::Paused | Self::Cancelled | Self::Failed | Self::TimedOut | Self::Interrupted
                )
            }
            // Back to the queue when the shim never started the child.
            Self::Starting => next.is_end() || matches!(next, Self::Running | Self::Queued | Self::Paused),
            Self::Running => next.is_end() || matches!(next, Self::Paused),
            Self::Paused => matches!(
                next,
                Self::Queued | Self::Cancelled | Self::Failed | Self::TimedOut | Self::Interrupted | Self::Rejected
            ),
            _ => false,
        }
    }

    /// Whether an explicit resume may reopen a child that stands here, as a new attempt.
    #[must_use]
    pub const fn may_resume(self) -> bool {
        self.is_end() || matches!(self, Self::Paused)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The state of a run from the states of its children (the one table, design 4).
///
/// While a child lives the run shows the most active state. When all have ended the worst end names the run: what
/// needs a person most comes first. A run without children cannot be stored; it reads as failed.
#[must_use]
pub fn run_state(children: impl IntoIterator<Item = State>) -> State {
    children.into_iter().min_by_key(|state| precedence(*state)).unwrap_or(State::Failed)
}

const fn precedence(state: State) -> u8 {
    match state {
        State::Running => 0,
        State::Starting => 1,
        State::Queued => 2,
        State::Paused => 3,
        State::Failed => 4,
        State::Rejected => 5,
        State::TimedOut => 6,
        State::BudgetExhausted => 7,
        State::Interrupted => 8,
        State::Cancelled => 9,
        State::Succeeded => 10,
    }
}

/// Why a child that stands here cannot be resumed; none if it can (G34). `has_run` says whether it ever had its prompt,
/// and with it a conversation to go on with.
#[must_use]
pub const fn resume_refusal(state: State, has_run: bool) -> Option<&'static str> {
    match state {
        State::Queued => Some("it waits to be started"),
        State::Starting | State::Running => Some("it is at work; tell it what to do with `run/steer`"),
        // Paused before it began: it begins now.
        State::Paused => None,
        _ if has_run => None,
        _ => Some("it ended before it had a conversation; launch it anew"),
    }
}

/// Why a child ended or was paused: a stable code, the same in table, wire and document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// The child settled with a final answer.
    #[serde(rename = "completed")]
    Completed,
    /// The child settled, but without any answer text.
    #[serde(rename = "answer.missing")]
    AnswerMissing,
    /// The answer is there, but could not be stored.
    #[serde(rename = "answer.not-stored")]
    AnswerNotStored,
    /// The model's output was cut off at its length limit.
    #[serde(rename = "answer.cut-off")]
    AnswerCutOff,
    /// The provider or the model failed.
    #[serde(rename = "model.error")]
    ModelError,
    /// The child reports another model than was asked for.
    #[serde(rename = "model.mismatch")]
    ModelMismatch,
    /// The model that was asked for is not runnable in the child.
    #[serde(rename = "model.unavailable")]
    ModelUnavailable,
    /// The child reports another thinking level than was asked for.
    #[serde(rename = "thinking.mismatch")]
    ThinkingMismatch,
    /// The child has a tool that was not asked for, or lacks a built-in one.
    #[serde(rename = "tools.mismatch")]
    ToolsMismatch,
    /// The child refused the prompt.
    #[serde(rename = "prompt.refused")]
    PromptRefused,
    /// The child aborted without having been asked to.
    #[serde(rename = "child.aborted")]
    ChildAborted,
    /// The child exited before it settled.
    #[serde(rename = "child.exited")]
    ChildExited,
    /// A signal ended the child before it settled.
    #[serde(rename = "child.signalled")]
    ChildSignalled,
    /// The child broke the protocol of its dialect.
    #[serde(rename = "child.protocol")]
    ChildProtocol,
    /// The child program could not be started.
    #[serde(rename = "start.failed")]
    StartFailed,
    /// The workspace was gone, or another one stood in its place.
    #[serde(rename = "workspace.gone")]
    WorkspaceGone,
    /// The workspace's path names another directory than at launch.
    #[serde(rename = "workspace.replaced")]
    WorkspaceReplaced,
    /// A client asked for the end.
    #[serde(rename = "cancelled")]
    Cancelled,
    /// A client asked for a pause: no end, the conversation can be gone on with.
    #[serde(rename = "paused")]
    Paused,
    /// No event came within the first-event limit.
    #[serde(rename = "timeout.first-event")]
    TimeoutFirstEvent,
    /// No event came within the idle limit.
    #[serde(rename = "timeout.idle")]
    TimeoutIdle,
    /// One tool call took longer than a tool call may.
    #[serde(rename = "timeout.tool-call")]
    TimeoutToolCall,
    /// The total limit was reached.
    #[serde(rename = "timeout.total")]
    TimeoutTotal,
    /// The shim is gone and left no record.
    #[serde(rename = "shim.lost")]
    ShimLost,
    /// The shim was told to end (logout, shutdown).
    #[serde(rename = "shim.terminated")]
    ShimTerminated,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 25] = [
        Self::Completed,
        Self::AnswerMissing,
        Self::AnswerNotStored,
        Self::AnswerCutOff,
        Self::ModelError,
        Self::ModelMismatch,
        Self::ModelUnavailable,
        Self::ThinkingMismatch,
        Self::ToolsMismatch,
        Self::PromptRefused,
        Self::ChildAborted,
        Self::ChildExited,
        Self::ChildSignalled,
        Self::ChildProtocol,
        Self::StartFailed,
        Self::WorkspaceGone,
        Self::WorkspaceReplaced,
        Self::Cancelled,
        Self::Paused,
        Self::TimeoutFirstEvent,
        Self::TimeoutIdle,
        Self::TimeoutToolCall,
        Self::TimeoutTotal,
        Self::ShimLost,
        Self::ShimTerminated,
    ];

    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::AnswerMissing => "answer.missing",
            Self::AnswerNotStored => "answer.not-stored",
            Self::AnswerCutOff => "answer.cut-off",
            Self::ModelError => "model.error",
            Self::ModelMismatch => "model.mismatch",
            Self::ModelUnavailable => "model.unavailable",
            Self::ThinkingMismatch => "thinking.mismatch",
            Self::ToolsMismatch => "tools.mismatch",
            Self::PromptRefused => "prompt.refused",
            Self::ChildAborted => "child.aborted",
            Self::ChildExited => "child.exited",
            Self::ChildSignalled => "child.signalled",
            Self::ChildProtocol => "child.protocol",
            Self::StartFailed => "start.failed",
            Self::WorkspaceGone => "workspace.gone",
            Self::WorkspaceReplaced => "workspace.replaced",
            Self::Cancelled => "cancelled",
            Self::Paused => "paused",
            Self::TimeoutFirstEvent => "timeout.first-event",
            Self::TimeoutIdle => "timeout.idle",
            Self::TimeoutToolCall => "timeout.tool-call",
            Self::TimeoutTotal => "timeout.total",
            Self::ShimLost => "shim.lost",
            Self::ShimTerminated => "shim.terminated",
        }
    }

    /// Reads a stored code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }

    /// The state that the reason stands for, an end or [`State::Paused`]; the two can never disagree in a record.
    #[must_use]
    pub const fn state(self) -> State {
        match self {
            Self::Completed => State::Succeeded,
            Self::AnswerMissing
            | Self::AnswerNotStored
            | Self::AnswerCutOff
            | Self::ModelError
            | Self::ModelMismatch
            | Self::ModelUnavailable
            | Self::ThinkingMismatch
            | Self::ToolsMismatch
            | Self::PromptRefused
            | Self::ChildAborted
            | Self::ChildExited
            | Self::ChildSignalled
            | Self::ChildProtocol
            | Self::StartFailed
            | Self::WorkspaceGone
            | Self::WorkspaceReplaced => State::Failed,
            Self::Cancelled => State::Cancelled,
            Self::Paused => State::Paused,
            Self::TimeoutFirstEvent | Self::TimeoutIdle | Self::TimeoutToolCall | Self::TimeoutTotal => State::TimedOut,
            Self::ShimLost | Self::ShimTerminated => State::Interrupted,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_codes_come_back_and_match_serde() {
        for state in State::ALL {
            assert_eq!(State::from_word(state.word()), Some(state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.word());
        }
        for reason in Reason::ALL {
            assert_eq!(Reason::from_code(reason.code()), Some(reason));
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.code());
            assert_eq!(reason.state().is_end(), reason != Reason::Paused, "{reason}");
        }
    }

    #[test]
    fn no_end_is_left_but_by_resume() {
        for from in State::ALL.into_iter().filter(|state| state.is_end()) {
            for to in State::ALL {
                assert!(!from.may_become(to), "{from} → {to}");
            }
            assert!(from.may_resume());
        }
    }

    #[test]
    fn only_settled_children_with_a_conversation_are_resumed() {
        for state in State::ALL {
            assert_eq!(resume_refusal(state, true).is_none(), state.may_resume(), "{state}");
            assert_eq!(resume_refusal(state, false).is_none(), state == State::Paused, "{state}");
        }
    }

    #[test]
    fn a_child_does_not_succeed_without_having_started() {
        assert!(!State::Queued.may_become(State::Succeeded));
        assert!(!State::Queued.may_become(State::Running));
        assert!(!State::Paused.may_become(State::Running));
        assert!(State::Starting.may_become(State::Succeeded), "a short child may end before its start was seen");
    }

    #[test]
    fn a_run_shows_its_liveliest_child_then_its_worst_end() {
        use State::{Cancelled, Failed, Paused, Queued, Running, Succeeded};
        assert_eq!(run_state([Succeeded, Running, Queued]), Running);
        assert_eq!(run_state([Succeeded, Queued]), Queued);
        assert_eq!(run_state([Succeeded, Paused, Failed]), Paused);
        assert_eq!(run_state([Succeeded, Cancelled, Failed]), Failed);
        assert_eq!(run_state([Succeeded, Succeeded]), Succeeded);
        assert_eq!(run_state([]), Failed);
    }
}
