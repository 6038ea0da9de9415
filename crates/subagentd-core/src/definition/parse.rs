//! From one file to a [`Definition`].

use std::collections::BTreeMap;

use crate::outcome::error_line;

use super::convert::{Fault, aliases, all, count, duration, excluded_tools, label, output, text, tools, truth, word};
use super::fence::{Parts, take_apart};
use super::field::{Access, Field, InheritTools, Role, Thinking};
use super::name::{normalised, of_file};
use super::source::{Content, SourceFile};
use super::yaml::{At, Node, Value, read};
use super::{About, Definition, Key, Layer, Origin, Part, Problem, Severity};

/// Keys of other programs that read the same files. They have no effect here, and the reader is told why.
const NOT_HONOURED: [(&str, &str); 3] = [
    ("prompt_mode", "a body always replaces the instructions below it"),
    ("inherit_prompt", "how a child's prompt is put together is its runtime's work"),
    ("locked", "a call may always name another model"),
];

const START: At = At { line: 1, column: 1 };

impl Definition {
    /// Reads one file, if its path is that of a definition.
    pub(super) fn of_source(source: &SourceFile) -> Option<Self> {
        let name = of_file(&source.path)?;
        let (layer, file) = (source.layer, source.path.as_str());
        let bytes = match &source.content {
            Content::Bytes(bytes) => bytes,
            Content::Unreadable(reason) => {
                let mut definition = Self::blank(name, layer, file);
                definition.error(About::File, START, format!("it cannot be read: {}", error_line(reason)));
                return Some(definition);
            }
        };
        Some(match std::str::from_utf8(bytes) {
            Ok(text) => Self::parse(name, layer, file, text),
            Err(error) => {
                let mut definition = Self::blank(name, layer, file);
                let offset = error.valid_up_to();
                let at = place_of(bytes.get(..offset).unwrap_or_default());
                definition.error(About::File, at, format!("it is not UTF-8 from byte {offset} on; save it as UTF-8"));
                definition
            }
        })
    }

    /// Reads one file. `name` is the agent's name as the file system spells it, without `.md`.
    #[must_use]
    pub fn parse(name: &str, layer: Layer, file: &str, text: &str) -> Self {
        let mut definition = Self::blank(name, layer, file);
        match take_apart(text) {
            Ok(Parts { front, body }) => {
                definition.instructions = body;
                definition.read_front(name, front.as_deref().unwrap_or_default());
            }
            Err(fault) => definition.error(About::Header, fault.at, fault.message),
        }
        if !definition.instructions.is_empty() {
            definition.mention(Key::Instructions, START);
        }
        let keys = definition.origins.keys().copied().collect();
        definition.parts = vec![Part { layer, file: file.to_owned(), keys }];
        definition
    }

    fn blank(name: &str, layer: Layer, file: &str) -> Self {
        let normal = normalised(name);
        let mut definition = Self {
            identifier: normal.clone().unwrap_or_else(|_| name.to_lowercase()),
            layer,
            file: file.to_owned(),
            description: Field::Absent,
            display_name: Field::Absent,
            aliases: Field::Absent,
            tools: Field::Absent,
            inherit_tools: Field::Absent,
            exclude_tools: Field::Absent,
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
            output: Field::Absent,
            runtime: Field::Absent,
            allow_plan_files: Field::Absent,
            instructions: String::new(),
            origins: BTreeMap::new(),
            parts: vec![Part { layer, file: file.to_owned(), keys: Vec::new() }],
            problems: Vec::new(),
            broken: false,
            claimants: Vec::new(),
        };
        if let Err(bad) = normal {
            definition.error(About::Name, START, format!("the file's name cannot name an agent: {bad}; rename it"));
        }
        definition
    }

    fn read_front(&mut self, name: &str, front: &str) {
        match read(front) {
            Ok(members) => {
                for (key, value) in members {
                    self.take(name, front, &key, &value);
                }
            }
            Err(fault) => self.error(About::Header, fault.at, fault.message),
        }
    }

    fn take(&mut self, name: &str, front: &str, key: &Node, value: &Node) {
        let Value::Text(spelled) = &key.value else {
            self.warn(About::Key, key.at, unknown(key.value.kind()));
            return;
        };
        let Some(known) = Key::from_word(spelled) else {
            self.take_foreign(name, front, spelled, key.at, value);
            return;
        };
        self.mention(known, key.at);
        if let Err(fault) = self.put(known, value, front) {
            let message = format!("{spelled}: {}", fault.wanted);
            self.error(About::Field(known), fault.at.unwrap_or(value.at), message);
        } else if known == Key::Thinking {
            self.warn_of_unknown_thinking(value.at);
        }
    }

