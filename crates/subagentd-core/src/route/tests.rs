//! What the cases of `tests/cases/routing.jsonl` do not say: what is told about a choice, and the edges.

use rstest::rstest;
use serde_json::json;

use crate::definition::Thinking::{self, High, Low, Max, Medium, Minimal, Off};
use crate::plan::Source;

use super::{
    Applied, Asked, Exact, Model, Parent, Profiles, ReasonKind, Registry, RouteError, RouteRequest, Runs, route,
};

fn exact(text: &str) -> Exact {
    Exact::parse(text).unwrap()
}

fn parent(text: &str, effort: Option<Thinking>) -> Parent {
    Parent { model: exact(text), effort, runs: None, source: Source::Capture }
}

fn request<'a>(role: &'a str, parent: &'a Parent) -> RouteRequest<'a> {
    RouteRequest { role, parent: Some(parent), call: Asked::default(), definition: Asked::default() }
}

/// Models that all think off, low, medium and high.
fn registry(models: &[&str]) -> Registry {
    Registry::new(models.iter().map(|text| {
        let Exact { provider, id } = exact(text);
        Model { provider, id, reasoning: true, levels: vec![Off, Low, Medium, High] }
    }))
}

#[test]
fn the_walk_tells_what_fell_through() {
    let asks = parent("openai/gpt-6-sol", Some(High));
    let registry = registry(&["openai/gpt-6-sol", "a/gpt-6", "b/gpt-6", "c/gpt-6-luna"]);
    let routed = route(&request("debug", &asks), Profiles::shipped(), &registry).unwrap();
    assert_eq!((routed.model.value.to_string().as_str(), routed.kind), ("c/gpt-6-luna", ReasonKind::Routed));
    assert_eq!(routed.model.source, Source::Profile);
    assert_eq!(routed.model.reason, "debug aims at M of the builtin profile of gpt, at the parent's version");
    let fell: Vec<_> = routed.model.alternatives.iter().map(|one| (one.value.as_str(), one.reason.as_str())).collect();
    let several = "several providers run it, and the parent's does not: a, b";
    let cannot = "it cannot be run";
    assert_eq!(fell, [("gpt-6-terra", cannot), ("gpt-6", several), ("gpt-6-pro", cannot)]);
    assert_eq!(routed.thinking.value, Applied::Level(Medium));
}

#[rstest]
#[case::family("acme/kimi-k3", "its family is not known")]
#[case::version("acme/gpt-oss-120b", "its id has no version where ids of gpt have it")]
#[case::tier("acme/gpt-5.6-sol-pro", "`sol-pro` is no tier of the builtin profile of gpt")]
#[case::no_tier("acme/qwen3", "the line without a tier is no tier of the builtin profile of qwen")]
#[case::exhausted("acme/deepseek-v4-pro", "nothing from there down can be run at version 4")]
fn a_kept_parent_says_why(#[case] model: &str, #[case] why: &str) {
    let asks = parent(model, Some(High));
    let routed = route(&request("worker", &asks), Profiles::shipped(), &registry(&[model])).unwrap();
    assert_eq!((routed.model.value, routed.model.source), (exact(model), Source::Capture));
    assert!(routed.model.reason.ends_with(why), "{}", routed.model.reason);
    assert!(routed.kind.word().starts_with("retained."), "{:?}", routed.kind);
}

#[test]
fn a_family_out_of_order_keeps_the_parent_and_names_the_fault() {
    let user = json!({"gpt": {"group": "size", "tiers": [{"name": "sol"}]}, "glm": 7, "kimi": {}});
    let profiles = Profiles::layered(Some(&user), None);
    let told: Vec<_> = profiles.faults().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].starts_with("profiles.glm (user): this is a number"), "{told:?}");
    assert!(told[1].starts_with("profiles.gpt.tiers[0].size (user): this is missing; write one of \"XL\""), "{told:?}");
    assert!(told[2].starts_with("profiles.kimi (user): no family of this name"), "{told:?}");
    let models = registry(&["a/gpt-6-sol", "a/gpt-6-terra", "a/claude-opus-5", "a/claude-sonnet-5"]);
    let asks = parent("a/gpt-6-sol", None);
    let kept = route(&request("worker", &asks), &profiles, &models).unwrap();
    assert_eq!((kept.kind, kept.model.value), (ReasonKind::ProfileInvalid, exact("a/gpt-6-sol")));
    assert!(kept.model.reason.contains(&told[1]), "{}", kept.model.reason);
    let other = parent("a/claude-opus-5", None);
    assert_eq!(route(&request("worker", &other), &profiles, &models).unwrap().kind, ReasonKind::Routed);
    let call = Asked { model: Some("a/gpt-6-terra"), thinking: None };
    let named = RouteRequest { call, ..request("worker", &asks) };
    assert_eq!(route(&named, &profiles, &models).unwrap().kind, ReasonKind::ExplicitCall);
    let project =
        json!({"gpt": {"group": "size", "tiers": [{"name": "sol", "size": "L"}, {"name": "terra", "size": "S"}]}});
    let mended = Profiles::layered(Some(&user), Some(&project));
    let routed = route(&request("worker", &asks), &mended, &models).unwrap();
    assert_eq!(routed.model.value, exact("a/gpt-6-terra"));
    assert!(routed.model.reason.contains("project profile of gpt"), "{}", routed.model.reason);
}

