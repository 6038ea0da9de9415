//! What holds for every request, every ladder and every list of models.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::definition::Thinking;
use crate::plan::Source;

use super::reading::Reading;
use super::{
    Applied, Asked, Exact, Family, Label, Model, Parent, Profiles, ReasonKind, Registry, RouteError, RouteRequest,
    Routed, route,
};

const ROLES: [&str; 6] = ["worker", "researcher", "debug", "reviewer", "explore", "custom"];
const TIERS: [&str; 12] =
    ["", "astra", "sol", "terra", "pro", "luna", "nano", "opus", "haiku", "max", "flash", "flash-lite"];

/// Ids as families build them, more or less: often readable, seldom far from it.
fn id() -> impl Strategy<Value = String> {
    let space = select(vec!["", "", "", "vendor/", "us.vendor.", "@cf/a/", "x4."]);
    let word = select(vec![
        "gpt-",
        "claude-",
        "gemini-",
        "glm-",
        "MiniMax-M",
        "qwen",
        "qwen-",
        "mimo-v",
        "deepseek-v",
        "kimi-",
    ]);
    let version = select(vec!["5", "5", "4-5", "4.5", "4o", "", "123"]);
    let end = select(vec!["", "", "", "", "-20250101", "-0813", "-2025-01-31", ":batch", "-latest"]);
    let parts = (space, word, version, select(TIERS.to_vec()), end, any::<bool>());
    parts.prop_map(|(space, word, version, tier, end, tier_first)| {
        let join = if tier.is_empty() { "" } else { "-" };
        if tier_first && word == "claude-" {
            format!("{space}{word}{tier}{join}{version}{end}")
        } else {
            format!("{space}{word}{version}{join}{tier}{end}")
        }
    })
}

fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![4 => id(), 1 => any::<String>(), 1 => "[a-z0-9./:@_-]{0,24}"]
}

fn provider() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "c"]).prop_map(str::to_owned)
}

fn level() -> impl Strategy<Value = Thinking> {
    select(Thinking::ALL.to_vec())
}

fn model(id: impl Strategy<Value = String>) -> impl Strategy<Value = Model> {
    let parts = (provider(), id, any::<bool>(), vec(level(), 0..7));
    parts.prop_map(|(provider, id, reasoning, levels)| Model { provider, id, reasoning, levels })
}

/// A list with the parent's siblings in it, so that walks have something to find.
fn world() -> impl Strategy<Value = (Parent, Vec<Model>)> {
    let siblings = vec((model(Just(String::new())), select(TIERS.to_vec())), 0..24);
    let parent = (any_id(), provider(), option::of(level()));
    (parent, siblings, vec(model(id()), 0..6)).prop_map(|((id, provider, effort), siblings, mut models)| {
        if let Ok(reading) = Reading::of(&id) {
            for (model, tier) in siblings {
                models.extend(reading.spell(tier).map(|id| Model { id, ..model }));
            }
        }
        let parent = Parent { model: Exact { provider, id }, effort, runs: None, source: Source::Capture };
        (parent, models)
    })
}

