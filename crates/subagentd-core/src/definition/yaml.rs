//! Front matter as values with their places. Reading into plain values first shows every fault of a file, where
//! reading into typed fields would stop at the first.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{MessageFormatter, Spanned, UserMessageFormatter};

use crate::outcome::error_line;

use super::fence::LINES_BEFORE;

/// A place in the file, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At {
    pub(super) line: u64,
    pub(super) column: u64,
}

/// A value and its place.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) at: At,
    pub(super) value: Value,
    span: Option<(u64, u64)>,
}

impl Node {
    /// How it stands in the front matter it was read from: `1e3` and not the number that this is.
    pub(super) fn written<'a>(&self, front: &'a str) -> Option<&'a str> {
        let (start, length) = self.span?;
        let start = usize::try_from(start).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        front.get(start..end).map(str::trim).filter(|text| !text.is_empty())
    }
}

#[derive(Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// A number below zero or beyond 64 bits, or one with a fraction: no field takes one.
    OtherNumber,
    Number(u64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Value {
    /// What it is, in an error message.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a truth value",
            Self::OtherNumber | Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

/// What is wrong with the YAML itself.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: At,
    pub(super) message: String,
}

/// Reads front matter; places are those of the whole file.
pub(super) fn read(front: &str) -> Result<Vec<(Node, Node)>, Fault> {
    // With the old rules for truth values `thinking: off` would be false.
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    let root: Option<Spanned<Value>> = serde_saphyr::from_str_with_options(front, options).map_err(|error| {
        let location = error.location();
        Fault {
            at: place(location.map_or(1, |at| at.line()), location.map_or(1, |at| at.column())),
            message: error_line(&UserMessageFormatter.format_message(error.without_snippet())),
        }
    })?;
    match root.map(node) {
        None => Ok(Vec::new()),
        Some(Node { value: Value::Map(members), .. }) => Ok(members),
        Some(Node { at, value, .. }) => {
            Err(Fault { at, message: format!("the front matter is {}; write one `key: value` a line", value.kind()) })
        }
    }
}

fn place(line: u64, column: u64) -> At {
    At { line: line + LINES_BEFORE, column }
}

fn node(spanned: Spanned<Value>) -> Node {
    let location = spanned.referenced;
    let span = location.span();
    Node {
        at: place(location.line(), location.column()),
        value: spanned.value,
        span: span.byte_offset().zip(span.byte_len()),
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(u64::try_from(value).map_or(Value::OtherNumber, Value::Number))
    }

    fn visit_u128<E>(self, _: u128) -> Result<Value, E> {
        Ok(Value::OtherNumber)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Value, E> {
        Ok(Value::OtherNumber)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::OtherNumber)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element::<Spanned<Value>>()? {
            items.push(node(item));
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = access.next_entry::<Spanned<Value>, Spanned<Value>>()? {
            members.push((node(key), node(value)));
        }
        Ok(Value::Map(members))
    }
}
