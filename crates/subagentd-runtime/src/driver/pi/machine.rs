//! The machine itself: what goes in, what comes out, and what is done next.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;

use subagentd_core::life::Reason;
use subagentd_core::outcome::Reported;

use super::argv;
use super::command::{Command, Commands};
use super::entry::Entry;
use super::settle::{Circumstances, Last, judge};
use super::supply;
use super::tools::Tools;
use crate::driver::event::{Event, Settlement, Totals};
use crate::driver::frame::{Framer, LINE_BYTES};
use crate::driver::steers::{Steers, Taken};
use crate::driver::{Asked, Dialect, Extension, Files, Phase, Stop, Supply};
use crate::format::{Delivery, Receipt};

/// Lines that are no records and still give an event each; of further ones only the bytes are counted
/// ([`Totals::noise_bytes`]).
pub const NOISE_EVENTS: usize = 32;

/// Drives one child of pi's dialect.
pub struct Driver {
    pub(super) asked: Asked,
    pub(super) phase: Phase,
    /// What the child is to do instead of its work.
    pub(super) stop: Option<Stop>,
    /// Whether it was told so.
    stop_sent: bool,
    /// The child has settled, and says that an abort ended it. What it was told meanwhile may start it again.
    pub(super) idle: Option<bool>,
    /// Whether the prompt is part of the conversation: until then no user's message is a steer.
    pub(super) prompt_heard: bool,
    pub(super) steers: Steers,
    /// The child summarises its conversation. Some children take no prompt then.
    pub(super) compacting: bool,
    /// Steers wait for the end of that.
    pub(super) held: bool,
    ended: bool,
    frames: Framer,
    pub(super) commands: Commands,
    pub(super) events: VecDeque<Event>,
    pub(super) reported: Reported,
    pub(super) tools: Tools,
    pub(super) last: Option<Last>,
    pub(super) tools_started: u64,
    pub(super) noise_lines: usize,
    pub(super) totals: Totals,
    pub(super) remarks: BTreeSet<&'static str>,
}

impl Driver {
    /// A driver whose first command is ready to be written.
    #[must_use]
    pub fn new(asked: Asked) -> Self {
        let mut commands = Commands::default();
        commands.send(Command::GetState);
        Self {
            asked,
            phase: Phase::Verifying,
            stop: None,
            stop_sent: false,
            idle: None,
            prompt_heard: false,
            steers: Steers::default(),
            compacting: false,
            held: false,
            ended: false,
            frames: Framer::new(LINE_BYTES),
            commands,
            events: VecDeque::new(),
            reported: Reported::default(),
            tools: Tools::default(),
            last: None,
            tools_started: 0,
            noise_lines: 0,
            totals: Totals::default(),
            remarks: BTreeSet::new(),
        }
    }

    /// Does what comes next in a working child: settle, send the next command, or wait. A settled child may have been
    /// told something that it had not read yet. It starts again then, so the settlement waits for the response to that.
    pub(super) fn go_on(&mut self) {
        if self.phase != Phase::Working || self.commands.is_steering() {
            return;
        }
        let steers_wait = self.stop.is_none() && self.steers.any_unsent();
        match self.idle {
            Some(aborted) if !steers_wait => self.conclude(aborted),
            _ if self.commands.is_awaiting() => {}
            _ if self.stop.is_some() => self.send_stop(),
            _ if !self.held => self.send_steer(),
            _ => {}
        }
    }

    /// The queue first: what stands in it would start the child again after the abort. Dialogs were all cancelled when
    /// they came, so none can hold the abort up.
    fn send_stop(&mut self) {
        if !self.stop_sent {
            self.stop_sent = true;
            self.commands.send(Command::ClearQueue);
        }
    }

    fn send_steer(&mut self) {
        if let Some(steer) = self.steers.send_next() {
            self.commands.steer(steer.intent, &steer.text, steer.delivery);
        }
    }

    fn conclude(&mut self, aborted: bool) {
        let circumstances = Circumstances { asked: self.stop, aborted, open_steers: self.steers.any_open() };
        let settlement = judge(self.last.take(), &circumstances);
        self.settle(settlement);
    }

    /// Gives the settlement. What the child has not heard by now it never will, unless it is to be gone on with.
    pub(super) fn settle(&mut self, settlement: Settlement) {
        if settlement.reason != Reason::Paused {
            // A pause that came too late: it holds nothing open any more.
            self.stop = self.stop.filter(|stop| *stop != Stop::Pause);
            self.close_steers();
        }
        self.phase = Phase::Settled;
        self.commands.forget();
        self.asked.prompt = String::new();
        self.events.push_back(Event::Settled(settlement));
    }

