//! Which agents there are.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{Definition, Problem, Severity};

/// A wrong name further away than so many edits is not taken for a slip.
const NEAR_EDITS: usize = 2;
/// A name longer than this is not compared with others.
const NEAR_BYTES: usize = 64;

/// All definitions, by normalised identifier.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    definitions: BTreeMap<String, Definition>,
}

/// Why a catalogue has no agent to launch under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// No definition has this identifier.
    Unknown {
        /// The name as it was asked for.
        asked: String,
        /// An identifier that is spelled nearly so.
        nearest: Option<String>,
        /// Every agent that can be launched.
        available: Vec<String>,
    },
    /// It is switched off.
    Disabled {
        /// Its identifier.
        agent: String,
        /// The file that says so.
        file: String,
    },
    /// Its file has an error.
    Broken {
        /// Its identifier.
        agent: String,
        /// The file.
        file: String,
        /// Its first error.
        problem: Problem,
    },
}

impl Catalog {
    /// A catalogue of one layer. Two files with the same identifier break each other: neither is a sure choice.
    #[must_use]
    pub fn new(definitions: impl IntoIterator<Item = Definition>) -> Self {
        let mut catalog = Self::default();
        for definition in definitions {
            match catalog.definitions.entry(definition.identifier.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(definition);
                }
                Entry::Occupied(mut entry) => {
                    let first = entry.get_mut();
                    let message = format!(
                        "{} and {} are both the agent `{}`; rename or remove one of them",
                        first.file, definition.file, first.identifier
                    );
                    first.report(Problem { severity: Severity::Error, line: 1, column: 1, message });
                }
            }
        }
        catalog
    }

    /// Every definition, by identifier: also those that are switched off or broken.
    pub fn iter(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.values()
    }

    /// The definition to launch under a name, in any case.
    ///
    /// # Errors
    ///
    /// When there is none, or it cannot be launched.
    pub fn find(&self, asked: &str) -> Result<&Definition, Missing> {
        let Some(definition) = self.definitions.get(&asked.to_lowercase()) else {
            return Err(self.unknown(asked));
        };
        let agent = definition.identifier.clone();
        let file = definition.file.clone();
        if let Some(problem) = definition.first_error().cloned() {
            return Err(Missing::Broken { agent, file, problem });
        }
        if !definition.is_enabled() {
            return Err(Missing::Disabled { agent, file });
        }
        Ok(definition)
    }

    fn unknown(&self, asked: &str) -> Missing {
        let launchable = self.iter().filter(|definition| !definition.broken && definition.is_enabled());
        let available: Vec<_> = launchable.map(|definition| definition.identifier.clone()).collect();
        Missing::Unknown { asked: asked.to_owned(), nearest: nearest(asked, &available), available }
    }
}

fn nearest(asked: &str, names: &[String]) -> Option<String> {
    let asked = asked.to_lowercase();
    if asked.len() > NEAR_BYTES {
        return None;
    }
    let measured = names.iter().map(|name| (edits(&asked, name), name));
    // Two edits turn any word of two letters into any other.
    let near = measured.filter(|(edits, name)| *edits <= NEAR_EDITS && *edits * 2 < name.len());
    near.min().map(|(_, name)| name.clone())
}

/// Letters to insert, remove or replace to get from one word to the other.
pub(crate) fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (done, left) in from.chars().enumerate() {
        let mut diagonal = done;
        let mut last = done + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(to.chars()) {
            let replaced = diagonal + usize::from(left != right);
            diagonal = *cell;
            last = replaced.min(diagonal + 1).min(last + 1);
            *cell = last;
        }
        if let Some(cell) = row.first_mut() {
            *cell = done + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::Layer;
    use super::*;

    fn definition(name: &str, text: &str) -> Definition {
        Definition::parse(name, Layer::Builtin, &format!("{name}.md"), text)
    }

    fn catalog() -> Catalog {
        Catalog::new([
            definition("Explore", "Look around."),
            definition("worker", "---\nenabled: false\n---\n"),
            definition("broken", "---\ntools: 7\nenabled: false\n---\n"),
            definition("twin", "One."),
            definition("TWIN", "Two."),
        ])
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(catalog().find("eXplore").unwrap().identifier, "explore");
    }

    #[test]
    fn unknown_names_hear_what_there_is_and_what_was_meant() {
        for (asked, expected) in
            [("explor", Some("explore")), ("EXPLROE", Some("explore")), ("plan", None), ("", None), ("workre", None)]
        {
            let missing = catalog().find(asked).unwrap_err();
            let Missing::Unknown { nearest, available, .. } = missing else {
                panic!("{asked}: {missing:?}");
            };
            assert_eq!(nearest.as_deref(), expected, "{asked}");
            assert_eq!(available, ["explore"]);
        }
    }

    #[test]
    fn what_is_off_or_broken_is_seen_and_not_found() {
        assert_eq!(catalog().iter().count(), 4);
        let off = catalog().find("worker").unwrap_err();
        assert!(matches!(off, Missing::Disabled { ref file, .. } if file == "worker.md"), "{off:?}");
        let broken = catalog().find("broken").unwrap_err();
        assert!(matches!(broken, Missing::Broken { ref problem, .. } if problem.line == 2), "{broken:?}");
        let twin = catalog().find("twin").unwrap_err();
        let names_both = |text: &str| text.contains("twin.md") && text.contains("TWIN.md");
        assert!(matches!(twin, Missing::Broken { ref problem, .. } if names_both(&problem.message)), "{twin:?}");
    }

    #[test]
    fn edits_are_counted() {
        for (from, to, count) in [("", "abc", 3), ("kitten", "sitting", 3), ("abc", "abc", 0), ("ab", "ba", 2)] {
            assert_eq!(edits(from, to), count, "{from} → {to}");
            assert_eq!(edits(to, from), count, "{to} → {from}");
        }
    }
}
