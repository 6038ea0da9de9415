//! From what a caller asks to what a child gets. One pure function for every way of launching: each value comes with
//! who set it and why, and what cannot be had exactly is refused, never replaced.

mod choice;
mod context;
mod limits;
mod model;
mod refusal;
mod runtime;
mod thinking;
mod tools;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::definition::{Access, Catalog, Definition, Field, Thinking};
use crate::plan::{Decision, PLAN_FORMAT, Plan, Source, TimeLimits};
use crate::workspace::Workspace;

pub use context::{FRESH, PARENT};
pub use refusal::{Refusal, RefusalKind};
pub use tools::{class_of, effective_tools};

/// What a caller asks for, in its own words. `None` is nothing said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The agent's name, in any case.
    pub agent: String,
    /// Exact `provider/id`.
    pub model: Option<String>,
    /// One of the seven levels.
    pub thinking: Option<String>,
    /// Whether the caller will not wait.
    pub background: Option<bool>,
    /// The runtime's name.
    pub runtime: Option<String>,
    /// `fresh` or `parent`.
    pub context: Option<String>,
    /// Total time in milliseconds; 0 means no limit.
    pub timeout_ms: Option<u64>,
    /// Time without an event in milliseconds; 0 means no limit.
    pub idle_timeout_ms: Option<u64>,
}

/// What holds on this machine at request time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Configured runtimes, by name.
    pub runtimes: BTreeMap<String, RuntimeFacts>,
    /// The runtime of launches that name none.
    pub default_runtime: DefaultRuntime,
    /// Time limits of launches that name none.
    pub default_limits: TimeLimits,
    /// Who set them.
    pub limits_source: Source,
    /// Where the child works.
    pub workspace: Workspace,
    /// sha256 of the environment file, passed through.
    pub environment: Option<String>,
    /// The client's file mode mask, passed through.
    pub umask: Option<u32>,
    /// The client's soft resource limits, passed through.
    pub resource_limits: BTreeMap<String, u64>,
    /// Whether the caller's conversation came with the call.
    pub conversation: bool,
    /// Names of variables that were left out, passed through.
    pub environment_omitted: Vec<String>,
    /// Remarks made before, to which those of the resolver are added.
    pub remarks: Vec<String>,
}

/// One runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeFacts {
    /// Whether a child of it can be started.
    pub usable: bool,
    /// Why it can, or why not and what to do.
    pub why: String,
    /// Every model it can run; `None` if that is not known before the start, when the child's own list decides.
    pub models: Option<Vec<ModelFacts>>,
    /// Its model when nobody names one, exact `provider/id`.
    pub default_model: Option<String>,
    /// Its thinking level when nobody names one.
    pub default_thinking: Thinking,
}

/// One model of a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFacts {
    /// Its provider.
    pub provider: String,
    /// Its id, which may contain slashes.
    pub id: String,
    /// The levels it supports, `off` included where it does.
    pub thinking_levels: Vec<Thinking>,
}

/// The runtime of launches that name none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultRuntime {
    /// Its name.
    pub name: String,
    /// Who chose it.
    pub source: Source,
    /// Why, in one sentence.
    pub reason: String,
}

/// Remark: a definition limits the turns, and nothing holds that limit yet.
pub const REMARK_TURNS: &str = "max-turns.not-enforced";
/// Remark: a definition restricts what may be written, and nothing holds that yet.
pub const REMARK_ACCESS: &str = "access.not-enforced";

/// Settles everything about a child, or refuses the launch.
///
/// # Errors
///
/// When something that was asked for cannot be had exactly.
pub fn resolve(request: &Request, catalog: &Catalog, facts: &Facts) -> Result<Plan, Refusal> {
    let definition = catalog.find(&request.agent)?;
    let (runtime, runtime_facts) = runtime::choose(request, facts)?;
    let (model, model_facts) = model::choose(request, definition, &runtime.value, runtime_facts)?;
    let thinking = thinking::choose(request, definition, &model.value, model_facts, runtime_facts)?;
    let tools = effective_tools(definition);
    Ok(Plan {
        format: PLAN_FORMAT,
        agent: definition.identifier.clone(),
        agent_source: definition.layer.word().to_owned(),
        runtime,
        model,
        thinking,
        class: class_of(definition, &tools),
        tools,
        context: context::choose(request, definition, facts)?,
        background: background(request, definition),
        workspace: facts.workspace.clone(),
        limits: limits::choose(request, definition, facts),
        instructions: definition.instructions.clone(),
        environment: facts.environment.clone(),
        umask: facts.umask,
        resource_limits: facts.resource_limits.clone(),
        environment_omitted: facts.environment_omitted.clone(),
        remarks: remarks(definition, facts),
        program: None,
    })
}

fn background(request: &Request, definition: &Definition) -> Decision<bool> {
    let (value, source, reason) = match (request.background, definition.run_in_background.set()) {
        (Some(value), _) => (value, Source::Call, "the call says so".to_owned()),
        (None, Some(value)) => (*value, Source::Definition, format!("{} says so", definition.identifier)),
        (None, None) => (true, Source::Default, "nobody said otherwise".to_owned()),
    };
    Decision { value, source, reason, alternatives: Vec::new() }
}

fn remarks(definition: &Definition, facts: &Facts) -> Vec<String> {
    let mut remarks = facts.remarks.clone();
    if definition.max_turns.set().is_some_and(|turns| *turns > 0) {
        remarks.push(REMARK_TURNS.to_owned());
    }
    if matches!(definition.access, Field::Set(Access::ReadOnly | Access::Scoped)) {
        remarks.push(REMARK_ACCESS.to_owned());
    }
    remarks
}
