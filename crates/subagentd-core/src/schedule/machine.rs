//! The machine itself. A step costs O(log n) and what its effects cost: the children that could start are kept apart
//! in order (`ready`), those that only lack their time by that time (`later`), and each scope knows its next one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::id::ChildId;
use crate::workspace::RootIdentity;

use super::scope::Scopes;
use super::{Effect, Event, Position, Request, Waits, WaitsOn};

/// Order of waiting children. The child decides between equal positions: a clash must not lose one of the two.
pub(super) type Place = (Position, ChildId);

/// Slots, scopes and the queue before them.
#[derive(Debug)]
pub struct Schedule {
    max_children: usize,
    open: bool,
    now_ms: u64,
    live: HashMap<ChildId, Request>,
    /// Children that hold their scope and no slot.
    detained: HashMap<ChildId, Request>,
    places: HashMap<ChildId, Place>,
    queue: BTreeMap<Place, Request>,
    scopes: Scopes,
    /// Waiting children that need nothing but a slot.
    ready: BTreeSet<Place>,
    /// Waiting children that need nothing but a slot once their time has come.
    later: BTreeSet<(u64, Place)>,
}

impl Schedule {
    /// An empty schedule with admission open. With a limit of 0 nothing is ever admitted.
    #[must_use]
    pub fn new(max_children: usize) -> Self {
        Self {
            max_children,
            open: true,
            now_ms: 0,
            live: HashMap::new(),
            detained: HashMap::new(),
            places: HashMap::new(),
            queue: BTreeMap::new(),
            scopes: Scopes::default(),
            ready: BTreeSet::new(),
            later: BTreeSet::new(),
        }
    }

    /// Takes one event and says what has to be done, in order. `now_ms` may go back: a child whose time had come when
    /// a step looked stays ready.
    pub fn step(&mut self, event: Event, now_ms: u64) -> Vec<Effect> {
        self.now_ms = now_ms;
        self.take(event);
        self.release_due();
        let mut effects = self.admit();
        effects.extend(self.later.first().map(|(at_ms, _)| Effect::WakeAt { at_ms: *at_ms }));
        effects
    }

    /// Why a child waits as of the last step; `None` if it does not wait. O(n) in the children before it: for whole
    /// lists take [`Schedule::waiting`].
    #[must_use]
    pub fn waits(&self, child: ChildId) -> Option<Waits> {
        let place = self.places.get(&child)?;
        let rank = self.queue.range(..=*place).count();
        self.queue.get(place).map(|request| self.explain(*place, request, rank))
    }

