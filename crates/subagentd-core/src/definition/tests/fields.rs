//! Each field, each way to write it, and what is told about a wrong one.

use rstest::rstest;

use super::super::{Access, Field, InheritTools, Output, PROBLEMS, Problem, Role, Severity, Tools};
use super::{front, list, owned, parse};

#[test]
fn every_field_is_read() {
    let text = "\u{feff}---\r
description: Looks for holes\r
display_name: The Auditor\r
tools: [read, grep]\r
model: acme/family/model-1\r
thinking: off\r
max_turns: 12\r
inherit_context: true\r
run_in_background: false\r
enabled: true\r
acceptance_role: read-only\r
access: scoped\r
timeout: 30m\r
idle_timeout: 0\r
aliases: Checker, 7, checker\r
inherit_tools: non-destructive\r
exclude_tools: [edit, job_*]\r
output: out/audit.md\r
runtime: pi\r
allow_plan_files: true\r
---\r
\r
Audit.\r
Twice.\r
";
    let definition = parse(text);
    assert_eq!(definition.problems, []);
    assert_eq!(definition.identifier, "auditor");
    assert_eq!(definition.described(), "Looks for holes");
    assert_eq!(definition.display_name.set().map(String::as_str), Some("The Auditor"));
    assert_eq!(definition.tools, list(&["read", "grep"]));
    assert_eq!(definition.model.set().map(String::as_str), Some("acme/family/model-1"));
    assert_eq!(definition.thinking.set().map(String::as_str), Some("off"), "not the truth value");
    assert_eq!(definition.max_turns, Field::Set(12));
    assert_eq!(definition.inherit_context, Field::Set(true));
    assert!(!definition.in_background());
    assert!(definition.is_enabled());
    assert_eq!(definition.acceptance_role, Field::Set(Role::ReadOnly));
    assert_eq!(definition.access, Field::Set(Access::Scoped));
    assert_eq!((definition.timeout_ms, definition.idle_timeout_ms), (Field::Set(1_800_000), Field::Set(0)));
    assert_eq!(definition.aliases, Field::Set(owned(&["checker", "7"])));
    assert_eq!(definition.inherit_tools, Field::Set(InheritTools::NonDestructive));
    assert_eq!(definition.exclude_tools, Field::Set(owned(&["edit", "job_*"])));
    assert_eq!(definition.output, Field::Set(Output::Path("out/audit.md".to_owned())));
    assert_eq!(definition.runtime.set().map(String::as_str), Some("pi"));
    assert_eq!(definition.allow_plan_files, Field::Set(true));
    assert_eq!(definition.instructions, "Audit.\nTwice.");
    assert_eq!(front("output: false").output, Field::Set(Output::Nowhere));
}

#[test]
fn a_file_may_say_nothing() {
    for text in ["Audit.", "---\n---\nAudit.\n", "---\n# a remark\n---\nAudit.\n", "---\n~\n---\nAudit.\n"] {
        let definition = parse(text);
        assert_eq!((definition.problems.as_slice(), definition.broken), ([].as_slice(), false), "{text:?}");
        assert_eq!(definition.description, Field::Absent);
        assert_eq!(definition.described(), "auditor");
        assert!(definition.is_enabled() && definition.in_background());
        assert_eq!(definition.instructions, "Audit.");
    }
}

#[rstest]
#[case::nothing("model:")]
#[case::word("model: null")]
#[case::tilde("model: ~")]
fn null_is_not_absence(#[case] line: &str) {
    let definition = front(line);
    assert_eq!((definition.model, definition.thinking), (Field::Null, Field::Absent));
    assert_eq!(definition.problems, []);
}

#[rstest]
#[case("tools: inherit", Field::Set(Tools::Inherit))]
#[case("tools: \" inherit \"", Field::Set(Tools::Inherit))]
#[case("tools: read, grep", list(&["read", "grep"]))]
#[case("tools: read,, grep , read,", list(&["read", "grep"]))]
#[case("tools:\n  - read\n  - ls\n  - read", list(&["read", "ls"]))]
#[case("tools: []", list(&[]))]
#[case("tools: \"\"", list(&[]))]
#[case("tools: [read, \"\", my_scanner]", list(&["read", "my_scanner"]))]
#[case("tools:", Field::Null)]
#[case("tools: null", Field::Null)]
fn tools_have_several_spellings(#[case] line: &str, #[case] expected: Field<Tools>) {
    let definition = front(line);
    assert_eq!(definition.problems, [], "{line}");
    assert_eq!(definition.tools, expected, "{line}");
}

