//! Catalogues and tasks in, listings and advice out.

use proptest::collection::vec;
use proptest::prelude::*;
use rstest::rstest;

use crate::definition::{AgentScope, Catalog, Content, Layer, Role, SourceFile, Sources};
use crate::resolve::Ceiling;

use super::{Candidate, DESCRIPTION_BYTES, Intent, ListRequest, advise, intent, list};

fn file(layer: Layer, name: &str, text: &str) -> SourceFile {
    let path = format!("/{}/{name}.md", layer.word());
    SourceFile { layer, package: None, path, content: Content::Bytes(text.as_bytes().to_vec()) }
}

fn catalog(files: Vec<SourceFile>) -> Catalog {
    Catalog::build(&Sources { files, project_trusted: true, ..Sources::default() })
}

fn listed(catalog: &Catalog, task: &str) -> String {
    list(catalog, &ListRequest { task: Some(task), ceilings: &[] })
}

#[test]
fn builtins_are_listed_and_nothing_else_without_a_task() {
    let catalog = Catalog::builtin();
    let text = list(&catalog, &ListRequest::default());
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    assert_eq!(lines[0], "Executable agents:");
    assert!(lines[5].starts_with("- worker (builtin): Carries out one bounded change"), "{text}");
    assert_eq!(listed(&catalog, " \n\t"), text);
}

#[test]
fn advice_is_the_last_section_and_has_its_fixed_form() {
    let catalog = Catalog::builtin();
    let plain = list(&catalog, &ListRequest::default());
    for (task, expected) in [
        (
            "Implement the fix",
            "\n\nTask-aware advisory routing:\n- Intent: implementation\n- Recommended: worker (builtin)\n\
             - Reason: declared role writer; it has tools that can edit files.\n\
             - Advisory only: no subagent was launched. To proceed, explicitly call subagent with this canonical \
             agent name and the task.",
        ),
        (
            "Review only; do not edit files",
            "\n\nTask-aware advisory routing:\n- Intent: read-only\n- Recommended: explore (builtin)\n\
             - Reason: declared role read-only; it has none of the tools edit, write and bash.\n\
             - Advisory only: no subagent was launched. To proceed, explicitly call subagent with this canonical \
             agent name and the task.",
        ),
        (
            "Look into this",
            "\n\nTask-aware advisory routing:\n- Intent: unknown\n- Recommendation: none\n\
             - Next: say whether the task is read-only analysis or review, or an implementation that may edit files.\n\
             - Advisory only: no subagent was launched.",
        ),
    ] {
        let text = listed(&catalog, task);
        assert_eq!(text.strip_prefix(&plain), Some(expected), "{task}");
    }
}

#[test]
fn restricted_hidden_broken_and_warned_agents_have_their_place() {
    let catalog = catalog(vec![
        file(Layer::User, "reviewer", "---\nthinking: high\naliases: critic\n---\n"),
        file(Layer::Project, "reviewer", "---\ncolour: red\ndescription: |\n  Ours,\n  with more than a line.\n---\n"),
        file(Layer::User, "broken", "---\ntools: 7\n---\n"),
        file(Layer::Project, "debug", "---\nenabled: false\n---\n"),
        file(Layer::User, "long", &format!("---\ndescription: {}\n---\n", "ä".repeat(DESCRIPTION_BYTES))),
    ]);
    let agents = Some(["reviewer", "long", "debug", "broken"].map(str::to_owned).into());
    let ceilings = [Ceiling { agents, ..Ceiling::default() }];
    let text = list(&catalog, &ListRequest { task: Some("Implement the fix"), ceilings: &ceilings });
    let sections: Vec<_> = text.split("\n\n").collect();
    let [executable, restricted, unavailable, diagnostics, advice] = sections.as_slice() else { panic!("{text}") };
    assert!(
        executable.contains("\n- reviewer (project; also called critic): Ours, with more than a line.\n"),
        "{text}"
    );
    assert!(executable.contains("\n  over user /user/reviewer.md: nothing of it is hidden"), "{text}");
    assert!(executable.contains("\n  over builtin agents/builtin/reviewer.md: hides its description"), "{text}");
    assert!(executable.contains(&format!("- long (user): {}…", "ä".repeat(DESCRIPTION_BYTES / 2))), "{text}");
    assert!(restricted.contains("- worker (builtin): outside the ceiling of this session"), "{text}");
    assert!(unavailable.contains("- broken (user): broken, /user/broken.md:2:8: tools: this is a number"), "{text}");
    assert!(unavailable.contains("- debug (project): switched off by /project/debug.md"), "{text}");
    assert!(diagnostics.contains("- /project/reviewer.md:2:1: warning: `colour` is no key"), "{text}");
    assert!(advice.contains("- Recommendation: none\n- Next: no executable agent has the role writer"), "{text}");
}

