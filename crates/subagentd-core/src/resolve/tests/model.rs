//! Which model, and how hard it thinks.

use rstest::rstest;

use crate::definition::{Catalog, Thinking};
use crate::plan::Source;
use crate::route::{Exact, Parent, Registry, Runs};

use super::super::{Facts, RefusalKind, Request, resolve};
use super::{agent, call, facts, fell, model};

#[rstest]
#[case::call("acme/call", Some("acme/file"), Some("acme/call"), Source::Call)]
#[case::definition("acme/file", Some("acme/file"), None, Source::Definition)]
#[case::id_with_slashes("a/b/c", None, Some("a/b/c"), Source::Call)]
#[case::loser_is_not_looked_at("acme/call", Some("no slash"), Some("acme/call"), Source::Call)]
fn a_named_model_wins_in_order(
    #[case] expected: &str,
    #[case] in_file: Option<&str>,
    #[case] in_call: Option<&str>,
    #[case] source: Source,
) {
    let lines = in_file.map_or(String::new(), |model| format!("model: {model}"));
    let request = Request { model: in_call.map(str::to_owned), runtime: Some("open".to_owned()), ..call("agent") };
    let plan = resolve(&request, &agent(&lines), &facts()).unwrap();
    assert_eq!((plan.model.value.as_str(), plan.model.source), (expected, source));
    assert_eq!((plan.thinking.value.as_str(), plan.runtime.source), ("not-applicable", Source::Call));
}

#[rstest]
#[case::no_slash("offline", "one", RefusalKind::ModelNotExact, "`provider/id`")]
#[case::no_provider("offline", "/search", RefusalKind::ModelNotExact, "`provider/id`")]
#[case::no_id("open", "acme/", RefusalKind::ModelNotExact, "`provider/id`")]
#[case::empty("open", "", RefusalKind::ModelNotExact, "`provider/id`")]
#[case::other_model("offline", "acme/gpt-6-sol", RefusalKind::ModelUnavailable, "it can run: offline/search")]
#[case::other_case(
    "pi",
    "acme/Gpt-6-sol",
    RefusalKind::ModelUnavailable,
    "acme/gpt-6-sol, acme/gpt-6-terra, acme/vendor/two"
)]
#[case::other_provider("pi", "vendor/two", RefusalKind::ModelUnavailable, "`two` of provider `vendor`")]
fn a_model_that_cannot_be_had_exactly_is_refused(
    #[case] runtime: &str,
    #[case] model: &str,
    #[case] kind: RefusalKind,
    #[case] says: &str,
) {
    let request = Request { model: Some(model.to_owned()), runtime: Some(runtime.to_owned()), ..call("agent") };
    let by_call = resolve(&request, &agent(""), &facts()).unwrap_err();
    assert_eq!(by_call.kind(), kind);
    assert!(by_call.to_string().contains(says), "{by_call}");
    assert!(by_call.to_string().contains("the call"), "{by_call}");
    let request = Request { model: None, ..request };
    let by_file = resolve(&request, &agent(&format!("model: \"{model}\"")), &facts()).unwrap_err();
    assert_eq!(by_file.kind(), kind);
    assert!(by_file.to_string().contains("the agent's definition"), "{by_file}");
}

#[test]
fn no_model_at_all_is_refused() {
    let request = Request { runtime: Some("open".to_owned()), ..call("agent") };
    let refusal = resolve(&request, &agent(""), &facts()).unwrap_err();
    assert_eq!(refusal.kind(), RefusalKind::ModelUnavailable);
    assert!(refusal.to_string().contains("no default model"), "{refusal}");
}

#[rstest]
#[case::has_it("pi", Some("acme/gpt-6-terra"), Some("high"), "high")]
#[case::next_above("pi", Some("acme/gpt-6-terra"), Some("medium"), "high")]
#[case::next_below("pi", Some("acme/gpt-6-terra"), Some("max"), "high")]
#[case::cannot_think("pi", Some("acme/vendor/two"), Some("high"), "not-applicable")]
#[case::cannot_be_kept_from_it("pi", Some("acme/vendor/two"), Some("off"), "not-applicable")]
#[case::offline("offline", None, Some("high"), "not-applicable")]
#[case::not_known("open", Some("a/b"), Some("xhigh"), "xhigh")]
#[case::automatic_not_known("open", Some("a/b"), None, "not-applicable")]
#[case::automatic_below_the_default("pi", None, None, "low")]
#[case::automatic_elsewhere("pi", Some("acme/gpt-6-sol"), None, "medium")]
fn thinking_follows_the_chosen_model(
    #[case] runtime: &str,
    #[case] model: Option<&str>,
    #[case] thinking: Option<&str>,
    #[case] expected: &str,
) {
    let request = Request {
        model: model.map(str::to_owned),
        thinking: thinking.map(str::to_owned),
        runtime: Some(runtime.to_owned()),
        ..call("agent")
    };
    assert_eq!(resolve(&request, &agent(""), &facts()).unwrap().thinking.value, expected);
}

