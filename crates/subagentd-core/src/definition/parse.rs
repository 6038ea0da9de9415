//! From the text of a file to a [`Definition`].

use super::fence::{Parts, take_apart};
use super::field::{Access, Field, Role, Thinking, Tools};
use super::yaml::{At, Node, Value, read};
use super::{Definition, Layer, Problem, Severity};

const KEYS: [&str; 13] = [
    "description",
    "display_name",
    "tools",
    "model",
    "thinking",
    "max_turns",
    "inherit_context",
    "run_in_background",
    "enabled",
    "acceptance_role",
    "access",
    "timeout",
    "idle_timeout",
];

/// The word that takes over the parent's tools.
const INHERIT: &str = "inherit";

impl Definition {
    /// Reads one file. `name` is the agent's name as the file system spells it, without `.md`.
    #[must_use]
    pub fn parse(name: &str, layer: Layer, file: &str, text: &str) -> Self {
        let Parts { front, body } = take_apart(text);
        let mut definition = Self {
            identifier: name.to_lowercase(),
            layer,
            file: file.to_owned(),
            description: Field::Absent,
            display_name: Field::Absent,
            tools: Field::Absent,
            model: Field::Absent,
            thinking: Field::Absent,
            max_turns: Field::Absent,
            inherit_context: Field::Absent,
            run_in_background: Field::Absent,
            enabled: Field::Absent,
            acceptance_role: Field::Absent,
            access: Field::Absent,
            timeout_ms: Field::Absent,
            idle_timeout_ms: Field::Absent,
            instructions: body,
            problems: Vec::new(),
            broken: false,
        };
        match front.as_deref().map(read).transpose() {
            Ok(members) => {
                for (key, value) in members.unwrap_or_default() {
                    definition.take(&key, &value);
                }
            }
            Err(fault) => definition.report(problem(Severity::Error, fault.at, fault.message)),
        }
        definition
    }

    fn take(&mut self, key: &Node, value: &Node) {
        let at = value.at;
        let Value::Text(name) = &key.value else {
            self.report(unknown(key.at, key.value.kind()));
            return;
        };
        let outcome = match name.as_str() {
            "description" => put(&mut self.description, value, text),
            "display_name" => put(&mut self.display_name, value, text),
            "tools" => put(&mut self.tools, value, tools),
            "model" => put(&mut self.model, value, text),
            "thinking" => put(&mut self.thinking, value, text),
            "max_turns" => put(&mut self.max_turns, value, count),
            "inherit_context" => put(&mut self.inherit_context, value, truth),
            "run_in_background" => put(&mut self.run_in_background, value, truth),
            "enabled" => put(&mut self.enabled, value, truth),
            "acceptance_role" => put(&mut self.acceptance_role, value, |value| word(value, &Role::ALL, Role::word)),
            "access" => put(&mut self.access, value, |value| word(value, &Access::ALL, Access::word)),
            "timeout" => put(&mut self.timeout_ms, value, duration),
            "idle_timeout" => put(&mut self.idle_timeout_ms, value, duration),
            other => {
                self.report(unknown(key.at, &format!("`{other}`")));
                return;
            }
        };
        if let Err(fault) = outcome {
            let message = format!("{name}: {}", fault.wanted);
            self.report(problem(Severity::Error, fault.at.unwrap_or(at), message));
        } else if name == "thinking" {
            self.warn_of_unknown_thinking(at);
        }
    }

    fn warn_of_unknown_thinking(&mut self, at: At) {
        if let Some(word) = self.thinking.set().filter(|word| Thinking::from_word(word).is_none()) {
            let message =
                format!("thinking: `{word}` is no level; write one of {}", all(&Thinking::ALL, Thinking::word));
            self.report(problem(Severity::Warning, at, message));
        }
    }
}

/// What a field takes, and the place if it is not that of the whole value.
struct Fault {
    wanted: String,
    at: Option<At>,
}

fn wanted(wanted: &str, found: &Value) -> Fault {
    Fault { wanted: format!("this is {}; write {wanted}", found.kind()), at: None }
}

