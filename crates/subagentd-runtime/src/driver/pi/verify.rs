//! Is the child what was asked for? Model and thinking level exactly; tools by decision G1.

use subagentd_core::life::Reason;

use super::record::{Model, Models, State};
use super::tools::{Tools, absent};
use crate::driver::{Asked, Settlement};

/// Tools that come with the child program. One of these that was asked for and is absent is a refusal; others come from
/// extensions and may be missing.
const BUILT_IN: [&str; 10] =
    ["read", "bash", "edit", "write", "grep", "find", "ls", "powershell", "codemode", "tool_search"];

/// Bytes of tool names kept as reported; the verification looks at all of them, and further names of a refused child are
/// left out of the record.
const REPORTED_TOOLS_BYTES: usize = 8 * 1024;

/// The names that go into the record.
pub(super) fn reported_tools(active: &[String]) -> Vec<String> {
    let mut bytes = 0;
    let fitting = active.iter().take_while(|tool| {
        bytes += tool.len();
        bytes <= REPORTED_TOOLS_BYTES
    });
    fitting.cloned().collect()
}

pub(super) fn state(asked: &Asked, state: &State) -> Result<(), Settlement> {
    let Asked { provider, model, thinking, .. } = asked;
    match &state.model {
        Some(Model { provider: p, id }) if p == provider && id == model => {}
        Some(Model { provider: p, id }) => {
            let error = format!("asked for model {provider}/{model}, the child would use {p}/{id}");
            return Err(refusal(Reason::ModelMismatch, &error));
        }
        None => {
            let error = format!("asked for model {provider}/{model}, the child has no model");
            return Err(refusal(Reason::ModelMismatch, &error));
        }
    }
    match &state.thinking {
        Some(level) if level == thinking => Ok(()),
        Some(level) => {
            let error = format!("asked for thinking level {thinking}, the child would use {level}");
            Err(refusal(Reason::ThinkingMismatch, &error))
        }
        None => {
            let error = format!("asked for thinking level {thinking}, the child reports none");
            Err(refusal(Reason::ThinkingMismatch, &error))
        }
    }
}

/// An invented id of a known provider passes the state; it is the one that is missing from the list.
pub(super) fn available(asked: &Asked, models: &Models<'_>) -> Result<(), Settlement> {
    let Asked { provider, model, .. } = asked;
    if models.contain(provider, model) {
        return Ok(());
    }
    let error = format!("model {provider}/{model} is not among the models that the child can run");
    Err(refusal(Reason::ModelUnavailable, &error))
}

/// Gives the asked extension tools that are absent. What the child can only call counts as much as what its model sees.
pub(super) fn tools(asked: &Asked, tools: &mut Tools) -> Result<Vec<String>, Settlement> {
    let Some(all) = tools.all() else {
        let error = "the child did not report its tools: its tool probe is not loaded or failed";
        return Err(refusal(Reason::ToolsMismatch, error));
    };
    let wanted: Vec<&str> = asked.tools.iter().map(String::as_str).collect();
    let beyond = absent(&all, &wanted);
    let (lacking, missing): (Vec<&str>, Vec<&str>) =
        absent(&wanted, &tools.there()).into_iter().partition(|tool| BUILT_IN.contains(tool));
    if beyond.is_empty() && lacking.is_empty() {
        let missing: Vec<String> = missing.into_iter().map(str::to_owned).collect();
        tools.begin(missing.clone());
        return Ok(missing);
    }
    let mut faults = Vec::new();
    if !beyond.is_empty() {
        faults.push(format!("it has {} beyond them", beyond.join(", ")));
    }
    if !lacking.is_empty() {
        faults.push(format!("it lacks {}", lacking.join(", ")));
    }
    // The difference comes first: the line is cut at its end.
    let error = format!(
        "the child's tools are not the asked ones: {}; asked for [{}], the child has [{}]",
        faults.join(" and "),
        wanted.join(", "),
        all.join(", ")
    );
    Err(refusal(Reason::ToolsMismatch, &error))
}

fn refusal(reason: Reason, error: &str) -> Settlement {
    Settlement::without_answer(reason, Some(error))
}
