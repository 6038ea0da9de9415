//! Bytes in, events out; no process.

mod cancel;
mod hostile;
mod outcome;
mod pause;
mod recorded;
mod steer;
mod stream;
mod verify;

use std::ffi::OsStr;

use serde_json::{Value, json};

use super::*;
use crate::driver::event::*;
use crate::driver::{Asked, Dialect as _, Files, Phase};
use crate::format::{Delivery, Receipt};

pub(super) const TOOLS: &str = r#"["read","bash"]"#;

pub(super) fn asked() -> Asked {
    Asked {
        provider: "offline".into(),
        model: "search".into(),
        thinking: "off".into(),
        tools: vec!["read".into(), "bash".into()],
        excluded_tools: Vec::new(),
        prompt: "- where?\n\u{2028}\"quoted\" @x".into(),
    }
}

pub(super) fn state(provider: &str, id: &str, thinking: &str) -> Value {
    json!({"id": "get_state", "type": "response", "command": "get_state", "success": true,
           "data": {"model": {"provider": provider, "id": id}, "thinkingLevel": thinking}})
}

pub(super) fn models(names: &[(&str, &str)]) -> Value {
    let models: Vec<Value> = names.iter().map(|(provider, id)| json!({"provider": provider, "id": id})).collect();
    json!({"id": "get_available_models", "type": "response", "command": "get_available_models", "success": true,
           "data": {"models": models}})
}

pub(super) fn probe(tools: &str) -> Value {
    json!({"type": "extension_ui_request", "id": "u", "method": "setStatus", "statusKey": TOOLS_STATUS,
           "statusText": tools})
}

pub(super) fn callable(tools: &str) -> Value {
    json!({"type": "extension_ui_request", "id": "u", "method": "setStatus", "statusKey": CALLABLE_STATUS,
           "statusText": tools})
}

pub(super) fn ok(command: &str) -> Value {
    json!({"id": command, "type": "response", "command": command, "success": true})
}

pub(super) fn refused(command: &str, error: &str) -> Value {
    json!({"id": command, "type": "response", "command": command, "success": false, "error": error})
}

pub(super) fn message(stop: &str, texts: &[&str]) -> Value {
    let mut content = vec![json!({"type": "thinking", "thinking": "THOUGHT"})];
    content.extend(texts.iter().map(|text| json!({"type": "text", "text": text})));
    json!({"type": "message_end", "message": {"role": "assistant", "content": content, "stopReason": stop}})
}

pub(super) fn settled() -> Value {
    json!({"type": "agent_settled", "aborted": false})
}

/// A conversation with a driver, from the child's side.
pub(super) struct Child {
    pub(super) driver: Driver,
    /// Everything but records and bare signs of life.
    pub(super) events: Vec<Event>,
    pub(super) records: Vec<String>,
    pub(super) heard: Vec<Value>,
}

impl Child {
    pub(super) fn started(asked: Asked) -> Self {
        let mut child = Self { driver: Driver::new(asked), events: Vec::new(), records: Vec::new(), heard: Vec::new() };
        child.listen();
        child
    }

    pub(super) fn prompted() -> Self {
        let mut child = Self::started(asked());
        child.says([probe(TOOLS), state("offline", "search", "off"), models(&[("offline", "search")])]);
        assert_eq!(child.driver.phase(), Phase::Prompting, "{:?}", child.events);
        child
    }

    pub(super) fn working() -> Self {
        let mut child = Self::prompted();
        child.says([ok("prompt")]);
        assert_eq!(child.driver.phase(), Phase::Working, "{:?}", child.events);
        child
    }

    pub(super) fn says(&mut self, records: impl IntoIterator<Item = Value>) {
        for record in records {
            self.writes(format!("{record}\n").as_bytes());
        }
    }

    pub(super) fn writes(&mut self, bytes: &[u8]) {
        self.driver.feed(bytes);
        self.listen();
    }

    pub(super) fn cancelled(&mut self) {
        self.driver.cancel();
        self.listen();
    }

    pub(super) fn paused(&mut self) {
        self.driver.pause();
        self.listen();
    }

    pub(super) fn told(&mut self, intent: u32, text: &str, delivery: Delivery) {
        self.driver.steer(intent, text, delivery);
        self.listen();
    }

    /// Every receipt in the order in which it came.
    pub(super) fn receipts(&self) -> Vec<(u32, Receipt)> {
        let receipt = |event: &Event| match event {
            Event::Steered { intent, receipt } => Some((*intent, *receipt)),
            _ => None,
        };
        self.events.iter().filter_map(receipt).collect()
    }

    pub(super) fn closes(&mut self) {
        self.driver.end_of_output();
        self.listen();
    }

