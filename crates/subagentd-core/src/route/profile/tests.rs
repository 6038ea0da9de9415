//! Faults of profiles, each with its place.

use rstest::rstest;
use serde_json::{Value, json};

use super::super::Family;
use super::{LadderLayer, Profiles, Segment, TIERS};

/// The places of the faults, as `a.1.b`.
fn faults(user: &Value) -> Vec<String> {
    let profiles = Profiles::layered(Some(user), None);
    let spoken = |segment: &Segment| match segment {
        Segment::Key(key) => key.clone(),
        Segment::Index(index) => index.to_string(),
    };
    profiles.faults().iter().map(|fault| fault.path.iter().map(spoken).collect::<Vec<_>>().join(".")).collect()
}

#[test]
fn every_family_has_a_shipped_ladder_without_fault() {
    let shipped = Profiles::shipped();
    assert_eq!(shipped.faults(), []);
    let families: Vec<_> = shipped.iter().map(|(family, _)| family).collect();
    assert_eq!(families, Family::ALL);
    for (family, ladder) in shipped.iter() {
        assert_eq!(ladder.layer, LadderLayer::Builtin);
        assert!(ladder.profile.is_some(), "{family:?}");
    }
}

#[rstest]
#[case::no_table(json!(7), &[""])]
#[case::empty_table(json!({}), &[])]
#[case::family(json!({"kimi": {"group": "size", "tiers": [{"name": "a", "size": "S"}]}}), &["kimi"])]
#[case::case_of_family(json!({"GPT": {}}), &["GPT"])]
#[case::null(json!({"gpt": null}), &["gpt"])]
#[case::nothing(json!({"gpt": {}}), &["gpt.group", "gpt.tiers"])]
#[case::all_at_once(
    json!({"gpt": {"z": 1, "group": 3, "a": 2, "tiers": [4, {"size": "S", "x": 1}, {"name": 5, "role": "planner"}]}}),
    &["gpt.group", "gpt.tiers.0", "gpt.tiers.1.name", "gpt.tiers.1.x", "gpt.tiers.2.name", "gpt.a", "gpt.z"]
)]
#[case::other_label(
    json!({"glm": {"group": "planner-worker", "tiers": [{"name": "a", "size": "S"}]}}),
    &["glm.tiers.0.role", "glm.tiers.0.size"]
)]
#[case::obsolete(json!({"gpt": {"group": "size", "tiers": [{"name": "a", "size": "S", "fallbacks": 1}]}}), &[])]
#[case::obsolete_elsewhere(
    json!({"gpt": {"group": "size", "fallbacks": 1, "tiers": [{"name": "a", "size": "S"}]}}),
    &["gpt.fallbacks"]
)]
#[case::sizes_grow(
    json!({"gpt": {"group": "size", "tiers": [{"name": "a", "size": "M"}, {"name": "b", "size": "L"}]}}),
    &["gpt.tiers.1.size"]
)]
#[case::planner_below(
    json!({"glm": {"group": "planner-worker", "tiers": [{"name": "", "role": "worker"}, {"name": "b", "role": "planner"}]}}),
    &["glm.tiers.1.role"]
)]
#[case::no_unnamed_line(json!({"claude": {"group": "size", "tiers": [{"name": " ", "size": "M"}]}}), &["claude.tiers.0.name"])]
#[case::trimmed(json!({"claude": {"group": "size", "tiers": [{"name": " opus ", "size": "M"}]}}), &[])]
#[case::other_group(json!({"gpt": {"group": "planner-worker", "tiers": [{"name": "", "role": "worker"}]}}), &[])]
fn faults_have_their_place(#[case] user: Value, #[case] places: &[&str]) {
    assert_eq!(faults(&user), places);
}

#[rstest]
#[case("Opus")]
#[case("*")]
#[case("a b")]
#[case("a/b")]
#[case("-a")]
#[case("a-")]
#[case("é")]
#[case("20250101")]
#[case("a-2025-01-01")]
#[case("0813")]
#[case("a-0813")]
#[case(&"a".repeat(41))]
fn a_name_that_no_id_ends_in_is_a_fault(#[case] name: &str) {
    let user = json!({"qwen": {"group": "size", "tiers": [{"name": name, "size": "M"}]}});
    assert_eq!(faults(&user), ["qwen.tiers.0.name"], "{name}");
}

#[test]
fn a_ladder_has_an_end() {
    let tiers = |count: usize| (0..count).map(|n| json!({"name": format!("t{n}"), "size": "M"})).collect::<Vec<_>>();
    assert_eq!(faults(&json!({"gpt": {"group": "size", "tiers": tiers(TIERS)}})), [""; 0]);
    assert_eq!(faults(&json!({"gpt": {"group": "size", "tiers": tiers(TIERS + 1)}})), ["gpt.tiers"]);
}

#[test]
fn faults_of_a_file_full_of_them_are_cut() {
    let keys: serde_json::Map<_, _> = (0..200).map(|n| (format!("k{n}"), json!(1))).collect();
    assert_eq!(faults(&Value::Object(keys)).len(), super::PROFILE_FAULTS);
}

#[test]
fn a_project_replaces_families_as_a_whole_and_leaves_the_others() {
    let user = json!({"gpt": {"group": "size", "tiers": [{"name": "sol", "size": "L"}]}});
    let project = json!({"glm": {"group": "planner-worker", "tiers": [{"name": "", "role": "worker"}]}});
    let profiles = Profiles::layered(Some(&user), Some(&project));
    let layer = |family| profiles.ladder(family).map(|ladder| ladder.layer);
    assert_eq!(layer(Family::Gpt), Some(LadderLayer::User));
    assert_eq!(layer(Family::Glm), Some(LadderLayer::Project));
    assert_eq!(layer(Family::Qwen), Some(LadderLayer::Builtin));
    assert_eq!(profiles.ladder(Family::Gpt).unwrap().profile.as_ref().unwrap().tiers.len(), 1);
}
