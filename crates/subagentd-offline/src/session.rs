//! Commands in, responses and runs out.

use std::collections::VecDeque;
use std::time::Instant;

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::options::Options;
use crate::record::{self, Stop};
use crate::script::{Parting, Script};
use crate::search::{self, Bounds, Pulse};
use crate::stage::Stage;
use crate::turn::Returned;
use crate::wire::{Heard, Leave, Wait, Wire};

/// Prompts kept while one is being worked on; the next one is refused.
const QUEUED_PROMPTS: usize = 64;

/// Aborts whose answer waits for the end of the run; the next one is refused.
const WAITING_ABORTS: usize = 64;

/// Names the probe's report among the status records.
const TOOLS_KEY: &str = "subagentd.tools";

pub(crate) struct Session {
    pub(crate) wire: Wire,
    options: Options,
    conversation: Conversation,
    /// What the user had said before the prompt at hand.
    pub(crate) earlier: usize,
    pub(crate) script: Option<Script>,
    pub(crate) stage: Stage,
    /// What to do when TERM comes, when a step has said so.
    pub(crate) farewell: Option<Vec<Parting>>,
    /// Commands are read: from the first output on, up to a good-bye.
    pub(crate) reading: bool,
    pub(crate) steering: VecDeque<String>,
    pub(crate) follow_up: VecDeque<String>,
    busy: bool,
    aborted: bool,
    /// The ids of aborts to answer, each possibly absent.
    aborts: Vec<Option<Value>>,
    /// Messages of the run at hand.
    messages: Vec<Value>,
    calls: usize,
}

impl Session {
    pub(crate) fn new(
        wire: Wire,
        options: Options,
        conversation: Conversation,
        script: Option<Script>,
        stage: Stage,
    ) -> Self {
        Self {
            wire,
            options,
            conversation,
            earlier: 0,
            script,
            stage,
            farewell: None,
            reading: false,
            steering: VecDeque::new(),
            follow_up: VecDeque::new(),
            busy: false,
            aborted: false,
            aborts: Vec::new(),
            messages: Vec::new(),
            calls: 0,
        }
    }

    /// Serves until something ends the process.
    pub(crate) fn serve(&mut self) -> Leave {
        match self.serve_until() {
            Ok(never) => match never {},
            Err(Leave::Code(code)) => Leave::Code(code),
            Err(told @ Leave::Told(_)) => self.part().err().unwrap_or(told),
        }
    }

    fn serve_until(&mut self) -> Result<std::convert::Infallible, Leave> {
        self.play_before()?;
        self.reading = true;
        self.report_tools()?;
        loop {
            match self.wire.hear(Wait::Forever)? {
                Heard::Line(line) => {
                    if let Some(task) = self.obey(&line)? {
                        self.run(&task)?;
                    }
                }
                Heard::TooLong => self.refuse_long()?,
                Heard::End => return Err(Leave::INPUT_ENDED),
                Heard::Quiet => {}
            }
        }
    }

    fn report_tools(&mut self) -> Result<(), Leave> {
        let list = json!(self.options.tools).to_string();
        self.emit(&json!({
            "type": "extension_ui_request", "id": "status-1", "method": "setStatus",
            "statusKey": TOOLS_KEY, "statusText": list,
        }))
    }

    /// Carries out one command; gives back the task of a prompt that starts a run.
    fn obey(&mut self, line: &[u8]) -> Result<Option<String>, Leave> {
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let command: Value = match serde_json::from_slice(line) {
            Ok(command @ Value::Object(_)) => command,
            Ok(_) => return self.refuse_parse("a command is a JSON object").map(|()| None),
            Err(error) => return self.refuse_parse(&error.to_string()).map(|()| None),
        };
        let id = command.get("id");
        let name = command.get("type").and_then(Value::as_str).unwrap_or_default();
        match name {
            "get_state" => {
                let state = self.state();
                self.emit(&record::success(id, name, Some(state)))?;
            }
            "get_available_models" => {
                self.emit(&record::success(id, name, Some(json!({ "models": [record::model()] }))))?;
            }
            "prompt" => return self.prompt(&command),
            "abort" => self.abort(id)?,
            "clear_queue" => self.clear_queue(id)?,
            // The answer to a question; this child asks none.
            "extension_ui_response" => {}
            _ => {
                let shown: String = name.chars().take(64).collect();
                self.emit(&record::failure(id, &shown, &format!("Unknown command: {shown}")))?;
            }
        }
        Ok(None)
    }

