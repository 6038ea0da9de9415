//! What people reported of agent files written in the wild.

use rstest::rstest;

use super::super::{About, BadName, Definition, Field, Key, Missing, Severity, Tools};
use super::{catalog, front, list, owned, project, trusted, user};

/// F10: files written on another system.
#[test]
fn line_ends_and_marks_make_no_difference() {
    let plain = "---\ndescription: Audits\ntools: read, grep\nmodel: acme/one\n---\nOne.\nTwo.\n";
    let windows = plain.replace('\n', "\r\n");
    let spellings = [
        plain.to_owned(),
        windows.clone(),
        "---\r\ndescription: Audits\ntools: read, grep\r\nmodel: acme/one\n---\r\nOne.\nTwo.\r\n".to_owned(),
        format!("\u{feff}{plain}"),
        format!("\u{feff}{windows}"),
        plain.trim_end().to_owned(),
        plain.replace("---\n", "---  \n"),
    ];
    let agents = spellings.map(|text| catalog(vec![user("auditor.md", &text)]).find("auditor").unwrap().clone());
    for agent in &agents {
        assert_eq!(agent, &agents[0]);
        assert_eq!((agent.described(), agent.instructions.as_str()), ("Audits", "One.\nTwo."));
        assert_eq!(agent.tools, list(&["read", "grep"]));
    }
}

/// F10: a file that is no text.
#[test]
fn a_file_that_is_not_utf8_names_the_byte_and_spares_the_others() {
    let mut broken = user("auditor.md", "");
    let super::Content::Bytes(bytes) = &mut broken.content else { panic!() };
    bytes.extend(b"---\nmodel: a\xc3\xa4\xff\n---\n");
    let catalog = catalog(vec![broken, user("other.md", "Look.")]);
    let Missing::Broken { file, problem, .. } = catalog.find("auditor").unwrap_err() else { panic!() };
    assert_eq!((file.as_str(), problem.line, problem.column), ("/u/auditor.md", 2, 10), "{problem:?}");
    assert!(problem.message.contains("byte 14"), "{problem:?}");
    assert_eq!(catalog.find("other").unwrap().instructions, "Look.");
}

/// F12: ways to write a list. An error has line 2; nothing given is not the empty list.
#[rstest]
#[case("tools: read, grep, bash", Ok(Some(&["read", "grep", "bash"][..])))]
#[case("tools: [read, grep, bash]", Ok(Some(&["read", "grep", "bash"][..])))]
#[case("tools:\n  - read\n  - grep\n  - bash", Ok(Some(&["read", "grep", "bash"][..])))]
#[case("tools: read", Ok(Some(&["read"][..])))]
#[case("tools: \"\"", Ok(Some(&[][..])))]
#[case("tools: []", Ok(Some(&[][..])))]
#[case("tools:", Ok(None))]
#[case("description: no line about tools", Ok(None))]
#[case("tools: false", Err("a truth value"))]
#[case("tools: no", Ok(Some(&["no"][..])))]
#[case("tools: none", Err("write `[]`"))]
#[case("tools: 3", Err("a number"))]
#[case("tools: [read, 3, null]", Err("a number"))]
#[case("tools: [read, null]", Err("null"))]
#[case("tools: {read: true}", Err("a map"))]
#[case("tools: \"read,,grep \"", Ok(Some(&["read", "grep"][..])))]
#[case("tools: [read, read]", Ok(Some(&["read"][..])))]
fn ways_to_write_a_list(#[case] line: &str, #[case] expected: Result<Option<&[&str]>, &str>) {
    let catalog = catalog(vec![user("auditor.md", &format!("---\n{line}\n---\nAudit."))]);
    match (catalog.find("auditor"), expected) {
        (Ok(agent), Ok(Some(names))) => assert_eq!(agent.tools, list(names)),
        (Ok(agent), Ok(None)) => assert_eq!(agent.tools.set(), None),
        (Err(Missing::Broken { problem, .. }), Err(says)) => {
            assert_eq!((problem.about, problem.line), (About::Field(Key::Tools), 2), "{problem:?}");
            assert!(problem.message.contains(says), "{problem:?}");
        }
        (got, _) => panic!("{line}: {got:?}"),
    }
}

/// F13: names that look like something else.
#[rstest]
fn a_name_is_the_text_of_the_file_name(
    #[values("yes", "no", "on", "null", "~", "123", "1e3", "0x10", "2024-01-01", "true")] name: &str,
) {
    let text = format!("---\nname: {name}\ndisplay_name: {name}\n---\nAudit.");
    let agent = catalog(vec![user(&format!("{name}.md"), &text)]).find(name).unwrap().clone();
    assert_eq!((agent.identifier.as_str(), agent.problems.as_slice()), (name, [].as_slice()));
    let shown = agent.display_name.set().map(String::as_str);
    // Null has a meaning of its own for a label.
    assert_eq!(shown, (!matches!(name, "null" | "~")).then_some(name));
    let called = format!("---\naliases: [{name}]\n---\n");
    let alias = catalog(vec![user("auditor.md", &called)]);
    if !matches!(name, "null" | "~") {
        assert_eq!(alias.find(name).unwrap().identifier, "auditor");
    }
}

