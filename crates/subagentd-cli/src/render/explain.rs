//! The screen of `explain`: a tree of every value, with who set it and why.

use subagentd_proto::run::{Alternative, Decision, Decisions, DefinitionPart, PreflightResponse, Supplier};

use super::time::limit;
use super::{codes, fit, words};
use crate::output::Screen;

/// Choices that fell through for one reason, and such reasons, that are told of one value; the rest is counted.
const TOLD: usize = 8;
/// Hex digits of a digest that people compare.
const DIGITS: usize = 16;

/// One value, and what is said of it.
struct Node {
    value: String,
    said: Vec<String>,
}

/// Everything that a launch would decide. Without a task there is no digest: it would be that of another launch.
pub(crate) fn tree(response: &PreflightResponse, with_task: bool, screen: &Screen) -> String {
    let decided = &response.decisions;
    let mut nodes = vec![definition(decided), place(decided)];
    nodes.push(node("runtime", &decided.runtime, Clone::clone));
    let kind = decided.model_reason.as_deref().map(|kind| format!(" [{}]", words::line(kind))).unwrap_or_default();
    nodes.push(node("model", &decided.model, |model| format!("{model}{kind}")));
    nodes.push(node("thinking", &decided.thinking, Clone::clone));
    nodes.push(node("tools", &decided.tools, |tools| words::list(tools)));
    nodes.extend(loaded(decided));
    nodes.push(node("context", &decided.context, Clone::clone));
    nodes.extend(decided.standing.as_ref().map(|standing| node("instructions", standing, instructions)));
    nodes
        .extend(decided.trusted.as_ref().map(|trusted| node("project", trusted, |trusted| trust(*trusted).to_owned())));
    nodes.push(node("class", &decided.class, Clone::clone));
    nodes.push(node("waits for its end", &decided.background, |background| {
        if *background { "no" } else { "yes" }.to_owned()
    }));
    let set = decided.limits_reason.as_deref().map(words::line);
    nodes.push(Node { value: format!("limits: {}", limits(decided)), said: set.into_iter().collect() });
    nodes.push(Node {
        value: format!("output: {} in the run's folder", words::line(&response.output)),
        said: Vec::new(),
    });
    nodes.extend(remarks(response));
    if with_task {
        let short = response.digest.get(..DIGITS).unwrap_or(&response.digest);
        nodes.push(Node { value: format!("digest: {}…", words::line(short)), said: Vec::new() });
    }
    let mut text = format!("{} ({})\n", screen.bold(&words::line(&response.agent)), words::line(&decided.agent_source));
    let last = nodes.len().saturating_sub(1);
    for (index, node) in nodes.iter().enumerate() {
        text.push_str(&branch(node, index == last, screen));
    }
    text
}

fn branch(node: &Node, is_last: bool, screen: &Screen) -> String {
    let (first, rest) = if is_last { ("└ ", "  ") } else { ("├ ", "│ ") };
    let left = usize::from(screen.width).saturating_sub(4);
    let mut text = String::new();
    for (number, line) in fit::wrap(&node.value, left + 2).iter().enumerate() {
        text.push_str(&format!("{}{line}\n", if number == 0 { first } else { rest }));
    }
    for line in node.said.iter().flat_map(|said| fit::wrap(said, left)) {
        text.push_str(&format!("{rest}  {line}\n"));
    }
    text
}

fn node<T>(label: &str, decision: &Decision<T>, spell: impl Fn(&T) -> String) -> Node {
    let Decision { value, source, reason, alternatives } = decision;
    let mut said = vec![format!("{}: {}", words::line(source), words::line(reason))];
    said.extend(fell_through(alternatives));
    Node { value: format!("{label}: {}", words::line(&spell(value))), said }
}

/// What was looked at and not taken; what fell through for one reason is told together.
fn fell_through(alternatives: &[Alternative]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for Alternative { value, reason } in alternatives {
        match groups.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, values)) => values.push(value),
            None => groups.push((reason, vec![value])),
        }
    }
    let told = groups.iter().take(TOLD).map(|(reason, values)| {
        let names: Vec<String> = values.iter().take(TOLD).map(|value| words::line(value)).collect();
        let more = values.len().saturating_sub(TOLD);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("not {}{more}: {}", names.join(", "), words::line(reason))
    });
    let mut told: Vec<String> = told.collect();
    let more = groups.len().saturating_sub(TOLD);
    if more > 0 {
        told.push(format!("and {more} more reasons; --json has them"));
    }
    told
}

