//! Which agents there are.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::aliases;
use super::shipped;
use super::{Definition, Layer, PACKAGES, SourceFile, Sources};

/// All agents, by normalised identifier.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    pub(super) definitions: BTreeMap<String, Definition>,
    pub(super) aliases: BTreeMap<String, BTreeSet<String>>,
    faults: Vec<String>,
}

impl Catalog {
    /// What the shipped files and these add up to. The order of the files has no meaning.
    #[must_use]
    pub fn build(sources: &Sources) -> Self {
        let mut files: Vec<&SourceFile> = sources.files.iter().filter(|file| sources.admit(file)).collect();
        files.sort_unstable();
        files.dedup();
        let shipped = shipped::definitions(&sources.packages);
        let given = files.into_iter().filter_map(Definition::of_source);
        let mut catalog = Self::new(shipped.into_iter().chain(given));
        catalog.faults = missing_packages(sources);
        catalog
    }

    /// The shipped agents and no others.
    #[must_use]
    pub fn builtin() -> Self {
        Self::build(&Sources::default())
    }

    /// What these definitions, one for each file, add up to. Within a layer their order decides only which of two files
    /// with the same identifier is named first.
    #[must_use]
    pub fn new(definitions: impl IntoIterator<Item = Definition>) -> Self {
        let mut layers = BTreeMap::<Layer, BTreeMap<String, Definition>>::new();
        for definition in definitions {
            match layers.entry(definition.layer).or_default().entry(definition.identifier.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(definition);
                }
                Entry::Occupied(mut entry) => entry.get_mut().contest(&definition),
            }
        }
        let mut catalog = Self::default();
        for definition in layers.into_values().flat_map(BTreeMap::into_values) {
            match catalog.definitions.entry(definition.identifier.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(definition);
                }
                Entry::Occupied(mut entry) => entry.get_mut().lay(definition),
            }
        }
        catalog.definitions.values_mut().for_each(Definition::settle);
        catalog.aliases = aliases::index(&catalog.definitions);
        catalog
    }

    /// Every agent, by identifier: also those that are switched off or broken.
    pub fn iter(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.values()
    }

    /// What is wrong with the sources beside the files, one sentence each.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

fn missing_packages(sources: &Sources) -> Vec<String> {
    let given: BTreeSet<&str> = sources.files.iter().filter_map(|file| file.package.as_deref()).collect();
    let known: BTreeSet<&str> = given.into_iter().chain(PACKAGES).collect();
    let asked: BTreeSet<&str> = sources.packages.iter().map(String::as_str).collect();
    let there = known.iter().copied().collect::<Vec<_>>().join(", ");
    let missing = asked.difference(&known);
    missing
        .map(|name| format!("agents.packages names `{name}`, and there is no such package; there is {there}"))
        .collect()
}