/// F13: a `name` that says something else.
#[rstest]
#[case("name: other", Some("`auditor` and cannot be called `other`"))]
#[case("name: 1e3", Some("`1e3`"))]
#[case("name: AUDITOR", None)]
#[case("description: none", None)]
fn a_differing_name_is_told_with_both(#[case] line: &str, #[case] says: Option<&str>) {
    let catalog = catalog(vec![user("auditor.md", &format!("---\n{line}\n---\nAudit."))]);
    let agent = catalog.find("auditor").unwrap();
    match (agent.problems.as_slice(), says) {
        ([], None) => {}
        ([problem], Some(says)) => {
            assert_eq!((problem.severity, problem.line), (Severity::Warning, 2));
            assert!(problem.message.contains(says), "{problem:?}");
        }
        (problems, _) => panic!("{problems:?}"),
    }
    assert!(matches!(catalog.find("other"), Err(Missing::Unknown { .. })));
}

/// F14: headers with a slip. Whole or refused with its line, never half.
#[rstest]
#[case::colon("---\ndescription: Review: security and style\ntools: read\n---\nBody", Err(2))]
#[case::twice("---\nmodel: a/b\nmodel: c/d\n---\nBody", Err(3))]
#[case::fence_in_body("---\ntools: read\n---\nBody\n---\nmodel: a/b\n---\n", Ok("Body\n---\nmodel: a/b\n---"))]
#[case::never_ends("---\ntools: read\nBody", Err(1))]
#[case::tab("---\nexclude_tools:\n\t- read\ntools: read\n---\nBody", Err(3))]
#[case::remark("---\ndescription:\n# no text\ntools: read\n---\nBody", Ok("Body"))]
#[case::hash_in_text("---\ndescription: |\n  # text\ntools: read\n---\nBody", Ok("Body"))]
fn a_slip_is_told_and_never_read_by_halves(#[case] text: &str, #[case] expected: Result<&str, u64>) {
    let catalog = catalog(vec![user("explore.md", text)]);
    match (catalog.find("explore"), expected) {
        (Ok(agent), Ok(body)) => {
            assert_eq!((agent.instructions.as_str(), &agent.tools), (body, &list(&["read"])));
        }
        (Err(Missing::Broken { file, problem, .. }), Err(line)) => {
            assert_eq!((file.as_str(), problem.line), ("/u/explore.md", line), "{problem:?}");
            let shown = catalog.iter().find(|agent| agent.identifier == "explore").unwrap();
            assert!(shown.broken, "it stays in sight, and the shipped one does not take its place");
        }
        (got, _) => panic!("{text:?}: {got:?}"),
    }
}

/// F14: an unknown key, and a header that is too long.
#[test]
fn unknown_keys_are_kept_out_of_the_way_and_long_headers_refused() {
    let agent = front("colour: red\ntools: read");
    assert_eq!(
        (agent.broken, agent.problems[0].severity, agent.problems[0].about),
        (false, Severity::Warning, About::Key)
    );
    assert_eq!(agent.tools, list(&["read"]));
    for key in ["prompt_mode: replace", "inherit_prompt: true", "locked: [model]"] {
        assert!(front(key).problems[0].message.contains("no effect here"), "{key}");
    }
    let long = format!("---\ndescription: x\n# {}\n---\nBody", "x".repeat(1024 * 1024));
    let Missing::Broken { problem, .. } = catalog(vec![user("long.md", &long)]).find("long").unwrap_err() else {
        panic!()
    };
    assert_eq!((problem.about, problem.line), (About::Header, 3));
}

/// F15: names that point elsewhere.
#[test]
fn names_are_judged_before_anything_is_looked_up() {
    let long = "n".repeat(300);
    let catalog = catalog(vec![user(".hidden.md", "Look."), user(&format!("{long}.md"), "Look.")]);
    for (asked, fault) in [
        ("../x", BadName::Hidden),
        ("a/b", BadName::Path),
        (".hidden", BadName::Hidden),
        ("a\0b", BadName::Control),
        (long.as_str(), BadName::TooLong),
    ] {
        assert!(matches!(catalog.find(asked), Err(Missing::BadName { fault: told, .. }) if told == fault), "{asked:?}");
    }
    let shown: Vec<&Definition> = catalog.iter().filter(|agent| agent.broken).collect();
    assert_eq!(shown.len(), 1, "a name that nobody can call is shown, a hidden file is none");
    assert_eq!(shown[0].problems[0].about, About::Name);
}

/// F15: names that hide others.
#[test]
fn what_hides_what_is_known() {
    let files = vec![
        user("reviewer.md", "---\nthinking: high\ntools: [read]\n---\nMine."),
        project("reviewer.md", "---\ntools: [read, grep]\n---\n"),
    ];
    let catalog = catalog(files.clone());
    let agent = catalog.find("reviewer").unwrap();
    assert_eq!((agent.layer.word(), agent.file.as_str()), ("project", "/p/reviewer.md"));
    let hidden: Vec<_> = agent.hidden().map(|part| (part.layer.word(), part.keys)).collect();
    let [(builtin, below), (mine, keys)] = hidden.as_slice() else { panic!("{hidden:?}") };
    assert_eq!((*builtin, *mine, keys.as_slice()), ("builtin", "user", [Key::Tools].as_slice()));
    assert_eq!(below.as_slice(), [Key::Tools, Key::Instructions]);
    assert_eq!(
        agent.origin(Key::Thinking).map(|origin| (origin.file.as_str(), origin.line)),
        Some(("/u/reviewer.md", 2))
    );
    let untrusted = super::Catalog::build(&super::Sources { project_trusted: false, ..trusted(files) });
    assert_eq!(untrusted.find("reviewer").unwrap().tools, Field::Set(Tools::List(owned(&["read"]))));
}
