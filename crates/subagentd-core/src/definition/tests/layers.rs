//! What the files of one agent add up to.

use rstest::rstest;

use super::super::{
    About, AgentScope, Catalog, Content, Field, InheritTools, Key, Layer, Missing, Role, Severity, SourceFile, Sources,
    Unread,
};
use super::{catalog, list, packaged, project, trusted, user};

#[test]
fn a_field_comes_from_the_highest_file_that_mentions_it() {
    let catalog = catalog(vec![
        project("worker.md", "---\nmodel:\ntools: []\n---\n"),
        user("Worker.md", "---\nmodel: a/b\nthinking: high\nmax_turns: 3\n---\nMine."),
    ]);
    let agent = catalog.find("worker").unwrap();
    assert_eq!((&agent.model, &agent.thinking.set().map(String::as_str)), (&Field::Null, &Some("high")));
    assert_eq!((&agent.tools, &agent.max_turns, agent.instructions.as_str()), (&list(&[]), &Field::Set(3), "Mine."));
    assert_eq!(agent.acceptance_role, Field::Set(Role::Writer), "from the shipped file");
    let files: Vec<_> = agent.parts.iter().map(|part| part.file.as_str()).collect();
    assert_eq!(files, ["agents/builtin/worker.md", "/u/Worker.md", "/p/worker.md"]);
    let from = |key| agent.origin(key).map(|origin| (origin.layer.word(), origin.line));
    assert_eq!(from(Key::Model), Some(("project", 2)));
    assert_eq!(from(Key::MaxTurns), Some(("user", 4)));
    assert_eq!(from(Key::Instructions).map(|(layer, _)| layer), Some("user"));
    assert_eq!((from(Key::Description).map(|(layer, _)| layer), from(Key::Output)), (Some("builtin"), None));
}

#[test]
fn nothing_for_tools_takes_a_list_back_and_says_so() {
    let catalog = catalog(vec![user("explore.md", "---\nthinking: low\ntools:\n---\n")]);
    let agent = catalog.find("explore").unwrap();
    let [problem] = agent.problems.as_slice() else { panic!("{:?}", agent.problems) };
    assert_eq!((problem.severity, problem.file.as_str(), problem.line), (Severity::Warning, "/u/explore.md", 3));
    assert!(problem.message.contains("agents/builtin/explore.md"), "{problem:?}");
    assert_eq!((&agent.tools, agent.broken), (&Field::Null, false));
}

#[rstest]
#[case::over_inherit("worker", "inherit_tools: all", true)]
#[case::over_list("explore", "inherit_tools: all", false)]
#[case::with_inherit("explore", "tools: inherit\ninherit_tools: non-destructive", true)]
#[case::none("worker", "inherit_tools: none", false)]
#[case::without_tools("fresh", "inherit_tools: all", true)]
fn inherited_tools_add_to_a_list_only(#[case] name: &str, #[case] lines: &str, #[case] broken: bool) {
    let catalog = catalog(vec![user(&format!("{name}.md"), &format!("---\n{lines}\n---\nLook."))]);
    let agent = catalog.iter().find(|agent| agent.identifier == name).unwrap();
    assert_eq!(agent.broken, broken, "{:?}", agent.problems);
    if let Some(problem) = agent.first_error() {
        assert_eq!(
            (problem.about, problem.file.as_str()),
            (About::Field(Key::InheritTools), format!("/u/{name}.md").as_str())
        );
    }
}

#[test]
fn a_broken_file_is_never_passed_over() {
    let broken = project("explore.md", "---\ntools: 7\n---\n");
    let unread = SourceFile { content: Content::Unreadable("permission denied".to_owned()), ..user("worker.md", "") };
    let catalog = catalog(vec![broken, unread, user("explore.md", "Mine.")]);
    for (name, file) in [("explore", "/p/explore.md"), ("worker", "/u/worker.md")] {
        let missing = catalog.find(name).unwrap_err();
        assert!(matches!(&missing, Missing::Broken { file: told, .. } if told == file), "{missing:?}");
    }
}

#[test]
fn two_files_of_one_layer_break_each_other_and_nobody_else() {
    let twins = vec![user("Twin.md", "One."), user("twin.md", "Two."), user("other.md", "Other.")];
    let covered = [twins.clone(), vec![project("twin.md", "Three.")]].concat();
    for files in [twins, covered] {
        let catalog = catalog(files);
        let Missing::Duplicate { files, .. } = catalog.find("TWIN").unwrap_err() else { panic!() };
        assert_eq!(files, ["/u/Twin.md", "/u/twin.md"]);
        assert!(catalog.find("other").is_ok());
    }
}

