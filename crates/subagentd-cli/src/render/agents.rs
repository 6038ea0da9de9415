//! The screen of `agents`.

use subagentd_proto::agent::{AgentView, CatalogResponse};

use super::table::{Columns, plain};
use crate::output::Screen;

/// Agents with what they may do, then runtimes with why one is the default.
pub(crate) fn agents(response: &CatalogResponse, screen: &Screen) -> String {
    let mut columns = Columns::new(screen, &["AGENT", "FROM", "ACCESS", "WHAT IT IS FOR"], &[1]).whole();
    for agent in &response.agents {
        columns.row(vec![plain(&agent.name), plain(&agent.source), plain(access(agent)), plain(&agent.description)]);
    }
    let mut text = columns.text();
    text.push('\n');
    let mut columns = Columns::new(screen, &["RUNTIME", "WHY"], &[]).whole();
    for runtime in &response.runtimes {
        let mark = if runtime.default { "default: " } else { "" };
        columns.row(vec![plain(&runtime.name), plain(&format!("{mark}{}", runtime.reason))]);
    }
    text.push_str(&columns.text());
    text
}

/// Whether it can write, by its class: one writer at a time in a directory.
fn access(agent: &AgentView) -> &str {
    match agent.class.as_str() {
        "shared" => "reads",
        "exclusive" => "writes",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use subagentd_proto::agent::RuntimeView;

    use super::*;
    use crate::render::samples;

    fn agent(name: &str, class: &str, description: &str) -> AgentView {
        AgentView {
            name: name.to_owned(),
            display_name: None,
            description: description.to_owned(),
            source: "builtin".to_owned(),
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

    #[test]
    fn agents_and_runtimes_are_told() {
        let response = CatalogResponse {
            faults: Vec::new(),
            agents: vec![
                agent("explore", "shared", "Finds where something is done in this code base and tells file and line"),
                agent("general-purpose", "exclusive", "Works on a task of several steps"),
            ],
            runtimes: vec![
                RuntimeView { name: "offline".to_owned(), default: true, reason: "no pi was found in PATH".to_owned() },
                RuntimeView { name: "pi".to_owned(), default: false, reason: "not found in PATH".to_owned() },
            ],
        };
        assert_eq!(
            agents(&response, &samples::screen()),
            "\
AGENT            FROM     ACCESS  WHAT IT IS FOR
explore          builtin  reads   Finds where something is done in this code
                                  base and tells file and line
general-purpose  builtin  writes  Works on a task of several steps

RUNTIME  WHY
offline  default: no pi was found in PATH
pi       not found in PATH
"
        );
    }
}
