//! The same rules written as plainly as possible: one list, scanned from the front. Only tests use it.

use crate::id::ChildId;

use super::{Effect, Event, Request, Waits, WaitsOn};

pub(super) struct Live {
    pub(super) request: Request,
    since_ms: u64,
    /// It has ended, and only its scope is still held.
    pub(super) detained: bool,
}

pub(super) struct Model {
    max_children: usize,
    open: bool,
    now_ms: u64,
    pub(super) waiting: Vec<Request>,
    pub(super) live: Vec<Live>,
}

impl Model {
    pub(super) fn new(max_children: usize) -> Self {
        Self { max_children, open: true, now_ms: 0, waiting: Vec::new(), live: Vec::new() }
    }

    pub(super) fn step(&mut self, event: Event, now_ms: u64) -> Vec<Effect> {
        self.now_ms = now_ms;
        match event {
            Event::Submitted(request) if !self.knows(request.child) => self.waiting.push(request),
            Event::Restored { request, since_ms } if !self.knows(request.child) => {
                self.live.push(Live { request, since_ms, detained: false });
            }
            Event::Submitted(_) | Event::Restored { .. } | Event::Tick => {}
            Event::Ended { child } => self.live.retain(|live| live.request.child != child),
            Event::Detained { child } => {
                self.live.retain(|live| live.request.child != child || live.detained || live.request.scope.is_some());
                let named = self.live.iter_mut().find(|live| live.request.child == child);
                named.into_iter().for_each(|live| live.detained = true);
            }
            Event::Requeued { child, not_before_ms } => {
                if let Some(at) = self.live.iter().position(|live| live.request.child == child && !live.detained) {
                    let request = self.live.remove(at).request;
                    self.waiting.push(Request { not_before_ms, ..request });
                }
            }
            Event::Withdrawn { child } => self.waiting.retain(|request| request.child != child),
            Event::AdmissionClosed => self.open = false,
            Event::AdmissionOpened => self.open = true,
        }
        self.waiting.sort_by_key(|request| (request.position, request.child));
        let mut effects = Vec::new();
        while self.open && self.slots() < self.max_children {
            let Some(at) = (0..self.waiting.len()).find(|at| self.may_start(*at)) else {
                break;
            };
            let request = self.waiting.remove(at);
            effects.push(Effect::Admit { child: request.child });
            self.live.push(Live { request, since_ms: now_ms, detained: false });
        }
        let lacks_time = |at: &usize| !self.blocked(*at) && !self.due(*at);
        let times = (0..self.waiting.len()).filter(lacks_time);
        let first = times.filter_map(|at| self.waiting[at].not_before_ms).min();
        effects.extend(first.map(|at_ms| Effect::WakeAt { at_ms }));
        effects
    }

    pub(super) fn waits(&self, child: ChildId) -> Option<Waits> {
        let at = self.waiting.iter().position(|request| request.child == child)?;
        let blocked = self.blocked(at);
        let scope = self.waiting[at].scope.filter(|_| blocked);
        let holders = self.live.iter().filter(|live| scope.is_some() && live.request.scope == scope);
        let holder = holders.min_by_key(|live| (live.since_ms, live.request.child));
        Some(Waits {
            on: match (self.open, blocked, self.due(at)) {
                (false, ..) => WaitsOn::Closed,
                (_, true, _) => WaitsOn::Scope,
                (.., false) => WaitsOn::NotBefore,
                _ => WaitsOn::Slot,
            },
            place: u32::try_from(at + 1).unwrap(),
            holder: holder.map(|live| live.request.child),
            holder_since_ms: holder.map(|live| live.since_ms),
        })
    }

    pub(super) fn slots(&self) -> usize {
        self.live.iter().filter(|live| !live.detained).count()
    }

    fn knows(&self, child: ChildId) -> bool {
        self.live.iter().any(|live| live.request.child == child)
            || self.waiting.iter().any(|request| request.child == child)
    }

    fn may_start(&self, at: usize) -> bool {
        !self.blocked(at) && self.due(at)
    }

    fn due(&self, at: usize) -> bool {
        self.waiting[at].not_before_ms.is_none_or(|time| time <= self.now_ms)
    }

    fn blocked(&self, at: usize) -> bool {
        let scope = self.waiting[at].scope;
        let earlier = &self.waiting[..at];
        scope.is_some()
            && (self.live.iter().any(|live| live.request.scope == scope)
                || earlier.iter().any(|request| request.scope == scope))
    }
}