    fn put(&mut self, key: Key, node: &Node, front: &str) -> Result<(), Fault> {
        match key {
            Key::Description => put(&mut self.description, node, |_| label(node, front)),
            Key::DisplayName => put(&mut self.display_name, node, |_| label(node, front)),
            Key::Aliases => put(&mut self.aliases, node, |_| aliases(node, front)),
            Key::Tools => put(&mut self.tools, node, tools),
            Key::InheritTools => {
                put(&mut self.inherit_tools, node, |value| word(value, &InheritTools::ALL, InheritTools::word))
            }
            Key::ExcludeTools => put(&mut self.exclude_tools, node, excluded_tools),
            Key::Model => put(&mut self.model, node, text),
            Key::Thinking => put(&mut self.thinking, node, text),
            Key::MaxTurns => put(&mut self.max_turns, node, count),
            Key::InheritContext => put(&mut self.inherit_context, node, truth),
            Key::RunInBackground => put(&mut self.run_in_background, node, truth),
            Key::Enabled => put(&mut self.enabled, node, truth),
            Key::AcceptanceRole => put(&mut self.acceptance_role, node, |value| word(value, &Role::ALL, Role::word)),
            Key::Access => put(&mut self.access, node, |value| word(value, &Access::ALL, Access::word)),
            Key::Timeout => put(&mut self.timeout_ms, node, duration),
            Key::IdleTimeout => put(&mut self.idle_timeout_ms, node, duration),
            Key::Output => put(&mut self.output, node, output),
            Key::Runtime => put(&mut self.runtime, node, text),
            Key::AllowPlanFiles => put(&mut self.allow_plan_files, node, truth),
            Key::Instructions => Ok(()),
        }
    }

    /// A key that sets nothing.
    fn take_foreign(&mut self, name: &str, front: &str, key: &str, at: At, value: &Node) {
        if key == "name" {
            let written = match &value.value {
                Value::Text(text) => Some(text.as_str()),
                _ => value.written(front),
            };
            let written = error_line(written.unwrap_or("null"));
            if written.to_lowercase() != name.to_lowercase() {
                let name = error_line(name);
                let message =
                    format!("`name`: the file's name counts, so this is `{name}` and cannot be called `{written}`");
                self.warn(About::Key, at, message);
            }
            return;
        }
        match NOT_HONOURED.iter().find(|(known, _)| *known == key) {
            Some((_, why)) => self.warn(About::Key, at, format!("`{key}` has no effect here: {why}")),
            None => self.warn(About::Key, at, unknown(&format!("`{}`", error_line(key)))),
        }
    }

    fn warn_of_unknown_thinking(&mut self, at: At) {
        if let Some(word) = self.thinking.set().filter(|word| Thinking::from_word(word).is_none()) {
            let levels = all(&Thinking::ALL, Thinking::word);
            let message = format!("thinking: `{}` is no level; write one of {levels}", error_line(word));
            self.warn(About::Field(Key::Thinking), at, message);
        }
    }

    fn mention(&mut self, key: Key, at: At) {
        let origin = Origin { layer: self.layer, file: self.file.clone(), line: at.line };
        self.origins.insert(key, origin);
    }

    fn error(&mut self, about: About, at: At, message: String) {
        self.report_at(Severity::Error, about, at, message);
    }

    fn warn(&mut self, about: About, at: At, message: String) {
        self.report_at(Severity::Warning, about, at, message);
    }

    fn report_at(&mut self, severity: Severity, about: About, at: At, message: String) {
        let file = self.file.clone();
        self.report(Problem { severity, about, file, line: at.line, column: at.column, message });
    }
}

fn put<T>(field: &mut Field<T>, node: &Node, convert: impl Fn(&Value) -> Result<T, Fault>) -> Result<(), Fault> {
    *field = match &node.value {
        Value::Null => Field::Null,
        value => Field::Set(convert(value)?),
    };
    Ok(())
}

fn unknown(key: &str) -> String {
    let keys: Vec<_> = Key::ALL.into_iter().filter(|key| *key != Key::Instructions).map(Key::word).collect();
    format!("{key} is no key of an agent and is ignored; keys are {}", keys.join(", "))
}

/// The place behind these bytes.
fn place_of(before: &[u8]) -> At {
    let count = |bytes: &mut dyn Iterator<Item = &u8>| u64::try_from(bytes.count()).unwrap_or(u64::MAX);
    let line = count(&mut before.iter().filter(|byte| **byte == b'\n'));
    // Bytes that continue a character are not counted.
    let on_line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let column = count(&mut on_line.iter().filter(|byte| **byte & 0xC0 != 0x80));
    At { line: line.saturating_add(1), column: column.saturating_add(1) }
}
