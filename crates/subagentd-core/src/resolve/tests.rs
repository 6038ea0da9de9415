//! Requests in, plans and refusals out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rstest::rstest;

use crate::definition::{Catalog, Definition, Layer, Thinking};
use crate::plan::{Class, Plan, Source, TimeLimits};
use crate::workspace::{RootIdentity, Workspace};

use super::{
    DefaultRuntime, Facts, ModelFacts, REMARK_ACCESS, REMARK_TURNS, Refusal, RefusalKind, Request, RuntimeFacts,
    resolve,
};

fn model(provider: &str, id: &str, thinking_levels: &[Thinking]) -> ModelFacts {
    ModelFacts { provider: provider.to_owned(), id: id.to_owned(), thinking_levels: thinking_levels.to_vec() }
}

fn runtime(models: Option<Vec<ModelFacts>>, default_model: Option<&str>, default_thinking: Thinking) -> RuntimeFacts {
    RuntimeFacts {
        usable: true,
        why: "it answers".to_owned(),
        models,
        default_model: default_model.map(str::to_owned),
        default_thinking,
    }
}

/// `offline` by default; `pi` with two models; `open`, whose models show only after the start; `gone`, not usable.
fn facts() -> Facts {
    use Thinking::{High, Low, Medium, Off};
    let pi = vec![model("acme", "one", &[Low, High]), model("acme", "vendor/two", &[])];
    let offline = vec![model("offline", "search", &[Off])];
    let gone =
        RuntimeFacts { usable: false, why: "its program is not installed".to_owned(), ..runtime(None, None, Off) };
    let runtimes = [
        ("gone", gone),
        ("offline", runtime(Some(offline), Some("offline/search"), Off)),
        ("open", runtime(None, None, Medium)),
        ("pi", runtime(Some(pi), Some("acme/one"), Medium)),
    ];
    let directory = PathBuf::from("/w");
    Facts {
        runtimes: BTreeMap::from(runtimes.map(|(name, facts)| (name.to_owned(), facts))),
        default_runtime: DefaultRuntime {
            name: "offline".to_owned(),
            source: Source::Daemon,
            reason: "no other runtime is usable".to_owned(),
        },
        default_limits: TimeLimits { first_event_ms: 1, idle_ms: 2, tool_call_ms: 3, total_ms: 4, grace_ms: 5 },
        limits_source: Source::Configuration,
        workspace: Workspace::new(directory.clone(), directory, RootIdentity { device: 1, inode: 2 }, None),
        environment: Some("digest".to_owned()),
        umask: Some(0o022),
        resource_limits: BTreeMap::new(),
        conversation: false,
        environment_omitted: vec!["ODD".to_owned()],
        remarks: vec!["earlier".to_owned()],
    }
}

fn agent(lines: &str) -> Catalog {
    let text = format!("---\n{lines}\n---\nDo it.\n");
    Catalog::new([Definition::parse("agent", Layer::Builtin, "agent.md", &text)])
}

fn call(agent: &str) -> Request {
    Request { agent: agent.to_owned(), ..Request::default() }
}

fn plan(agent_lines: &str) -> Plan {
    resolve(&call("agent"), &agent(agent_lines), &facts()).unwrap()
}

#[test]
fn a_plain_launch_has_a_reason_for_everything() {
    let plan = resolve(&call("Explore"), &Catalog::builtin(), &facts()).unwrap();
    assert_eq!((plan.agent.as_str(), plan.agent_source.as_str()), ("explore", "builtin"));
    assert_eq!((plan.runtime.value.as_str(), plan.runtime.source), ("offline", Source::Daemon));
    assert_eq!(plan.runtime.reason, "no other runtime is usable");
    assert_eq!((plan.model.value.as_str(), plan.model.source), ("offline/search", Source::Runtime));
    assert_eq!((plan.thinking.value.as_str(), plan.thinking.source), ("off", Source::Runtime));
    assert_eq!(plan.tools.value, ["read", "grep", "find", "ls"]);
    assert_eq!((plan.class.value, plan.class.source), (Class::Shared, Source::Definition));
    assert_eq!((plan.context.value.as_str(), plan.background.value), ("fresh", true));
    assert_eq!(plan.limits.value, facts().default_limits);
    assert_eq!(plan.environment.as_deref(), Some("digest"));
    assert_eq!((plan.umask, plan.environment_omitted), (Some(0o022), vec!["ODD".to_owned()]));
    assert_eq!(plan.remarks, ["earlier"]);
    assert!(plan.instructions.starts_with("You find things"));
    for reason in [&plan.model.reason, &plan.thinking.reason, &plan.tools.reason, &plan.class.reason] {
        assert!(!reason.is_empty());
    }
}

