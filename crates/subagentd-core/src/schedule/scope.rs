//! Scopes, and which exclusive children stand in each other's way. Everything that is known about conflicts is in
//! [`Scopes::line`]: two scopes conflict when they are the same directory.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::ChildId;
use crate::workspace::RootIdentity;

use super::machine::Place;

/// The exclusive children of all scopes that anybody holds or waits for.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    lines: BTreeMap<RootIdentity, Line>,
}

/// The exclusive children that conflict with each other.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Live ones with the time since when. More than one only if that is how they were restored.
    holders: BTreeMap<ChildId, u64>,
    /// Waiting ones, in order.
    waiting: BTreeSet<Place>,
    /// The waiting one that the machine takes for the next of this line.
    pub(super) candidate: Option<Place>,
}

impl Line {
    /// The waiting child whose turn it is: the first one, once nobody holds the scope.
    pub(super) fn next(&self) -> Option<Place> {
        if self.holders.is_empty() { self.waiting.first().copied() } else { None }
    }

    /// Who has held the scope longest, and since when.
    pub(super) fn holder(&self) -> Option<(ChildId, u64)> {
        let holder = self.holders.iter().min_by_key(|(child, since)| (**since, **child));
        holder.map(|(child, since)| (*child, *since))
    }

    pub(super) fn join(&mut self, place: Place) {
        self.waiting.insert(place);
    }

    pub(super) fn leave(&mut self, place: Place) {
        self.waiting.remove(&place);
    }

    pub(super) fn hold(&mut self, child: ChildId, since_ms: u64) {
        self.holders.insert(child, since_ms);
    }

    pub(super) fn release(&mut self, child: ChildId) {
        self.holders.remove(&child);
    }

    fn is_idle(&self) -> bool {
        self.holders.is_empty() && self.waiting.is_empty()
    }
}

impl Scopes {
    /// The line that a scope belongs to: children conflict exactly when they are in one line.
    pub(super) fn line(&mut self, scope: RootIdentity) -> &mut Line {
        self.lines.entry(scope).or_default()
    }

    /// The same for looking.
    pub(super) fn look(&self, scope: RootIdentity) -> Option<&Line> {
        self.lines.get(&scope)
    }

    /// Forgets a scope that nobody holds or waits for, so that the table does not grow with every directory ever seen.
    pub(super) fn tidy(&mut self, scope: RootIdentity) {
        if self.lines.get(&scope).is_some_and(Line::is_idle) {
            self.lines.remove(&scope);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }
}