#[rstest]
#[case::word("HIGH", RefusalKind::ThinkingUnavailable, "off, minimal, low, medium, high, xhigh, max")]
#[case::off(
    "off",
    RefusalKind::OffProhibited,
    "can think and is not to be kept from it by `off`, which the call names"
)]
fn thinking_that_cannot_be_had_is_refused(#[case] thinking: &str, #[case] kind: RefusalKind, #[case] says: &str) {
    let request = Request { thinking: Some(thinking.to_owned()), runtime: Some("pi".to_owned()), ..call("agent") };
    let refusal = resolve(&request, &agent(""), &facts()).unwrap_err();
    assert_eq!(refusal.kind(), kind);
    assert!(refusal.to_string().contains(says), "{refusal}");
}

#[test]
fn thinking_of_the_definition_counts_only_when_the_call_says_nothing() {
    let wrong = agent("thinking: turbo");
    let refusal = resolve(&call("agent"), &wrong, &facts()).unwrap_err();
    assert!(refusal.to_string().contains("`turbo`, which the agent's definition names"), "{refusal}");
    let request = Request { thinking: Some("off".to_owned()), ..call("agent") };
    assert_eq!(resolve(&request, &wrong, &facts()).unwrap().thinking.source, Source::Call);
}

#[test]
fn without_a_host_the_default_stands_in_the_parents_place() {
    let request = Request { runtime: Some("pi".to_owned()), ..call("worker") };
    let plan = resolve(&request, &Catalog::builtin(), &facts()).unwrap();
    assert_eq!((plan.model.value.as_str(), plan.model_kind.as_str()), ("acme/gpt-6-terra", "routed"));
    let plan = resolve(&call("worker"), &Catalog::builtin(), &facts()).unwrap();
    assert_eq!((plan.model.value.as_str(), plan.model_kind.as_str()), ("offline/search", "retained.unknown-family"));
    assert_eq!(plan.model.reason, "the runtime's default model is kept: its family is not known");
}

#[test]
fn the_hosts_model_and_list_hold_for_runtimes_that_run_them() {
    let mut facts = facts();
    facts.capture.parent = Some(Parent {
        model: Exact::parse("b/claude-opus-5").unwrap(),
        effort: Some(Thinking::High),
        runs: Some(Runs::new(true, &[Thinking::Low, Thinking::Max])),
        source: Source::Capture,
    });
    let launch = |facts: &Facts, runtime: &str, agent: &str| {
        let request = Request { runtime: Some(runtime.to_owned()), ..call(agent) };
        let plan = resolve(&request, &Catalog::builtin(), facts).unwrap();
        (plan.model.value.clone(), plan.thinking.value.clone(), fell(&plan.model))
    };
    let cannot = |ids: &[&str]| ids.iter().map(|id| format!("{id}: it cannot be run")).collect::<Vec<_>>();
    let kept = |fell| ("b/claude-opus-5".to_owned(), "low".to_owned(), fell);
    assert_eq!(launch(&facts, "pi", "explore"), kept(cannot(&["claude-haiku-5"])), "nothing of it in pi's own list");
    let listed = Registry::new([model("b", "claude-haiku-5", &[Thinking::Medium, Thinking::Max])]);
    facts.capture.models = Some(listed);
    let haiku = ("b/claude-haiku-5".to_owned(), "medium".to_owned(), Vec::new());
    assert_eq!(launch(&facts, "pi", "explore"), haiku);
    assert_eq!(launch(&facts, "open", "explore"), haiku);
    let offline = ("offline/search".to_owned(), "not-applicable".to_owned(), Vec::new());
    assert_eq!(launch(&facts, "offline", "explore"), offline);
}
