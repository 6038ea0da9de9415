//! Conversation, trust, standing instructions, and the digest of it all.

use rstest::rstest;

use crate::definition::Catalog;
use crate::plan::Source;

use super::super::{Facts, RefusalKind, Request, Stated, plan_digest, resolve};
use super::{agent, call, facts};

fn talking() -> Facts {
    let mut facts = facts();
    facts.capture.conversation = Some("talk".to_owned());
    facts
}

#[rstest]
#[case::nobody(None, "", "fresh", Source::Default)]
#[case::definition(None, "inherit_context: true", "parent", Source::Definition)]
#[case::definition_fresh(None, "inherit_context: false", "fresh", Source::Definition)]
#[case::cleared(None, "inherit_context:", "fresh", Source::Default)]
#[case::call(Some("parent"), "inherit_context: false", "parent", Source::Call)]
#[case::call_fresh(Some("fresh"), "inherit_context: true", "fresh", Source::Call)]
fn context_has_its_order(
    #[case] in_call: Option<&str>,
    #[case] lines: &str,
    #[case] value: &str,
    #[case] source: Source,
) {
    let request = Request { context: in_call.map(str::to_owned), ..call("agent") };
    let plan = resolve(&request, &agent(lines), &talking()).unwrap();
    assert_eq!((plan.context.value.as_str(), plan.context.source), (value, source));
    assert_eq!(plan.captured.conversation.is_some(), value == "parent");
}

#[test]
fn without_a_conversation_only_the_call_is_refused() {
    let plan = resolve(&call("debug"), &Catalog::builtin(), &facts()).unwrap();
    assert_eq!((plan.context.value.as_str(), plan.context.alternatives.len()), ("fresh", 1));
    assert!(plan.context.reason.contains("no conversation came with the launch"), "{}", plan.context.reason);
    for (word, says) in [("parent", "launch from a host"), ("Parent", "write `fresh` or `parent`")] {
        let request = Request { context: Some(word.to_owned()), ..call("debug") };
        let refusal = resolve(&request, &Catalog::builtin(), &facts()).unwrap_err();
        assert_eq!(refusal.kind(), RefusalKind::ContextUnavailable);
        assert!(refusal.to_string().contains(says), "{refusal}");
    }
}

#[test]
fn trust_and_standing_instructions_are_recorded_with_who_states_them() {
    let mut facts = facts();
    let told = |facts: &Facts| {
        let captured = resolve(&call("agent"), &agent(""), facts).unwrap().captured;
        let (trusted, standing) = (captured.trusted.unwrap(), captured.standing.unwrap());
        (trusted.value, trusted.source, standing.value, standing.source)
    };
    assert_eq!(told(&facts), (false, Source::Default, None, Source::Default));
    facts.capture.trusted = Stated { value: true, source: Source::Flag };
    facts.capture.standing = Stated { value: Some("sha".to_owned()), source: Source::Capture };
    assert_eq!(told(&facts), (true, Source::Flag, Some("sha".to_owned()), Source::Capture));
}

#[test]
fn the_digest_is_of_what_is_settled_and_of_nothing_else() {
    let digest = |facts: &Facts, lines: &str, task: &str| {
        plan_digest(&resolve(&call("agent"), &agent(lines), facts).unwrap(), task.as_bytes())
    };
    let plain = digest(&facts(), "", "do");
    assert_eq!(plain.len(), 64);
    let mut same = facts();
    same.environment = Some("another".to_owned());
    same.remarks = Vec::new();
    same.default_runtime.reason = "a later wording".to_owned();
    same.workspace.identity.inode = 77;
    assert_eq!(digest(&same, "", "do"), plain);
    let mut standing = facts();
    standing.capture.standing.value = Some("x".to_owned());
    let mut trusted = facts();
    trusted.capture.trusted.value = true;
    let mut slow = facts();
    slow.default_limits.total_ms += 1;
    let others = [
        digest(&facts(), "", "do it"),
        digest(&facts(), "tools: read", "do"),
        digest(&facts(), "run_in_background: false", "do"),
        digest(&talking(), "inherit_context: true", "do"),
        digest(&standing, "", "do"),
        digest(&trusted, "", "do"),
        digest(&slow, "", "do"),
    ];
    let mut all: Vec<_> = others.iter().chain([&plain]).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), others.len() + 1, "each of them counts");
    assert_eq!(digest(&talking(), "", "do"), plain, "a conversation that is not taken over does not");
}
