//! The events of a turn, in pi's order. A tool call with its result is one turn, a final message is one turn.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::record::{self, Stop};
use crate::session::Session;
use crate::wire::Leave;

/// A tool call that has started.
pub(crate) struct Call {
    id: String,
    name: String,
    message: Value,
    started: Instant,
}

/// What a tool gave back.
pub(crate) struct Returned {
    pub(crate) result: Value,
    pub(crate) is_error: bool,
    /// Reported in place of the time it took.
    pub(crate) duration: Option<Duration>,
}

impl Session {
    pub(crate) fn turn_start(&mut self) -> Result<(), Leave> {
        self.emit(&json!({ "type": "turn_start" }))
    }

    pub(crate) fn user(&mut self, text: &str) -> Result<(), Leave> {
        self.whole(&record::user(text))
    }

    pub(crate) fn call(&mut self, name: &str, args: &Value) -> Result<Call, Leave> {
        let id = self.next_call();
        let content = json!([{ "type": "toolCall", "id": id, "name": name, "arguments": args }]);
        let message = record::assistant(&content, Stop::ToolUse.word(), None);
        self.emit(&json!({ "type": "message_start", "message": record::pending() }))?;
        self.end_message(&message)?;
        self.emit(&json!({ "type": "tool_execution_start", "toolCallId": id, "toolName": name, "args": args }))?;
        Ok(Call { id, name: name.to_owned(), message, started: Instant::now() })
    }

    pub(crate) fn returned(&mut self, call: Call, returned: &Returned) -> Result<(), Leave> {
        let Call { id, name, message: asked, started } = call;
        let Returned { result, is_error, duration } = returned;
        let took = duration.unwrap_or_else(|| started.elapsed());
        let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.emit(&json!({
            "type": "tool_execution_end", "toolCallId": id, "toolName": name, "result": result,
            "isError": is_error, "durationMs": took,
        }))?;
        let content = result.get("content").cloned().unwrap_or_else(|| json!([]));
        let message = json!({
            "role": "toolResult", "toolCallId": id, "toolName": name, "content": content,
            "isError": is_error, "timestamp": record::now_ms(),
        });
        self.whole(&message)?;
        self.emit(&json!({ "type": "turn_end", "message": asked, "toolResults": [message] }))
    }

    pub(crate) fn answer(&mut self, text: &str, stop: Stop, error: Option<&str>) -> Result<(), Leave> {
        self.emit(&json!({ "type": "message_start", "message": record::pending() }))?;
        if !text.is_empty() {
            self.update(&json!({ "type": "text_start", "contentIndex": 0 }))?;
            self.update(&json!({ "type": "text_delta", "contentIndex": 0, "delta": text }))?;
            self.update(&json!({ "type": "text_end", "contentIndex": 0, "content": text }))?;
        }
        let message = record::assistant(&record::text_content(text), stop.word(), error);
        self.end_message(&message)?;
        self.emit(&json!({ "type": "turn_end", "message": message, "toolResults": [] }))
    }

    /// Queued text of a client that steers, as user messages of the turn that has just begun.
    pub(crate) fn deliver_steering(&mut self) -> Result<Vec<String>, Leave> {
        let texts: Vec<String> = self.steering.drain(..).collect();
        if !texts.is_empty() {
            self.queue_changed()?;
        }
        for text in &texts {
            self.user(text)?;
        }
        Ok(texts)
    }

    fn update(&mut self, event: &Value) -> Result<(), Leave> {
        self.emit(&json!({ "type": "message_update", "usage": record::usage(), "assistantMessageEvent": event }))
    }

    fn whole(&mut self, message: &Value) -> Result<(), Leave> {
        self.emit(&json!({ "type": "message_start", "message": message }))?;
        self.end_message(message)
    }

    fn end_message(&mut self, message: &Value) -> Result<(), Leave> {
        self.emit(&json!({ "type": "message_end", "message": message }))?;
        self.remember(message.clone());
        Ok(())
    }
}
