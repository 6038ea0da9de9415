//! The records of the dialect, as far as they mean something here. Unknown fields are skipped, and a field of an
//! unexpected shape counts as absent: a newer child must not break the reading of what did not change.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::value::RawValue;
use subagentd_core::outcome::Usage;

/// What a record means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A piece of a message, or what a tool has so far: it comes whole later.
    Streamed,
    /// A response that holds model objects.
    VerificationResponse,
    Response,
    MessageEnd,
    ToolStart,
    ToolEnd,
    AgentSettled,
    CompactionStart,
    CompactionEnd,
    UiRequest,
    /// A record without a meaning of its own.
    Other,
}

/// What a look at a line tells that builds nothing.
#[derive(Default, Deserialize)]
pub(super) struct Head<'a> {
    /// The dialect's word for the record; empty when it has none.
    #[serde(rename = "type", borrow, default)]
    pub(super) word: Cow<'a, str>,
    #[serde(borrow, default)]
    command: Cow<'a, str>,
}

impl<'a> Head<'a> {
    /// `None` for a line that is no JSON object.
    pub(super) fn of(line: &'a [u8]) -> Option<Self> {
        // Without this a JSON array would be read as the fields in their order.
        if line.trim_ascii_start().first() != Some(&b'{') {
            return None;
        }
        // An object whose head is not as expected is still a record.
        let unexpected = || serde_json::from_slice::<IgnoredAny>(line).map(|_| Self::default());
        serde_json::from_slice(line).or_else(|_| unexpected()).ok()
    }

    pub(super) fn kind(&self) -> Kind {
        match self.word.as_ref() {
            "message_update" | "tool_execution_update" | "bash_execution_update" => Kind::Streamed,
            "response" => match self.command.as_ref() {
                "get_state" | "get_available_models" => Kind::VerificationResponse,
                _ => Kind::Response,
            },
            "message_end" => Kind::MessageEnd,
            "tool_execution_start" => Kind::ToolStart,
            "tool_execution_end" => Kind::ToolEnd,
            "agent_settled" => Kind::AgentSettled,
            "compaction_start" => Kind::CompactionStart,
            "compaction_end" => Kind::CompactionEnd,
            "extension_ui_request" => Kind::UiRequest,
            _ => Kind::Other,
        }
    }
}

/// Reads a record, or a part of one; `None` when it is not an object.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// Reads a field, or counts it as absent.
fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let raw = <&'de RawValue>::deserialize(deserializer)?;
    Ok(read(raw.get()))
}

#[derive(Deserialize)]
pub(super) struct Response<'a> {
    #[serde(default, deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) command: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) success: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) error: Option<String>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

impl<'a> Response<'a> {
    pub(super) fn data<T: Deserialize<'a>>(&self) -> Option<T> {
        read(self.data?.get())
    }
}

#[derive(Deserialize)]
pub(super) struct Disposition {
    #[serde(default, deserialize_with = "lenient")]
    pub(super) disposition: Option<String>,
}

#[derive(Default, Deserialize)]
pub(super) struct State {
    #[serde(default, deserialize_with = "lenient")]
    pub(super) model: Option<Model>,
    #[serde(rename = "thinkingLevel", default, deserialize_with = "lenient")]
    pub(super) thinking: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Model {
    pub(super) provider: String,
    pub(super) id: String,
}

#[derive(Default, Deserialize)]
pub(super) struct Models<'a> {
    #[serde(borrow, default)]
    models: Vec<&'a RawValue>,
}

impl Models<'_> {
    pub(super) fn contain(&self, provider: &str, id: &str) -> bool {
        let mut models = self.models.iter().filter_map(|raw| read::<Model>(raw.get()));
        models.any(|model| model.provider == provider && model.id == id)
    }
}

#[derive(Deserialize)]
struct MessageEnd<'a> {
    #[serde(borrow)]
    message: &'a RawValue,
}

/// A message of the conversation.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    pub(super) role: Cow<'a, str>,
    /// A text, or a list of blocks.
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<WireUsage>,
    #[serde(rename = "stopReason", default, deserialize_with = "lenient")]
    pub(super) stop: Option<String>,
    #[serde(rename = "errorMessage", default, deserialize_with = "lenient")]
    pub(super) error: Option<String>,
}

