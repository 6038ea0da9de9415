//! The models that can be run.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::definition::Thinking;

use super::Exact;

/// One model that can be run, as a runtime or a host lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its provider.
    pub provider: String,
    /// Its id, which may contain slashes.
    pub id: String,
    /// Whether it can think.
    pub reasoning: bool,
    /// The levels it supports, `off` included where it does.
    pub levels: Vec<Thinking>,
}

/// What a model can do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runs {
    /// Levels other than off, from least to most. Empty for a model that cannot think.
    efforts: Vec<Thinking>,
    /// It is said to think, without a level to do it at.
    hollow: bool,
}

impl Runs {
    /// From what a list says of the model.
    #[must_use]
    pub fn new(reasoning: bool, levels: &[Thinking]) -> Self {
        let has = |level: &Thinking| reasoning && *level != Thinking::Off && levels.contains(level);
        let efforts: Vec<_> = Thinking::ALL.into_iter().filter(has).collect();
        Self { hollow: reasoning && efforts.is_empty(), efforts }
    }

    /// Levels other than off, from least to most. Empty for a model that cannot think.
    #[must_use]
    pub fn efforts(&self) -> &[Thinking] {
        &self.efforts
    }

    /// Whether the model is said to think and has no level to do it at.
    #[must_use]
    pub const fn hollow(&self) -> bool {
        self.hollow
    }

    /// What two entries of one model agree on.
    fn both(&self, other: &Self) -> Self {
        let efforts: Vec<_> = self.efforts.iter().copied().filter(|level| other.efforts.contains(level)).collect();
        Self { hollow: efforts.is_empty(), efforts }
    }
}

/// The models that can be run: by id, then by provider, so that the order of the list has no say in anything. Copies
/// share one list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registry {
    by_id: Arc<BTreeMap<String, BTreeMap<String, Runs>>>,
    /// Whether what is not in it cannot be run.
    open: bool,
}

impl Registry {
    /// All models that can be run. Of one that stands in the list twice holds what both entries agree on.
    #[must_use]
    pub fn new(models: impl IntoIterator<Item = Model>) -> Self {
        let mut by_id: BTreeMap<String, BTreeMap<String, Runs>> = BTreeMap::new();
        for model in models {
            let runs = Runs::new(model.reasoning, &model.levels);
            let providers = by_id.entry(model.id).or_default();
            providers.entry(model.provider).and_modify(|known| *known = known.both(&runs)).or_insert(runs);
        }
        Self { by_id: Arc::new(by_id), open: false }
    }

    /// Of a runtime that tells its models only after the start: what is named is taken as it is, and the child's own
    /// list decides.
    #[must_use]
    pub fn unknown() -> Self {
        Self { open: true, ..Self::default() }
    }

    /// Whether the models are not known before the start.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        self.open
    }

    /// What a model can do, if it can be run.
    #[must_use]
    pub fn get(&self, model: &Exact) -> Option<&Runs> {
        self.by_id.get(&model.id)?.get(&model.provider)
    }

    /// Every model, by id and provider.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &Runs)> {
        let ids = self.by_id.iter();
        ids.flat_map(|(id, providers)| providers.iter().map(move |(name, runs)| (name.as_str(), id.as_str(), runs)))
    }

    /// The providers that run an id, by name.
    pub(super) fn providers(&self, id: &str) -> Option<&BTreeMap<String, Runs>> {
        self.by_id.get(id)
    }

    /// What is known of a model that may be run; `Err` if it may not.
    pub(super) fn knowledge(&self, model: &Exact) -> Result<Option<Runs>, ()> {
        match self.get(model) {
            Some(runs) => Ok(Some(runs.clone())),
            None if self.open => Ok(None),
            None => Err(()),
        }
    }
}
