//! One number for everything that a launch settles.

use serde_json::json;

use crate::deliver::digest;
use crate::plan::Plan;

/// sha256 over every resolved value and the hashes of task, conversation and instructions (W3). Ids, times, places in
/// a queue and the values of the environment are no part of it, nor are the reasons: the same child has the same digest.
#[must_use]
pub fn plan_digest(plan: &Plan, task: &[u8]) -> String {
    let limits = plan.limits.value;
    let captured = &plan.captured;
    let settled = json!({
        "agent": plan.agent,
        "runtime": plan.runtime.value,
        "model": plan.model.value,
        "thinking": plan.thinking.value,
        "tools": plan.tools.value,
        "suppliers": captured.suppliers,
        "withheld": captured.withheld,
        "context": plan.context.value,
        "conversation": captured.conversation,
        "standing": captured.standing.as_ref().map(|standing| &standing.value),
        "instructions": digest(plan.instructions.as_bytes()),
        "trusted": captured.trusted.as_ref().map(|trusted| trusted.value),
        "background": plan.background.value,
        "class": plan.class.value.word(),
        "directory": digest(plan.workspace.directory.as_os_str().as_encoded_bytes()),
        "root": digest(plan.workspace.root.as_os_str().as_encoded_bytes()),
        "limits": [limits.first_event_ms, limits.idle_ms, limits.tool_call_ms, limits.total_ms, limits.grace_ms],
        "task": digest(task),
    });
    digest(settled.to_string().as_bytes())
}
