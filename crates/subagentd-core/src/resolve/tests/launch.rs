//! Agents, runtimes, run mode, limits, and how refusals read.

use rstest::rstest;

use crate::definition::Catalog;
use crate::plan::{Class, Source};

use super::super::{REMARK_ACCESS, REMARK_TURNS, Refusal, RefusalKind, Request, resolve};
use super::{agent, call, facts, plan};

#[test]
fn a_plain_launch_has_a_reason_for_everything() {
    let plan = resolve(&call("Explore"), &Catalog::builtin(), &facts()).unwrap();
    assert_eq!((plan.agent.as_str(), plan.agent_source.as_str()), ("explore", "builtin"));
    assert_eq!((plan.runtime.value.as_str(), plan.runtime.source), ("offline", Source::Daemon));
    assert_eq!(plan.runtime.reason, "no other runtime is usable");
    assert_eq!((plan.model.value.as_str(), plan.model.source), ("offline/search", Source::Runtime));
    assert_eq!((plan.thinking.value.as_str(), plan.thinking.source), ("not-applicable", Source::Default));
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
