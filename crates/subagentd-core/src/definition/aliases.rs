//! Other names of agents.

use std::collections::{BTreeMap, BTreeSet};

use super::Definition;

/// For each alias the agents that have it. The name of an agent beats an equal alias, so such aliases are not here.
pub(super) fn index(definitions: &BTreeMap<String, Definition>) -> BTreeMap<String, BTreeSet<String>> {
    let mut index = BTreeMap::<_, BTreeSet<_>>::new();
    for definition in definitions.values() {
        for alias in definition.aliases.set().into_iter().flatten() {
            if !definitions.contains_key(alias) {
                index.entry(alias.clone()).or_default().insert(definition.identifier.clone());
            }
        }
    }
    index
}
