//! What one settings file says about launches. Each value is judged alone: a wrong one is told and disables what it
//! concerns. What restricts and cannot be understood keeps those from launching whom it would bind: to leave it out
//! would let them do more than its writer allows.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};
use subagentd_core::definition::Thinking;
use subagentd_core::outcome::error_line;
use subagentd_core::resolve::{Ceiling, Effect};
use subagentd_core::route::{Exact, Fault, LadderLayer, Segment};

use super::Problem;
use super::ceiling::Bound;
use super::document::{Document, Unparsed};
use super::keys::{self, EXCLUDED, Known};
use super::problem::spelled;

/// Problems that are kept of one file. Later ones are not listed; what they concern is disabled all the same.
const PROBLEMS: usize = 50;

const IN_A_PROJECT: &str = "this has no effect: a project may set profiles, tools.effects, ceiling, \
                            excluded_extension_packages, parent_model and parent_thinking";

/// What one file says.
#[derive(Debug)]
pub(super) struct Layer {
    of: LadderLayer,
    file: String,
    document: Option<Document>,
    /// Families, as they are written.
    pub(super) profiles: Option<Value>,
    /// Effects by tool; `None` where what is written means nothing, so that the tool counts as one nobody knows.
    pub(super) effects: BTreeMap<String, Option<Effect>>,
    /// Packages whose extensions no child loads.
    pub(super) excluded: Vec<String>,
    /// Ceilings, with those they bind.
    pub(super) bounds: Vec<Bound>,
    /// `Some(None)` where what is written means nothing.
    pub(super) parent_model: Option<Option<Exact>>,
    /// `Some(None)` where what is written means nothing.
    pub(super) parent_thinking: Option<Option<Thinking>>,
    /// Keeps everybody from launching.
    pub(super) block: Option<Problem>,
    /// What is wrong, in the order of the file's keys.
    pub(super) problems: Vec<Problem>,
}

impl Layer {
    /// A file that is not there.
    pub(super) fn absent(of: LadderLayer, file: &Path) -> Self {
        Self {
            of,
            file: file.display().to_string(),
            document: None,
            profiles: None,
            effects: BTreeMap::new(),
            excluded: Vec::new(),
            bounds: Vec::new(),
            parent_model: None,
            parent_thinking: None,
            block: None,
            problems: Vec::new(),
        }
    }

    /// A file that cannot be read: nobody knows what it restricts.
    pub(super) fn unreadable(of: LadderLayer, file: &Path, error: &std::io::Error) -> Self {
        let mut layer = Self::absent(of, file);
        let message = format!("it cannot be read: {error}; correct that, or remove it");
        layer.blocks(Problem { file: layer.file.clone(), key: String::new(), line: 1, column: 1, message });
        layer
    }

    pub(super) fn parse(of: LadderLayer, file: &Path, text: &str) -> Self {
        let mut layer = Self::absent(of, file);
        match Document::parse(text) {
            Ok(document) => {
                let values = document.values.clone();
                layer.document = Some(document);
                layer.read(&values);
            }
            Err(Unparsed { line, column, message }) => {
                let message = format!("it is no TOML: {message}; correct it");
                layer.blocks(Problem { file: layer.file.clone(), key: String::new(), line, column, message });
            }
        }
        layer
    }

    /// The file.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// A fault of a family's ladder, with its place here.
    pub(super) fn problem_of(&self, fault: &Fault) -> Problem {
        let path: Vec<Segment> = std::iter::once(key("profiles")).chain(fault.path.iter().cloned()).collect();
        self.problem(&path, fault.message.clone())
    }

    /// Whether it is the file that such a fault is about.
    pub(super) fn is_of(&self, fault: &Fault) -> bool {
        fault.layer == self.of
    }