#[rstest]
#[case("explore", Class::Shared, "read, grep, find and ls", "fresh")]
#[case("reviewer", Class::Shared, "read, grep and find", "fresh")]
#[case("researcher", Class::Exclusive, "web_search may write is not known", "fresh")]
#[case("worker", Class::Exclusive, "bash, edit and write", "fresh")]
#[case("debug", Class::Exclusive, "bash, edit and write", "fresh")]
fn each_shipped_agent_has_its_class(
    #[case] name: &str,
    #[case] class: Class,
    #[case] because: &str,
    #[case] context: &str,
) {
    let plan = resolve(&call(name), &Catalog::builtin(), &facts()).unwrap();
    assert_eq!(plan.class.value, class);
    assert!(plan.class.reason.contains(because), "{}", plan.class.reason);
    assert_eq!(plan.context.value, context);
    let inherits = matches!(name, "worker" | "debug");
    assert_eq!(plan.tools.source == Source::Default, inherits, "{:?}", plan.tools);
    assert_eq!(plan.context.source == Source::Default, name == "debug", "{:?}", plan.context);
    assert_eq!(plan.context.alternatives.len(), usize::from(name == "debug"));
}

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
    assert_eq!((plan.thinking.value.as_str(), plan.runtime.source), ("medium", Source::Call));
}

#[rstest]
#[case::no_slash("offline", "one", RefusalKind::ModelNotExact, "`provider/id`")]
#[case::no_provider("offline", "/search", RefusalKind::ModelNotExact, "`provider/id`")]
#[case::no_id("open", "acme/", RefusalKind::ModelNotExact, "`provider/id`")]
#[case::empty("open", "", RefusalKind::ModelNotExact, "`provider/id`")]
#[case::other_model("offline", "acme/one", RefusalKind::ModelUnavailable, "it can run: offline/search")]
#[case::other_case("pi", "acme/One", RefusalKind::ModelUnavailable, "acme/one, acme/vendor/two")]
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
#[case::has_it("pi", None, Some("high"), Ok("high"))]
#[case::lacks_it("pi", None, Some("max"), Err("level `max`, which the call names; it has low, high"))]
#[case::lacks_off("pi", None, Some("off"), Err("it has low, high"))]
#[case::no_levels("pi", Some("acme/vendor/two"), Some("off"), Err("it has no levels"))]
#[case::no_word("pi", None, Some("HIGH"), Err("off, minimal, low, medium, high, xhigh, max"))]
#[case::offline_off("offline", None, Some("off"), Ok("off"))]
#[case::offline_high("offline", None, Some("high"), Err("it has off"))]
#[case::not_known("open", Some("a/b"), Some("xhigh"), Ok("xhigh"))]
#[case::automatic("open", Some("a/b"), None, Ok("medium"))]
#[case::automatic_lacks_default("pi", None, None, Ok("low"))]
#[case::automatic_without_levels("pi", Some("acme/vendor/two"), None, Ok("off"))]
fn thinking_is_as_asked_or_refused(
    #[case] runtime: &str,
    #[case] model: Option<&str>,
    #[case] thinking: Option<&str>,
    #[case] expected: Result<&str, &str>,
) {
    let request = Request {
        model: model.map(str::to_owned),
        thinking: thinking.map(str::to_owned),
        runtime: Some(runtime.to_owned()),
        ..call("agent")
    };
    match (resolve(&request, &agent(""), &facts()), expected) {
        (Ok(plan), Ok(level)) => assert_eq!(plan.thinking.value, level),
        (Err(refusal), Err(says)) => {
            assert_eq!(refusal.kind(), RefusalKind::ThinkingUnavailable);
            assert!(refusal.to_string().contains(says), "{refusal}");
        }
        (got, _) => panic!("{got:?}"),
    }
}

#[test]
fn thinking_of_the_definition_counts_only_when_the_call_says_nothing() {
    let wrong = agent("thinking: turbo");
    let refusal = resolve(&call("agent"), &wrong, &facts()).unwrap_err();
    assert!(refusal.to_string().contains("`turbo`, which the agent's definition names"), "{refusal}");
    let request = Request { thinking: Some("off".to_owned()), ..call("agent") };
    assert_eq!(resolve(&request, &wrong, &facts()).unwrap().thinking.source, Source::Call);
}

#[rstest]
#[case::unknown("pie", "there is no runtime `pie`, which the call names; usable runtimes: offline, open, pi")]
#[case::unusable("gone", "its program is not installed")]
fn a_runtime_that_cannot_run_is_refused(#[case] name: &str, #[case] says: &str) {
    let request = Request { runtime: Some(name.to_owned()), ..call("agent") };
    let refusal = resolve(&request, &agent(""), &facts()).unwrap_err();
    assert_eq!(refusal.kind(), RefusalKind::RuntimeUnavailable);
    assert!(refusal.to_string().contains(says), "{refusal}");
    let mut facts = facts();
    facts.default_runtime.name = name.to_owned();
    let refusal = resolve(&call("agent"), &agent(""), &facts).unwrap_err();
    assert_eq!(refusal.kind(), RefusalKind::RuntimeUnavailable, "also when it is the default");
}