    fn listen(&mut self) {
        while let Some(event) = self.driver.next_event() {
            match event {
                Event::Record { raw, .. } => self.records.push(raw.get().to_owned()),
                Event::Activity => {}
                other => self.events.push(other),
            }
        }
        // In small pieces, as a full pipe would take it.
        let mut bytes = Vec::new();
        while !self.driver.output().is_empty() {
            let piece = self.driver.output().iter().take(7).copied().collect::<Vec<_>>();
            bytes.extend_from_slice(&piece);
            self.driver.wrote(piece.len());
        }
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "{text}");
        self.heard.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    }

    /// Types of the commands sent so far.
    pub(super) fn commands(&self) -> Vec<&str> {
        self.heard.iter().map(|line| line["type"].as_str().unwrap()).collect()
    }

    /// The one settlement.
    pub(super) fn settlement(&self) -> &Settlement {
        let found: Vec<&Settlement> = self
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Settled(settlement) => Some(settlement),
                _ => None,
            })
            .collect();
        assert_eq!(found.len(), 1, "{:?}", self.events);
        found[0]
    }
}

#[test]
fn the_command_line_has_the_flags_and_never_the_prompt() {
    let files = Files {
        session_dir: "/run/dir/session".into(),
        session_id: "abc".into(),
        fork: Some("/run/dir/parent.jsonl".into()),
        instructions: Some("/run/dir/instructions.md".into()),
        extension: Some("/run/dir/child.ts".into()),
        extensions: vec!["/x/tool.ts".into()],
    };
    let line = |asked: &Asked, files: &Files| {
        let argv = Driver::new(asked.clone()).argv(files);
        argv.iter().map(|arg| arg.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        line(&asked(), &files),
        "--mode rpc --provider offline --model search --thinking off --tools read,bash --exclude-tools \
         mcp__*,list_mcp_resources,list_mcp_resource_templates,read_mcp_resource --session-dir /run/dir/session \
         --session-id abc --fork /run/dir/parent.jsonl -e /run/dir/child.ts -e /x/tool.ts --append-system-prompt \
         /run/dir/instructions.md --no-approve --no-extensions --no-skills --no-prompt-templates --no-themes --no-context-files"
    );
    let bare = Files { instructions: None, extension: None, extensions: Vec::new(), fork: None, ..files };
    let without_tools = Asked { tools: Vec::new(), ..asked() };
    let argv = line(&without_tools, &bare);
    assert!(argv.contains(" --no-tools ") && !argv.contains(" --tools "), "{argv}");
    assert!(!argv.contains(" -e ") && !argv.contains("--fork") && !argv.contains("--append-system-prompt"), "{argv}");
    assert!(!Driver::new(asked()).argv(&bare).iter().any(|arg| arg == OsStr::new(&asked().prompt)));
}

#[test]
fn what_is_not_asked_for_is_excluded() {
    let line = |tools: &[&str], withheld: &[&str]| {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let asked = Asked { tools: names(tools), excluded_tools: names(withheld), ..asked() };
        let files = Files {
            session_dir: "/s".into(),
            session_id: "s".into(),
            fork: None,
            instructions: None,
            extension: None,
            extensions: vec!["builtin:codemode".into()],
        };
        let argv = Driver::new(asked).argv(&files);
        argv.iter().map(|arg| arg.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    };
    const RESOURCES: &str = "list_mcp_resources,list_mcp_resource_templates,read_mcp_resource";
    let rows = [
        (line(&["read"], &["b", "a"]), format!("--tools read --exclude-tools b,a,mcp__*,{RESOURCES} ")),
        (line(&["mcp__a__b"], &["mcp__a__c"]), format!("--tools mcp__a__b --exclude-tools mcp__a__c,{RESOURCES} ")),
        (
            line(&["read_mcp_resource"], &[]),
            "--tools read_mcp_resource --exclude-tools mcp__*,list_mcp_resources,list_mcp_resource_templates "
                .to_owned(),
        ),
        // The list wins: a supplier may bring a name that another one is asked for.
        (line(&["read"], &["read"]), format!("--tools read --exclude-tools mcp__*,{RESOURCES} ")),
        // For pi these are no names.
        (
            line(&["read", "mcp__*", "+bash", "-read", "a,b", ""], &["*", "c,d"]),
            format!("--tools read --exclude-tools mcp__*,{RESOURCES} "),
        ),
        (line(&["*"], &[]), " --no-tools ".to_owned()),
        (line(&["codemode", "tool_search"], &[]), " -e builtin:codemode -e builtin:tool-search --".to_owned()),
    ];
    for (argv, part) in rows {
        assert!(argv.contains(&part), "{part:?} is not in {argv}");
    }
    assert_eq!(line(&["codemode"], &[]).matches("builtin:codemode").count(), 1);
}