    fn prompt(&mut self, command: &Value) -> Result<Option<String>, Leave> {
        let id = command.get("id");
        let Some(text) = command.get("message").and_then(Value::as_str) else {
            return self.emit(&record::failure(id, "prompt", "message has to be a text")).map(|()| None);
        };
        if !self.busy {
            self.emit(&record::success(id, "prompt", Some(json!({ "disposition": "started" }))))?;
            return Ok(Some(text.to_owned()));
        }
        let waiting = self.steering.len().saturating_add(self.follow_up.len());
        let refusal = match command.get("streamingBehavior").and_then(Value::as_str) {
            Some("steer" | "followUp") if waiting >= QUEUED_PROMPTS => "too many prompts are waiting; clear the queue",
            Some("steer") => {
                self.steering.push_back(text.to_owned());
                return self.queued(id).map(|()| None);
            }
            Some("followUp") => {
                self.follow_up.push_back(text.to_owned());
                return self.queued(id).map(|()| None);
            }
            Some(_) => "streamingBehavior is steer or followUp",
            None => "a prompt is being worked on; say steer or followUp in streamingBehavior",
        };
        self.emit(&record::failure(id, "prompt", refusal)).map(|()| None)
    }

    fn queued(&mut self, id: Option<&Value>) -> Result<(), Leave> {
        self.queue_changed()?;
        self.emit(&record::success(id, "prompt", Some(json!({ "disposition": "queued" }))))
    }

    fn abort(&mut self, id: Option<&Value>) -> Result<(), Leave> {
        if !self.busy {
            return self.emit(&record::success(id, "abort", None));
        }
        self.aborted = true;
        if self.aborts.len() >= WAITING_ABORTS {
            return self.emit(&record::failure(id, "abort", "too many aborts are waiting for the end of the run"));
        }
        self.aborts.push(id.cloned());
        Ok(())
    }

    fn clear_queue(&mut self, id: Option<&Value>) -> Result<(), Leave> {
        let steering: Vec<String> = self.steering.drain(..).collect();
        let follow_up: Vec<String> = self.follow_up.drain(..).collect();
        if !(steering.is_empty() && follow_up.is_empty()) {
            self.queue_changed()?;
        }
        let data = json!({ "steering": steering, "followUp": follow_up });
        self.emit(&record::success(id, "clear_queue", Some(data)))
    }

    fn state(&self) -> Value {
        json!({
            "model": record::model(), "thinkingLevel": record::THINKING, "isStreaming": self.busy,
            "isCompacting": false, "steeringMode": "all", "followUpMode": "one-at-a-time",
            "sessionId": self.options.session, "autoCompactionEnabled": false, "messageCount": self.conversation.entries(),
            "pendingMessageCount": self.steering.len().saturating_add(self.follow_up.len()),
        })
    }

    /// One run: from `agent_start` to `agent_settled`, then the answers that waited for it.
    fn run(&mut self, task: &str) -> Result<(), Leave> {
        self.busy = true;
        self.aborted = false;
        self.earlier = self.conversation.asked();
        self.stage.earlier = self.earlier;
        self.emit(&json!({ "type": "agent_start" }))?;
        self.turn_start()?;
        self.user(task)?;
        let aborted = if self.script.is_some() { self.play()? } else { self.search(task)? };
        self.settle(aborted)?;
        if self.wire.ended() {
            return Err(Leave::INPUT_ENDED);
        }
        self.play_after()
    }

    /// Closes the run at hand, then answers what waited for that.
    pub(crate) fn settle(&mut self, aborted: bool) -> Result<(), Leave> {
        let messages = std::mem::take(&mut self.messages);
        self.emit(&json!({ "type": "agent_end", "messages": messages, "willRetry": false }))?;
        self.busy = false;
        self.emit(&json!({ "type": "agent_settled", "aborted": aborted }))?;
        for id in std::mem::take(&mut self.aborts) {
            self.emit(&record::success(id.as_ref(), "abort", None))?;
        }
        Ok(())
    }

