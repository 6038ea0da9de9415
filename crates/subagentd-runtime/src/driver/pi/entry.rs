//! Entries of a conversation's file, as far as they tell whether the child has its task.

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Entry {
    #[serde(rename = "type")]
    kind: String,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Content,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
}

impl Entry {
    /// Whether it is a word of the caller that begins with the task.
    pub(super) fn is_told(&self, task: &str) -> bool {
        self.kind == "message"
            && self.message.as_ref().and_then(Message::said).is_some_and(|text| text.starts_with(task))
    }
}

impl Message {
    /// The text, if it is the caller's.
    fn said(&self) -> Option<String> {
        (self.role == "user").then(|| match &self.content {
            Content::Text(text) => text.clone(),
            Content::Blocks(blocks) => {
                blocks.iter().filter(|block| block.kind == "text").map(|block| block.text.as_str()).collect()
            }
        })
    }
}

/// What the caller says in a record that the child wrote while it worked, once it is part of the conversation.
#[must_use]
pub fn said(record: &[u8]) -> Option<String> {
    let record: Entry = serde_json::from_slice(record).ok()?;
    if record.kind == "message_end" { record.message?.said() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_callers_words_count_as_the_task() {
        let is_told = |line: &str| serde_json::from_str::<Entry>(line).is_ok_and(|entry| entry.is_told("do it"));
        for line in [
            r#"{"type":"message","id":"1","message":{"role":"user","content":"do it"}}"#,
            r#"{"type":"message","message":{"role":"user","content":[{"type":"text","text":"do it\n\nand more"}]}}"#,
        ] {
            assert!(is_told(line), "{line}");
        }
        for line in [
            r#"{"type":"session","id":"do it"}"#,
            r#"{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"do it"}]}}"#,
            r#"{"type":"message","message":{"role":"user","content":[{"type":"image","data":"do it"}]}}"#,
            r#"{"type":"message","message":{"role":"user","content":"I do it"}}"#,
            r#"{"type":"message","message":{"role":"user""#,
            "",
        ] {
            assert!(!is_told(line), "{line}");
        }
    }
}