    fn read(&mut self, values: &Map<String, Value>) {
        let mut keys: Vec<_> = values.iter().collect();
        keys.sort_by_key(|(name, _)| self.document.as_ref().map(|document| document.place(&[key(name)])));
        for (name, value) in keys {
            match name.as_str() {
                "profiles" => self.profiles = Some(value.clone()),
                "tools" => self.tools(value),
                "ceiling" => self.ceiling(&[key("ceiling")], None, value),
                "owners" if self.of == LadderLayer::User => self.owners(value),
                "parent_model" => self.parent_model(value),
                "parent_thinking" => self.parent_thinking(value),
                other => self.other(other, value),
            }
        }
    }

    fn other(&mut self, name: &str, value: &Value) {
        match keys::operational(name) {
            Some((EXCLUDED, _)) => self.excluded(name, value),
            Some((_, Known::Without(why))) => self.report(&[key(name)], why.to_owned()),
            Some((_, Known::InEffect)) => {}
            // The user's others are the daemon's own, which judged them at its start.
            None if self.of == LadderLayer::Project => self.report(&[key(name)], IN_A_PROJECT.to_owned()),
            None => {}
        }
    }

    fn tools(&mut self, value: &Value) {
        let Some(table) = value.as_object() else {
            return self.report(&[key("tools")], format!("{}; write a table with `effects`", found(value)));
        };
        for (name, value) in table {
            match (name.as_str(), value.as_object()) {
                ("effects", Some(effects)) => self.effects(effects),
                ("effects", None) => {
                    let message = format!("{}; write a table from names of tools to their effects", found(value));
                    self.report(&[key("tools"), key(name)], message);
                }
                _ => self.report(&[key("tools"), key(name)], "this is no setting; there is `effects`".to_owned()),
            }
        }
    }

    fn effects(&mut self, effects: &Map<String, Value>) {
        for (tool, value) in effects {
            let word = value.as_str();
            let effect = Effect::ALL.into_iter().find(|effect| Some(effect.word()) == word);
            if effect.is_none() {
                let words = "\"none\", \"read\" or \"write\"";
                let message = format!("{}; write {words}; until then what it does is not known", found(value));
                self.report(&[key("tools"), key("effects"), key(tool)], message);
            }
            self.effects.insert(tool.clone(), effect);
        }
    }

    fn excluded(&mut self, name: &str, value: &Value) {
        match names(value) {
            Ok(names) => self.excluded.extend(names),
            Err((at, message)) => {
                let path: Vec<_> = std::iter::once(key(name)).chain(at).collect();
                let problem = self.problem(&path, format!("{message}; until then nothing is launched"));
                self.blocks(problem);
            }
        }
    }

    fn owners(&mut self, value: &Value) {
        let place = [key("owners")];
        let Some(table) = value.as_object() else {
            let message = format!("{}; write a table [owners.\"PATTERN\".ceiling]", found(value));
            let problem = self.problem(&place, message);
            return self.blocks(problem);
        };
        for (pattern, value) in table {
            let place = [key("owners"), key(pattern)];
            let others = value.as_object().map(|table| table.keys().any(|name| name != "ceiling"));
            let ceiling = value.get("ceiling");
            match (others, ceiling) {
                (Some(false), Some(ceiling)) if !pattern.is_empty() => {
                    self.ceiling(&[key("owners"), key(pattern), key("ceiling")], Some(pattern), ceiling);
                }
                _ => {
                    let message = "write a pattern for owners, with a table `ceiling` and nothing else".to_owned();
                    let problem = self.problem(&place, format!("{message}; until then they launch nothing"));
                    self.refuse(Some(pattern), problem);
                }
            }
        }
    }

    fn ceiling(&mut self, place: &[Segment], owners: Option<&str>, value: &Value) {
        let of = match owners {
            Some(pattern) => format!("the ceiling of owners `{}` in {}", error_line(pattern), self.file),
            None => format!("the ceiling in {}", self.file),
        };
        match ceiling(of, value) {
            Ok(ceiling) => {
                let owners = owners.map(str::to_owned);
                self.bounds.push(Bound { owners, ceiling: Ok(ceiling) });
            }
            Err((below, message)) => {
                let path: Vec<_> = place.iter().cloned().chain(below).collect();
                let whom = if owners.is_some() { "they launch nothing" } else { "nothing is launched" };
                let problem = self.problem(&path, format!("{message}; until then {whom}"));
                self.refuse(owners, problem);
            }
        }
    }

