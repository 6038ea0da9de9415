//! Identities. A run is named by a UUID v7 whose head is the clock; people name it by its tail.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Hex digits of a run's id that a person must give at least: fewer would collide in ordinary use (design 4).
pub const SHORTEST_ENDING: usize = 6;
/// Hex digits of a run's id that lists print.
pub const PRINTED_ENDING: usize = 8;

/// One accepted launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(Uuid);

impl RunId {
    /// Takes an id that somebody else made, such as a stored one.
    #[must_use]
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// The last eight hex digits, as lists print them.
    #[must_use]
    pub fn ending(&self) -> String {
        let hex = self.0.simple().to_string();
        hex.get(hex.len() - PRINTED_ENDING..).unwrap_or(&hex).to_owned()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl FromStr for RunId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(Self)
    }
}

/// One delegated agent in a run; children count from 0 in flat order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChildId {
    /// The run it belongs to.
    pub run: RunId,
    /// Its place in the run, from 0.
    pub index: u32,
}

impl fmt::Display for ChildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.run, self.index)
    }
}

/// One shim for a child; attempts count from 1. Its text form is the mark in the environment and the name of its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AttemptId {
    /// The child it runs.
    pub child: ChildId,
    /// From 1; a resume, a review or a fix is a new number.
    pub number: u32,
}

impl AttemptId {
    /// The name of the attempt's folder inside the run's: `<i>.<n>`.
    #[must_use]
    pub fn folder(&self) -> String {
        format!("{}.{}", self.child.index, self.number)
    }

    /// The name of its exit record in the spool: `<run>.<i>.<n>.json`.
    #[must_use]
    pub fn record(&self) -> String {
        format!("{}.{}.{}.json", self.child.run, self.child.index, self.number)
    }

    /// Reads a record's name back; `None` for any other file.
    #[must_use]
    pub fn from_record(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(".json")?.split('.');
        let id = Self {
            child: ChildId { run: parts.next()?.parse().ok()?, index: parts.next()?.parse().ok()? },
            number: parts.next()?.parse().ok()?,
        };
        // Only the spelling that `record` writes: `+1` and upper-case hex parse, too.
        (parts.next().is_none() && id.record() == name).then_some(id)
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}.{}", self.child.run, self.child.index, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt() -> AttemptId {
        let run = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        AttemptId { child: ChildId { run, index: 3 }, number: 12 }
    }

    #[test]
    fn record_names_come_back() {
        assert_eq!(attempt().record(), "01890a5d-ac96-774b-bcce-b302099a8057.3.12.json");
        assert_eq!(AttemptId::from_record(&attempt().record()), Some(attempt()));
    }

    #[test]
    fn other_file_names_are_nobody() {
        let right = attempt().record();
        for name in [
            "",
            ".json",
            "x.json",
            &right[1..],
            &format!("{right}.tmp"),
            &right.replace(".3.", ".+3."),
            &right.to_uppercase(),
        ] {
            assert_eq!(AttemptId::from_record(name), None, "{name}");
        }
    }

    #[test]
    fn endings_are_the_last_eight_digits() {
        assert_eq!(attempt().child.run.ending(), "099a8057");
        assert_eq!(attempt().to_string(), "01890a5d-ac96-774b-bcce-b302099a8057/3.12");
    }
}
