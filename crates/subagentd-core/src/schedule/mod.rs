//! Who may start, and who waits for whom (design 6): a pure machine of events in and effects out.
//!
//! Two things are handed out: slots, of which there is one number for all children, and scopes, of which an exclusive
//! child holds one alone. A waiting child holds neither. An exclusive child waits behind every earlier waiting
//! exclusive child of its scope and behind nothing else, so a scope is first come, first served; a shared child waits
//! for a slot only. Among those that could start, the earliest position goes first.
//!
//! The machine has no bound of its own on waiting children: the caller refuses a launch when [`Schedule::queued`] has
//! reached its bound, before it stores the launch, because a stored child must not be turned away here.

mod machine;
mod scope;

#[cfg(test)]
mod model;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use machine::Schedule;

use crate::id::ChildId;
use crate::workspace::RootIdentity;

/// Where a child stands in the order of all launches. It keeps its position for life, also when it is queued again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Number of its run in the order of acceptance.
    pub run: u64,
    /// Its place in the run.
    pub index: u32,
}

/// What a child needs in order to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The child.
    pub child: ChildId,
    /// Its place in the order.
    pub position: Position,
    /// Who launched it.
    pub owner: String,
    /// The scope it must have for itself; `None` for a shared child.
    pub scope: Option<RootIdentity>,
    /// It is not started before this time.
    pub not_before_ms: Option<u64>,
}

/// What happened. An event about a child that is unknown, or that does not stand where the event needs it, changes
/// nothing about that child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A child was accepted and waits.
    Submitted(Request),
    /// A child that an earlier daemon started is alive: it has slot and scope at once, whatever the limit says.
    Restored {
        /// What it holds.
        request: Request,
        /// Since when.
        since_ms: u64,
    },
    /// A live child reached an end: its slot and its scope are free.
    Ended {
        /// The child.
        child: ChildId,
    },
    /// A live child reached an end and left processes behind: its slot is free, its scope is not until it is named by
    /// [`Event::Ended`].
    Detained {
        /// The child.
        child: ChildId,
    },
    /// A live child did not come to run after all and waits again, at its old position.
    Requeued {
        /// The child.
        child: ChildId,
        /// It is not started again before this time.
        not_before_ms: Option<u64>,
    },
    /// A waiting child is taken out.
    Withdrawn {
        /// The child.
        child: ChildId,
    },
    /// Nothing is admitted from now on.
    AdmissionClosed,
    /// Children are admitted again.
    AdmissionOpened,
    /// Time has passed.
    Tick,
}

/// What has to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Start this child: it holds its slot and its scope from now on.
    Admit {
        /// The child.
        child: ChildId,
    },
    /// Send [`Event::Tick`] at this time. Each step names the next such time again, so a newer one replaces an older
    /// one, and a timer that fires early is set anew. A tick too many does no harm.
    WakeAt {
        /// The time.
        at_ms: u64,
    },
}

/// Why a child waits, and behind whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// What it waits for.
    pub on: WaitsOn,
    /// Its place among all that wait, from 1, in the order of positions.
    pub place: u32,
    /// Who holds its scope. Nobody does when it waits behind another waiting child.
    pub holder: Option<ChildId>,
    /// Since when.
    pub holder_since_ms: Option<u64>,
}

/// What a child waits for. If it is several things at once, the first of this list is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WaitsOn {
    /// Admission is closed for all.
    Closed,
    /// Another exclusive child of its scope is alive, or waits before it.
    Scope,
    /// Its own time has not come.
    NotBefore,
    /// Its time, because a writer of another daemon holds its scope. The schedule cannot know that: whoever put the child
    /// back into the queue says so in the place of [`Self::NotBefore`].
    Elsewhere,
    /// All slots are taken.
    Slot,
}

impl WaitsOn {
    /// The word on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Scope => "scope",
            Self::NotBefore => "not-before",
            Self::Elsewhere => "elsewhere",
            Self::Slot => "slot",
        }
    }
}
