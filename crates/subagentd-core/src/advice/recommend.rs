//! The agent to recommend for a task, if one is safe.

use std::cmp::Reverse;

use crate::definition::{Definition, Field, InheritTools, Layer, Role, Tools};
use crate::resolve::Ceiling;

use super::{Intent, RoleBasis, intent, routing_role};

/// Tools that are known to write.
const WRITE_TOOLS: [&str; 3] = ["bash", "edit", "write"];

/// An agent as far as advice looks at it. Aliases are not among it: they are no sign of a role and never an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The name that a launch uses.
    pub name: String,
    /// Where it comes from.
    pub source: Layer,
    /// The tools it lists; `None` if it inherits them, wholly or in part.
    pub tools: Option<Vec<String>>,
    /// The role it declares.
    pub role: Option<Role>,
    /// Whether it can be launched at all.
    pub launchable: bool,
}

impl Candidate {
    /// What advice sees of a definition.
    #[must_use]
    pub fn of(definition: &Definition) -> Self {
        let inherits = matches!(definition.inherit_tools, Field::Set(InheritTools::All | InheritTools::NonDestructive));
        let excluded = definition.exclude_tools.set().map(Vec::as_slice).unwrap_or_default();
        let tools = match &definition.tools {
            Field::Set(Tools::List(names)) if !inherits => {
                Some(names.iter().filter(|name| !is_excluded(name, excluded)).cloned().collect())
            }
            Field::Set(Tools::List(_) | Tools::Inherit) | Field::Absent | Field::Null => None,
        };
        Self {
            name: definition.identifier.clone(),
            source: definition.layer,
            tools,
            role: definition.acceptance_role.set().copied(),
            launchable: !definition.broken && definition.is_enabled(),
        }
    }

    fn writes(&self) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| WRITE_TOOLS.contains(&tool.as_str())))
    }

    fn writes_under(&self, ceilings: &[Ceiling]) -> bool {
        let lists = |names: &Option<Vec<String>>, tool: &str| {
            names.as_ref().is_none_or(|names| names.iter().any(|name| name == tool))
        };
        let left = |tool: &&str| lists(&self.tools, tool) && ceilings.iter().all(|ceiling| lists(&ceiling.tools, tool));
        WRITE_TOOLS.iter().any(left)
    }
}

fn is_excluded(name: &str, excluded: &[String]) -> bool {
    excluded.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    })
}

/// Whether every ceiling lets this agent be launched.
pub(super) fn admitted(name: &str, ceilings: &[Ceiling]) -> bool {
    let admits =
        |ceiling: &Ceiling| ceiling.agents.as_ref().is_none_or(|agents| agents.iter().any(|agent| agent == name));
    ceilings.iter().all(admits)
}

/// Advice for one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What the task asks for.
    pub intent: Intent,
    /// The agent for it; `None` if none is safe.
    pub recommended: Option<Recommended>,
}

/// The agent that is recommended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recommended {
    /// The name that a launch uses.
    pub name: String,
    /// Where it comes from.
    pub source: Layer,
    /// What it is there for.
    pub role: Role,
    /// How that is known.
    pub basis: RoleBasis,
}

/// Which of the agents suits the task. `None` for a blank task. The order of the candidates has no meaning.
#[must_use]
pub fn advise<'a>(
    task: &str,
    candidates: impl IntoIterator<Item = &'a Candidate>,
    ceilings: &[Ceiling],
) -> Option<Advice> {
    if task.trim().is_empty() {
        return None;
    }
    let intent = intent(task);
    let wanted = match intent {
        Intent::Implementation => Role::Writer,
        Intent::ReadOnly => Role::ReadOnly,
        Intent::Unknown => return Some(Advice { intent, recommended: None }),
    };
    let usable = candidates.into_iter().filter(|agent| agent.launchable && admitted(&agent.name, ceilings));
    let safe = usable.filter_map(|agent| {
        let (role, basis) = routing_role(&agent.name, agent.role)?;
        let able = match role {
            Role::Writer => agent.writes_under(ceilings),
            Role::ReadOnly => !agent.writes(),
        };
        (role == wanted && able).then_some((agent, basis))
    });
    let first = safe.min_by_key(|(agent, basis)| (Reverse(agent.source), *basis, agent.name.clone()));
    let recommended =
        first.map(|(agent, basis)| Recommended { name: agent.name.clone(), source: agent.source, role: wanted, basis });
    Some(Advice { intent, recommended })
}

/// The section of a listing that gives the advice, lines without their ends.
#[must_use]
pub fn format_advice(advice: &Advice) -> Vec<String> {
    let mut lines = vec!["Task-aware advisory routing:".to_owned(), format!("- Intent: {}", advice.intent.word())];
    match &advice.recommended {
        Some(agent) => {
            lines.push(format!("- Recommended: {} ({})", agent.name, agent.source.word()));
            lines.push(format!("- Reason: {}", reason(agent)));
            lines.push(
                "- Advisory only: no subagent was launched. To proceed, explicitly call subagent with this canonical \
                 agent name and the task."
                    .to_owned(),
            );
        }
        None => {
            lines.push("- Recommendation: none".to_owned());
            lines.push(format!("- Next: {}", next(advice.intent)));
            lines.push("- Advisory only: no subagent was launched.".to_owned());
        }
    }
    lines
}

fn reason(agent: &Recommended) -> String {
    let role = format!("{} role {}", agent.basis.word(), agent.role.word());
    match agent.role {
        Role::Writer => format!("{role}; it has tools that can edit files."),
        Role::ReadOnly => format!("{role}; it has none of the tools edit, write and bash."),
    }
}

const fn next(intent: Intent) -> &'static str {
    match intent {
        Intent::Unknown => {
            "say whether the task is read-only analysis or review, or an implementation that may edit files."
        }
        Intent::Implementation => {
            "no executable agent has the role writer together with edit, write or bash; see the executable and \
             restricted agents above, declare `acceptance_role: writer`, or widen the ceiling."
        }
        Intent::ReadOnly => {
            "no executable agent has the role read-only and an explicit list of tools without edit, write and bash; \
             see the executable and restricted agents above, or declare `acceptance_role: read-only` with such a list."
        }
    }
}