impl<'a> Message<'a> {
    /// The message of a `message_end`.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let end: MessageEnd<'a> = read(text)?;
        read(end.message.get())
    }

    /// Its text blocks, joined. Thinking and tool calls are no text.
    pub(super) fn text(&self) -> String {
        let Some(content) = self.content else { return String::new() };
        let blocks: Vec<&RawValue> = read(content.get()).unwrap_or_default();
        blocks
            .into_iter()
            .filter_map(|raw| read::<Block>(raw.get()))
            .filter(|block| block.kind == "text")
            .map(|block| block.text)
            .collect()
    }

    /// The text of a user's message, which may stand there without a block. The model's text never does.
    pub(super) fn user_text(&self) -> String {
        self.content.and_then(|content| read::<String>(content.get())).unwrap_or_else(|| self.text())
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage.as_ref().map(WireUsage::usage).unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

// The child's numbers are JavaScript's: a count may come as 1e3 or 12.5.
#[derive(Deserialize)]
struct WireUsage {
    #[serde(default, deserialize_with = "lenient")]
    input: Option<f64>,
    #[serde(default, deserialize_with = "lenient")]
    output: Option<f64>,
    #[serde(rename = "cacheRead", default, deserialize_with = "lenient")]
    cache_read: Option<f64>,
    #[serde(rename = "cacheWrite", default, deserialize_with = "lenient")]
    cache_write: Option<f64>,
    #[serde(default, deserialize_with = "lenient")]
    cost: Option<Cost>,
}

#[derive(Deserialize)]
struct Cost {
    #[serde(default, deserialize_with = "lenient")]
    total: Option<f64>,
}

impl WireUsage {
    fn usage(&self) -> Usage {
        Usage {
            input: whole(self.input),
            output: whole(self.output),
            cache_read: whole(self.cache_read),
            cache_write: whole(self.cache_write),
            cost: self.cost.as_ref().and_then(|cost| cost.total).unwrap_or_default(),
        }
    }
}

/// The conversion saturates: a negative count is none.
fn whole(number: Option<f64>) -> u64 {
    number.unwrap_or_default() as u64
}

#[derive(Deserialize)]
pub(super) struct AgentSettled {
    #[serde(default, deserialize_with = "lenient")]
    pub(super) aborted: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct CompactionEnd {
    #[serde(default, deserialize_with = "lenient")]
    result: Option<Summary>,
}

#[derive(Deserialize)]
struct Summary {
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<WireUsage>,
}

impl CompactionEnd {
    /// What the summary cost; nothing when there is none.
    pub(super) fn usage(&self) -> Usage {
        let usage = self.result.as_ref().and_then(|summary| summary.usage.as_ref());
        usage.map(WireUsage::usage).unwrap_or_default()
    }
}

#[derive(Deserialize)]
pub(super) struct ToolStart<'a> {
    #[serde(rename = "toolCallId", default, deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(rename = "parentToolCallId", default, deserialize_with = "lenient")]
    pub(super) parent: Option<String>,
    #[serde(rename = "toolName", default, deserialize_with = "lenient")]
    pub(super) name: Option<String>,
    #[serde(borrow, default)]
    pub(super) args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct ToolEnd {
    #[serde(rename = "toolCallId", default, deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(rename = "isError", default, deserialize_with = "lenient")]
    pub(super) is_error: Option<bool>,
    #[serde(rename = "durationMs", default, deserialize_with = "lenient")]
    duration_ms: Option<f64>,
    #[serde(default, deserialize_with = "lenient")]
    result: Option<ToolResult>,
}

#[derive(Deserialize)]
struct ToolResult {
    #[serde(rename = "structuredContent", default, deserialize_with = "lenient")]
    structured: Option<Structured>,
}

#[derive(Deserialize)]
struct Structured {
    #[serde(default, deserialize_with = "lenient")]
    exit_code: Option<i64>,
}

impl ToolEnd {
    pub(super) fn exit_code(&self) -> Option<i64> {
        self.result.as_ref()?.structured.as_ref()?.exit_code
    }

    pub(super) fn duration_ms(&self) -> Option<u64> {
        self.duration_ms.map(|duration| whole(Some(duration)))
    }
}

#[derive(Deserialize)]
pub(super) struct UiRequest {
    #[serde(default, deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) method: Option<String>,
    #[serde(rename = "statusKey", default, deserialize_with = "lenient")]
    pub(super) status_key: Option<String>,
    #[serde(rename = "statusText", default, deserialize_with = "lenient")]
    pub(super) status_text: Option<String>,
}