    fn close_steers(&mut self) {
        for intent in self.steers.close() {
            self.tell(intent, Receipt::Undelivered);
        }
    }

    pub(super) fn tell(&mut self, intent: u32, receipt: Receipt) {
        self.events.push_back(Event::Steered { intent, receipt });
    }

    fn halt(&mut self, stop: Stop) {
        if self.ended || self.stop >= Some(stop) || self.phase == Phase::Settled {
            return;
        }
        self.stop = Some(stop);
        match self.phase {
            // Nothing was asked of the child yet: there is nothing to stop.
            Phase::Verifying => {
                let reason = if stop == Stop::Cancel { Reason::Cancelled } else { Reason::Paused };
                self.settle(Settlement::without_answer(reason, None));
            }
            // The response to the prompt comes first.
            Phase::Prompting | Phase::Settled => {}
            Phase::Working => self.go_on(),
        }
    }

    /// Whether nothing that is said now can reach the child.
    fn is_over(&self) -> bool {
        self.ended || self.phase == Phase::Settled
    }
}

impl Dialect for Driver {
    fn extension(&self) -> Option<Extension> {
        Some(Extension { name: "child.ts", text: include_str!("../../../../../clients/pi/child.ts") })
    }

    fn supply(&self, extension: &str, environment: &[(String, String)]) -> Supply {
        supply::of(extension, environment)
    }

    /// The file is named `<time>_<id>.jsonl`.
    fn is_conversation(&self, file: &str, id: &str) -> bool {
        file.strip_suffix(".jsonl").and_then(|stem| stem.strip_suffix(id)).is_some_and(|time| time.ends_with('_'))
    }

    fn is_told(&self, entry: &[u8], task: &str) -> bool {
        serde_json::from_slice::<Entry>(entry).is_ok_and(|entry| entry.is_told(task))
    }

    /// Written when another pi held a lock file for too long. Some starts end by it; others, which is worse, go on
    /// without the user's settings.
    fn contention(&self) -> Option<&'static str> {
        Some("Lock file is already being held")
    }

    fn argv(&self, files: &Files) -> Vec<OsString> {
        argv::argv(&self.asked, files)
    }

    fn feed(&mut self, bytes: &[u8]) {
        if self.ended {
            return;
        }
        let mut frames = std::mem::replace(&mut self.frames, Framer::new(LINE_BYTES));
        frames.feed(bytes, |frame| self.frame(&frame));
        self.frames = frames;
    }

    fn end_of_output(&mut self) {
        if self.ended {
            return;
        }
        let mut frames = std::mem::replace(&mut self.frames, Framer::new(LINE_BYTES));
        frames.end(|frame| self.frame(&frame));
        self.ended = true;
        self.commands.forget();
        if self.phase != Phase::Settled {
            if self.stop != Some(Stop::Pause) {
                self.close_steers();
            }
            self.events.push_back(Event::EndOfOutput);
        }
    }

    fn output(&self) -> &[u8] {
        self.commands.output()
    }

    fn wrote(&mut self, bytes: usize) {
        self.commands.wrote(bytes);
    }

    fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn cancel(&mut self) {
        self.halt(Stop::Cancel);
    }

    fn pause(&mut self) {
        self.halt(Stop::Pause);
    }

    fn steer(&mut self, intent: u32, text: &str, delivery: Delivery) {
        match self.steers.take(intent, text, delivery) {
            Taken::Known(Some(receipt)) => self.tell(intent, receipt),
            Taken::Known(None) => {}
            Taken::Full => {
                self.remarks.insert("steer.overflow");
                self.tell(intent, Receipt::Undelivered);
            }
            // Whoever goes on with a paused child says it.
            Taken::New if self.is_over() && self.stop == Some(Stop::Pause) => {}
            Taken::New if self.is_over() => self.close_steers(),
            Taken::New => self.go_on(),
        }
    }

    fn receipts(&self) -> Vec<(u32, Receipt)> {
        self.steers.receipts()
    }

    fn phase(&self) -> Phase {
        self.phase
    }

    fn reported(&self) -> &Reported {
        &self.reported
    }

    fn totals(&self) -> Totals {
        self.totals
    }

    fn last_text(&self) -> Option<&str> {
        let text = self.last.as_ref()?.text.as_str();
        (!text.trim().is_empty()).then_some(text)
    }

    /// `dialog.cancelled`, `dialog.unanswered`, `line.too-long`, `output.noise`, `cancel.refused`, `steer.refused`,
    /// `steer.handled` (an extension took it for itself), `steer.overflow`, `tools.changed`.
    fn remarks(&self) -> Vec<String> {
        self.remarks.iter().copied().map(str::to_owned).collect()
    }
}
