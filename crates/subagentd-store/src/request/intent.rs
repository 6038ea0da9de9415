//! Cancels, pauses and steers.

use std::fmt;

use subagentd_core::id::ChildId;
use subagentd_core::life::State;
use subagentd_core::outcome::{Delivery, Receipt as Receipted};

use crate::words::{foreign_words, words};

/// The kinds of [`Intent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntentKind {
    /// [`Intent::Cancel`].
    Cancel,
    /// [`Intent::Pause`].
    Pause,
    /// [`Intent::Steer`].
    Steer,
}

words!(IntentKind {
    Cancel = "cancel",
    Pause = "pause",
    Steer = "steer",
});

foreign_words!(Delivery as delivery {
    Steer = "steer",
    FollowUp = "follow-up",
});

foreign_words!(Receipted as receipt {
    Accepted = "accepted",
    Delivered = "delivered",
    Undelivered = "undelivered",
});

/// What a client wants of a child after its launch.
#[derive(Clone, PartialEq, Eq)]
pub enum Intent {
    /// Its end.
    Cancel,
    /// That it settles where it is and can be resumed.
    Pause,
    /// That it hears something.
    Steer {
        /// What, at most 64 KiB; the caller sees to that.
        text: String,
        /// When.
        delivery: Delivery,
    },
}

impl Intent {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> IntentKind {
        match self {
            Self::Cancel => IntentKind::Cancel,
            Self::Pause => IntentKind::Pause,
            Self::Steer { .. } => IntentKind::Steer,
        }
    }
}

impl fmt::Debug for Intent {
    // The text is the client's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancel => f.write_str("Cancel"),
            Self::Pause => f.write_str("Pause"),
            Self::Steer { text, delivery } => write!(f, "Steer({} bytes, {delivery:?})", text.len()),
        }
    }
}

/// An intent, stored before it is sent.
#[derive(Debug, Clone)]
pub struct NewIntent {
    /// For whom.
    pub child: ChildId,
    /// What.
    pub intent: Intent,
    /// When.
    pub at_ms: u64,
}

/// Whether an intent was stored. In every case but the first nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intended {
    /// It is stored, now or, for a cancel or a pause, before.
    Stored {
        /// Its number among the child's.
        number: u32,
    },
    /// The child had ended.
    Ended {
        /// How.
        state: State,
    },
    /// A pause or steer of a child with a stored cancel: it will end as cancelled.
    Cancelling {
        /// Where it stands meanwhile.
        state: State,
    },
    /// A pause of a child that is paused.
    Paused,
    /// A steer of a child that has not got [`crate::MOST_STEERS`] earlier ones.
    TooMany {
        /// Where the child stands.
        state: State,
    },
}

/// How far a steer came.
#[derive(Debug, Clone, Copy)]
pub struct SteerReceipt {
    /// Whose steer.
    pub child: ChildId,
    /// Its number among the child's intents.
    pub number: u32,
    /// How far.
    pub receipt: Receipted,
    /// When.
    pub at_ms: u64,
}
