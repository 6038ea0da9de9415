//! Agents of every kind, in a wide and in a narrow place.

use subagentd_proto::agent::RuntimeView;

use super::*;
use crate::render::samples;

fn agent(name: &str, source: &str, class: &str, description: &str) -> AgentView {
    AgentView {
        name: name.to_owned(),
        display_name: None,
        description: description.to_owned(),
        source: source.to_owned(),
        tools: None,
        model: None,
        thinking: None,
        class: class.to_owned(),
        background: true,
        role: None,
        aliases: Vec::new(),
        launchable: true,
        definition: Vec::new(),
        problems: Vec::new(),
    }
}

fn part(source: &str, file: &str, fields: &[&str]) -> DefinitionPart {
    let fields = fields.iter().map(|field| (*field).to_owned()).collect();
    DefinitionPart { source: source.to_owned(), file: file.to_owned(), fields }
}

fn problem(severity: &str, file: &str, line: u64, message: &str) -> ProblemView {
    let (severity, file, message) = (severity.to_owned(), file.to_owned(), message.to_owned());
    ProblemView { severity, file, line, column: 1, message }
}

fn runtimes() -> Vec<RuntimeView> {
    let view =
        |name: &str, default, reason: &str| RuntimeView { name: name.to_owned(), default, reason: reason.to_owned() };
    vec![view("offline", true, "no pi was found in PATH"), view("pi", false, "not found in PATH")]
}

fn everything() -> CatalogResponse {
    let shipped = |fields: &[&str]| part("builtin", "agents/builtin/x.md", fields);
    let explore = AgentView {
        aliases: vec!["scout".to_owned(), "finder".to_owned()],
        definition: vec![shipped(&["tools", "instructions"]), part("user", "/u/explore.md", &["tools", "aliases"])],
        ..agent("explore", "user", "shared", "Finds where something is done in this code base and tells file and line")
    };
    let reviewer = AgentView {
        definition: vec![
            shipped(&["tools"]),
            part("user", "/u/reviewer.md", &["thinking"]),
            part("project", "/w/.pi/agents/reviewer.md", &["thinking", "colour\u{1b}[2J"]),
        ],
        problems: vec![problem(
            "warning",
            "/w/.pi/agents/reviewer.md",
            2,
            "`colour` is no key of an agent and is ignored",
        )],
        ..agent("reviewer", "project", "shared", "Judges a change")
    };
    let worker = AgentView {
        launchable: false,
        definition: vec![shipped(&["tools"]), part("user", "/home/ada/.pi/agent/agents/worker.md", &["tools"])],
        problems: vec![
            problem(
                "error",
                "/home/ada/.pi/agent/agents/worker.md",
                3,
                "tools: this is a number; write a list of names, `inherit` or `[]`",
            ),
            problem("warning", "/home/ada/.pi/agent/agents/worker.md", 4, "`colour` is no key of an agent"),
        ],
        ..agent("worker", "user", "exclusive", "worker")
    };
    let debug = AgentView {
        launchable: false,
        definition: vec![shipped(&["tools"]), part("project", "/w/.pi/agents/debug.md", &["enabled"])],
        ..agent("debug", "project", "exclusive", "Finds the cause")
    };
    let general = agent("general-purpose", "builtin", "exclusive", "Works on a task of several steps");
    CatalogResponse {
        agents: vec![debug, explore, general, reviewer, worker],
        runtimes: runtimes(),
        faults: vec!["agents.user names /home/ada/more-agents, which is not there".to_owned()],
    }
}

#[test]
fn layers_other_names_and_faults_are_told() {
    assert_eq!(
        agents(&everything(), &samples::screen()),
        "\
AGENT            FROM     ACCESS  WHAT IT IS FOR
explore          user     reads   Finds where something is done in this code
                                  base and tells file and line
                                  (hides builtin; also called scout, finder)
general-purpose  builtin  writes  Works on a task of several steps
reviewer         project  reads   Judges a change
                                  (hides user, adds to builtin)

Cannot be launched
  debug (project, adds to builtin)
    switched off in /w/.pi/agents/debug.md
  worker (user, hides builtin)
    /home/ada/.pi/agent/agents/worker.md:3:1: tools: this is a number; write a
    list of names, `inherit` or `[]`

Problems
  agents.user names /home/ada/more-agents, which is not there
  /w/.pi/agents/reviewer.md:2:1: `colour` is no key of an agent and is ignored
  /home/ada/.pi/agent/agents/worker.md:4:1: `colour` is no key of an agent

RUNTIME  WHY
offline  default: no pi was found in PATH
pi       not found in PATH
"
    );
}

#[test]
fn a_narrow_place_has_the_same() {
    let screen = Screen { width: 50, ..samples::screen() };
    assert_eq!(
        agents(&everything(), &screen),
        "\
AGENT            ACCESS  WHAT IT IS FOR
explore          reads   Finds where something is
                         done in this code base
                         and tells file and line
                         (user, hides builtin;
                         also called scout,
                         finder)
general-purpose  writes  Works on a task of
                         several steps
reviewer         reads   Judges a change
                         (project, hides user,
                         adds to builtin)

Cannot be launched
  debug (project, adds to builtin)
    switched off in /w/.pi/agents/debug.md
  worker (user, hides builtin)
    /home/ada/.pi/agent/agents/worker.md:3:1:
    tools: this is a number; write a list of
    names, `inherit` or `[]`

Problems
  agents.user names /home/ada/more-agents, which
  is not there
  /w/.pi/agents/reviewer.md:2:1: `colour` is no
  key of an agent and is ignored
  /home/ada/.pi/agent/agents/worker.md:4:1:
  `colour` is no key of an agent

RUNTIME  WHY
offline  default: no pi was found in PATH
pi       not found in PATH
"
    );
}

#[test]
fn where_none_can_be_launched_it_is_said() {
    let response = CatalogResponse { agents: Vec::new(), runtimes: runtimes(), faults: Vec::new() };
    let text = agents(&response, &samples::screen());
    assert!(text.starts_with("No agents that can be launched.\n\nRUNTIME "), "{text}");
}

#[test]
fn what_a_model_is_told_stands_as_it_is() {
    let response = ListResponse { text: "Executable agents:\n- x (user): \u{1b}[2Jy\n\nDiagnostics:".to_owned() };
    assert_eq!(list(&response), "Executable agents:\n- x (user):  [2Jy\n\nDiagnostics:\n");
}
