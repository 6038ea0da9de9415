//! The child: it says what it was given, works until it is told `finish`, and misbehaves as its manner says.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, Write as _};
use std::path::Path;

use serde_json::{Value, json};

/// In the child's directory: its arguments, one a line.
pub(crate) const ARGUMENTS: &str = "arguments";
/// Its variables.
pub(crate) const VARIABLES: &str = "variables";
/// Its limits, as the kernel shows them.
pub(crate) const LIMITS: &str = "limits";
/// Why it has no terminal.
pub(crate) const TERMINAL: &str = "terminal";
/// A line for each prompt that it was given.
pub(crate) const PROMPTS: &str = "prompts";

const CONTENTION: &str = "Warning: Invalid settings file /x/settings.json: Lock file is already being held";

pub(crate) fn run(manner: &str, dialect: &[String]) {
    let first = !Path::new(ARGUMENTS).exists();
    std::fs::write(ARGUMENTS, dialect.join("\n")).unwrap();
    let variables: Vec<String> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
    std::fs::write(VARIABLES, variables.join("\n")).unwrap();
    std::fs::copy("/proc/self/limits", LIMITS).unwrap();
    std::fs::write(TERMINAL, File::open("/dev/tty").map_or_else(|error| error.to_string(), |_| "one".into())).unwrap();
    let contended = manner.starts_with("contended") && (first || manner.ends_with("always"));
    if contended {
        eprintln_raw(CONTENTION);
        if manner == "contended-exit" {
            std::process::exit(1);
        }
    }
    Child { deaf: manner == "deaf", queue: Vec::new() }.serve();
}

fn eprintln_raw(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

struct Child {
    deaf: bool,
    queue: Vec<String>,
}

impl Child {
    fn serve(&mut self) {
        let tools = json!(["read"]).to_string();
        say(&json!({"type": "extension_ui_request", "id": "u", "method": "setStatus",
                    "statusKey": "subagentd.tools", "statusText": tools}));
        for line in std::io::stdin().lock().lines() {
            let command: Value = serde_json::from_str(&line.unwrap()).unwrap();
            self.obey(&command);
        }
    }

    fn obey(&mut self, command: &Value) {
        let model = json!({"provider": "p", "id": "m"});
        match command["type"].as_str().unwrap() {
            "get_state" => answer(command, &json!({"model": model, "thinkingLevel": "off"})),
            "get_available_models" => answer(command, &json!({"models": [model]})),
            "prompt" => self.prompt(command),
            "clear_queue" => {
                answer(command, &json!({"steering": self.queue, "followUp": []}));
                self.queue.clear();
            }
            "abort" if self.deaf => {}
            "abort" => {
                message("assistant", "half", "aborted");
                say(&json!({"type": "agent_settled", "aborted": true}));
                answer(command, &json!({}));
            }
            other => panic!("{other}"),
        }
    }

    fn prompt(&mut self, command: &Value) {
        let text = command["message"].as_str().unwrap();
        let mut prompts = OpenOptions::new().create(true).append(true).open(PROMPTS).unwrap();
        writeln!(prompts, "{text}").unwrap();
        if command.get("streamingBehavior").is_none() {
            answer(command, &json!({"disposition": "started"}));
            message("user", text, "");
            return;
        }
        self.queue.push(text.to_owned());
        answer(command, &json!({"disposition": "queued"}));
        if text == "finish" {
            self.queue.drain(..).for_each(|text| message("user", &text, ""));
            message("assistant", "All done.", "stop");
            say(&json!({"type": "agent_settled", "aborted": false}));
        }
    }
}

fn say(record: &Value) {
    // Nobody reads any more: the end of the input follows.
    let mut output = std::io::stdout().lock();
    output.write_all(format!("{record}\n").as_bytes()).and_then(|()| output.flush()).ok();
}

fn answer(command: &Value, data: &Value) {
    say(&json!({"id": command["id"], "type": "response", "command": command["type"], "success": true, "data": data}));
}

fn message(role: &str, text: &str, stop: &str) {
    let content = json!([{"type": "text", "text": text}]);
    say(&json!({"type": "message_end", "message": {"role": role, "content": content, "stopReason": stop}}));
}