fn put<T>(field: &mut Field<T>, node: &Node, convert: impl Fn(&Value) -> Result<T, Fault>) -> Result<(), Fault> {
    *field = match &node.value {
        Value::Null => Field::Null,
        value => Field::Set(convert(value)?),
    };
    Ok(())
}

fn text(value: &Value) -> Result<String, Fault> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        other => Err(wanted("text, in quotes if it looks like something else", other)),
    }
}

fn truth(value: &Value) -> Result<bool, Fault> {
    match value {
        Value::Bool(truth) => Ok(*truth),
        other => Err(wanted("true or false, without quotes", other)),
    }
}

fn count(value: &Value) -> Result<u32, Fault> {
    let count = match value {
        Value::Number(number) => u32::try_from(*number).ok(),
        _ => None,
    };
    count.ok_or_else(|| wanted("a whole number from 0 (no limit) to 4294967295", value))
}

fn word<T: Copy>(value: &Value, words: &[T], spell: fn(T) -> &'static str) -> Result<T, Fault> {
    let found = match value {
        Value::Text(text) => words.iter().find(|word| spell(**word) == text),
        _ => None,
    };
    found.copied().ok_or_else(|| Fault { wanted: format!("write {}", all(words, spell)), at: None })
}

fn all<T: Copy>(words: &[T], spell: fn(T) -> &'static str) -> String {
    let words: Vec<_> = words.iter().map(|word| spell(*word)).collect();
    words.join(", ")
}

/// A bare number would be seconds to one reader and milliseconds to the next, so only 0 goes without a unit.
fn duration(value: &Value) -> Result<u64, Fault> {
    let length = match value {
        Value::Number(0) => Some(0),
        Value::Text(text) => spelled_duration(text),
        _ => None,
    };
    length.ok_or_else(|| Fault {
        wanted: "write a whole number with its unit, such as 500ms, 90s, 30m or 4h, or 0 for no limit".to_owned(),
        at: None,
    })
}

fn spelled_duration(text: &str) -> Option<u64> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit_ms)
}

fn tools(value: &Value) -> Result<Tools, Fault> {
    let names = match value {
        Value::Text(line) if line.trim() == INHERIT => return Ok(Tools::Inherit),
        Value::Text(line) => comma_names(line)?,
        Value::List(items) => listed_names(items)?,
        other => return Err(wanted("`inherit`, a list of names, or `[]` for no tools", other)),
    };
    Ok(Tools::List(names))
}

fn comma_names(line: &str) -> Result<Vec<String>, Fault> {
    if line.trim() == "none" {
        return Err(Fault { wanted: "`none` is no tool; write `[]` for no tools".to_owned(), at: None });
    }
    let mut names = Vec::new();
    for name in line.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        add_name(&mut names, name, None)?;
    }
    Ok(names)
}

fn listed_names(items: &[Node]) -> Result<Vec<String>, Fault> {
    let mut names = Vec::new();
    for Node { at, value } in items {
        match value {
            Value::Text(name) if !name.trim().is_empty() => add_name(&mut names, name.trim(), Some(*at))?,
            // An empty entry, quoted.
            Value::Text(_) => {}
            other => {
                return Err(Fault { at: Some(*at), ..wanted("the name of a tool", other) });
            }
        }
    }
    Ok(names)
}

fn add_name(names: &mut Vec<String>, name: &str, at: Option<At>) -> Result<(), Fault> {
    if name == INHERIT {
        return Err(Fault {
            wanted: "`inherit` does not mix with names; write it alone, or name every tool".to_owned(),
            at,
        });
    }
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
    Ok(())
}

fn unknown(at: At, key: &str) -> Problem {
    let message = format!("{key} is no key of an agent and is ignored; keys are {}", KEYS.join(", "));
    problem(Severity::Warning, at, message)
}

fn problem(severity: Severity, at: At, message: String) -> Problem {
    Problem { severity, line: at.line, column: at.column, message }
}