#[rstest]
#[case::plain("tools: [read, edit]", true)]
#[case::taken_away("tools: [read, edit]\nexclude_tools: ed*", false)]
#[case::inherited("tools: [read]\ninherit_tools: non-destructive", true)]
#[case::shell("tools: [read, bash]\naccess: read-only", true)]
#[case::cleared("tools:", true)]
fn what_can_write_is_no_safe_reader(#[case] lines: &str, #[case] writes: bool) {
    for (role, task, safe) in [("read-only", "Explain it", !writes), ("writer", "Fix it", writes)] {
        let text = format!("---\n{lines}\nacceptance_role: {role}\n---\n");
        let catalog = catalog(vec![file(Layer::Project, "agent", &text)]);
        let candidates: Vec<_> = catalog.iter().map(Candidate::of).collect();
        let advised = advise(task, &candidates, &[]).unwrap().recommended.unwrap();
        assert_eq!(advised.name == "agent", safe, "{lines} as {role}: {advised:?}");
    }
}

#[test]
fn a_scope_limits_advice_as_well() {
    let files = vec![
        file(Layer::User, "my-builder", "---\ntools: [edit]\n---\n"),
        file(Layer::Project, "our-builder", "---\ntools: [edit]\n---\n"),
    ];
    for (scope, expected) in [(AgentScope::User, "my-builder"), (AgentScope::Both, "our-builder")] {
        let sources = Sources { files: files.clone(), project_trusted: true, scope, ..Sources::default() };
        let text = listed(&Catalog::build(&sources), "Fix the leak");
        assert!(text.contains(&format!("- Recommended: {expected} (")), "{text}");
    }
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let tools = proptest::option::of(vec(proptest::sample::select(vec!["read", "bash", "edit", "scan"]), 0..3));
    let name = proptest::sample::select(vec!["builder", "a-builder", "explorer", "analyst", "coder", "Zed-explorer"]);
    let role = proptest::sample::select(vec![None, Some(Role::Writer), Some(Role::ReadOnly)]);
    (name, proptest::sample::select(Layer::ALL.to_vec()), tools, role, any::<bool>()).prop_map(
        |(name, source, tools, role, launchable)| Candidate {
            name: name.to_owned(),
            source,
            tools: tools.map(|tools| tools.into_iter().map(str::to_owned).collect()),
            role,
            launchable,
        },
    )
}

fn words() -> impl Strategy<Value = String> {
    let word = proptest::sample::select(vec![
        "fix", "review", "do", "not", "edit", "files", "the", "and", "then", "why", "report", "a", "without",
        "changing", "anything", "only", "you", "can", "add", "list", "of", "?", ".", ",", ":", "\n- ", "(", ")", "`x`",
        "no", "changes",
    ]);
    vec(word, 0..30).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn any_text_has_one_intent(text in prop_oneof!["\\PC{0,200}", "(?s).{0,200}", words()]) {
        prop_assert_eq!(intent(&text), intent(&text));
        prop_assert_eq!(intent(&text.replace('\n', "\r\n")), intent(&text));
    }

    #[test]
    fn a_prohibition_of_every_change_rules_implementation_out(text in words()) {
        let forbidden = format!("{text}\n\nDo not edit any files.");
        prop_assert_ne!(intent(&forbidden), Intent::Implementation);
    }

    #[test]
    fn advice_is_safe_and_has_no_order(agents in vec(candidate(), 0..6), task in words(), turn in 0_usize..6) {
        let advice = advise(&task, &agents, &[]);
        let mut turned = agents.clone();
        turned.reverse();
        turned.rotate_left(turn.min(agents.len()));
        prop_assert_eq!(&advise(&task, &turned, &[]), &advice);
        let Some(advice) = advice else { return Ok(()) };
        let Some(agent) = advice.recommended else { return Ok(()) };
        let known: Vec<_> = agents.iter().filter(|known| known.name == agent.name && known.launchable).collect();
        prop_assert!(!known.is_empty());
        let wanted = match advice.intent {
            Intent::Implementation => Role::Writer,
            Intent::ReadOnly => Role::ReadOnly,
            Intent::Unknown => return Err(TestCaseError::fail("nothing is recommended in doubt")),
        };
        prop_assert_eq!(agent.role, wanted);
    }

    #[test]
    fn no_word_of_the_task_comes_back(text in words(), planted in "[a-z]{3}qzx[0-9]{4}") {
        let task = format!("{text} {planted} and fix {planted}");
        prop_assert!(!listed(&Catalog::builtin(), &task).contains(&planted));
    }
}