#[rstest]
#[case::dated("claude-opus-4-5-20251101", &["claude-haiku-4-5"], "claude-opus-4-5-20251101", ReasonKind::Exhausted)]
#[case::undated_is_built("claude-opus-4-5-20251101", &["claude-opus-4-5"], "claude-opus-4-5", ReasonKind::Routed)]
#[case::without_date("claude-opus-4-5", &["claude-haiku-4-5"], "claude-haiku-4-5", ReasonKind::Routed)]
fn a_dated_parent_is_not_reviewed_by_less(
    #[case] model: &str,
    #[case] others: &[&str],
    #[case] expected: &str,
    #[case] kind: ReasonKind,
) {
    let asks = parent(&format!("a/{model}"), Some(High));
    let others: Vec<_> = others.iter().map(|id| format!("a/{id}")).collect();
    let others: Vec<_> = others.iter().map(String::as_str).collect();
    let routed = route(&request("reviewer", &asks), Profiles::shipped(), &registry(&others)).unwrap();
    assert_eq!((routed.model.value.id.as_str(), routed.kind), (expected, kind));
}

#[test]
fn the_cheaper_line_comes_before_pro() {
    let asks = parent("a/gpt-5.5", Some(High));
    let routed = route(&request("debug", &asks), Profiles::shipped(), &registry(&["a/gpt-5.5", "a/gpt-5.5-pro"]));
    assert_eq!(routed.unwrap().model.value, exact("a/gpt-5.5"));
}

#[test]
fn an_unlisted_parent_thinks_by_what_the_host_says_of_it() {
    let mut asks = parent("acme/kimi-k3", Some(High));
    let nothing = Registry::new([]);
    let routed = route(&request("worker", &asks), Profiles::shipped(), &nothing).unwrap();
    assert_eq!(routed.thinking.value, Applied::Level(High), "{:?}", routed.thinking);
    asks.runs = Some(Runs::new(true, &[Off, Minimal, High, Max]));
    let routed = route(&request("worker", &asks), Profiles::shipped(), &nothing).unwrap();
    assert_eq!(routed.thinking.value, Applied::Level(Minimal));
    asks.runs = Some(Runs::new(false, &[Off]));
    let routed = route(&request("worker", &asks), Profiles::shipped(), &nothing).unwrap();
    assert_eq!(routed.thinking.value, Applied::NotApplicable);
}

#[test]
fn models_that_show_after_the_start_are_taken_as_named() {
    let asks = parent("a/gpt-6-sol", Some(Medium));
    let call = Asked { model: Some("a/gpt-6-luna"), thinking: Some("off") };
    let named = RouteRequest { call, ..request("worker", &asks) };
    let routed = route(&named, Profiles::shipped(), &Registry::unknown()).unwrap();
    assert_eq!((routed.model.value, routed.thinking.value), (exact("a/gpt-6-luna"), Applied::Level(Off)));
    let kept = route(&request("worker", &asks), Profiles::shipped(), &Registry::unknown()).unwrap();
    assert_eq!((kept.kind, kept.thinking.value), (ReasonKind::ModelsUnknown, Applied::Level(Medium)));
}

#[rstest]
#[case::nobody(None, Asked::default(), "model.not-named")]
#[case::word(Some("a/gpt-6-sol"), Asked { model: None, thinking: Some("HIGH") }, "thinking.unknown")]
#[case::half(Some("a/gpt-6-sol"), Asked { model: Some("/x"), thinking: None }, "model.not-exact")]
#[case::off(Some("a/gpt-6-sol"), Asked { model: None, thinking: Some("off") }, "thinking.off-prohibited")]
fn what_cannot_be_had_is_refused(#[case] model: Option<&str>, #[case] asked: Asked<'_>, #[case] word: &str) {
    let asks = model.map(|model| parent(model, None));
    for source in [Source::Call, Source::Definition] {
        let nothing = Asked::default();
        let (call, definition) = if source == Source::Call { (asked, nothing) } else { (nothing, asked) };
        let request = RouteRequest { role: "worker", parent: asks.as_ref(), call, definition };
        let error = route(&request, Profiles::shipped(), &registry(&["a/gpt-6-sol"])).unwrap_err();
        assert_eq!(error.word(), word);
        if let RouteError::NotExact { source: told, .. } | RouteError::OffProhibited { source: told, .. } = error {
            assert_eq!(told, source);
        }
    }
}
