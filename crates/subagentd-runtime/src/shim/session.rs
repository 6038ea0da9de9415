//! One child from its start to the end of its tree: the poll loop.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Signal, WaitOptions, WaitStatus};
use subagentd_core::life::Reason;
use subagentd_core::outcome::{Answer, Exit};

use super::child::Child;
use super::control::Control;
use super::ending::{Ending, Means};
use super::limits::Limits;
use super::setup::Setup;
use super::sinks::{Sinks, ToolStart};
use super::start::Again;
use crate::driver::{Dialect, Event, Settlement};
use crate::format::{End, Phase, Progress, Word};
use crate::process;

/// Bytes taken from a pipe at once.
pub(super) const CHUNK: usize = 64 * 1024;
/// Passes of killing in one turn of the loop.
const KILL_PASSES: u32 = 64;
/// After the child is gone, how long its pipes may still bring something. The end is never the end of a pipe.
const DRAIN: Duration = Duration::from_millis(200);

/// Between two looks at whether the workspace is still there. Nothing announces that reliably while the child is in it.
pub(super) const WORKSPACE_LOOK: Duration = Duration::from_secs(1);
/// Open tool calls that progress can name.
const OPEN_TOOLS: usize = 64;
/// Between two words of progress.
const PROGRESS: Duration = Duration::from_millis(250);

pub(super) struct Session<'a> {
    pub(super) setup: &'a Setup,
    pub(super) child: Child,
    pub(super) driver: Box<dyn Dialect>,
    pub(super) control: Control,
    pub(super) sinks: Sinks,
    /// What a second start needs, while there can be one.
    pub(super) again: Option<Again>,
    pub(super) limits: Limits,
    pub(super) ending: Ending,
    pub(super) phase: Phase,
    /// Why we are ending the child; the first cause stays.
    pub(super) cause: Option<Reason>,
    pub(super) settlement: Option<Settlement>,
    pub(super) answer: Option<Answer>,
    pub(super) tools_missing: Vec<String>,
    pub(super) remarks: Vec<String>,
    pub(super) started_at_ms: u64,
    /// When the child itself was reaped.
    pub(super) gone_at: Option<Instant>,
    /// Whether `waitpid` said that nobody is left.
    pub(super) alone: bool,
    /// Reused for every read.
    pub(super) buffer: Vec<u8>,
    /// When the workspace is looked at next.
    pub(super) workspace_at: Instant,
    /// Why the child could not go on where it worked.
    pub(super) workspace_fault: Option<String>,
    /// Open tool calls, oldest first.
    pub(super) tools: Vec<OpenTool>,
    pub(super) last_event_at_ms: Option<u64>,
    /// Something happened since progress was last told.
    pub(super) progressed: bool,
    pub(super) told_at: Instant,
}

/// A tool call under way.
pub(super) struct OpenTool {
    id: String,
    parent: Option<String>,
    name: String,
}

