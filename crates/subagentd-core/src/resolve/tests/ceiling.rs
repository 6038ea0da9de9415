//! Ceilings narrow, or refuse.

use rstest::rstest;

use crate::definition::Thinking;
use crate::plan::Source;

use super::super::{Ceiling, Facts, RefusalKind, Request, resolve};
use super::{agent, call, facts, fell};

fn under(ceilings: &[Ceiling]) -> Facts {
    let mut facts = facts();
    facts.policy.ceilings = ceilings.to_vec();
    facts
}

fn ceiling(of: &str) -> Ceiling {
    Ceiling { of: of.to_owned(), ..Ceiling::default() }
}

fn names(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|name| (*name).to_owned()).collect())
}

#[test]
fn an_agent_outside_is_refused() {
    let ceilings = [ceiling("the configuration"), Ceiling { agents: names(&["other"]), ..ceiling("the owner x") }];
    let refusal = resolve(&call("agent"), &agent(""), &under(&ceilings)).unwrap_err();
    assert_eq!(refusal.kind(), RefusalKind::AboveCeiling);
    assert!(refusal.to_string().starts_with("the owner x does not allow the agent `agent`"), "{refusal}");
    let ceilings = [Ceiling { agents: names(&["agent"]), ..ceiling("the owner x") }];
    assert!(resolve(&call("AGENT"), &agent(""), &under(&ceilings)).is_ok());
}

#[test]
fn tools_outside_leave_and_are_told() {
    let ceilings = [
        Ceiling { tools: names(&["read", "bash", "scan"]), ..ceiling("the configuration") },
        Ceiling { deny_extensions: true, tools: names(&["read", "scan", "edit"]), ..ceiling("the owner x") },
    ];
    let plan = resolve(&call("agent"), &agent("tools: read, bash, edit, scan"), &under(&ceilings)).unwrap();
    assert_eq!(plan.tools.value, ["read"]);
    assert_eq!(
        fell(&plan.tools),
        [
            "edit: the configuration does not allow it",
            "bash: the owner x does not allow it",
            "scan: the owner x does not allow it"
        ]
    );
    assert_eq!(plan.class.value.word(), "shared", "the class follows from what is left");
    let refusal = resolve(&call("agent"), &agent("tools: edit"), &under(&ceilings)).unwrap_err();
    assert_eq!(refusal.kind(), RefusalKind::AboveCeiling);
    assert!(refusal.to_string().contains("its tools: edit"), "{refusal}");
    assert!(resolve(&call("agent"), &agent("tools: []"), &under(&ceilings)).is_ok(), "nothing stays nothing");
}

#[rstest]
#[case::below(Thinking::High, None, None, Ok("medium"))]
#[case::automatic_is_lowered(Thinking::Low, None, None, Ok("low"))]
#[case::definition_is_lowered(Thinking::Medium, Some("high"), None, Ok("medium"))]
#[case::never_to_off(Thinking::Minimal, None, None, Ok("low above"))]
#[case::off_is_a_ceiling_too(Thinking::Off, None, None, Ok("low above"))]
#[case::call_at_it(Thinking::Medium, None, Some("medium"), Ok("medium"))]
#[case::call_above(
    Thinking::Medium,
    None,
    Some("high"),
    Err("no more thinking than `medium`, and the call asks for `high`")
)]
fn thinking_is_lowered_or_refused(
    #[case] most: Thinking,
    #[case] in_file: Option<&str>,
    #[case] in_call: Option<&str>,
    #[case] expected: Result<&str, &str>,
) {
    let ceilings = [
        Ceiling { thinking: Some(Thinking::Max), ..ceiling("the configuration") },
        Ceiling { thinking: Some(most), ..ceiling("the owner x") },
    ];
    let lines = in_file.map_or(String::new(), |level| format!("thinking: {level}"));
    let request = Request {
        thinking: in_call.map(str::to_owned),
        model: Some("acme/gpt-6-sol".to_owned()),
        runtime: Some("pi".to_owned()),
        ..call("agent")
    };
    match (resolve(&request, &agent(&lines), &under(&ceilings)), expected) {
        (Ok(plan), Ok(level)) => {
            let above = plan.remarks.iter().any(|remark| remark == "thinking.above-ceiling");
            assert_eq!(format!("{}{}", plan.thinking.value, if above { " above" } else { "" }), level);
            if plan.thinking.source == Source::Configuration {
                assert!(plan.thinking.reason.starts_with("the owner x allows no more"), "{:?}", plan.thinking);
            }
        }
        (Err(refusal), Err(says)) => {
            assert_eq!(refusal.kind(), RefusalKind::AboveCeiling);
            assert!(refusal.to_string().contains(says), "{refusal}");
        }
        (got, _) => panic!("{got:?}"),
    }
}

#[test]
fn models_without_thinking_are_below_every_ceiling() {
    let ceilings = [Ceiling { thinking: Some(Thinking::Low), ..ceiling("the configuration") }];
    let plan = resolve(&call("agent"), &agent(""), &under(&ceilings)).unwrap();
    assert_eq!(plan.thinking.value, "not-applicable");
}
