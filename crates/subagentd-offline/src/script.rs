//! Scripts: one step a line. The crate's page describes the format.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use nix::sys::signal::Signal;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::record::Stop;

/// Longest script; a longer one is refused.
const SCRIPT_BYTES: u64 = 4 * 1024 * 1024;

/// Signals that end a process which does nothing about them. PIPE is not among them: it is ignored from the start.
const DEADLY: [Signal; 12] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGILL,
    Signal::SIGABRT,
    Signal::SIGBUS,
    Signal::SIGFPE,
    Signal::SIGKILL,
    Signal::SIGUSR1,
    Signal::SIGSEGV,
    Signal::SIGUSR2,
    Signal::SIGTERM,
];

#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) before: Vec<Step>,
    pub(crate) steps: Vec<Step>,
    pub(crate) after: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    Say(Say),
    Tool(Tool),
    Sleep(Sleep),
    Touch(Touch),
    Exit(Exit),
    Die(Signal),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Say {
    pub(crate) text: String,
    pub(crate) stop: Option<Stop>,
    pub(crate) error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Tool {
    pub(crate) name: String,
    #[serde(default = "no_args")]
    pub(crate) args: Value,
    #[serde(default)]
    pub(crate) result: Value,
    pub(crate) exit_code: Option<i64>,
    pub(crate) is_error: Option<bool>,
    pub(crate) duration_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Sleep {
    pub(crate) ms: u64,
    #[serde(default)]
    pub(crate) ignore_end: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Touch {
    pub(crate) path: String,
    pub(crate) label: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exit {
    pub(crate) code: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SayLine {
    text: String,
    stop: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DieLine {
    signal: Value,
}

#[derive(Debug, Error)]
pub(crate) enum ScriptError {
    #[error("cannot read the script {}: {why}", .file.display())]
    Unreadable { file: PathBuf, why: String },
    #[error(
        "{}:{line}: {why}\neach line is one JSON object with one step: say, tool, sleep, touch, exit, die, or one of the \
         last four inside before or after",
        .file.display()
    )]
    Step { file: PathBuf, line: usize, why: String },
}

/// When a step runs.
#[derive(Debug, PartialEq, Eq)]
enum Phase {
    Before,
    Prompt,
    After,
}

impl Script {
    pub(crate) fn read(file: &Path) -> Result<Self, ScriptError> {
        let unreadable = |why: String| ScriptError::Unreadable { file: file.to_owned(), why };
        let mut text = String::new();
        let opened = File::open(file).map_err(|error| unreadable(error.to_string()))?;
        let size = opened
            .take(SCRIPT_BYTES.saturating_add(1))
            .read_to_string(&mut text)
            .map_err(|error| unreadable(error.to_string()))?;
        if u64::try_from(size).unwrap_or(u64::MAX) > SCRIPT_BYTES {
            return Err(unreadable(format!("it is longer than {SCRIPT_BYTES} bytes")));
        }
        Self::parse(&text).map_err(|(line, why)| ScriptError::Step { file: file.to_owned(), line, why })
    }

    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut script = Self::default();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let (phase, step) = parse_line(line).map_err(|why| (at.saturating_add(1), why))?;
            match phase {
                Phase::Before => script.before.push(step),
                Phase::Prompt => script.steps.push(step),
                Phase::After => script.after.push(step),
            }
        }
        Ok(script)
    }
}

fn parse_line(line: &str) -> Result<(Phase, Step), String> {
    let fields = object(serde_json::from_str(line).map_err(|error| error.to_string())?)?;
    for (phase, key) in [(Phase::Before, "before"), (Phase::After, "after")] {
        let Some(inner) = fields.get(key) else { continue };
        if fields.len() > 1 {
            return Err(format!("{key} stands alone in its line"));
        }
        let step = parse_step(object(inner.clone())?)?;
        return match step {
            Step::Say(_) | Step::Tool(_) => Err(format!("say and tool answer a prompt and cannot stand in {key}")),
            Step::Sleep(_) | Step::Touch(_) | Step::Exit(_) | Step::Die(_) => Ok((phase, step)),
        };
    }
    parse_step(fields).map(|step| (Phase::Prompt, step))
}

fn parse_step(mut fields: Map<String, Value>) -> Result<Step, String> {
    // The key that names the step, and the value that a bare text or number stands for.
    const STEPS: [(&str, &str); 6] =
        [("say", "text"), ("tool", "name"), ("sleep", "ms"), ("touch", "path"), ("exit", "code"), ("die", "signal")];
    let named: Vec<(&str, &str)> = STEPS.into_iter().filter(|(key, _)| fields.contains_key(*key)).collect();
    let &[(key, main)] = named.as_slice() else {
        let found: Vec<&str> = fields.keys().map(String::as_str).collect();
        return Err(format!("a line has exactly one step, found {found:?}"));
    };
    let mut values = match fields.remove(key) {
        Some(Value::Object(values)) => values,
        Some(value) => Map::from_iter([(main.to_owned(), value)]),
        None => Map::new(),
    };
    values.extend(fields);
    match key {
        "say" => say(fill(key, values)?),
        "tool" => fill(key, values).map(Step::Tool),
        "sleep" => fill(key, values).map(Step::Sleep),
        "touch" => fill(key, values).map(Step::Touch),
        "exit" => fill(key, values).map(Step::Exit),
        _ => signal(&fill::<DieLine>(key, values)?.signal).map(Step::Die),
    }
}

fn object(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(fields) => Ok(fields),
        Value::Array(_) => Err("found a list".to_owned()),
        other => Err(format!("found {other} where a JSON object belongs")),
    }
}

fn fill<T: DeserializeOwned>(key: &str, values: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(values)).map_err(|error| format!("{key}: {error}"))
}

