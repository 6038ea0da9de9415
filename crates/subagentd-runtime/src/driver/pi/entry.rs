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
        let said = self.message.as_ref().filter(|message| self.kind == "message" && message.role == "user");
        said.is_some_and(|message| match &message.content {
            Content::Text(text) => text.starts_with(task),
            Content::Blocks(blocks) => {
                let texts = blocks.iter().filter(|block| block.kind == "text").map(|block| block.text.as_str());
                texts.collect::<String>().starts_with(task)
            }
        })
    }
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
