//! The machine itself.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;

use serde_json::value::RawValue;
use subagentd_core::life::Reason;
use subagentd_core::outcome::Reported;

use super::command::{Command, Commands};
use super::event::{ARGS_BYTES, Event, Line, NAME_BYTES, Settlement, Totals};
use super::frame::{Frame, Framer, LINE_BYTES};
use super::record::{Assistant, Disposition, Head, Kind, Models, Response, State, ToolEnd, ToolStart, UiRequest, read};
use super::settle::{Last, judge};
use super::{Asked, Files, argv, repair, verify};

/// Lines that are no records and still give an event each; of further ones only the bytes are counted
/// ([`Totals::noise_bytes`]).
pub const NOISE_EVENTS: usize = 32;

/// How far a child has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Model, thinking level and tools are being checked; nothing was asked of the child yet.
    Verifying,
    /// The prompt was handed over, its acceptance has not come.
    Prompting,
    /// The child works.
    Working,
    /// The settlement was given. Further bytes are still read, further dialogs still cancelled.
    Settled,
}

/// Drives one child from its first byte to its settlement.
///
/// One call of [`Driver::feed`] queues at most three events for each line in it, and nothing leaves the queue but through
/// [`Driver::next_event`]: whoever empties it after each call bounds it by the size of one read.
pub struct Driver {
    asked: Asked,
    phase: Phase,
    cancelled: bool,
    ended: bool,
    frames: Framer,
    commands: Commands,
    events: VecDeque<Event>,
    reported: Reported,
    tools: Option<Vec<String>>,
    last: Option<Last>,
    tools_started: u64,
    noise_lines: usize,
    totals: Totals,
    remarks: BTreeSet<&'static str>,
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
            cancelled: false,
            ended: false,
            frames: Framer::new(LINE_BYTES),
            commands,
            events: VecDeque::new(),
            reported: Reported::default(),
            tools: None,
            last: None,
            tools_started: 0,
            noise_lines: 0,
            totals: Totals::default(),
            remarks: BTreeSet::new(),
        }
    }

    /// The arguments of the child program. The prompt is never among them.
    #[must_use]
    pub fn argv(asked: &Asked, files: &Files) -> Vec<OsString> {
        argv::argv(asked, files)
    }

    /// Takes bytes of the child's standard output, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.ended {
            return;
        }
        let mut frames = std::mem::replace(&mut self.frames, Framer::new(LINE_BYTES));
        frames.feed(bytes, |frame| self.frame(&frame));
        self.frames = frames;
    }

    /// Says that standard output ended.
    pub fn end_of_output(&mut self) {
        if self.ended {
            return;
        }
        let mut frames = std::mem::replace(&mut self.frames, Framer::new(LINE_BYTES));
        frames.end(|frame| self.frame(&frame));
        self.ended = true;
        self.commands.forget();
        if self.phase != Phase::Settled {
            self.events.push_back(Event::EndOfOutput);
        }
    }

    /// Bytes that wait for the child's standard input.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.commands.output()
    }

    /// Says that so many bytes of [`Driver::output`] were written.
    pub fn wrote(&mut self, bytes: usize) {
        self.commands.wrote(bytes);
    }

    /// The next thing that happened.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Ends the child's work politely: its queue is cleared, then it is told to abort. Dialogs were all cancelled when
    /// they came, so none can hold the abort up. Before the prompt there is nothing to abort: the child settles at once.
    /// While the prompt's acceptance is awaited the cancel waits, too; how long is the owner's to limit.
    pub fn cancel(&mut self) {
        if self.ended || self.cancelled || self.phase == Phase::Settled {
            return;
        }
        self.cancelled = true;
        match self.phase {
            Phase::Verifying => self.settle(Settlement::without_answer(Reason::Cancelled, None)),
            Phase::Working => self.commands.send(Command::ClearQueue),
            Phase::Prompting | Phase::Settled => {}
        }
    }

    /// How far the child has come.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// What the child said of itself so far.
    #[must_use]
    pub const fn reported(&self) -> &Reported {
        &self.reported
    }

    /// Sums so far.
    #[must_use]
    pub const fn totals(&self) -> Totals {
        self.totals
    }

    /// Text of the last message while no settlement has taken it: what is left of a child that ended too early, never a
    /// complete answer.
    #[must_use]
    pub fn last_text(&self) -> Option<&str> {
        let text = self.last.as_ref()?.text.as_str();
        (!text.trim().is_empty()).then_some(text)
    }

    /// Stable codes of what was odd on the way: `dialog.cancelled`, `dialog.unanswered`, `line.too-long`,
    /// `output.noise`, `cancel.refused`.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.iter().copied().map(str::to_owned).collect()
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        match frame {
            Frame::Line([]) => {}
            Frame::Line(line) => match Head::of(line) {
                Some(head) => self.record(&head, line),
                None => self.noise(line.len()),
            },
            Frame::TooLong(bytes) => {
                self.remarks.insert("line.too-long");
                self.noise(*bytes);
            }
        }
    }

    fn noise(&mut self, bytes: usize) {
        self.remarks.insert("output.noise");
        self.totals.noise_bytes = self.totals.noise_bytes.saturating_add(bytes as u64);
        if self.noise_lines < NOISE_EVENTS {
            self.noise_lines += 1;
            self.events.push_back(Event::Noise { bytes });
        }
    }

    fn record(&mut self, head: &Head<'_>, line: &[u8]) {
        let kind = head.kind();
        if kind == Kind::Delta {
            self.events.push_back(Event::Activity);
            return;
        }
        let text = repair::text(line);
        if kind != Kind::VerificationResponse {
            let Some(raw) = Line::new(text.clone().into_owned()) else {
                self.noise(line.len());
                return;
            };
            let kind = name(Some(&head.word));
            self.events.push_back(Event::Record { kind, raw });
        }
        let before = self.events.len();
        match kind {
            Kind::VerificationResponse | Kind::Response => self.response(&text),
            Kind::MessageEnd => self.message_end(&text),
            Kind::ToolStart => self.tool_start(&text),
            Kind::ToolEnd => self.tool_end(&text),
            Kind::AgentSettled => self.agent_settled(),
            Kind::UiRequest => self.ui_request(&text),
            Kind::Delta | Kind::Other => {}
        }
        if self.events.len() == before {
            self.events.push_back(Event::Activity);
        }
    }

    fn response(&mut self, text: &str) {
        let Some(response) = read::<Response<'_>>(text) else {
            return;
        };
        let Some(command) = self.commands.answered(&response) else {
            return;
        };
        let refused = response.success != Some(true);
        match command {
            Command::GetState | Command::GetAvailableModels if refused => {
                let error = format!("the child refused {}: {}", command.word(), said(&response));
                self.settle(Settlement::without_answer(Reason::ChildProtocol, Some(&error)));
            }
            Command::GetState => self.state(&response),
            Command::GetAvailableModels => self.available_models(&response),
            Command::Prompt => self.prompt_answered(&response, refused),
            Command::ClearQueue => {
                self.remark_refused_cancel(refused);
                self.commands.send(Command::Abort);
            }
            Command::Abort => {
                self.remark_refused_cancel(refused);
                // The child answers an abort when it is idle. One that has not settled by then never will.
                if !refused {
                    self.agent_settled();
                }
            }
        }
    }

    fn state(&mut self, response: &Response<'_>) {
        let state: State = response.data().unwrap_or_default();
        self.reported.model = state.model.as_ref().map(|model| {
            let name = format!("{}/{}", model.provider, model.id);
            clipped(&name, NAME_BYTES).to_owned()
        });
        self.reported.thinking = state.thinking.as_deref().map(|level| clipped(level, NAME_BYTES).to_owned());
        match verify::state(&self.asked, &state) {
            Ok(()) => self.commands.send(Command::GetAvailableModels),
            Err(refusal) => self.settle(refusal),
        }
    }

    fn available_models(&mut self, response: &Response<'_>) {
        let models: Models<'_> = response.data().unwrap_or_default();
        let checked =
            verify::available(&self.asked, &models).and_then(|()| verify::tools(&self.asked, self.tools.as_deref()));
        match checked {
            Ok(tools_missing) => {
                let reported = self.reported.clone();
                self.events.push_back(Event::Verified { reported, tools_missing });
                // Taken, not copied: there can be no second prompt.
                self.commands.prompt(&std::mem::take(&mut self.asked.prompt));
                self.phase = Phase::Prompting;
            }
            Err(refusal) => self.settle(refusal),
        }
    }

    fn prompt_answered(&mut self, response: &Response<'_>, refused: bool) {
        let disposition = response.data::<Disposition>().and_then(|data| data.disposition);
        let error = if refused {
            format!("the child refused the prompt: {}", said(response))
        } else if disposition.as_deref() == Some("handled") {
            // No work follows, and so no settlement either.
            "an extension of the child took the prompt for a command; no work was started".to_owned()
        } else {
            self.events.push_back(Event::Prompted);
            self.phase = Phase::Working;
            if self.cancelled {
                self.commands.send(Command::ClearQueue);
            }
            return;
        };
        let settlement = match self.cancelled {
            true => Settlement::without_answer(Reason::Cancelled, None),
            false => Settlement::without_answer(Reason::PromptRefused, Some(&error)),
        };
        self.settle(settlement);
    }

    fn message_end(&mut self, text: &str) {
        let Some(message) = Assistant::read(text) else { return };
        let usage = message.usage();
        let stop = clipped(message.stop.as_deref().unwrap_or_default(), NAME_BYTES).to_owned();
        // What comes before the acceptance of the prompt belongs to somebody else's work.
        if self.phase == Phase::Working {
            self.last = Some(Last { stop: stop.clone(), text: message.text(), error: message.error });
        }
        self.totals.turns += 1;
        let sum = &mut self.totals.usage;
        sum.input = sum.input.saturating_add(usage.input);
        sum.output = sum.output.saturating_add(usage.output);
        sum.cache_read = sum.cache_read.saturating_add(usage.cache_read);
        sum.cache_write = sum.cache_write.saturating_add(usage.cache_write);
        sum.cost += usage.cost;
        self.events.push_back(Event::Message { usage, stop });
    }

    fn tool_start(&mut self, text: &str) {
        let Some(start) = read::<ToolStart<'_>>(text) else {
            return;
        };
        let args = start.args.map(RawValue::get).unwrap_or_default();
        let shown = clipped(args, ARGS_BYTES);
        self.tools_started += 1;
        self.events.push_back(Event::ToolStarted {
            seq: self.tools_started,
            id: name(start.id.as_deref()),
            parent: start.parent.as_deref().map(|parent| name(Some(parent))),
            name: name(start.name.as_deref()),
            args: shown.to_owned(),
            clipped: shown.len() < args.len(),
        });
    }

    fn tool_end(&mut self, text: &str) {
        let Some(end) = read::<ToolEnd>(text) else { return };
        self.totals.tool_calls += 1;
        self.events.push_back(Event::ToolEnded {
            id: name(end.id.as_deref()),
            exit_code: end.exit_code(),
            is_error: end.is_error.unwrap_or(false),
            duration_ms: end.duration_ms(),
        });
    }

    /// The end of one agent run is never the end of the work: retries, compaction and queued text may follow.
    fn agent_settled(&mut self) {
        if self.phase == Phase::Working {
            let settlement = judge(self.last.take(), self.cancelled);
            self.settle(settlement);
        }
    }

    fn ui_request(&mut self, text: &str) {
        let Some(request) = read::<UiRequest>(text) else { return };
        match request.method.as_deref() {
            Some("setStatus")
                if self.phase == Phase::Verifying && request.status_key.as_deref() == Some(verify::TOOLS_STATUS) =>
            {
                self.tools = request.status_text.as_deref().and_then(read);
                self.reported.tools = self.tools.as_deref().map(verify::reported_tools);
            }
            Some("select" | "confirm" | "input" | "editor") => {
                let answered = self.commands.cancel_dialog(request.id.as_deref().unwrap_or_default());
                self.remarks.insert(match answered {
                    true => "dialog.cancelled",
                    false => "dialog.unanswered",
                });
            }
            _ => {}
        }
    }

    fn remark_refused_cancel(&mut self, refused: bool) {
        if refused {
            self.remarks.insert("cancel.refused");
        }
    }

    fn settle(&mut self, settlement: Settlement) {
        self.phase = Phase::Settled;
        self.commands.forget();
        self.asked.prompt = String::new();
        self.events.push_back(Event::Settled(settlement));
    }
}

fn said(response: &Response<'_>) -> String {
    response.error.clone().unwrap_or_else(|| "no reason given".to_owned())
}

fn name(text: Option<&str>) -> String {
    clipped(text.unwrap_or_default(), NAME_BYTES).to_owned()
}

/// At most so many bytes, whole characters only.
fn clipped(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}