    /// Searches for the task, again when the client adds to it, and answers; true when aborted.
    fn search(&mut self, task: &str) -> Result<bool, Leave> {
        let mut task = task.to_owned();
        loop {
            let query = search::Query::of(&task);
            let args = json!({ "pattern": query.pattern(), "path": ".", "ignoreCase": true });
            let call = self.call("grep", &args)?;
            let found = search::search(&query, &Bounds::STANDARD, &mut || self.pulse(Wait::Now))?;
            let (summary, answer) = match found {
                Some(findings) => (findings.summary(), findings.answer()),
                None => ("aborted".to_owned(), String::new()),
            };
            let aborted = self.aborted;
            let result = json!({ "content": record::text_content(&summary), "details": {} });
            self.returned(call, &Returned { result, is_error: aborted, duration: None })?;
            self.turn_start()?;
            if aborted {
                return self.answer_aborted("");
            }
            let added = self.deliver_steering()?;
            if !added.is_empty() {
                task = format!("{task}\n{}", added.join("\n"));
                continue;
            }
            self.answer(&self.going_on(&answer), Stop::Done, None)?;
            match self.next_follow_up()? {
                Some(text) => task = text,
                None => return Ok(false),
            }
        }
    }

    /// An answer of our own words, which says when it is not the first one.
    pub(crate) fn going_on(&self, answer: &str) -> String {
        match self.earlier {
            0 => answer.to_owned(),
            1 => format!("This goes on with a conversation, after 1 earlier message.\n\n{answer}"),
            earlier => format!("This goes on with a conversation, after {earlier} earlier messages.\n\n{answer}"),
        }
    }

    /// Closes an aborted run with what was said so far.
    pub(crate) fn answer_aborted(&mut self, text: &str) -> Result<bool, Leave> {
        self.answer(text, Stop::Aborted, Some("the run was aborted"))?;
        Ok(true)
    }

    /// The next waiting follow-up, as the user message of a turn of its own.
    pub(crate) fn next_follow_up(&mut self) -> Result<Option<String>, Leave> {
        // Commands that came with the last answer still count for this run.
        if self.pulse(Wait::Now)? == Pulse::Stop {
            return Ok(None);
        }
        let Some(text) = self.follow_up.pop_front() else {
            return Ok(None);
        };
        self.queue_changed()?;
        self.turn_start()?;
        self.user(&text)?;
        Ok(Some(text))
    }

    /// Carries out the commands that have come, or come within the wait.
    pub(crate) fn pulse(&mut self, wait: Wait) -> Result<Pulse, Leave> {
        loop {
            match self.wire.hear(wait)? {
                // A busy session starts no second run, so there is no task to take up.
                Heard::Line(line) => drop(self.obey(&line)?),
                Heard::TooLong => self.refuse_long()?,
                Heard::End => return Err(Leave::INPUT_ENDED),
                Heard::Quiet => return Ok(if self.aborted { Pulse::Stop } else { Pulse::Go }),
            }
            if self.aborted {
                return Ok(Pulse::Stop);
            }
        }
    }

    /// Waits and answers commands; with `ignore_end` an abort and the end of the input take effect only afterwards.
    pub(crate) fn sleep(&mut self, until: Instant, ignore_end: bool) -> Result<Pulse, Leave> {
        if !ignore_end {
            return self.pulse(Wait::Until(until));
        }
        loop {
            match self.wire.hear(Wait::Until(until))? {
                Heard::Line(line) => drop(self.obey(&line)?),
                Heard::TooLong => self.refuse_long()?,
                Heard::End => {}
                Heard::Quiet if self.wire.ended() => return Err(Leave::INPUT_ENDED),
                Heard::Quiet => return Ok(if self.aborted { Pulse::Stop } else { Pulse::Go }),
            }
        }
    }

    /// Waits before the first output: commands stay unread.
    pub(crate) fn rest(&mut self, until: Instant, ignore_end: bool) -> Result<(), Leave> {
        if self.wire.rest(until, ignore_end)? { Err(Leave::INPUT_ENDED) } else { Ok(()) }
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.busy
    }

    pub(crate) fn emit(&mut self, record: &Value) -> Result<(), Leave> {
        self.wire.say(record)
    }

    pub(crate) fn queue_changed(&mut self) -> Result<(), Leave> {
        let event = json!({ "type": "queue_update", "steering": self.steering, "followUp": self.follow_up });
        self.emit(&event)
    }

    pub(crate) fn remember(&mut self, message: Value) {
        self.conversation.add(&message);
        self.messages.push(message);
    }

    pub(crate) fn next_call(&mut self) -> String {
        self.calls = self.calls.saturating_add(1);
        format!("call_{}", self.calls)
    }

    fn refuse_parse(&mut self, why: &str) -> Result<(), Leave> {
        self.emit(&record::failure(None, "parse", &format!("Failed to parse command: {why}")))
    }

    fn refuse_long(&mut self) -> Result<(), Leave> {
        self.refuse_parse("the line is longer than 16 MiB")
    }
}