#[test]
fn packages_are_one_layer_and_off_until_named() {
    let files = vec![
        packaged("mine", "scribe.md", "Scribe."),
        packaged("mine", "explore.md", "---\nthinking: low\n---\n"),
        packaged("off", "ghost.md", "Ghost."),
    ];
    let packages = |names: &[&str]| Sources { packages: super::owned(names), ..trusted(files.clone()) };
    let none = Catalog::build(&packages(&[]));
    assert!(none.find("scribe").is_err() && none.find("code").is_err());
    let mine = Catalog::build(&packages(&["mine", "nowhere"]));
    assert_eq!(mine.find("scribe").unwrap().layer.word(), "package");
    assert_eq!(mine.find("explore").unwrap().tools, list(&["read", "grep", "find", "ls"]));
    assert!(mine.find("ghost").is_err());
    assert!(matches!(mine.faults(), [fault] if fault.contains("`nowhere`") && fault.contains("handoff, mine, off")));
    let both = Catalog::build(&packages(&["mine", "handoff"]));
    assert!(matches!(both.find("explore"), Err(Missing::Duplicate { .. })), "one identifier in two packages");
    let handoff = Catalog::build(&packages(&["handoff"]));
    let explore = handoff.find("explore").unwrap();
    assert_eq!((explore.layer.word(), &explore.inherit_tools), ("package", &Field::Set(InheritTools::NonDestructive)));
    assert_eq!(handoff.find("review").unwrap().layer.word(), "package");
}

#[rstest]
#[case(AgentScope::Both, true, "project")]
#[case(AgentScope::Both, false, "user")]
#[case(AgentScope::User, true, "user")]
#[case(AgentScope::Project, true, "project")]
#[case(AgentScope::Project, false, "builtin")]
fn a_scope_leaves_layers_out(#[case] scope: AgentScope, #[case] project_trusted: bool, #[case] expected: &str) {
    let files = vec![user("worker.md", "Mine."), project("worker.md", "Ours.")];
    let catalog = Catalog::build(&Sources { scope, project_trusted, ..trusted(files) });
    assert_eq!(catalog.find("worker").unwrap().layer.word(), expected);
}

#[test]
fn a_name_beats_an_equal_alias_even_when_it_cannot_be_launched() {
    let catalog = catalog(vec![
        user("helper.md", "---\naliases: [worker, aide]\n---\nHelp."),
        project("worker.md", "---\nenabled: false\n---\n"),
    ]);
    assert_eq!(catalog.find("Aide").unwrap().identifier, "helper");
    let missing = catalog.find("worker").unwrap_err();
    assert!(matches!(&missing, Missing::Disabled { file, .. } if file == "/p/worker.md"), "{missing:?}");
}

#[test]
fn nothing_is_launched_while_a_place_that_counts_cannot_be_read() {
    let unread = |layer, package: Option<&str>| Unread {
        layer,
        package: package.map(str::to_owned),
        path: "/x/agents".to_owned(),
        reason: "Permission denied".to_owned(),
    };
    let user = unread(Layer::User, None);
    let project = unread(Layer::Project, None);
    let package = unread(Layer::Package, Some("mine"));
    for (place, sources, counts) in [
        (&user, Sources::default(), true),
        (&user, Sources { scope: AgentScope::Project, ..Sources::default() }, false),
        (&project, Sources::default(), false),
        (&project, trusted(Vec::new()), true),
        (&package, Sources::default(), false),
        (&package, Sources { packages: super::owned(&["mine"]), ..Sources::default() }, true),
    ] {
        let catalog = Catalog::build(&Sources { unread: vec![place.clone()], ..sources });
        let told = catalog.faults().iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(told.len(), usize::from(counts), "{told:?}");
        assert!(told.iter().all(|told| told.contains("/x/agents") && told.contains("Permission denied")), "{told:?}");
        for name in ["explore", "no-such-agent"] {
            let found = catalog.find(name);
            assert_eq!(matches!(found, Err(Missing::Unread { .. })), counts, "{place:?}: {found:?}");
        }
        assert!(matches!(catalog.find("../x"), Err(Missing::BadName { .. })));
    }
}
