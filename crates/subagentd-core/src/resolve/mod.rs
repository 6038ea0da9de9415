//! From what a caller asks to what a child gets. One pure function for every way of launching: each value comes with
//! who set it and why, and what cannot be had exactly is refused, never replaced.

mod capture;
mod choice;
mod class;
mod context;
mod digest;
mod limits;
mod model;
mod policy;
mod refusal;
mod runtime;
mod suppliers;
mod tools;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::definition::{Access, Catalog, Definition, Field, Key, Thinking};
use crate::plan::{Captured, Decision, PLAN_FORMAT, Plan, Source, TimeLimits};
use crate::route::Registry;
use crate::workspace::Workspace;

use choice::says;

pub use capture::{ActiveTool, Capture, Effect, Stated};
pub use class::class_of;
pub use context::{FRESH, PARENT};
pub use digest::plan_digest;
pub use policy::{Ceiling, Policy};
pub use refusal::{Refusal, RefusalKind};
pub use tools::{PLAIN_TOOLS, active_tools, effective_tools};

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
    /// `fresh` or `parent`.
    pub context: Option<String>,
    /// The runtime's name.
    pub runtime: Option<String>,
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
    /// What the configuration says about every launch.
    pub policy: Policy,
    /// What the host states of the session that launches.
    pub capture: Capture,
    /// Where the child works.
    pub workspace: Workspace,
    /// sha256 of the environment file, passed through.
    pub environment: Option<String>,
    /// The client's file mode mask, passed through.
    pub umask: Option<u32>,
    /// The client's soft resource limits, passed through.
    pub resource_limits: BTreeMap<String, u64>,
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
    /// Every model it can run, or [`Registry::unknown`] if that is not known before the start.
    pub models: Registry,
    /// Whether it runs what a host runs: the host's model is the parent then, and the host's list of models holds.
    pub takes_parent: bool,
    /// The model that stands in a parent's place when no host states one, exact `provider/id`.
    pub default_model: Option<String>,
    /// How hard that model thinks.
    pub default_thinking: Option<Thinking>,
    /// The tools that it activates by itself, if that is known.
    pub default_tools: Option<Vec<String>>,
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

/// Remark: a file of the definition has something that does not count, such as a key with a slip in it.
pub const REMARK_PROBLEMS: &str = "definition.problems";
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
    let Facts { policy, capture, .. } = facts;
    policy::admit(&definition.identifier, &policy.ceilings)?;
    let (runtime, own) = runtime::choose(request, definition, facts)?;
    let model = model::choose(request, definition, &runtime.value, own, facts)?;
    let active = active_tools(capture, Some(own));
    let mut tools = effective_tools(definition, &active, capture, policy);
    tools::narrow(&mut tools, &active.value, &policy.ceilings)?;
    let context = context::choose(request, definition, capture)?;
    let (suppliers, withheld) = suppliers::needed(&tools.value, &model.exact.provider, &active.value, capture, policy);
    Ok(Plan {
        format: PLAN_FORMAT,
        agent: definition.identifier.clone(),
        agent_source: definition.layer.word().to_owned(),
        runtime,
        class: class_of(definition, &tools, &active.value, &policy.effects),
        tools,
        background: background(request, definition),
        workspace: facts.workspace.clone(),
        limits: limits::choose(request, definition, facts),
        instructions: definition.instructions.clone(),
        captured: Captured {
            trusted: Some(trusted(capture)),
            conversation: capture.conversation.clone().filter(|_| context.value == PARENT),
            standing: Some(standing(capture)),
            suppliers,
            withheld,
        },
        context,
        environment: facts.environment.clone(),
        umask: facts.umask,
        resource_limits: facts.resource_limits.clone(),
        environment_omitted: facts.environment_omitted.clone(),
        remarks: remarks(definition, facts, model.above_ceiling),
        model: model.model,
        model_kind: model.kind.word().to_owned(),
        thinking: model.thinking,
        program: None,
        digest: None,
    })
}

fn trusted(capture: &Capture) -> Decision<bool> {
    let Stated { value, source } = capture.trusted;
    let reason = match source {
        Source::Default => "nobody states that the project is trusted",
        Source::Flag => "a flag states it",
        _ => "the host states it",
    };
    Decision { value, source, reason: reason.to_owned(), alternatives: Vec::new() }
}

fn standing(capture: &Capture) -> Decision<Option<String>> {
    let Stated { value, source } = &capture.standing;
    let reason = match (value, source) {
        (None, _) => "there are none",
        (Some(_), Source::Capture) => "the host's, as of the request",
        (Some(_), _) => "those of the child's directory, as of the request",
    };
    Decision { value: value.clone(), source: *source, reason: reason.to_owned(), alternatives: Vec::new() }
}

fn background(request: &Request, definition: &Definition) -> Decision<bool> {
    let (value, source, reason) = match (request.background, definition.run_in_background.set()) {
        (Some(value), _) => (value, Source::Call, "the call says so".to_owned()),
        (None, Some(value)) => {
            (*value, Source::Definition, format!("{} says so", says(definition, Key::RunInBackground)))
        }
        (None, None) => (true, Source::Default, "nobody said otherwise".to_owned()),
    };
    Decision { value, source, reason, alternatives: Vec::new() }
}

fn remarks(definition: &Definition, facts: &Facts, above_ceiling: bool) -> Vec<String> {
    let mut remarks = facts.remarks.clone();
    if !definition.problems.is_empty() {
        remarks.push(REMARK_PROBLEMS.to_owned());
    }
    if definition.max_turns.set().is_some_and(|turns| *turns > 0) {
        remarks.push(REMARK_TURNS.to_owned());
    }
    if matches!(definition.access, Field::Set(Access::ReadOnly | Access::Scoped)) {
        remarks.push(REMARK_ACCESS.to_owned());
    }
    if above_ceiling {
        remarks.push(policy::REMARK_ABOVE.to_owned());
    }
    remarks
}
