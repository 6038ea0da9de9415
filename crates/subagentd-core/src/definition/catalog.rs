//! Which agents there are.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::aliases;
use super::shipped;
use super::{Definition, Layer, PACKAGES, SourceFile, Sources, Unread};

/// All agents, by normalised identifier.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    pub(super) definitions: BTreeMap<String, Definition>,
    pub(super) aliases: BTreeMap<String, BTreeSet<String>>,
    pub(super) unread: Vec<Unread>,
    faults: Vec<String>,
}

impl Catalog {
    /// What the shipped files and these add up to. The order of the files has no meaning.
    #[must_use]
    pub fn build(sources: &Sources) -> Self {
        let mut files: Vec<&SourceFile> =
            sources.files.iter().filter(|file| sources.admit(file.layer, file.package.as_ref())).collect();
        files.sort_unstable();
        files.dedup();
        let shipped = shipped::definitions(&sources.packages);
        let given = files.into_iter().filter_map(Definition::of_source);
        let mut catalog = Self::new(shipped.into_iter().chain(given));
        let unread = sources.unread.iter().filter(|place| sources.admit(place.layer, place.package.as_ref()));
        catalog.unread = unread.cloned().collect();
        catalog.unread.sort_unstable();
        catalog.faults = catalog.unread.iter().map(cannot_be_read).collect();
        catalog.faults.extend(missing_packages(sources));
        catalog.faults.extend(sources.faults.iter().cloned());
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

fn cannot_be_read(place: &Unread) -> String {
    let Unread { path, reason, .. } = place;
    format!("the agents in {path} cannot be read: {reason}; until that is mended none is launched")
}

fn missing_packages(sources: &Sources) -> Vec<String> {
    let files = sources.files.iter().filter_map(|file| file.package.as_deref());
    let unread = sources.unread.iter().filter_map(|place| place.package.as_deref());
    let known: BTreeSet<&str> = files.chain(unread).chain(PACKAGES).collect();
    let asked: BTreeSet<&str> = sources.packages.iter().map(String::as_str).collect();
    let there = known.iter().copied().collect::<Vec<_>>().join(", ");
    let missing = asked.difference(&known);
    missing
        .map(|name| format!("agents.packages names `{name}`, and there is no such package; there is {there}"))
        .collect()
}
