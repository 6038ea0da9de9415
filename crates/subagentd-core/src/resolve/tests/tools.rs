//! Which tools a child gets, its class, and what has to be loaded for it.

use rstest::rstest;

use crate::definition::Catalog;
use crate::plan::{Class, Source, Supplier};

use super::super::{ActiveTool, Effect, Facts, Stated, resolve};
use super::{agent, call, facts, fell, plan};

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

fn file(name: &str) -> Supplier {
    Supplier::File(name.to_owned())
}

fn brought(name: &str, supplier: Supplier) -> ActiveTool {
    ActiveTool { supplier: Some(supplier), ..ActiveTool::named(name) }
}

/// A host with tools of its own, of two extensions and of a package.
fn hosted() -> Facts {
    let mut facts = facts();
    facts.capture.host = Some(file("/ours.ts"));
    let tools = vec![
        ActiveTool::named("read"),
        ActiveTool::named("bash"),
        brought("subagent", file("/ours.ts")),
        brought("launch_team", file("/ours.ts")),
        ActiveTool { effect: Some(Effect::Read), ..brought("graph", file("/graph.ts")) },
        ActiveTool { read_only: Some(true), ..brought("graph_stats", file("/graph.ts")) },
        ActiveTool { destructive: Some(true), ..brought("deploy", Supplier::Package("npm:ops".to_owned())) },
        ActiveTool { read_only: Some(false), ..brought("note", Supplier::Builtin("mcp".to_owned())) },
        brought("web_search", file("/web.ts")),
    ];
    facts.capture.tools = Some(Stated { value: tools, source: Source::Capture });
    facts
}

#[test]
fn inheriting_takes_the_active_tools_and_what_supplies_them() {
    let plan = resolve(&call("agent"), &agent("tools: inherit"), &hosted()).unwrap();
    assert_eq!(plan.tools.value, ["read", "bash", "graph", "graph_stats", "deploy", "note", "web_search"]);
    assert_eq!(plan.tools.source, Source::Capture);
    assert_eq!(
        fell(&plan.tools),
        [
            "subagent: a child does not manage subagents",
            "launch_team: the host's own extension supplies it, which no child loads"
        ]
    );
    let package = Supplier::Package("npm:ops".to_owned());
    let mcp = Supplier::Builtin("mcp".to_owned());
    assert_eq!(plan.captured.suppliers, [file("/graph.ts"), file("/web.ts"), package, mcp]);
    assert_eq!(plan.captured.withheld, [""; 0]);
}

#[rstest]
#[case::list("tools: read, graph", &["read", "graph"], &["/graph.ts"], &["graph_stats"])]
#[case::list_beyond_the_active("tools: grep, unheard", &["grep", "unheard"], &[], &[])]
#[case::none("tools: []", &[], &[], &[])]
#[case::non_destructive(
    "tools: [read]\ninherit_tools: non-destructive",
    &["read", "bash", "graph", "graph_stats", "web_search"], &["/graph.ts", "/web.ts"], &[]
)]
#[case::all_but(
    "tools: [ls]\ninherit_tools: all\nexclude_tools: [bash, 'graph*', deploy]",
    &["ls", "read", "note", "web_search"], &["/web.ts", "mcp"], &[]
)]
#[case::exclusion_beats_the_list("tools: [read, bash]\nexclude_tools: bash", &["read"], &[], &[])]
#[case::exclusion_of_all("exclude_tools: ['*']", &[], &[], &[])]
#[case::exact_names_are_no_beginnings("tools: [read, graph]\nexclude_tools: [gra, rea]", &["read", "graph"], &["/graph.ts"], &["graph_stats"])]
fn a_child_has_what_its_definition_makes_of_the_active_tools(
    #[case] lines: &str,
    #[case] tools: &[&str],
    #[case] suppliers: &[&str],
    #[case] withheld: &[&str],
) {
    let plan = resolve(&call("agent"), &agent(lines), &hosted()).unwrap();
    assert_eq!(plan.tools.value, tools);
    let names: Vec<_> = plan.captured.suppliers.iter().map(Supplier::name).collect();
    assert_eq!(
        (names.as_slice(), plan.captured.withheld),
        (suppliers, withheld.iter().map(|name| (*name).to_owned()).collect())
    );
}

#[test]
fn an_excluded_package_supplies_nothing() {
    let mut facts = hosted();
    facts.policy.excluded_packages = vec!["npm:ops".to_owned()];
    facts.capture.providers = [("offline".to_owned(), Supplier::Package("npm:ops".to_owned()))].into();
    let plan = resolve(&call("agent"), &agent("tools: [deploy, read]"), &facts).unwrap();
    assert_eq!((plan.tools.value, plan.captured.suppliers), (vec!["read".to_owned()], vec![]));
}

#[test]
fn the_provider_brings_its_extension() {
    let mut facts = hosted();
    facts.capture.providers =
        [("offline".to_owned(), file("/models.ts")), ("other".to_owned(), file("/others.ts"))].into();
    let plan = resolve(&call("agent"), &agent("tools: []"), &facts).unwrap();
    assert_eq!(plan.captured.suppliers, [file("/models.ts")]);
    facts.capture.providers = [("offline".to_owned(), file("/ours.ts"))].into();
    let plan = resolve(&call("agent"), &agent("tools: []"), &facts).unwrap();
    assert_eq!(plan.captured.suppliers, [], "never the host's own");
}

#[rstest]
#[case::effect_of_the_host("tools: [read, graph]", Class::Shared, "only look, with read and graph")]
#[case::a_hint_is_no_effect("tools: [graph_stats]", Class::Exclusive, "graph_stats may write is not known")]
#[case::effect_of_the_settings("tools: [web_search]", Class::Shared, "only look, with web_search")]
#[case::not_active("tools: [fetch_content]", Class::Exclusive, "fetch_content may write is not known")]
fn effects_make_the_class(#[case] lines: &str, #[case] class: Class, #[case] because: &str) {
    let plan = resolve(&call("agent"), &agent(lines), &hosted()).unwrap();
    assert_eq!(plan.class.value, class);
    assert!(plan.class.reason.contains(because), "{}", plan.class.reason);
}

#[test]
fn nobody_talks_a_shell_or_a_borrowed_name_into_looking() {
    let mut facts = facts();
    let shell = ActiveTool { effect: Some(Effect::None), ..ActiveTool::named("bash") };
    facts.capture.tools = Some(Stated { value: vec![shell, brought("read", file("/x.ts"))], source: Source::Capture });
    for tools in ["bash", "read"] {
        let plan = resolve(&call("agent"), &agent(&format!("tools: {tools}")), &facts).unwrap();
        assert_eq!(plan.class.value, Class::Exclusive, "{tools}");
    }
}

#[test]
fn without_a_host_the_runtime_or_a_flag_says_what_is_active() {
    let mut facts = facts();
    let told = |facts: &Facts| {
        let plan = resolve(&call("agent"), &agent(""), facts).unwrap();
        (plan.tools.value.join(","), plan.tools.source)
    };
    assert_eq!(told(&facts), ("read,bash,edit,write".to_owned(), Source::Default));
    facts.runtimes.get_mut("offline").unwrap().default_tools = Some(vec!["read".to_owned(), "grep".to_owned()]);
    assert_eq!(told(&facts), ("read,grep".to_owned(), Source::Runtime));
    facts.capture.tools = Some(Stated { value: vec![ActiveTool::named("ls")], source: Source::Flag });
    assert_eq!(told(&facts), ("ls".to_owned(), Source::Flag));
}