fn role() -> impl Strategy<Value = String> {
    prop_oneof![6 => select(ROLES.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}

fn plain<'a>(role: &'a str, parent: &'a Parent) -> RouteRequest<'a> {
    RouteRequest { role, parent: Some(parent), call: Asked::default(), definition: Asked::default() }
}

/// A profile that is right in most of its parts.
fn profile() -> impl Strategy<Value = Value> {
    let size = (select(TIERS.to_vec()), select(vec!["XL", "L", "M", "S", "XS"]));
    let sizes = vec(size, 0..6).prop_map(|tiers| {
        let tiers: Vec<_> = tiers.iter().map(|(name, size)| json!({"name": name, "size": size})).collect();
        json!({"group": "size", "tiers": tiers})
    });
    let role = (select(TIERS.to_vec()), select(vec!["planner", "worker"]));
    let roles = vec(role, 0..6).prop_map(|tiers| {
        let tiers: Vec<_> = tiers.iter().map(|(name, role)| json!({"name": name, "role": role})).collect();
        json!({"group": "planner-worker", "tiers": tiers})
    });
    prop_oneof![3 => sizes, 3 => roles, 1 => wild()]
}

fn wild() -> impl Strategy<Value = Value> {
    let word =
        prop_oneof![any::<String>(), select(vec!["group", "tiers", "name", "size", "role"]).prop_map(str::to_owned)];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.clone().prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 24, 6, move |inner| {
        let table =
            vec((word.clone(), inner.clone()), 0..6).prop_map(|members| Value::Object(members.into_iter().collect()));
        prop_oneof![vec(inner, 0..6).prop_map(Value::from), table]
    })
}

fn profiles() -> impl Strategy<Value = Profiles> {
    let families: Vec<_> = Family::ALL.iter().map(|family| family.word().to_owned()).collect();
    let name = prop_oneof![8 => select(families), 1 => any::<String>()];
    let table = vec((name, profile()), 0..8).prop_map(|members| Value::Object(members.into_iter().collect())).boxed();
    (option::of(table.clone()), option::of(prop_oneof![8 => table, 1 => wild()]))
        .prop_map(|(user, project)| Profiles::layered(user.as_ref(), project.as_ref()))
}

/// The level that holds is one of the model's, and lies below the parent's effort or is the model's lowest.
fn assert_thinking(routed: &Routed, parent: &Parent, registry: &Registry) -> Result<(), TestCaseError> {
    let Some(runs) = registry.get(&routed.model.value) else {
        prop_assert_eq!(&routed.model.value, &parent.model);
        return Ok(());
    };
    match (routed.thinking.value, runs.efforts().first()) {
        (Applied::NotApplicable, least) => prop_assert_eq!(least, None),
        (Applied::Level(level), least) => {
            prop_assert!(runs.efforts().contains(&level), "{:?} of {:?}", level, runs);
            if let Some(effort) = parent.effort {
                prop_assert!(level < effort || Some(&level) == least, "{:?} under {:?}", level, effort);
            }
        }
    }
    Ok(())
}

/// A routed model is the parent's family, version and spelling; its label is no greater than the role may aim at, and
/// at its provider's the choice was forced.
fn assert_rung(
    routed: &Routed,
    role: &str,
    parent: &Parent,
    profiles: &Profiles,
    registry: &Registry,
) -> Result<(), TestCaseError> {
    let from = Reading::of(&parent.model.id).map_err(|_| TestCaseError::fail("routed from an unread id"))?;
    let to = Reading::of(&routed.model.value.id).map_err(|_| TestCaseError::fail("routed to an unread id"))?;
    prop_assert_eq!((from.family, from.version), (to.family, to.version));
    prop_assert!(registry.get(&routed.model.value).is_some());
    let profile = profiles.ladder(from.family).and_then(|ladder| ladder.profile.as_ref());
    let profile = profile.ok_or_else(|| TestCaseError::fail("routed without a ladder"))?;
    let names: Vec<_> = profile.tiers.iter().map(|tier| tier.name.as_str()).collect();
    let place = |reading: &Reading<'_>| reading.find(&names);
    let (Some(own), Some(there)) = (place(&from), place(&to)) else {
        return Err(TestCaseError::fail("routed off the ladder"));
    };
    prop_assert!(!there.dated);
    let (own_label, label) = (profile.tiers[own.place].label, profile.tiers[there.place].label);
    match (role, label) {
        ("reviewer", Label::Size(_)) => prop_assert!(there.place >= own.place),
        ("reviewer", Label::Role(_)) => {}
        ("debug", Label::Size(_)) => prop_assert!(label.word() == "M" || label.word() == "S"),
        ("researcher" | "explore", Label::Size(_)) => prop_assert_eq!(label.word(), "S"),
        (_, Label::Size(_)) => prop_assert!(label < own_label || label.word() == "S"),
        (_, Label::Role(_)) => prop_assert_eq!(label.word(), "worker"),
    }
    let id = &routed.model.value.id;
    let providers = registry.iter().filter(|(_, other, _)| other == id).count();
    prop_assert!(routed.model.value.provider == parent.model.provider || providers == 1);
    // What fell through on the way could indeed not be chosen.
    for fell in &routed.model.alternatives {
        let at_parents = Exact { id: fell.value.clone(), ..parent.model.clone() };
        prop_assert!(registry.get(&at_parents).is_none(), "{:?}", fell);
        prop_assert_ne!(registry.iter().filter(|(_, other, _)| *other == fell.value).count(), 1);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_choice_is_runnable_or_the_parent((parent, models) in world(), role in role(), profiles in profiles()) {
        let registry = Registry::new(models);
        let routed = route(&plain(&role, &parent), &profiles, &registry);
        let routed = routed.map_err(|error| TestCaseError::fail(error.word()))?;
        assert_thinking(&routed, &parent, &registry)?;
        if routed.kind == ReasonKind::Routed {
            assert_rung(&routed, &role, &parent, &profiles, &registry)?;
        } else {
            prop_assert!(routed.kind.word().starts_with("retained."));
            prop_assert_eq!(&routed.model.value, &parent.model);
        }
    }

    #[test]
    fn the_order_of_the_list_has_no_say(
        (parent, models) in world(),
        role in role(),
        swaps in vec((any::<Index>(), any::<Index>()), 0..32),
        profiles in profiles(),
    ) {
        let mut shuffled = models.clone();
        if !shuffled.is_empty() {
            for (left, right) in swaps {
                let length = shuffled.len();
                shuffled.swap(left.index(length), right.index(length));
            }
        }
        let request = plain(&role, &parent);
        let once = route(&request, &profiles, &Registry::new(models));
        prop_assert_eq!(once, route(&request, &profiles, &Registry::new(shuffled)));
    }

    #[test]
    fn a_named_model_is_that_one_or_none(
        (parent, models) in world(),
        named in prop_oneof![any_id(), (provider(), id()).prop_map(|(provider, id)| format!("{provider}/{id}"))],
        pick in any::<Index>(),
        thinking in option::of(prop_oneof![level().prop_map(|level| level.word().to_owned()), any::<String>()]),
        in_call in any::<bool>(),
        listed in any::<bool>(),
    ) {
        let model = match models.len() {
            count if listed && count > 0 => {
                let Model { provider, id, .. } = &models[pick.index(count)];
                format!("{provider}/{id}")
            }
            _ => named,
        };
        let registry = Registry::new(models);
        let asked = Asked { model: Some(&model), thinking: thinking.as_deref() };
        let (call, definition) = if in_call { (asked, Asked::default()) } else { (Asked::default(), asked) };
        let request = RouteRequest { call, definition, ..plain("worker", &parent) };
        let runs = Exact::parse(&model).and_then(|model| registry.get(&model).cloned());
        match (route(&request, Profiles::shipped(), &registry), runs) {
            (Ok(routed), Some(runs)) => {
                prop_assert_eq!(routed.model.value.to_string(), model);
                if let Applied::Level(level) = routed.thinking.value {
                    prop_assert!(runs.efforts().contains(&level));
                }
            }
            (Err(RouteError::NotExact { .. }), None) => prop_assert!(Exact::parse(&model).is_none()),
            (Err(RouteError::Unavailable { .. }), None) => {}
            (Err(RouteError::OffProhibited { .. }), Some(runs)) => {
                prop_assert_eq!(thinking.as_deref(), Some("off"));
                prop_assert!(!runs.efforts().is_empty());
            }
            (Err(RouteError::ThinkingUnknown { asked, .. }), Some(_)) => {
                prop_assert!(Thinking::from_word(&asked).is_none());
            }
            (got, runs) => return Err(TestCaseError::fail(format!("{got:?} with {runs:?}"))),
        }
    }

    #[test]
    fn what_is_spelled_is_read_back(id in any_id(), tier in prop_oneof![select(TIERS.to_vec()).prop_map(str::to_owned), any::<String>()]) {
        if let Ok(reading) = Reading::of(&id)
            && let Some(built) = reading.spell(&tier)
        {
            let back = Reading::of(&built).map_err(|_| TestCaseError::fail(built.clone()))?;
            prop_assert_eq!((back.family, back.version, back.tier()), (reading.family, reading.version, tier.as_str()));
            let version = id.find(reading.version).unwrap_or(0);
            prop_assert!(built.starts_with(&id[..id.len().min(version.min(4))]), "{} from {}", built, id);
        }
    }

    #[test]
    fn any_table_of_profiles_is_checked(table in wild()) {
        let profiles = Profiles::layered(Some(&table), None);
        prop_assert_eq!(profiles.iter().count(), Family::ALL.len());
        for (family, ladder) in profiles.iter() {
            prop_assert_eq!(ladder.profile.is_none(), profiles.faults().iter().any(|fault| fault.is_of(family)));
        }
        for fault in profiles.faults() {
            prop_assert!(!fault.to_string().contains('\n'));
        }
    }
}