    fn parent_model(&mut self, value: &Value) {
        let model = value.as_str().and_then(Exact::parse);
        if model.is_none() {
            let message = format!("{}; write an exact model, as \"PROVIDER/ID\"", found(value));
            self.report(&[key("parent_model")], message);
        }
        self.parent_model = Some(model);
    }

    fn parent_thinking(&mut self, value: &Value) {
        let level = value.as_str().and_then(Thinking::from_word);
        if level.is_none() {
            self.report(&[key("parent_thinking")], format!("{}; write one of {}", found(value), levels()));
        }
        self.parent_thinking = Some(level);
    }

    fn problem(&self, path: &[Segment], message: String) -> Problem {
        let (line, column) = self.document.as_ref().map_or((1, 1), |document| document.place(path));
        Problem { file: self.file.clone(), key: spelled(path), line, column, message }
    }

    fn report(&mut self, path: &[Segment], message: String) {
        let problem = self.problem(path, message);
        self.list(problem);
    }

    fn list(&mut self, problem: Problem) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(problem);
        }
    }

    fn blocks(&mut self, problem: Problem) {
        self.list(problem.clone());
        self.block.get_or_insert(problem);
    }

    fn refuse(&mut self, owners: Option<&str>, problem: Problem) {
        self.list(problem.clone());
        self.bounds.push(Bound { owners: owners.map(str::to_owned), ceiling: Err(problem) });
    }
}

type Wrong = (Vec<Segment>, String);

fn ceiling(of: String, value: &Value) -> Result<Ceiling, Wrong> {
    const KEYS: &str = "agents, tools, deny_extensions and thinking";
    let Some(table) = value.as_object() else {
        return Err((Vec::new(), format!("{}; write a table with {KEYS}", found(value))));
    };
    let mut ceiling = Ceiling { of, ..Ceiling::default() };
    for (name, value) in table {
        let at = |(below, message): Wrong| (std::iter::once(key(name)).chain(below).collect(), message);
        let wrong = |words: &str| at((Vec::new(), format!("{}; write {words}", found(value))));
        match name.as_str() {
            "agents" => {
                let agents = names(value).map_err(at)?;
                ceiling.agents = Some(agents.iter().map(|agent| agent.to_lowercase()).collect());
            }
            "tools" => ceiling.tools = Some(names(value).map_err(at)?),
            "deny_extensions" => ceiling.deny_extensions = value.as_bool().ok_or_else(|| wrong("true or false"))?,
            "thinking" => {
                let level = value.as_str().and_then(Thinking::from_word);
                ceiling.thinking = Some(level.ok_or_else(|| wrong(&format!("one of {}", levels())))?);
            }
            _ => return Err(at((Vec::new(), format!("this is no key here; keys are {KEYS}")))),
        }
    }
    Ok(ceiling)
}

fn names(value: &Value) -> Result<Vec<String>, Wrong> {
    let list = value.as_array().ok_or_else(|| (Vec::new(), format!("{}; write a list of names", found(value))))?;
    let name = |(index, value): (usize, &Value)| match value.as_str().filter(|name| !name.is_empty()) {
        Some(name) => Ok(name.to_owned()),
        None => Err((vec![Segment::Index(index)], format!("{}; write a name", found(value)))),
    };
    list.iter().enumerate().map(name).collect()
}

fn levels() -> String {
    Thinking::ALL.map(Thinking::word).join(", ")
}

fn key(word: &str) -> Segment {
    Segment::Key(word.to_owned())
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "this is empty".to_owned(),
        Value::Bool(value) => format!("this is {value}"),
        Value::Number(number) => format!("this is {number}"),
        Value::String(text) => format!("this is {:?}", error_line(text)),
        Value::Array(_) => "this is a list".to_owned(),
        Value::Object(_) => "this is a table".to_owned(),
    }
}
