//! From a value of the front matter to the value of a field, or to what should stand there.

use super::field::{Output, Tools};
use super::name::{BadName, normalised};
use super::yaml::{At, Node, Value};

/// The word that takes over the parent's tools.
const INHERIT: &str = "inherit";

/// What a field takes, and the place if it is not that of the whole value.
pub(super) struct Fault {
    pub(super) wanted: String,
    pub(super) at: Option<At>,
}

fn fault(wanted: impl Into<String>) -> Fault {
    Fault { wanted: wanted.into(), at: None }
}

fn wanted(wanted: &str, found: &Value) -> Fault {
    fault(format!("this is {}; write {wanted}", found.kind()))
}

pub(super) fn text(value: &Value) -> Result<String, Fault> {
    match value {
        Value::Text(text) => Ok(text.clone()),
        other => Err(wanted("text, in quotes if it looks like something else", other)),
    }
}

/// A text for people. What looks like a number or a truth value keeps the form in which it was written.
pub(super) fn label(node: &Node, front: &str) -> Result<String, Fault> {
    match &node.value {
        Value::Bool(_) | Value::Number(_) | Value::OtherNumber => {
            node.written(front).map(str::to_owned).map_or_else(|| text(&node.value), Ok)
        }
        value => text(value),
    }
}

pub(super) fn truth(value: &Value) -> Result<bool, Fault> {
    match value {
        Value::Bool(truth) => Ok(*truth),
        other => Err(wanted("true or false, without quotes", other)),
    }
}

pub(super) fn count(value: &Value) -> Result<u32, Fault> {
    let count = match value {
        Value::Number(number) => u32::try_from(*number).ok(),
        _ => None,
    };
    count.ok_or_else(|| wanted("a whole number from 0 (no limit) to 4294967295", value))
}

pub(super) fn word<T: Copy>(value: &Value, words: &[T], spell: fn(T) -> &'static str) -> Result<T, Fault> {
    let found = match value {
        Value::Text(text) => words.iter().find(|word| spell(**word) == text),
        _ => None,
    };
    found.copied().ok_or_else(|| fault(format!("write {}", all(words, spell))))
}

pub(super) fn all<T: Copy>(words: &[T], spell: fn(T) -> &'static str) -> String {
    let words: Vec<_> = words.iter().map(|word| spell(*word)).collect();
    words.join(", ")
}

/// A bare number would be seconds to one reader and milliseconds to the next, so only 0 goes without a unit.
pub(super) fn duration(value: &Value) -> Result<u64, Fault> {
    let length = match value {
        Value::Number(0) => Some(0),
        Value::Text(text) => spelled_duration(text),
        _ => None,
    };
    length.ok_or_else(|| fault("write a whole number with its unit, such as 500ms, 90s, 30m or 4h, or 0 for no limit"))
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

pub(super) fn output(value: &Value) -> Result<Output, Fault> {
    match value {
        Value::Bool(false) => Ok(Output::Nowhere),
        Value::Text(path) if !path.trim().is_empty() => Ok(Output::Path(path.trim().to_owned())),
        other => Err(wanted("a path, or false for no file", other)),
    }
}

pub(super) fn tools(value: &Value) -> Result<Tools, Fault> {
    match value {
        Value::Text(line) if line.trim() == INHERIT => Ok(Tools::Inherit),
        Value::Text(line) if line.trim() == "none" => Err(fault("`none` is no tool; write `[]` for no tools")),
        Value::Text(_) | Value::List(_) => names(value, own_tool).map(Tools::List),
        other => Err(wanted("`inherit`, a list of names, or `[]` for no tools", other)),
    }
}

fn own_tool(name: &str) -> Result<String, String> {
    if name == INHERIT {
        return Err("`inherit` does not mix with names; write it alone, or name every tool".to_owned());
    }
    Ok(name.to_owned())
}

pub(super) fn excluded_tools(value: &Value) -> Result<Vec<String>, Fault> {
    match value {
        Value::Text(_) | Value::List(_) => names(value, |name| {
            let inner = name.strip_suffix('*').unwrap_or(name);
            if inner.contains('*') {
                return Err(format!("`{name}` is no name; a `*` stands only at the end"));
            }
            Ok(name.to_owned())
        }),
        other => Err(wanted("a list of names, or of beginnings of names with `*` behind them", other)),
    }
}

pub(super) fn aliases(node: &Node, front: &str) -> Result<Vec<String>, Fault> {
    let alias = |name: &str| normalised(name).map_err(|bad: BadName| format!("`{name}` cannot be called: {bad}"));
    match &node.value {
        Value::List(items) => {
            let mut names = Vec::new();
            for item in items {
                let name = label(item, front).map_err(|fault| Fault { at: Some(item.at), ..fault })?;
                add(&mut names, name.trim(), Some(item.at), alias)?;
            }
            Ok(names)
        }
        Value::Text(_) => names(&node.value, alias),
        // One name that looks like something else.
        Value::Bool(_) | Value::Number(_) | Value::OtherNumber => {
            let mut names = Vec::new();
            add(&mut names, &label(node, front)?, None, alias)?;
            Ok(names)
        }
        other @ (Value::Map(_) | Value::Null) => Err(wanted("a list of names", other)),
    }
}

/// A list, or names between commas. Empty entries fall away, repeats count once.
fn names(value: &Value, accept: impl Fn(&str) -> Result<String, String>) -> Result<Vec<String>, Fault> {
    let mut names = Vec::new();
    match value {
        Value::Text(line) => {
            for name in line.split(',') {
                add(&mut names, name.trim(), None, &accept)?;
            }
        }
        Value::List(items) => {
            for Node { at, value, .. } in items {
                let Value::Text(name) = value else {
                    return Err(Fault { at: Some(*at), ..wanted("the name of a tool", value) });
                };
                add(&mut names, name.trim(), Some(*at), &accept)?;
            }
        }
        other => return Err(wanted("a list of names", other)),
    }
    Ok(names)
}

fn add(
    names: &mut Vec<String>,
    name: &str,
    at: Option<At>,
    accept: impl Fn(&str) -> Result<String, String>,
) -> Result<(), Fault> {
    if name.is_empty() {
        return Ok(());
    }
    let name = accept(name).map_err(|wanted| Fault { wanted, at })?;
    if !names.contains(&name) {
        names.push(name);
    }
    Ok(())
}
