//! What the child's records mean to the machine.

use serde_json::value::RawValue;
use subagentd_core::life::Reason;
use subagentd_core::outcome::Usage;

use super::command::Command;
use super::machine::{Driver, NOISE_EVENTS};
use super::record::{
    AgentSettled, CompactionEnd, Disposition, Head, Kind, Message, Models, Response, State, ToolEnd, ToolStart,
    UiRequest, read,
};
use super::settle::Last;
use super::tools::{CALLABLE_STATUS, TOOLS_STATUS};
use super::{repair, verify};
use crate::driver::event::{ARGS_BYTES, Event, Line, NAME_BYTES, Settlement};
use crate::driver::frame::Frame;
use crate::driver::{Phase, Stop};
use crate::format::Receipt;

impl Driver {
    pub(super) fn frame(&mut self, frame: &Frame<'_>) {
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
        if kind == Kind::Streamed {
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
            Kind::AgentSettled => {
                let aborted = read::<AgentSettled>(&text).and_then(|settled| settled.aborted);
                self.agent_settled(aborted.unwrap_or(false));
            }
            Kind::CompactionStart => self.compacting = true,
            Kind::CompactionEnd => self.compaction_end(&text),
            Kind::UiRequest => self.ui_request(&text),
            Kind::Streamed | Kind::Other => {}
        }
        if !self.events.iter().skip(before).any(Event::is_sign_of_life) {
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
            Command::Steer(intent) => self.steer_answered(intent, &response, refused),
            Command::ClearQueue => {
                self.remark_refused_cancel(refused);
                self.commands.send(Command::Abort);
            }
            Command::Abort => {
                self.remark_refused_cancel(refused);
                // The child answers an abort when it is idle. One that has not settled by then never will.
                if !refused {
                    self.agent_settled(true);
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
            verify::available(&self.asked, &models).and_then(|()| verify::tools(&self.asked, &mut self.tools));
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
        let error = if refused {
            format!("the child refused the prompt: {}", said(response))
        } else if disposition(response).as_deref() == Some("handled") {
            // No work follows, and so no settlement either.
            "an extension of the child took the prompt for a command; no work was started".to_owned()
        } else {
            self.events.push_back(Event::Prompted);
            self.phase = Phase::Working;
            self.go_on();
            return;
        };
        let settlement = match self.stop {
            Some(Stop::Cancel) => Settlement::without_answer(Reason::Cancelled, None),
            Some(Stop::Pause) => Settlement::without_answer(Reason::Paused, None),
            None => Settlement::without_answer(Reason::PromptRefused, Some(&error)),
        };
        self.settle(settlement);
    }

    fn steer_answered(&mut self, intent: u32, response: &Response<'_>, refused: bool) {
        let disposition = disposition(response);
        if refused && self.compacting && self.steers.put_off(intent) {
            self.held = true;
        } else if refused || disposition.as_deref() == Some("handled") {
            self.remarks.insert(if refused { "steer.refused" } else { "steer.handled" });
            if self.steers.undelivered(intent) {
                self.tell(intent, Receipt::Undelivered);
            }
        } else {
            if disposition.as_deref() == Some("started") {
                // A run of its own, with a settlement of its own.
                self.idle = None;
            }
            if self.steers.accepted(intent) {
                self.tell(intent, Receipt::Accepted);
            }
        }
        self.go_on();
    }

    fn message_end(&mut self, text: &str) {
        let Some(message) = Message::read(text) else { return };
        match message.role.as_ref() {
            "assistant" => self.assistant(message),
            "user" => self.user(&message),
            // A tool may have asked a model, too.
            "toolResult" => self.spent(&message.usage()),
            _ => {}
        }
    }

    fn assistant(&mut self, message: Message<'_>) {
        let usage = message.usage();
        let stop = clipped(message.stop.as_deref().unwrap_or_default(), NAME_BYTES).to_owned();
        // What comes before the acceptance of the prompt belongs to somebody else's work.
        if self.phase == Phase::Working {
            self.last = Some(Last { stop: stop.clone(), text: message.text(), error: message.error });
        }
        self.totals.turns += 1;
        self.spent(&usage);
        self.events.push_back(Event::Message { usage, stop });
    }

    fn user(&mut self, message: &Message<'_>) {
        if self.phase != Phase::Working {
            return;
        }
        // The first one is the prompt, whose text a steer may repeat.
        if !std::mem::replace(&mut self.prompt_heard, true) {
            return;
        }
        if self.steers.any_open()
            && let Some(intent) = self.steers.heard(&message.user_text())
        {
            self.tell(intent, Receipt::Delivered);
        }
    }

    fn spent(&mut self, usage: &Usage) {
        let sum = &mut self.totals.usage;
        sum.input = sum.input.saturating_add(usage.input);
        sum.output = sum.output.saturating_add(usage.output);
        sum.cache_read = sum.cache_read.saturating_add(usage.cache_read);
        sum.cache_write = sum.cache_write.saturating_add(usage.cache_write);
        sum.cost += usage.cost;
    }

    fn compaction_end(&mut self, text: &str) {
        if let Some(end) = read::<CompactionEnd>(text) {
            self.spent(&end.usage());
        }
        self.release_steers();
    }

    fn release_steers(&mut self) {
        self.compacting = false;
        self.held = false;
        self.go_on();
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
    fn agent_settled(&mut self, aborted: bool) {
        if self.phase == Phase::Working {
            self.idle = Some(aborted);
            self.release_steers();
        }
    }

    fn ui_request(&mut self, text: &str) {
        let Some(request) = read::<UiRequest>(text) else { return };
        match request.method.as_deref() {
            Some("setStatus") => {
                let names = request.status_text.as_deref().and_then(read);
                match request.status_key.as_deref() {
                    Some(TOOLS_STATUS) => self.published_tools(names),
                    Some(CALLABLE_STATUS) => self.published_callable(names.unwrap_or_default()),
                    _ => {}
                }
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

    /// What counts is what the child has before its prompt; of later changes it is only said that there were some.
    fn published_tools(&mut self, tools: Option<Vec<String>>) {
        if self.phase == Phase::Verifying {
            self.reported.tools = tools.as_deref().map(verify::reported_tools);
            self.tools.active = tools;
        } else {
            let changed = self.tools.active_now(&tools.unwrap_or_default());
            self.later_tools(changed);
        }
    }

    fn published_callable(&mut self, tools: Vec<String>) {
        if self.phase == Phase::Verifying {
            self.tools.callable = tools;
        } else {
            let changed = self.tools.callable_now(tools, &self.asked.tools);
            self.later_tools(changed);
        }
    }

    fn later_tools(&mut self, changed: bool) {
        if changed {
            self.remarks.insert("tools.changed");
        }
        if let Some(tools_missing) = self.tools.came() {
            self.events.push_back(Event::ToolsCame { tools_missing });
        }
    }

    fn remark_refused_cancel(&mut self, refused: bool) {
        if refused {
            self.remarks.insert("cancel.refused");
        }
    }
}

fn disposition(response: &Response<'_>) -> Option<String> {
    response.data::<Disposition>().and_then(|data| data.disposition)
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
