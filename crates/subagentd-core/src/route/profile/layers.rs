//! Shipped ladders, and those that the user and the project put in their place. A family is replaced as a whole.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::Value;

use super::super::Family;
use super::check::{Finding, check, kind};
use super::{Fault, PROFILE_FAULTS, Profile, Segment};

const SHIPPED: [(Family, &str); 8] = [
    (Family::Claude, include_str!("../../../../../profiles/claude.toml")),
    (Family::Deepseek, include_str!("../../../../../profiles/deepseek.toml")),
    (Family::Gemini, include_str!("../../../../../profiles/gemini.toml")),
    (Family::Glm, include_str!("../../../../../profiles/glm.toml")),
    (Family::Gpt, include_str!("../../../../../profiles/gpt.toml")),
    (Family::Mimo, include_str!("../../../../../profiles/mimo.toml")),
    (Family::Minimax, include_str!("../../../../../profiles/minimax.toml")),
    (Family::Qwen, include_str!("../../../../../profiles/qwen.toml")),
];

/// Where a ladder comes from. A later one of this list takes the place of an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LadderLayer {
    /// Shipped with the program.
    Builtin,
    /// The user's settings.
    User,
    /// The project's settings.
    Project,
}

impl LadderLayer {
    /// The word on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// The ladder that holds for a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder {
    /// Who wrote it.
    pub layer: LadderLayer,
    /// `None` if what was written is faulty: the family is out of order then, since the ladder below is what its
    /// writer meant to replace.
    pub profile: Option<Profile>,
}

/// The ladders that hold, and what is wrong with the layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profiles {
    ladders: BTreeMap<Family, Ladder>,
    faults: Vec<Fault>,
}

impl Profiles {
    /// The shipped ladders alone.
    #[must_use]
    pub fn shipped() -> &'static Self {
        static SHIPPED_ONCE: OnceLock<Profiles> = OnceLock::new();
        SHIPPED_ONCE.get_or_init(|| {
            let mut profiles = Self { ladders: BTreeMap::new(), faults: Vec::new() };
            for (family, text) in SHIPPED {
                let read = toml::from_str(text).map_err(|error| vec![(Vec::new(), error.to_string())]);
                let checked = read.and_then(|value: Value| check(family, &value));
                profiles.replace(family, LadderLayer::Builtin, checked);
            }
            profiles
        })
    }

    /// The shipped ladders under those of the user and the project: tables from a family's name to its profile. A
    /// project that is not trusted has no table here.
    #[must_use]
    pub fn layered(user: Option<&Value>, project: Option<&Value>) -> Self {
        let mut profiles = Self::shipped().clone();
        for (layer, table) in [(LadderLayer::User, user), (LadderLayer::Project, project)] {
            if let Some(table) = table {
                profiles.lay(layer, table);
            }
        }
        profiles
    }

    /// The ladder of a family.
    #[must_use]
    pub fn ladder(&self, family: Family) -> Option<&Ladder> {
        self.ladders.get(&family)
    }

    /// All ladders, by family.
    pub fn iter(&self) -> impl Iterator<Item = (Family, &Ladder)> {
        self.ladders.iter().map(|(family, ladder)| (*family, ladder))
    }

    /// What is wrong, layer by layer, at most [`PROFILE_FAULTS`] of each.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    fn lay(&mut self, layer: LadderLayer, table: &Value) {
        let Some(families) = table.as_object() else {
            let message = format!("this is {}; write one table for each family", kind(table));
            self.report(layer, None, (Vec::new(), message));
            return;
        };
        let mut names: Vec<_> = families.iter().collect();
        names.sort_by_key(|(name, _)| *name);
        for (name, value) in names {
            match Family::from_word(name) {
                Some(family) => self.replace(family, layer, check(family, value)),
                None => {
                    let words: Vec<_> = Family::ALL.iter().map(|family| family.word()).collect();
                    let message = format!("no family of this name can be read; families are {}", words.join(", "));
                    self.report(layer, Some(name), (Vec::new(), message));
                }
            }
        }
    }

    fn replace(&mut self, family: Family, layer: LadderLayer, checked: Result<Profile, Vec<Finding>>) {
        let profile = match checked {
            Ok(profile) => Some(profile),
            Err(findings) => {
                for finding in findings {
                    self.report(layer, Some(family.word()), finding);
                }
                None
            }
        };
        self.ladders.insert(family, Ladder { layer, profile });
    }

    fn report(&mut self, layer: LadderLayer, name: Option<&str>, (place, message): Finding) {
        if self.faults.iter().filter(|fault| fault.layer == layer).count() < PROFILE_FAULTS {
            let name = name.map(|name| Segment::Key(name.to_owned()));
            self.faults.push(Fault { layer, path: name.into_iter().chain(place).collect(), message });
        }
    }
}