fn definition(decided: &Decisions) -> Node {
    let part = |part: &DefinitionPart| {
        format!("{}: {} sets {}", words::line(&part.source), words::line(&part.file), words::list(&part.fields))
    };
    let count = words::count(decided.definition.len() as u64, "file", "files");
    Node { value: format!("definition: {count}"), said: decided.definition.iter().map(part).collect() }
}

fn place(decided: &Decisions) -> Node {
    let said = match decided.workspace == decided.directory {
        true => "and that is the scope that a writer locks".to_owned(),
        false => format!("scope that a writer locks: {}", words::line(&decided.workspace)),
    };
    Node { value: format!("directory: {}", words::line(&decided.directory)), said: vec![said] }
}

/// What comes with its tools and its provider.
fn loaded(decided: &Decisions) -> Option<Node> {
    let supplier = |supplier: &Supplier| match supplier {
        Supplier::File(name) => words::line(name),
        Supplier::Package(name) => format!("package {}", words::line(name)),
        Supplier::Builtin(name) => format!("builtin:{}", words::line(name)),
    };
    let names: Vec<String> = decided.suppliers.iter().map(supplier).collect();
    let withheld = (!decided.withheld.is_empty()).then(|| format!("kept out: {}", words::list(&decided.withheld)));
    (!names.is_empty())
        .then(|| Node { value: format!("loads: {}", names.join(", ")), said: withheld.into_iter().collect() })
}

fn instructions(digest: &Option<String>) -> String {
    let short = |digest: &String| digest.get(..DIGITS).map_or_else(|| digest.clone(), |short| format!("{short}…"));
    digest.as_ref().map_or_else(|| "none".to_owned(), short)
}

const fn trust(trusted: bool) -> &'static str {
    if trusted { "trusted" } else { "not trusted" }
}

fn limits(decided: &Decisions) -> String {
    let all = [
        ("in all", Some(decided.timeout_ms)),
        ("without an event", Some(decided.idle_timeout_ms)),
        ("to its first event", decided.first_event_timeout_ms),
        ("for one tool call", decided.tool_call_timeout_ms),
    ];
    let told = all.into_iter().filter_map(|(what, ms)| ms.map(|ms| format!("{} {what}", limit(ms))));
    told.collect::<Vec<_>>().join(", ")
}

