//! The exit codes (decision N6), in one table that the help text and the tests read.

use std::process::ExitCode;

use subagentd_proto::error::Kind;
use subagentd_proto::run::State;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Succeeded,
    Failed,
    Usage,
    Refused,
    NotFound,
    TimedOut,
    BudgetExhausted,
    Interrupted,
    Cancelled,
    Unreachable,
    AlreadyRunning,
    StillRunning,
    ByUser,
}

impl Exit {
    pub(crate) const ALL: [Self; 13] = [
        Self::Succeeded,
        Self::Failed,
        Self::Usage,
        Self::Refused,
        Self::NotFound,
        Self::TimedOut,
        Self::BudgetExhausted,
        Self::Interrupted,
        Self::Cancelled,
        Self::Unreachable,
        Self::AlreadyRunning,
        Self::StillRunning,
        Self::ByUser,
    ];

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Succeeded => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::NotFound => 4,
            Self::TimedOut => 5,
            Self::BudgetExhausted => 6,
            Self::Interrupted => 7,
            Self::Cancelled => 8,
            Self::Unreachable => 9,
            Self::AlreadyRunning => 10,
            Self::StillRunning => 11,
            Self::ByUser => 130,
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded, or the command did what it says",
            Self::Failed => "the run failed or was rejected; any other error",
            Self::Usage => "the command line is wrong",
            Self::Refused => "refused: nothing was started or changed",
            Self::NotFound => "no such run, child, result or notice, or the ending is not unique",
            Self::TimedOut => "the run reached a time limit",
            Self::BudgetExhausted => "the run reached its turn or tool-call limit",
            Self::Interrupted => "the run was interrupted: its machine or watcher went away",
            Self::Cancelled => "the run was cancelled",
            Self::Unreachable => "the daemon cannot be reached, or speaks another protocol",
            Self::AlreadyRunning => "another daemon serves this state (the daemon itself only)",
            Self::StillRunning => "the wait ended, the run goes on or is paused",
            Self::ByUser => "stopped waiting by Ctrl-C; the run goes on",
        }
    }

    /// What the end of a run means for a command that waited for it.
    pub(crate) const fn of_state(state: State) -> Self {
        match state {
            State::Succeeded => Self::Succeeded,
            State::Failed | State::Rejected => Self::Failed,
            State::TimedOut => Self::TimedOut,
            State::BudgetExhausted => Self::BudgetExhausted,
            State::Interrupted => Self::Interrupted,
            State::Cancelled => Self::Cancelled,
            State::Queued | State::Starting | State::Running | State::Paused => Self::StillRunning,
            // A newer daemon's word for an end: anything but a success this program can vouch for.
            State::Unknown => Self::Failed,
        }
    }

    /// What a refusal of the daemon means.
    pub(crate) const fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::InvalidParams => Self::Usage,
            Kind::UnknownAgent
            | Kind::AgentDisabled
            | Kind::AgentBroken
            | Kind::ModelNotExact
            | Kind::ModelUnavailable
            | Kind::ThinkingUnavailable
            | Kind::ThinkingOffProhibited
            | Kind::ContextUnavailable
            | Kind::AboveCeiling
            | Kind::SettingsBroken
            | Kind::RuntimeUnavailable
            | Kind::WorkspaceUnusable
            | Kind::Refused
            | Kind::KeyConflict
            | Kind::WrongState
            | Kind::Overloaded
            | Kind::Draining
            | Kind::Limit
            | Kind::RequestSize
            | Kind::Storage
            | Kind::InsideRun => Self::Refused,
            Kind::NotFound | Kind::Ambiguous | Kind::NoResult | Kind::ResultGone => Self::NotFound,
            // A daemon of another version: it answers, but not this program.
            Kind::Protocol | Kind::MethodNotFound | Kind::NotHello => Self::Unreachable,
            Kind::Parse | Kind::InvalidRequest | Kind::Internal | Kind::Batch | Kind::Subscriptions | Kind::Unknown => {
                Self::Failed
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The table of exit codes, as `--help` ends with it.
pub(crate) fn table() -> String {
    let mut text = String::from("Exit codes:\n");
    for exit in Exit::ALL {
        text.push_str(&format!("  {:>3}  {}\n", exit.code(), exit.meaning()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_those_of_the_decision() {
        let codes: Vec<u8> = Exit::ALL.into_iter().map(Exit::code).collect();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 130]);
    }

    #[test]
    fn every_state_has_its_code() {
        let table = [
            (State::Succeeded, 0),
            (State::Failed, 1),
            (State::Rejected, 1),
            (State::TimedOut, 5),
            (State::BudgetExhausted, 6),
            (State::Interrupted, 7),
            (State::Cancelled, 8),
            (State::Queued, 11),
            (State::Starting, 11),
            (State::Running, 11),
            (State::Paused, 11),
            (State::Unknown, 1),
        ];
        for (state, code) in table {
            assert_eq!(Exit::of_state(state).code(), code, "{state:?}");
        }
    }

    #[test]
    fn refusals_have_their_code() {
        let table = [
            (Kind::InvalidParams, 2),
            (Kind::UnknownAgent, 3),
            (Kind::ModelNotExact, 3),
            (Kind::WorkspaceUnusable, 3),
            (Kind::KeyConflict, 3),
            (Kind::Overloaded, 3),
            (Kind::Draining, 3),
            (Kind::Storage, 3),
            (Kind::InsideRun, 3),
            (Kind::NotFound, 4),
            (Kind::Ambiguous, 4),
            (Kind::NoResult, 4),
            (Kind::Protocol, 9),
            (Kind::Internal, 1),
            (Kind::Unknown, 1),
        ];
        for (kind, code) in table {
            assert_eq!(Exit::of_kind(kind).code(), code, "{kind:?}");
        }
    }

    #[test]
    fn the_help_names_every_code_within_80_columns() {
        let table = table();
        for exit in Exit::ALL {
            assert!(table.contains(&format!("{:>3}  {}", exit.code(), exit.meaning())), "{table}");
        }
        for line in table.lines() {
            assert!(line.len() <= 80, "{} columns: {line}", line.len());
        }
    }
}
