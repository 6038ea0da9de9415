//! Where a run stands.

use serde::{Deserialize, Serialize};

/// Where a run or child stands. Daemons may add words: clients need a default branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits for a slot or for its scope.
    Queued,
    /// Its shim is being started.
    Starting,
    /// At work.
    Running,
    /// Settled and resumable.
    Paused,
    /// Ended well.
    Succeeded,
    /// Ended without a usable answer.
    Failed,
    /// Ended by a client.
    Cancelled,
    /// Ended by a time limit.
    TimedOut,
    /// Ended by a turn or tool-call limit.
    BudgetExhausted,
    /// Its shim or the machine went away.
    Interrupted,
    /// Not accepted by the review gate.
    Rejected,
    /// A word this client does not know.
    #[serde(other)]
    Unknown,
}

impl State {
    /// Whether nothing more will happen by itself.
    #[must_use]
    pub const fn is_end(self) -> bool {
        match self {
            Self::Queued | Self::Starting | Self::Running | Self::Paused | Self::Unknown => false,
            Self::Succeeded
            | Self::Failed
            | Self::Cancelled
            | Self::TimedOut
            | Self::BudgetExhausted
            | Self::Interrupted
            | Self::Rejected => true,
        }
    }
}
