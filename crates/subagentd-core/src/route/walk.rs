//! From the parent's model down its family's ladder to the first rung that can be run.

use crate::plan::{Alternative, Decision, Source};

use super::profile::Profiles;
use super::reading::{Reading, Unread};
use super::target::target;
use super::{Chosen, Exact, Parent, ReasonKind, Registry, Runs};

/// Providers that a reason names; the rest is counted.
const NAMED: usize = 5;

pub(super) fn from_parent(parent: &Parent, role: &str, profiles: &Profiles, registry: &Registry) -> Chosen {
    match walk(parent, role, profiles, registry) {
        Ok(chosen) => chosen,
        Err(kept) => kept.chosen(parent, registry),
    }
}

/// Why the parent's model is kept.
struct Kept {
    kind: ReasonKind,
    why: String,
    tried: Vec<Alternative>,
}

impl Kept {
    fn because(kind: ReasonKind, why: String) -> Self {
        Self { kind, why, tried: Vec::new() }
    }

    fn chosen(self, parent: &Parent, registry: &Registry) -> Chosen {
        let Parent { model, runs, source, .. } = parent;
        let decision = Decision {
            value: model.clone(),
            source: *source,
            reason: format!("{} is kept: {}", whose(*source), self.why),
            alternatives: self.tried,
        };
        // A parent that runs and is in no list can do what the host says of it.
        let runs = registry.get(model).or(runs.as_ref()).cloned();
        Chosen { model: decision, kind: self.kind, runs }
    }
}

fn walk(parent: &Parent, role: &str, profiles: &Profiles, registry: &Registry) -> Result<Chosen, Kept> {
    if registry.is_unknown() {
        let why = "its runtime tells only after the start which others there are".to_owned();
        return Err(Kept::because(ReasonKind::ModelsUnknown, why));
    }
    let reading = Reading::of(&parent.model.id).map_err(unread)?;
    let word = reading.family.word();
    let ladder = profiles.ladder(reading.family);
    let layer = ladder.map_or("builtin", |ladder| ladder.layer.word());
    let Some(profile) = ladder.and_then(|ladder| ladder.profile.as_ref()) else {
        let fault = profiles.faults().iter().find(|fault| fault.is_of(reading.family));
        let fault = fault.map_or(String::new(), |fault| format!(": {fault}"));
        let why = format!("the {layer} profile of {word} is out of order{fault}");
        return Err(Kept::because(ReasonKind::ProfileInvalid, why));
    };
    let names: Vec<_> = profile.tiers.iter().map(|tier| tier.name.as_str()).collect();
    let found = reading.find(&names).and_then(|own| Some((own.place, target(role, profile, own.place, own.dated)?)));
    let Some((own, target)) = found else {
        let tier = match reading.tier() {
            "" => "the line without a tier".to_owned(),
            tier => format!("`{tier}`"),
        };
        let why = format!("{tier} is no tier of the {layer} profile of {word}");
        return Err(Kept::because(ReasonKind::UnknownTier, why));
    };
    let aim = target.label.word();
    let mut tried = Vec::new();
    for tier in target.rungs(profile, own) {
        match rung(parent, &reading, tier, registry) {
            Ok((model, runs)) => {
                let reason = format!("{role} aims at {aim} of the {layer} profile of {word}, at the parent's version");
                let decision = Decision { value: model, source: Source::Profile, reason, alternatives: tried };
                return Ok(Chosen { model: decision, kind: ReasonKind::Routed, runs: Some(runs) });
            }
            Err(fell) => tried.push(fell),
        }
    }
    let why = format!(
        "{role} aims at {aim} of the {layer} profile of {word}, and nothing from there down can be run at version {}",
        reading.version
    );
    Err(Kept { kind: ReasonKind::Exhausted, why, tried })
}

const fn whose(source: Source) -> &'static str {
    match source {
        Source::Runtime => "the runtime's default model",
        Source::Configuration => "the configured model",
        _ => "the parent's model",
    }
}

fn unread(unread: Unread) -> Kept {
    match unread {
        Unread::Family => Kept::because(ReasonKind::UnknownFamily, "its family is not known".to_owned()),
        Unread::Version(family) => {
            let why = format!("its id has no version where ids of {} have it", family.word());
            Kept::because(ReasonKind::UnparsedVersion, why)
        }
    }
}

/// The model of one rung: at the parent's provider, else at the only other one that runs it.
fn rung(parent: &Parent, reading: &Reading<'_>, tier: &str, registry: &Registry) -> Result<(Exact, Runs), Alternative> {
    let Some(id) = reading.spell(tier) else {
        let reason = "no id of this version can be built with it".to_owned();
        return Err(Alternative { value: tier.to_owned(), reason });
    };
    let providers = registry.providers(&id);
    let own = providers.and_then(|providers| providers.get_key_value(&parent.model.provider));
    let mut all = providers.into_iter().flatten();
    let found = match (own, all.next(), all.next()) {
        (Some(own), ..) => Ok(own),
        (None, Some(only), None) => Ok(only),
        (None, None, _) => Err("it cannot be run".to_owned()),
        (None, Some(_), Some(_)) => {
            let names = providers.into_iter().flatten().map(|(name, _)| name.as_str());
            Err(format!("several providers run it, and the parent's does not: {}", listed(names)))
        }
    };
    match found {
        Ok((provider, runs)) => Ok((Exact { provider: provider.clone(), id }, runs.clone())),
        Err(reason) => Err(Alternative { value: id, reason }),
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let some: Vec<_> = names.clone().take(NAMED).collect();
    match names.count() - some.len() {
        0 => some.join(", "),
        more => format!("{} and {more} more", some.join(", ")),
    }
}