    /// All that wait, in order, with the reason of each. O(n log n) for all together.
    pub fn waiting(&self) -> impl Iterator<Item = (ChildId, Waits)> + '_ {
        let ranked = self.queue.iter().zip(1..);
        ranked.map(|((place, request), rank)| (request.child, self.explain(*place, request, rank)))
    }

    /// How many children wait.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// How many children hold a slot.
    #[must_use]
    pub fn live(&self) -> usize {
        self.live.len()
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Submitted(request) => {
                if !self.knows(request.child) {
                    self.enqueue(request);
                }
            }
            Event::Restored { request, since_ms } => {
                if !self.knows(request.child) {
                    self.start(request, since_ms);
                }
            }
            Event::Ended { child } => {
                self.stop(child);
                self.let_go(child);
            }
            Event::Detained { child } => {
                if let Some(request) = self.live.remove(&child)
                    && request.scope.is_some()
                {
                    self.detained.insert(child, request);
                }
            }
            Event::Requeued { child, not_before_ms } => {
                if let Some(request) = self.stop(child) {
                    self.enqueue(Request { not_before_ms, ..request });
                }
            }
            Event::Withdrawn { child } => {
                if let Some(place) = self.places.get(&child).copied() {
                    self.dequeue(place);
                }
            }
            Event::AdmissionClosed => self.open = false,
            Event::AdmissionOpened => self.open = true,
            Event::Tick => {}
        }
    }

    fn knows(&self, child: ChildId) -> bool {
        self.live.contains_key(&child) || self.detained.contains_key(&child) || self.places.contains_key(&child)
    }

    fn enqueue(&mut self, request: Request) {
        let place = (request.position, request.child);
        let scope = request.scope;
        self.places.insert(request.child, place);
        self.queue.insert(place, request);
        match scope {
            Some(scope) => {
                self.scopes.line(scope).join(place);
                self.review(scope);
            }
            None => self.prepare(place),
        }
    }

    fn dequeue(&mut self, place: Place) -> Option<Request> {
        self.set_aside(place);
        let request = self.queue.remove(&place)?;
        self.places.remove(&request.child);
        if let Some(scope) = request.scope {
            self.scopes.line(scope).leave(place);
            self.review(scope);
        }
        Some(request)
    }

    fn start(&mut self, request: Request, since_ms: u64) {
        if let Some(scope) = request.scope {
            self.scopes.line(scope).hold(request.child, since_ms);
            self.review(scope);
        }
        self.live.insert(request.child, request);
    }

    fn stop(&mut self, child: ChildId) -> Option<Request> {
        let request = self.live.remove(&child)?;
        self.release(&request);
        Some(request)
    }

    fn let_go(&mut self, child: ChildId) {
        if let Some(request) = self.detained.remove(&child) {
            self.release(&request);
        }
    }

    fn release(&mut self, request: &Request) {
        if let Some(scope) = request.scope {
            self.scopes.line(scope).release(request.child);
            self.review(scope);
        }
    }

    /// Looks anew at whose turn it is in a scope, after anything about it has changed.
    fn review(&mut self, scope: RootIdentity) {
        let line = self.scopes.line(scope);
        let next = line.next();
        let before = std::mem::replace(&mut line.candidate, next);
        if before != next {
            if let Some(place) = before {
                self.set_aside(place);
            }
            if let Some(place) = next {
                self.prepare(place);
            }
        }
        self.scopes.tidy(scope);
    }

    /// Puts a child that nobody stands before where it will be admitted from.
    fn prepare(&mut self, place: Place) {
        match self.not_before(place) {
            Some(at_ms) if at_ms > self.now_ms => self.later.insert((at_ms, place)),
            _ => self.ready.insert(place),
        };
    }

    fn set_aside(&mut self, place: Place) {
        self.ready.remove(&place);
        if let Some(at_ms) = self.not_before(place) {
            self.later.remove(&(at_ms, place));
        }
    }

    fn not_before(&self, place: Place) -> Option<u64> {
        self.queue.get(&place)?.not_before_ms
    }

    fn release_due(&mut self) {
        while let Some((at_ms, place)) = self.later.first().copied()
            && at_ms <= self.now_ms
        {
            self.later.remove(&(at_ms, place));
            self.ready.insert(place);
        }
    }

    fn admit(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while self.open
            && self.live.len() < self.max_children
            && let Some(place) = self.ready.first().copied()
            && let Some(request) = self.dequeue(place)
        {
            effects.push(Effect::Admit { child: request.child });
            self.start(request, self.now_ms);
        }
        effects
    }

    fn explain(&self, place: Place, request: &Request, rank: usize) -> Waits {
        let line = request.scope.and_then(|scope| self.scopes.look(scope));
        let behind = line.is_some_and(|line| line.candidate != Some(place));
        let on = if !self.open {
            WaitsOn::Closed
        } else if behind {
            WaitsOn::Scope
        } else if self.ready.contains(&place) {
            WaitsOn::Slot
        } else {
            WaitsOn::NotBefore
        };
        let holder = line.filter(|_| behind).and_then(|line| line.holder());
        Waits {
            on,
            place: u32::try_from(rank).unwrap_or(u32::MAX),
            holder: holder.map(|(child, _)| child),
            holder_since_ms: holder.map(|(_, since_ms)| since_ms),
        }
    }

    /// Scopes that are remembered.
    #[cfg(test)]
    pub(super) fn scopes(&self) -> usize {
        self.scopes.len()
    }
}
