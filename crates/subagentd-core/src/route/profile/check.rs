//! From the table of a profile to a ladder. Every fault is found, in the order of the file's arrays.

use serde_json::{Map, Value};

use crate::outcome::error_line;

use super::super::Family;
use super::super::reading::is_dated;
use super::{Group, Label, Profile, Segment, Tier};

/// Tiers of one ladder. A longer one is a fault: a walk looks at every rung.
pub const TIERS: usize = 32;
/// Bytes of a tier's name.
const NAME_BYTES: usize = 40;
/// A key of a tier that older profiles had: it is taken and means nothing.
const OBSOLETE: &str = "fallbacks";

/// What is wrong, and where below the family.
pub(super) type Finding = (Vec<Segment>, String);

pub(super) fn check(family: Family, value: &Value) -> Result<Profile, Vec<Finding>> {
    let mut check = Check { family, findings: Vec::new() };
    let profile = check.profile(value);
    match profile.filter(|_| check.findings.is_empty()) {
        Some(profile) => Ok(profile),
        None => Err(check.findings),
    }
}

struct Check {
    family: Family,
    findings: Vec<Finding>,
}

impl Check {
    fn profile(&mut self, value: &Value) -> Option<Profile> {
        let Some(table) = value.as_object() else {
            self.find(&[], format!("this is {}; write a table with `group` and `tiers`", kind(value)));
            return None;
        };
        let group = self.group(table.get("group"));
        let tiers = self.tiers(table.get("tiers"), group);
        self.unknown_keys(table, &[], |key| matches!(key, "group" | "tiers"), "`group` and `tiers`");
        Some(Profile { group: group?, tiers: tiers? })
    }

    fn group(&mut self, value: Option<&Value>) -> Option<Group> {
        let group =
            value.and_then(Value::as_str).and_then(|word| Group::ALL.into_iter().find(|group| group.word() == word));
        if group.is_none() {
            self.find(&[key("group")], format!("{}; write \"size\" or \"planner-worker\"", found(value)));
        }
        group
    }

    fn tiers(&mut self, value: Option<&Value>, group: Option<Group>) -> Option<Vec<Tier>> {
        let place = [key("tiers")];
        let entries = match value.and_then(Value::as_array) {
            Some(entries) if (1..=TIERS).contains(&entries.len()) => entries,
            Some(entries) => {
                self.find(&place, format!("these are {} tiers; write 1 to {TIERS}, most capable first", entries.len()));
                return None;
            }
            None => {
                self.find(&place, format!("{}; write an array of tiers, most capable first", found(value)));
                return None;
            }
        };
        let mut tiers: Vec<Tier> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let place = [key("tiers"), Segment::Index(index)];
            if let Some(tier) = self.tier(entry, group, &place, &tiers) {
                tiers.push(tier);
            }
        }
        Some(tiers)
    }

    fn tier(&mut self, value: &Value, group: Option<Group>, place: &[Segment], above: &[Tier]) -> Option<Tier> {
        let Some(table) = value.as_object() else {
            self.find(place, format!("this is {}; write a table with `name` and its label", kind(value)));
            return None;
        };
        let name = self.name(table.get("name"), place, above);
        let label = match group {
            Some(group) => self.label(table.get(group.key()), group, place, above),
            None => None,
        };
        let labels = |word: &str| group.map_or(matches!(word, "size" | "role"), |group| group.key() == word);
        let known = group.map_or("`name` and its label".to_owned(), |group| format!("`name` and `{}`", group.key()));
        self.unknown_keys(table, place, |word| matches!(word, "name" | OBSOLETE) || labels(word), &known);
        Some(Tier { name: name?, label: label? })
    }

    fn name(&mut self, value: Option<&Value>, place: &[Segment], above: &[Tier]) -> Option<String> {
        let word = self.family.word();
        let name = value.and_then(Value::as_str).map(str::trim);
        let fault = match name {
            None => format!("{}; write the tier's name as text", found(value)),
            Some("") if !self.family.has_unnamed_line() => format!("no {word} model is without a tier; name it"),
            Some(name) if name.len() > NAME_BYTES => format!("this name is longer than {NAME_BYTES} bytes"),
            Some(name) if !name.bytes().all(is_part_of_name) || name.starts_with('-') || name.ends_with('-') => {
                format!("`{}` is no tier; write lower-case letters and digits, with hyphens inside", error_line(name))
            }
            Some(name) if is_dated(self.family, name) => format!("`{name}` is a date and no tier"),
            Some(name) if above.iter().any(|tier| tier.name == name) => format!("there is a tier `{name}` above"),
            Some(name) => return Some(name.to_owned()),
        };
        self.find(&joined(place, "name"), fault);
        None
    }

    fn label(&mut self, value: Option<&Value>, group: Group, place: &[Segment], above: &[Tier]) -> Option<Label> {
        let label = value.and_then(Value::as_str).and_then(|word| group.labels().find(|label| label.word() == word));
        let fault = match (label, above.last()) {
            (None, _) => {
                let words: Vec<_> = group.labels().map(|label| format!("\"{}\"", label.word())).collect();
                format!("{}; write one of {}", found(value), words.join(", "))
            }
            (Some(label), Some(last)) if label > last.label => {
                format!("{} stands below {}; write the most capable tier first", label.word(), last.label.word())
            }
            (Some(label), _) => return Some(label),
        };
        self.find(&joined(place, group.key()), fault);
        None
    }

    fn unknown_keys(
        &mut self,
        table: &Map<String, Value>,
        place: &[Segment],
        is_known: impl Fn(&str) -> bool,
        known: &str,
    ) {
        // Sorted here, since the order of a table depends on how it was read.
        let mut unknown: Vec<_> = table.keys().filter(|word| !is_known(word)).collect();
        unknown.sort();
        for word in unknown {
            let message = match word.as_str() {
                "versions" | "models" => format!("a ladder names no {word}; write the family's `tiers` alone"),
                _ => format!("this is no key here; keys are {known}"),
            };
            self.find(&joined(place, word), message);
        }
    }

    fn find(&mut self, place: &[Segment], message: String) {
        self.findings.push((place.to_vec(), message));
    }
}

/// What may stand in a tier's name: nothing that ends a name inside an id.
const fn is_part_of_name(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'_')
}

fn key(word: &str) -> Segment {
    Segment::Key(word.to_owned())
}

fn joined(place: &[Segment], word: &str) -> Vec<Segment> {
    place.iter().cloned().chain([key(word)]).collect()
}

fn found(value: Option<&Value>) -> String {
    match value {
        None => "this is missing".to_owned(),
        Some(Value::String(text)) => format!("this is \"{}\"", error_line(text)),
        Some(value) => format!("this is {}", kind(value)),
    }
}

pub(super) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "a table",
    }
}
