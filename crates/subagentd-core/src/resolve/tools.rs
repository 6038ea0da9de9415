//! Which tools a child gets.

use crate::definition::{Definition, InheritTools, Key, Tools};
use crate::plan::{Alternative, Decision, Source, Supplier};

use super::capture::{ActiveTool, Capture, Stated};
use super::choice::says;
use super::policy::{Ceiling, Policy};
use super::{Refusal, RuntimeFacts};

/// Tools that launch and steer subagents: a child gets none of them.
const MANAGING: [&str; 3] = ["subagent", "get_subagent_result", "steer_subagent"];
/// Tools that the runtime has itself.
pub(super) const OWN: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];
/// What is active where no host and no runtime says it.
pub const PLAIN_TOOLS: [&str; 4] = ["read", "bash", "edit", "write"];

/// The tools that are active where a child is launched from: the host's word, else the runtime's own selection.
#[must_use]
pub fn active_tools(capture: &Capture, runtime: Option<&RuntimeFacts>) -> Stated<Vec<ActiveTool>> {
    if let Some(stated) = &capture.tools {
        return stated.clone();
    }
    match runtime.and_then(|runtime| runtime.default_tools.as_ref()) {
        Some(names) => {
            Stated { value: names.iter().map(|name| ActiveTool::named(name)).collect(), source: Source::Runtime }
        }
        None => Stated { value: PLAIN_TOOLS.map(ActiveTool::named).into(), source: Source::Default },
    }
}

/// The tools that a child of this agent gets, before any ceiling. What was taken out stands in the alternatives.
#[must_use]
pub fn effective_tools(
    definition: &Definition,
    active: &Stated<Vec<ActiveTool>>,
    capture: &Capture,
    policy: &Policy,
) -> Decision<Vec<String>> {
    let mut tools = chosen(definition, active);
    take_out(&mut tools, |name| MANAGING.contains(&name).then(|| "a child does not manage subagents".to_owned()));
    let supplier = |name: &str| supplier_of(name, &active.value);
    take_out(&mut tools, |name| {
        let of_host = supplier(name).is_some_and(|supplier| Some(supplier) == capture.host.as_ref());
        of_host.then(|| "the host's own extension supplies it, which no child loads".to_owned())
    });
    take_out(&mut tools, |name| match supplier(name) {
        Some(Supplier::Package(source)) if policy.excludes(source) => {
            Some(format!("the package {source} is excluded by the configuration"))
        }
        _ => None,
    });
    if let Some(excluded) = definition.exclude_tools.set() {
        take_out(&mut tools, |name| {
            let pattern = excluded.iter().find(|pattern| covers(pattern, name))?;
            Some(format!("{} excludes `{pattern}`", says(definition, Key::ExcludeTools)))
        });
    }
    tools
}

/// What every ceiling leaves.
pub(super) fn narrow(
    tools: &mut Decision<Vec<String>>,
    active: &[ActiveTool],
    ceilings: &[Ceiling],
) -> Result<(), Refusal> {
    for ceiling in ceilings {
        let before = tools.value.clone();
        take_out(tools, |name| {
            let outside = ceiling.tools.as_ref().is_some_and(|allowed| !allowed.iter().any(|tool| tool == name));
            let foreign = ceiling.deny_extensions && (!OWN.contains(&name) || supplier_of(name, active).is_some());
            (outside || foreign).then(|| format!("{} does not allow it", ceiling.of))
        });
        if tools.value.is_empty() && !before.is_empty() {
            return Err(Refusal::CeilingTools { tools: before, ceiling: ceiling.of.clone() });
        }
    }
    Ok(())
}

/// What supplies an active tool; `None` for the runtime itself, and for a tool that is not active.
pub(super) fn supplier_of<'a>(name: &str, active: &'a [ActiveTool]) -> Option<&'a Supplier> {
    active.iter().find(|tool| tool.name == name)?.supplier.as_ref()
}

fn chosen(definition: &Definition, active: &Stated<Vec<ActiveTool>>) -> Decision<Vec<String>> {
    let by = says(definition, Key::Tools);
    let Some(Tools::List(names)) = definition.tools.set() else {
        let inherits = match definition.tools.set() {
            Some(_) => format!("{by} inherits"),
            None => format!("{} lists no tools and so inherits", definition.identifier),
        };
        let value = names(active.value.iter());
        let reason = format!("{inherits} {}", whose(active.source));
        return Decision { value, source: active.source, reason, alternatives: Vec::new() };
    };
    let mut value = unique(names.iter().cloned());
    let mut reason = format!("{by} lists them");
    let mut alternatives = Vec::new();
    let inherited = definition.inherit_tools.set().copied().unwrap_or(InheritTools::None);
    if inherited != InheritTools::None {
        let (kept, left): (Vec<_>, Vec<_>) = active
            .value
            .iter()
            .filter(|tool| !value.contains(&tool.name))
            .partition(|tool| inherited == InheritTools::All || !tool.hints_at_change());
        let added = self::names(kept.into_iter());
        let word = inherited.word();
        reason = format!("{reason}, and adds {word} of {}", whose(active.source));
        let out = "it is marked as one that changes things";
        alternatives
            .extend(left.into_iter().map(|tool| Alternative { value: tool.name.clone(), reason: out.to_owned() }));
        value = unique(value.into_iter().chain(added));
    }
    Decision { value, source: Source::Definition, reason, alternatives }
}

fn whose(source: Source) -> &'static str {
    match source {
        Source::Capture => "the active tools of its parent",
        Source::Flag => "the tools that a flag names for a parent",
        Source::Runtime => "the runtime's own selection, since no parent states its tools",
        _ => "read, bash, edit and write, since no parent states its tools",
    }
}

/// Removes the tools for which there is a reason.
fn take_out(tools: &mut Decision<Vec<String>>, reason: impl Fn(&str) -> Option<String>) {
    let Decision { value, alternatives, .. } = tools;
    value.retain(|name| match reason(name) {
        Some(reason) => {
            alternatives.push(Alternative { value: name.clone(), reason });
            false
        }
        None => true,
    });
}

/// Whether a name, or the beginning of names with `*` behind it, covers a name.
fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

fn names<'a>(tools: impl Iterator<Item = &'a ActiveTool>) -> Vec<String> {
    unique(tools.map(|tool| tool.name.clone()))
}

fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}
