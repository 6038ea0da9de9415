//! The text that a listing of agents is for people and models.

use crate::definition::{Catalog, Definition, Key, Part, Severity};
use crate::resolve::Ceiling;

use super::recommend::{Candidate, admitted, advise, format_advice};

/// Bytes of an agent's description in one line; more is cut.
pub const DESCRIPTION_BYTES: usize = 300;

/// What a listing is asked for beside the agents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListRequest<'a> {
    /// A task to give advice for. Nothing of it is repeated.
    pub task: Option<&'a str>,
    /// What the session may use at most.
    pub ceilings: &'a [Ceiling],
}

/// The agents of a catalogue, what keeps others from being launched, what is wrong with their files, and at the end the
/// advice if there is a task.
#[must_use]
pub fn list(catalog: &Catalog, request: &ListRequest<'_>) -> String {
    let (sound, unavailable): (Vec<_>, Vec<_>) =
        catalog.iter().partition(|definition| !definition.broken && definition.is_enabled());
    let (executable, restricted): (Vec<_>, Vec<_>) =
        sound.into_iter().partition(|definition| admitted(&definition.identifier, request.ceilings));
    let mut lines = vec!["Executable agents:".to_owned()];
    if executable.is_empty() {
        lines.push("- (none)".to_owned());
    }
    lines.extend(executable.into_iter().flat_map(described));
    section(
        &mut lines,
        "Restricted agents:",
        restricted.into_iter().map(|definition| {
            format!(
                "- {} ({}): outside the ceiling of this session",
                shown(&definition.identifier),
                definition.layer.word()
            )
        }),
    );
    section(&mut lines, "Unavailable agents:", unavailable.into_iter().flat_map(unavailable_lines));
    section(&mut lines, "Diagnostics:", diagnostics(catalog));
    let candidates: Vec<_> = catalog.iter().map(Candidate::of).collect();
    if let Some(advice) = request.task.and_then(|task| advise(task, &candidates, request.ceilings)) {
        lines.push(String::new());
        lines.extend(format_advice(&advice));
    }
    lines.join("\n")
}

fn section(lines: &mut Vec<String>, title: &str, items: impl Iterator<Item = String>) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        lines.push(String::new());
        lines.push(title.to_owned());
        lines.extend(items);
    }
}

fn described(definition: &Definition) -> Vec<String> {
    let aliases = definition.aliases.set().filter(|aliases| !aliases.is_empty());
    let also = aliases.map_or(String::new(), |aliases| format!("; also called {}", shown(&aliases.join(", "))));
    let line = format!(
        "- {} ({}{also}): {}",
        shown(&definition.identifier),
        definition.layer.word(),
        shown(definition.described())
    );
    std::iter::once(line).chain(hides(definition)).collect()
}

/// What a higher file hides of those below it.
fn hides(definition: &Definition) -> Vec<String> {
    let hidden = definition.hidden().map(|part| {
        let Part { layer, file, keys } = part;
        let keys: Vec<_> = keys.into_iter().map(Key::word).collect();
        let what = if keys.is_empty() {
            "nothing of it is hidden".to_owned()
        } else {
            format!("hides its {}", keys.join(", "))
        };
        format!("  over {} {}: {what}", layer.word(), shown(&file))
    });
    hidden.collect()
}

fn unavailable_lines(definition: &Definition) -> Vec<String> {
    let name = format!("- {} ({})", shown(&definition.identifier), definition.layer.word());
    let line = match definition.first_error() {
        Some(problem) => format!(
            "{name}: broken, {}:{}:{}: {}",
            shown(&problem.file),
            problem.line,
            problem.column,
            shown(&problem.message)
        ),
        None => {
            let file = definition.origin(Key::Enabled).map_or(&definition.file, |origin| &origin.file);
            format!("{name}: switched off by {}", shown(file))
        }
    };
    std::iter::once(line).chain(hides(definition)).collect()
}

/// Everything that is wrong and is not told with an unavailable agent.
fn diagnostics(catalog: &Catalog) -> impl Iterator<Item = String> + '_ {
    let faults = catalog.faults().iter().map(|fault| format!("- {}", shown(fault)));
    let problems = catalog.iter().flat_map(|definition| {
        let first = definition.first_error();
        definition.problems.iter().filter(move |problem| first != Some(*problem))
    });
    let told = problems.map(|problem| {
        let severity = match problem.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let place = format!("{}:{}:{}", shown(&problem.file), problem.line, problem.column);
        format!("- {place}: {severity}: {}", shown(&problem.message))
    });
    faults.chain(told)
}

/// One line of bounded length, whatever a file says.
fn shown(text: &str) -> String {
    let one_line: String = text.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, "");
    let end = one_line.floor_char_boundary(DESCRIPTION_BYTES);
    match one_line.get(..end) {
        Some(cut) if end < one_line.len() => format!("{cut}…"),
        _ => one_line,
    }
}