fn say(line: SayLine) -> Result<Step, String> {
    let stop = match line.stop {
        None => None,
        Some(word) => match Stop::ALL.into_iter().find(|stop| stop.word() == word) {
            Some(stop) => Some(stop),
            None => {
                return Err(format!("say: stop is one of {:?}, not {word:?}", Stop::ALL.map(Stop::word)));
            }
        },
    };
    Ok(Step::Say(Say { text: line.text, stop, error: line.error }))
}

fn signal(value: &Value) -> Result<Signal, String> {
    let found = match value {
        Value::String(name) if name.starts_with("SIG") => Signal::from_str(name).ok(),
        Value::String(name) => Signal::from_str(&format!("SIG{name}")).ok(),
        Value::Number(number) => number
            .as_i64()
            .and_then(|number| i32::try_from(number).ok())
            .and_then(|number| Signal::try_from(number).ok()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    found.filter(|signal| DEADLY.contains(signal)).ok_or_else(|| {
        let names: Vec<&str> = DEADLY.iter().map(|signal| signal.as_str()).collect();
        format!("die: {value} is none of {}", names.join(", "))
    })
}

fn no_args() -> Value {
    json!({})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_forms_mean_the_same() {
        for (short, long) in [
            (r#"{"say":"a"}"#, r#"{"say":{"text":"a"}}"#),
            (r#"{"say":"a","stop":"error","error":"x"}"#, r#"{"say":{"text":"a","stop":"error","error":"x"}}"#),
            (r#"{"tool":"ls"}"#, r#"{"tool":{"name":"ls","args":{},"result":null}}"#),
            (r#"{"sleep":5}"#, r#"{"sleep":{"ms":5,"ignoreEnd":false}}"#),
            (r#"{"touch":"p"}"#, r#"{"touch":{"path":"p"}}"#),
            (r#"{"exit":3}"#, r#"{"exit":{"code":3}}"#),
            (r#"{"die":"KILL"}"#, r#"{"die":{"signal":9}}"#),
        ] {
            assert_eq!(parse_line(short).unwrap(), parse_line(long).unwrap(), "{short}");
        }
    }

    #[test]
    fn errors_name_the_line_and_the_reason() {
        for (text, line, says) in [
            ("{\"say\":\"a\"}\n\n{\"shout\":1}", 3, "exactly one step, found [\"shout\"]"),
            ("[]", 1, "found a list"),
            ("{\"say\":\"a\",\"stop\":\"maybe\"}", 1, "stop is one of"),
            ("{\"sleep\":{\"seconds\":1}}", 1, "unknown field `seconds`"),
            ("{\"exit\":300}", 1, "exit:"),
            ("{\"die\":\"CHLD\"}", 1, "is none of"),
            ("{\"before\":{\"say\":\"a\"}}", 1, "cannot stand in before"),
            ("{\"say\":\"a\",\"exit\":1}", 1, "exactly one step"),
            ("{", 1, "EOF"),
        ] {
            let (at, why) = Script::parse(text).unwrap_err();
            assert_eq!(at, line, "{text}");
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