impl Session<'_> {
    pub(super) fn until_the_end(mut self) -> End {
        loop {
            while !self.is_over(Instant::now()) {
                self.wait();
                self.turn();
            }
            if !self.starts_again() {
                break;
            }
        }
        self.sinks.flush();
        End::Ended(Box::new(self.outcome()))
    }

    /// The child and its tree are gone, and its pipes have ended or had their time.
    fn is_over(&self, now: Instant) -> bool {
        if self.ending.is_hopeless(now) {
            return true;
        }
        let Some(gone_at) = self.gone_at else { return false };
        let drained = self.child.output.is_none() && self.child.errors.is_none() && !self.perhaps_logout();
        self.alone && (drained || now >= gone_at + DRAIN)
    }

    /// A child that died of a TERM we did not send: at logout ours comes a moment later.
    fn perhaps_logout(&self) -> bool {
        let terminated = matches!(self.child.exit, Some(Exit::Signal(15) | Exit::Code(143)));
        terminated && self.cause.is_none() && self.settlement.is_none()
    }

    fn turn(&mut self) {
        self.take_signals();
        // Errors first: what stands there before the first record says something about it.
        self.read_errors();
        self.read_output();
        self.take_orders();
        self.keep_limits();
        if self.gone_at.is_some() && !self.alone {
            let means = self.ending.orphaned(Instant::now());
            self.apply(means);
        }
        let means = self.ending.due(Instant::now());
        self.apply(means);
        self.look_at_start();
        self.write_input();
        self.tell_progress(Instant::now());
        self.sinks.flush();
    }

    /// Tells how far the child is, not more often than anybody can read.
    fn tell_progress(&mut self, now: Instant) {
        if !self.progressed || now < self.told_at + PROGRESS {
            return;
        }
        self.progressed = false;
        self.told_at = now;
        let totals = self.driver.totals();
        let usage = totals.usage;
        self.control.say(&Word::Progress(Progress {
            tool_calls: totals.tool_calls,
            turns: totals.turns,
            tokens: usage.input + usage.output + usage.cache_read + usage.cache_write,
            tool: self.tools.first().map(|tool| tool.name.clone()),
            last_event_at_ms: self.last_event_at_ms,
        }));
    }

    fn wait(&self) {
        let mut descriptors = vec![PollFd::new(&self.setup.signals, PollFlags::IN)];
        for pipe in [&self.child.output, &self.child.errors].into_iter().flatten() {
            descriptors.push(PollFd::new(pipe, PollFlags::IN));
        }
        if let Some(input) = &self.child.input
            && !self.driver.output().is_empty()
        {
            descriptors.push(PollFd::new(input, PollFlags::OUT));
        }
        for (descriptor, writes) in self.control.descriptors() {
            let flags = if writes { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            descriptors.push(PollFd::from_borrowed_fd(descriptor, flags));
        }
        // An interrupted or failed poll only means an early turn.
        rustix::event::poll(&mut descriptors, self.time_left().as_ref()).ok();
    }

    fn time_left(&self) -> Option<Timespec> {
        let limit = self.cause.is_none().then(|| self.limits.next()).flatten().map(|(at, _)| at);
        let limit = [limit, Some(self.workspace_at).filter(|_| self.cause.is_none())].into_iter().flatten().min();
        let limit = limit.filter(|_| self.settlement.is_none() && self.gone_at.is_none());
        let drain = self.gone_at.map(|at| at + DRAIN);
        let progress = self.progressed.then(|| self.told_at + PROGRESS);
        let next = [limit, self.ending.next(), drain.filter(|_| self.alone), progress].into_iter().flatten().min()?;
        // A millisecond more: a deadline must have passed when we look.
        let left = next.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
        Timespec::try_from(left).ok()
    }

    fn take_signals(&mut self) {
        while let Ok(Some(signal)) = self.setup.signals.read_signal() {
            match i32::try_from(signal.ssi_signo).ok().and_then(Signal::from_named_raw) {
                Some(Signal::CHILD) => {}
                _ => self.end(Reason::ShimTerminated),
            }
        }
        // Signals of the same kind are merged: look every time.
        self.reap();
    }

    fn reap(&mut self) {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.child.pid && self.child.exit.is_none() => {
                    self.child.exit = exit_of(status);
                    self.gone_at = Some(Instant::now());
                    self.child.input = None;
                }
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.alone = false;
                    break;
                }
                Err(rustix::io::Errno::INTR) => {}
                // No children: that, and nothing weaker, is "no process left".
                Err(_) => {
                    self.alone = true;
                    self.gone_at = self.gone_at.or_else(|| Some(Instant::now()));
                    break;
                }
            }
        }
    }

    /// A child whose workspace is gone is ended: it works in nothing (W14).
    fn look_at_workspace(&mut self, now: Instant) {
        if now < self.workspace_at || self.cause.is_some() {
            return;
        }
        self.workspace_at = now + WORKSPACE_LOOK;
        if let Some(fault) = self.setup.workspace_fault() {
            self.workspace_fault = Some(fault);
            self.end(Reason::WorkspaceGone);
        }
    }

    fn keep_limits(&mut self) {
        if self.settlement.is_some() || self.gone_at.is_some() {
            return;
        }
        self.look_at_workspace(Instant::now());
        if let Some((at, reason)) = self.limits.next()
            && at <= Instant::now()
        {
            self.end(reason);
        }
    }

    pub(super) fn apply(&mut self, means: Option<Means>) {
        match means {
            None => {}
            Some(Means::CloseInput) => self.child.input = None,
            Some(Means::Terminate) => self.signal_children(Signal::TERM),
            Some(Means::Kill) => self.signal_children(Signal::KILL),
        }
    }

    /// Signals direct children only: their ids cannot change hands before we reap them.
    fn signal_children(&mut self, signal: Signal) {
        if self.settlement.is_some() && self.gone_at.is_none() {
            self.remark("child.lingered");
        } else if self.gone_at.is_some() {
            self.remark("tree.left-behind");
        }
        // Killing is repeated at once: what the killed had started is ours now, and a chain of processes that each start
        // the next and go is only caught by being quick.
        let passes = if signal == Signal::KILL { KILL_PASSES } else { 1 };
        let mut before = Vec::new();
        for _ in 0..passes {
            match process::direct_children() {
                Ok(children) if children == before => break,
                Ok(children) => {
                    for child in &children {
                        // One that is gone by now needs no signal.
                        rustix::process::kill_process(*child, signal).ok();
                    }
                    before = children;
                }
                Err(error) => {
                    super::log(format_args!("the children cannot be listed: {error}"));
                    break;
                }
            }
            self.reap();
        }
    }

    pub(super) fn remark(&mut self, code: &str) {
        if !self.remarks.iter().any(|known| known == code) {
            self.remarks.push(code.to_owned());
        }
    }

    pub(super) fn enter(&mut self, phase: Phase) {
        if self.phase < phase {
            self.phase = phase;
            self.control.say(&Word::Phase { phase, at_ms: super::now_ms() });
        }
    }

    pub(super) fn take_events(&mut self) {
        let now = Instant::now();
        while let Some(event) = self.driver.next_event() {
            if event.is_sign_of_life() {
                self.limits.event(now);
                self.last_event_at_ms = Some(super::now_ms());
                self.progressed = true;
            }
            self.take_event(event, now);
        }
    }

    fn take_event(&mut self, event: Event, now: Instant) {
        if !matches!(event, Event::Record { .. }) && self.gives_up() {
            return;
        }
        match event {
            Event::Verified { tools_missing, .. } | Event::ToolsCame { tools_missing } => {
                self.tools_missing = tools_missing;
            }
            Event::Prompted => {
                if self.sinks.saw_watched() {
                    self.remark("start.contended");
                }
                self.enter(Phase::Running);
            }
            Event::Steered { intent, receipt } => self.control.say(&Word::Steered { intent, receipt }),
            Event::Activity | Event::Message { .. } | Event::Noise { .. } | Event::EndOfOutput => {}
            Event::ToolStarted { seq, id, parent, name, args, clipped } => {
                self.limits.tool_started(&id, parent.as_deref(), now);
                if self.tools.len() < OPEN_TOOLS {
                    self.tools.push(OpenTool { id: id.clone(), parent: parent.clone(), name: name.clone() });
                }
                self.sinks
                    .tool_started(id, ToolStart { seq, parent, name, args, clipped, started_ms: super::now_ms() });
            }
            Event::ToolEnded { id, exit_code, is_error, .. } => {
                self.limits.tool_ended(&id);
                self.tools.retain(|open| open.id != id && open.parent.as_ref() != Some(&id));
                self.sinks.tool_ended(&id, exit_code, is_error);
            }
            Event::Record { kind, raw } => self.sinks.record(&kind, &raw),
            Event::Settled(settlement) => self.settle(settlement),
        }
    }
}

fn exit_of(status: WaitStatus) -> Option<Exit> {
    status.exit_status().map(Exit::Code).or_else(|| status.terminating_signal().map(Exit::Signal))
}
