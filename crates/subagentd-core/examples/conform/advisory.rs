//! Cases of `advisory.jsonl`.

use serde_json::{Value, json};
use subagentd_core::advice::{Advice, Candidate, advise};
use subagentd_core::definition::{Layer, Role};
use subagentd_core::resolve::Ceiling;

use crate::case::Verdict;

/// Judges one case: `plan` is expected where it stands, else `recommendation`.
pub(crate) fn judge(case: &Value) -> Result<Verdict, String> {
    let expected = case.get("plan").or_else(|| case.get("recommendation")).ok_or("nothing is expected")?;
    let task = case.get("task").and_then(Value::as_str).ok_or("`task` is no text")?;
    let agents = case.get("agents").and_then(Value::as_array).ok_or("`agents` is no list")?;
    let candidates = agents.iter().map(candidate).collect::<Result<Vec<_>, _>>()?;
    let ceiling = ceiling(case.get("ceiling"))?;
    Ok(Verdict::equal(expected.clone(), advise(task, &candidates, &[ceiling]).map_or(Value::Null, shown)))
}

fn shown(advice: Advice) -> Value {
    let recommended = advice.recommended.map(|agent| {
        json!({
            "name": agent.name,
            "source": agent.source.word(),
            "role": agent.role.word(),
            "roleBasis": agent.basis.word(),
        })
    });
    json!({ "intent": advice.intent.word(), "recommended": recommended })
}

fn candidate(agent: &Value) -> Result<Candidate, String> {
    let text = |key: &str| agent.get(key).and_then(Value::as_str);
    let source = text("source").and_then(|word| Layer::ALL.into_iter().find(|layer| layer.word() == word));
    let declared = agent.get("acceptanceRole").filter(|role| !role.is_null());
    let role = declared.map(|role| {
        let known = Role::ALL.into_iter().find(|known| role == known.word());
        known.ok_or_else(|| format!("`acceptanceRole` is {role}"))
    });
    Ok(Candidate {
        name: text("name").ok_or("an agent has no name")?.to_owned(),
        source: source.ok_or("an agent has no source")?,
        tools: names(agent.get("tools"))?,
        role: role.transpose()?,
        launchable: agent.get("disabled") != Some(&Value::Bool(true)),
    })
}

fn ceiling(ceiling: Option<&Value>) -> Result<Ceiling, String> {
    let member = |name: &str| names(ceiling.and_then(|ceiling| ceiling.get(name)));
    Ok(Ceiling { tools: member("allowedTools")?, agents: member("allowedAgents")?, ..Ceiling::default() })
}

fn names(value: Option<&Value>) -> Result<Option<Vec<String>>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => {
            let name = |item: &Value| item.as_str().map(str::to_owned).ok_or_else(|| format!("{item} is no name"));
            items.iter().map(name).collect::<Result<Vec<_>, _>>().map(Some)
        }
        Some(other) => Err(format!("{other} is no list of names")),
    }
}
