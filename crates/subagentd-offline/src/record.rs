//! The JSON shapes of the dialect.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// Names the answerer where a model would be named.
pub(crate) const PROVIDER: &str = "offline";
/// Its one way of working, in the model's place.
pub(crate) const MODEL: &str = "search";
/// No model, so no thinking.
pub(crate) const THINKING: &str = "off";

/// How an assistant message ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Done,
    Length,
    Error,
    Aborted,
    ToolUse,
}

impl Stop {
    pub(crate) const ALL: [Self; 5] = [Self::Done, Self::Length, Self::Error, Self::Aborted, Self::ToolUse];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Done => "stop",
            Self::Length => "length",
            Self::Error => "error",
            Self::Aborted => "aborted",
            Self::ToolUse => "toolUse",
        }
    }
}

pub(crate) fn model() -> Value {
    json!({
        "id": MODEL, "name": "Text search without a model", "api": PROVIDER, "provider": PROVIDER, "baseUrl": "",
        "reasoning": false, "input": ["text"],
        // Large enough that nobody who measures a task against it refuses one.
        "contextWindow": 4_000_000, "maxTokens": 8_000,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 },
    })
}

pub(crate) fn usage() -> Value {
    json!({
        "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 },
    })
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn text_content(text: &str) -> Value {
    if text.is_empty() { json!([]) } else { json!([{ "type": "text", "text": text }]) }
}

pub(crate) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": [{ "type": "text", "text": text }], "timestamp": now_ms() })
}

/// The placeholder that announces an assistant message.
pub(crate) fn pending() -> Value {
    assistant(&json!([]), "pending", None)
}

pub(crate) fn assistant(content: &Value, stop: &str, error: Option<&str>) -> Value {
    let mut message = json!({
        "role": "assistant", "content": content, "api": PROVIDER, "provider": PROVIDER, "model": MODEL,
        "thinkingLevel": THINKING, "usage": usage(), "stopReason": stop, "timestamp": now_ms(),
    });
    if let (Some(error), Some(fields)) = (error, message.as_object_mut()) {
        fields.insert("errorMessage".to_owned(), json!(error));
    }
    message
}

pub(crate) fn success(id: Option<&Value>, command: &str, data: Option<Value>) -> Value {
    let mut response = json!({ "type": "response", "command": command, "success": true });
    add(&mut response, "id", id.cloned());
    add(&mut response, "data", data);
    response
}

pub(crate) fn failure(id: Option<&Value>, command: &str, error: &str) -> Value {
    let mut response = json!({ "type": "response", "command": command, "success": false, "error": error });
    add(&mut response, "id", id.cloned());
    response
}

fn add(record: &mut Value, key: &str, value: Option<Value>) {
    if let (Some(value), Some(fields)) = (value, record.as_object_mut()) {
        fields.insert(key.to_owned(), value);
    }
}
