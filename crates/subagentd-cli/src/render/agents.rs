//! The screens of `agents`.

use comfy_table::Cell;
use subagentd_proto::agent::{AgentView, CatalogResponse, ListResponse, ProblemView};
use subagentd_proto::run::DefinitionPart;

use super::fit;
use super::table::{Columns, narrow, plain};
use super::words;
use crate::output::Screen;

/// Severity of what keeps an agent from being launched.
const ERROR: &str = "error";
/// The field that switches an agent off.
const ENABLED: &str = "enabled";
/// What needs no word in a narrow table, since most agents are.
const BUILTIN: &str = "builtin";

/// Agents with what they may do, those that cannot be launched, what is wrong, then runtimes with why one is the
/// default.
pub(crate) fn agents(response: &CatalogResponse, screen: &Screen) -> String {
    let (launchable, others): (Vec<_>, Vec<_>) = response.agents.iter().partition(|agent| agent.launchable);
    let others = others.iter().map(|agent| unavailable(agent, screen));
    let warnings = response.agents.iter().flat_map(|agent| &agent.problems).filter(|problem| problem.severity != ERROR);
    let problems = response.faults.iter().map(|fault| words::line(fault)).chain(warnings.map(placed));
    let blocks = [
        table(&launchable, screen),
        block("Cannot be launched", others, screen),
        block("Problems", problems.map(|text| indented(&text, 2, screen)), screen),
        runtimes(response, screen),
    ];
    blocks.into_iter().filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What a model is told, as it is told.
pub(crate) fn list(response: &ListResponse) -> String {
    let lines = response.text.lines().map(|line| line.replace(words::steers, " "));
    lines.map(|line| format!("{line}\n")).collect()
}

fn table(agents: &[&AgentView], screen: &Screen) -> String {
    if agents.is_empty() {
        return "No agents that can be launched.\n".to_owned();
    }
    let mut columns = Columns::new(screen, &["AGENT", "FROM", "ACCESS", "WHAT IT IS FOR"], &[1]).whole();
    for agent in agents {
        let lines = std::iter::once(words::line(&agent.description)).chain(detail(agent, narrow(screen)));
        let about = Cell::new(lines.collect::<Vec<_>>().join("\n"));
        columns.row(vec![plain(&agent.name), plain(&agent.source), plain(access(agent)), about]);
    }
    columns.text()
}

/// What lies over what, and other names. `with_source` where no column tells it.
fn detail(agent: &AgentView, with_source: bool) -> Option<String> {
    let source = Some(words::line(&agent.source)).filter(|source| with_source && source != BUILTIN);
    let aliases = agent.aliases.iter().map(|alias| words::line(alias)).collect::<Vec<_>>();
    let origin: Vec<String> = source.into_iter().chain(over(&agent.definition)).collect();
    let also = (!aliases.is_empty()).then(|| format!("also called {}", aliases.join(", ")));
    let told: Vec<String> = Some(origin.join(", ")).filter(|text| !text.is_empty()).into_iter().chain(also).collect();
    (!told.is_empty()).then(|| format!("({})", told.join("; ")))
}

/// What the highest file does to each below it, highest first: it hides something of it, or only adds.
fn over(parts: &[DefinitionPart]) -> Vec<String> {
    let below = parts.split_last().map_or([].as_slice(), |(_, below)| below);
    let told = below.iter().enumerate().map(|(place, part)| {
        let above = parts.iter().skip(place + 1).flat_map(|part| &part.fields);
        let hides = above.clone().any(|field| part.fields.contains(field));
        format!("{} {}", if hides { "hides" } else { "adds to" }, words::line(&part.source))
    });
    let mut told: Vec<String> = told.collect();
    told.reverse();
    told
}

/// Whether it can write, by its class: one writer at a time in a directory.
fn access(agent: &AgentView) -> &str {
    match agent.class.as_str() {
        "shared" => "reads",
        "exclusive" => "writes",
        other => other,
    }
}

/// Its name and every reason why it cannot be launched.
fn unavailable(agent: &AgentView, screen: &Screen) -> String {
    let origin = std::iter::once(words::line(&agent.source)).chain(over(&agent.definition));
    let head = format!("{} ({})", words::line(&agent.name), origin.collect::<Vec<_>>().join(", "));
    let errors: Vec<String> = agent.problems.iter().filter(|problem| problem.severity == ERROR).map(placed).collect();
    let why = if errors.is_empty() { vec![switched_off(agent)] } else { errors };
    let why = why.iter().map(|text| indented(text, 4, screen));
    std::iter::once(indented(&head, 2, screen)).chain(why).collect()
}

fn switched_off(agent: &AgentView) -> String {
    let says = agent.definition.iter().rfind(|part| part.fields.iter().any(|field| field == ENABLED));
    says.map_or_else(|| "switched off".to_owned(), |part| format!("switched off in {}", words::line(&part.file)))
}

/// A problem behind its place, as compilers write it.
fn placed(problem: &ProblemView) -> String {
    let ProblemView { file, line, column, message, .. } = problem;
    format!("{}:{line}:{column}: {}", words::line(file), words::line(message))
}

fn runtimes(response: &CatalogResponse, screen: &Screen) -> String {
    let mut columns = Columns::new(screen, &["RUNTIME", "WHY"], &[]).whole();
    for runtime in &response.runtimes {
        let mark = if runtime.default { "default: " } else { "" };
        columns.row(vec![plain(&runtime.name), plain(&format!("{mark}{}", runtime.reason))]);
    }
    columns.text()
}

/// A heading and what stands below it; nothing where nothing does.
fn block(heading: &str, below: impl Iterator<Item = String>, screen: &Screen) -> String {
    let below: String = below.collect();
    if below.is_empty() { below } else { format!("{}\n{below}", screen.bold(heading)) }
}

fn indented(text: &str, by: usize, screen: &Screen) -> String {
    let width = usize::from(screen.width).saturating_sub(by);
    fit::wrap(text, width).into_iter().map(|line| format!("{:by$}{line}\n", "")).collect()
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;