#[rstest]
#[case::mixed("tools: [read, inherit]", 2, 15, "does not mix")]
#[case::mixed_line("tools: inherit, read", 2, 8, "does not mix")]
#[case::none("tools: none", 2, 8, "`[]`")]
#[case::null_inside("tools:\n  - read\n  - ~", 4, 5, "null")]
#[case::truth("tools: false", 2, 8, "a truth value")]
#[case::number("tools: [1]", 2, 9, "a number")]
#[case::map("tools: {read: yes}", 2, 8, "a map")]
#[case::text_wanted("model: 7", 2, 8, "this is a number")]
#[case::text_in_list("aliases: [a, {b: c}]", 2, 14, "a map")]
#[case::name_of_alias("aliases: [../x]", 2, 11, "begin with a dot")]
#[case::star_inside("exclude_tools: [job_*_x]", 2, 17, "only at the end")]
#[case::excluded_number("exclude_tools: 7", 2, 16, "a list of names")]
#[case::inherited("inherit_tools: some", 2, 16, "none, non-destructive, all")]
#[case::output_true("output: true", 2, 9, "false for no file")]
#[case::output_empty("output: \"\"", 2, 9, "a path")]
#[case::list_wanted_text("model: [acme/one]", 2, 8, "a list")]
#[case::quoted_truth("enabled: \"true\"", 2, 10, "true or false")]
#[case::old_truth("run_in_background: yes", 2, 20, "true or false")]
#[case::negative("max_turns: -1", 2, 12, "whole number")]
#[case::fraction("max_turns: 1.5", 2, 12, "whole number")]
#[case::huge("max_turns: 4294967296", 2, 12, "whole number")]
#[case::role("acceptance_role: admin", 2, 18, "read-only, writer")]
#[case::access("access: all", 2, 9, "read-only, scoped")]
#[case::unit("timeout: 90", 2, 10, "its unit")]
#[case::huge_time("idle_timeout: 99999999999999999999h", 2, 15, "its unit")]
#[case::two_units("timeout: 1h30m", 2, 10, "its unit")]
#[case::twice("model: a/b\nmodel: c/d", 3, 1, "model")]
#[case::quote("description: \"open", 2, 14, "")]
#[case::no_map("- read", 2, 1, "a list")]
#[case::two_documents("model: a/b\n...\nmodel: c/d", 4, 1, "")]
fn an_error_has_its_place_and_breaks_the_agent(
    #[case] lines: &str,
    #[case] line: u64,
    #[case] column: u64,
    #[case] says: &str,
) {
    let definition = front(lines);
    let [problem] = definition.problems.as_slice() else {
        panic!("{lines}: {:?}", definition.problems);
    };
    assert_eq!(problem.severity, Severity::Error, "{problem:?}");
    assert_eq!((problem.line, problem.column), (line, column), "{problem:?}");
    assert!(problem.message.contains(says), "{problem:?}");
    assert!(definition.broken);
    assert_eq!(definition.instructions, "Audit.", "the rest is still shown");
}

#[test]
fn warnings_do_not_break_and_all_problems_are_told() {
    let definition = front("prompt_mode: replace\n7: seven\nthinking: HIGH\nenabled: 1\nmodel: a/b\nmax_turns: many");
    let told: Vec<_> = definition.problems.iter().map(|problem| (problem.severity, problem.line)).collect();
    let (warning, error) = (Severity::Warning, Severity::Error);
    assert_eq!(told, [(warning, 2), (warning, 3), (warning, 4), (error, 5), (error, 7)]);
    assert!(definition.problems[0].message.contains("`prompt_mode`"));
    assert_eq!(definition.model.set().map(String::as_str), Some("a/b"));
    assert!(!front("colour: red").broken);
    assert!(front("enabled: 1\ncolour: red").broken, "a later warning mends nothing");
}

#[test]
fn a_flood_of_problems_is_cut_and_an_error_stays_in_sight() {
    let keys: String = (0..PROBLEMS * 2).map(|number| format!("key_{number}: 1\n")).collect();
    let definition = front(&format!("{keys}enabled: 7"));
    assert_eq!(definition.problems.len(), PROBLEMS);
    assert!(definition.broken);
    let line = definition.first_error().map(|problem| problem.line);
    assert_eq!(line, Some(2 + PROBLEMS as u64 * 2));
}

#[test]
fn hostile_yaml_is_one_error() {
    let aliases: String = (1..30).map(|n| format!("k{n}: &a{n} [*a{m}, *a{m}, *a{m}, *a{m}]\n", m = n - 1)).collect();
    for text in ["[".repeat(20_000), "{".repeat(20_000), format!("k0: &a0 [x]\n{aliases}")] {
        let definition = front(&text);
        let problems: Vec<&Problem> = definition.problems.iter().collect();
        assert!(definition.broken && problems.len() == 1, "{problems:?}");
        assert!(problems[0].message.len() <= crate::outcome::ERROR_BYTES);
    }
}