fn remarks(response: &PreflightResponse) -> Option<Node> {
    let remarks = codes::remarks(&response.remarks);
    let said: Vec<String> = remarks.iter().flat_map(|text| text.lines().map(str::to_owned)).collect();
    let problems = response.problems.iter().map(words::problem);
    let said: Vec<String> = said.into_iter().chain(problems).collect();
    (!said.is_empty()).then(|| Node { value: "remarks".to_owned(), said })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;
    use subagentd_proto::agent::ProblemView;

    fn sample() -> PreflightResponse {
        let other = |value: &str, reason: &str| Alternative { value: value.to_owned(), reason: reason.to_owned() };
        let mut decisions = samples::decisions();
        decisions.agent_source = "user".to_owned();
        decisions.directory = "/home/ada/project/sub".to_owned();
        decisions.model = samples::decision(
            "acme/claude-haiku-4-5".to_owned(),
            "profile",
            "mine aims at L of the builtin profile of claude, at the parent's version",
        );
        decisions.model.alternatives = vec![other("acme/claude-sonnet-4-5", "several providers run it: one, two")];
        decisions.model_reason = Some("routed".to_owned());
        decisions.tools.alternatives =
            (0..10).map(|n| other(&format!("tool_{n}"), "a ceiling does not allow it")).collect();
        decisions.suppliers = vec![Supplier::Package("npm:web".to_owned()), Supplier::Builtin("mcp".to_owned())];
        decisions.withheld = vec!["web_write".to_owned()];
        decisions.standing = Some(samples::decision(
            Some("ab".repeat(32)),
            "default",
            "those of the child's directory: /home/ada/project/AGENTS.md",
        ));
        decisions.trusted = Some(samples::decision(true, "flag", "a flag states it"));
        let part = |source: &str, file: &str, fields: &[&str]| DefinitionPart {
            source: source.to_owned(),
            file: file.to_owned(),
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        };
        decisions.definition = vec![
            part("builtin", "builtin/mine.md", &["description", "body"]),
            part("user", "/home/ada/.pi/agent/agents/mine.md", &["tools"]),
        ];
        PreflightResponse {
            agent: "mine".to_owned(),
            decisions,
            output: "result.md".to_owned(),
            digest: "cd".repeat(32),
            remarks: vec!["settings.problems".to_owned()],
            problems: vec![ProblemView {
                severity: "warning".to_owned(),
                file: "/w/.subagentd/config.toml".to_owned(),
                line: 3,
                column: 1,
                message: "limits: this has no effect".to_owned(),
            }],
        }
    }

    fn at(width: u16) -> String {
        tree(&sample(), true, &Screen { width, ..samples::screen() })
    }

    #[test]
    fn every_value_has_its_source_and_its_reason() {
        assert_eq!(
            at(80),
            "\
mine (user)
├ definition: 2 files
│   builtin: builtin/mine.md sets description, body
│   user: /home/ada/.pi/agent/agents/mine.md sets tools
├ directory: /home/ada/project/sub
│   scope that a writer locks: /home/ada/project
├ runtime: offline
│   default: no pi was found in PATH
├ model: acme/claude-haiku-4-5 [routed]
│   profile: mine aims at L of the builtin profile of claude, at the parent's
│   version
│   not acme/claude-sonnet-4-5: several providers run it: one, two
├ thinking: off
│   runtime: offline has no thinking levels
├ tools: read, grep, find, ls
│   definition: listed by explore
│   not tool_0, tool_1, tool_2, tool_3, tool_4, tool_5, tool_6, tool_7 and 2
│   more: a ceiling does not allow it
├ loads: package npm:web, builtin:mcp
│   kept out: web_write
├ context: fresh
│   default: nobody asked for the parent's
├ instructions: abababababababab…
│   default: those of the child's directory: /home/ada/project/AGENTS.md
├ project: trusted
│   flag: a flag states it
├ class: shared
│   default: none of its tools can write
├ waits for its end: yes
│   call: asked for
├ limits: 4h in all, 10m without an event, 2m to its first event, 1h for one
│ tool call
│   in all by the call, others by the configuration
├ output: result.md in the run's folder
├ remarks
│   something in the settings is wrong and without effect; `explain` tells what
│   /w/.subagentd/config.toml, line 3: limits: this has no effect
└ digest: cdcdcdcdcdcdcdcd…
"
        );
    }

    #[test]
    fn a_narrow_terminal_has_the_same_tree() {
        assert_eq!(
            at(50),
            "\
mine (user)
├ definition: 2 files
│   builtin: builtin/mine.md sets description,
│   body
│   user: /home/ada/.pi/agent/agents/mine.md sets
│   tools
├ directory: /home/ada/project/sub
│   scope that a writer locks: /home/ada/project
├ runtime: offline
│   default: no pi was found in PATH
├ model: acme/claude-haiku-4-5 [routed]
│   profile: mine aims at L of the builtin profile
│   of claude, at the parent's version
│   not acme/claude-sonnet-4-5: several providers
│   run it: one, two
├ thinking: off
│   runtime: offline has no thinking levels
├ tools: read, grep, find, ls
│   definition: listed by explore
│   not tool_0, tool_1, tool_2, tool_3, tool_4,
│   tool_5, tool_6, tool_7 and 2 more: a ceiling
│   does not allow it
├ loads: package npm:web, builtin:mcp
│   kept out: web_write
├ context: fresh
│   default: nobody asked for the parent's
├ instructions: abababababababab…
│   default: those of the child's directory:
│   /home/ada/project/AGENTS.md
├ project: trusted
│   flag: a flag states it
├ class: shared
│   default: none of its tools can write
├ waits for its end: yes
│   call: asked for
├ limits: 4h in all, 10m without an event, 2m to
│ its first event, 1h for one tool call
│   in all by the call, others by the
│   configuration
├ output: result.md in the run's folder
├ remarks
│   something in the settings is wrong and without
│   effect; `explain` tells what
│   /w/.subagentd/config.toml, line 3: limits:
│   this has no effect
└ digest: cdcdcdcdcdcdcdcd…
"
        );
        for line in at(50).lines() {
            assert!(fit::width(line) <= 50, "{line}");
        }
    }

    #[test]
    fn without_a_task_there_is_no_digest() {
        let text = tree(&sample(), false, &samples::screen());
        assert!(!text.contains("digest"), "{text}");
        assert!(text.lines().last().unwrap().starts_with("    "), "{text}");
    }
}