#[rstest]
#[case("tools: []", Class::Shared, "no tools")]
#[case("tools: [ls, read]", Class::Shared, "only look, with ls and read")]
#[case("tools: [read, edit]", Class::Exclusive, "write with edit")]
#[case("tools: [read, Read]", Class::Exclusive, "Read may write is not known")]
#[case("tools: [bash, my_scanner]", Class::Exclusive, "write with bash; what my_scanner may write")]
#[case("tools: [read, bash]\naccess: read-only", Class::Exclusive, "`access: read-only` is not-enforced")]
#[case("tools: [read]\naccess: read-only", Class::Shared, "only look")]
#[case("access: scoped", Class::Exclusive, "`access: scoped` is not-enforced")]
#[case("tools:", Class::Exclusive, "bash, edit and write")]
fn the_class_follows_from_the_tools(#[case] lines: &str, #[case] class: Class, #[case] because: &str) {
    let plan = plan(lines);
    assert_eq!(plan.class.value, class);
    assert!(plan.class.reason.contains(because), "{}", plan.class.reason);
}

#[test]
fn management_tools_are_taken_out_and_told() {
    let plan = plan("tools: read, subagent, steer_subagent, grep");
    assert_eq!(plan.tools.value, ["read", "grep"]);
    let out: Vec<_> = plan.tools.alternatives.iter().map(|tool| tool.value.as_str()).collect();
    assert_eq!(out, ["subagent", "steer_subagent"]);
    assert_eq!(plan.class.value, Class::Shared);
}

#[rstest]
#[case(None, None, true, Source::Default)]
#[case(None, Some(false), false, Source::Definition)]
#[case(Some(true), Some(false), true, Source::Call)]
#[case(Some(false), None, false, Source::Call)]
fn background_has_its_order(
    #[case] in_call: Option<bool>,
    #[case] in_file: Option<bool>,
    #[case] value: bool,
    #[case] source: Source,
) {
    let lines = in_file.map_or(String::new(), |value| format!("run_in_background: {value}"));
    let request = Request { background: in_call, ..call("agent") };
    let plan = resolve(&request, &agent(&lines), &facts()).unwrap();
    assert_eq!((plan.background.value, plan.background.source), (value, source));
}

#[rstest]
#[case(None, None, "", (4, 2), Source::Configuration)]
#[case(None, None, "timeout: 7s", (7_000, 2), Source::Definition)]
#[case(None, Some(0), "timeout: 7s\nidle_timeout: 8ms", (7_000, 0), Source::Call)]
#[case(Some(9), None, "timeout: 7s\nidle_timeout:", (9, 2), Source::Call)]
fn limits_have_their_order(
    #[case] timeout_ms: Option<u64>,
    #[case] idle_timeout_ms: Option<u64>,
    #[case] lines: &str,
    #[case] (total, idle): (u64, u64),
    #[case] source: Source,
) {
    let request = Request { timeout_ms, idle_timeout_ms, ..call("agent") };
    let limits = resolve(&request, &agent(lines), &facts()).unwrap().limits;
    assert_eq!((limits.value.total_ms, limits.value.idle_ms, limits.source), (total, idle, source));
    assert_eq!((limits.value.first_event_ms, limits.value.tool_call_ms, limits.value.grace_ms), (1, 3, 5));
}

#[test]
fn what_nothing_holds_yet_is_remarked() {
    assert_eq!(plan("max_turns: 3").remarks, ["earlier", REMARK_TURNS]);
    assert_eq!(plan("max_turns: 0\naccess: read-only").remarks, ["earlier", REMARK_ACCESS]);
}

#[rstest]
#[case(
    "explor",
    RefusalKind::UnknownAgent,
    "did you mean `explore`? agents: debug, explore, researcher, reviewer, worker"
)]
#[case("plan", RefusalKind::UnknownAgent, "there is no agent `plan`; agents: debug")]
fn an_unknown_agent_hears_which_there_are(#[case] name: &str, #[case] kind: RefusalKind, #[case] says: &str) {
    let refusal = resolve(&call(name), &Catalog::builtin(), &facts()).unwrap_err();
    assert_eq!(refusal.kind(), kind);
    assert!(refusal.to_string().contains(says), "{refusal}");
}

#[test]
fn agents_that_are_off_or_broken_say_so_with_their_file() {
    let off = resolve(&call("agent"), &agent("enabled: false"), &facts()).unwrap_err();
    assert_eq!((off.kind(), off.at()), (RefusalKind::AgentDisabled, None));
    assert!(off.to_string().contains("agent.md"), "{off}");
    let broken = resolve(&call("agent"), &agent("enabled: maybe"), &facts()).unwrap_err();
    assert_eq!(broken.kind(), RefusalKind::AgentBroken);
    let (file, problem) = broken.at().unwrap();
    assert_eq!((file, problem.line, problem.column), ("agent.md", 2, 10));
    assert!(broken.to_string().contains("line 2, column 10"), "{broken}");
}

#[test]
fn a_long_list_and_a_long_word_are_cut() {
    let refusal = Refusal::ModelUnavailable {
        provider: "p\n".repeat(1_000),
        id: "i".repeat(10_000),
        source: Source::Call,
        runtime: "pi".to_owned(),
        available: (0..400).map(|number| format!("acme/{number}")).collect(),
    };
    let text = refusal.to_string();
    assert!(text.ends_with("acme/19 and 380 more"), "{text}");
    assert!(text.len() < 1_200 && !text.contains('\n'), "{text}");
}
