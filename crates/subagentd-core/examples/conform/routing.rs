//! Cases of `routing.jsonl`: which model a child gets, and how hard it thinks.

use serde::Deserialize;
use serde_json::{Value, json};
use subagentd_core::definition::Thinking;
use subagentd_core::plan::Source;
use subagentd_core::route::{Asked, Exact, Model, Parent, Profiles, Registry, RouteRequest, Routed, Segment, route};

use crate::case::Verdict;

#[derive(Deserialize)]
struct Case {
    parent: CaseParent,
    registry: Vec<CaseModel>,
    role: String,
    #[serde(default)]
    explicit: Named,
    #[serde(default, rename = "agentFile")]
    agent_file: Named,
    #[serde(default)]
    profiles: Layers,
    #[serde(default = "trusted", rename = "projectTrusted")]
    project_trusted: bool,
    expect: Expected,
}

#[derive(Deserialize)]
struct CaseParent {
    provider: String,
    model: String,
    thinking: Option<String>,
}

#[derive(Deserialize)]
struct CaseModel {
    provider: String,
    id: String,
    reasoning: bool,
    levels: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Named {
    model: Option<String>,
    thinking: Option<String>,
}

/// `global` is the layer that the wire calls `user`.
#[derive(Default, Deserialize)]
struct Layers {
    global: Option<Value>,
    project: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged, rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Expected {
    Error { error: String, error_path: Option<Value> },
    Choice { provider: String, model: String, thinking: String, reason_kind: Option<String> },
}

const fn trusted() -> bool {
    true
}

/// Judges one case.
pub(crate) fn judge(case: &Value) -> Result<Verdict, String> {
    let expected = case.get("expect").cloned().unwrap_or_default();
    let case: Case = serde_json::from_value(case.clone()).map_err(|error| error.to_string())?;
    let project = case.profiles.project.as_ref().filter(|_| case.project_trusted);
    let profiles = Profiles::layered(case.profiles.global.as_ref(), project);
    if let Expected::Error { error, error_path: Some(path) } = &case.expect
        && error == "profile.invalid"
    {
        let found: Vec<_> = profiles.faults().iter().map(|fault| path_of(&fault.path)).collect();
        return Ok(Verdict { passed: found.contains(path), expected, got: json!({"profile.invalid": found}) });
    }
    let registry = Registry::new(models(&case.registry)?);
    let parent = Parent {
        model: Exact { provider: case.parent.provider, id: case.parent.model },
        effort: case.parent.thinking.as_deref().map(level).transpose()?,
        runs: None,
        source: Source::Capture,
    };
    let request = RouteRequest {
        role: &case.role,
        parent: Some(&parent),
        call: asked(&case.explicit),
        definition: asked(&case.agent_file),
    };
    let (passed, got) = match (route(&request, &profiles, &registry), &case.expect) {
        (Ok(routed), expect) => (is_expected(&routed, expect), shown(&routed)),
        (Err(error), Expected::Error { error: word, .. }) => {
            (continues(error.word(), word), json!({"error": error.word()}))
        }
        (Err(error), Expected::Choice { .. }) => (false, json!({"error": error.word()})),
    };
    Ok(Verdict { passed, expected, got })
}

fn is_expected(routed: &Routed, expect: &Expected) -> bool {
    let Expected::Choice { provider, model, thinking, reason_kind } = expect else {
        return false;
    };
    let Exact { provider: chosen_provider, id } = &routed.model.value;
    (chosen_provider, id, routed.thinking.value.word()) == (provider, model, thinking)
        && reason_kind.as_ref().is_none_or(|kind| continues(routed.kind.word(), kind))
}

fn shown(routed: &Routed) -> Value {
    let Exact { provider, id } = &routed.model.value;
    let (thinking, kind) = (routed.thinking.value.word(), routed.kind.word());
    json!({"provider": provider, "model": id, "thinking": thinking, "reasonKind": kind})
}

/// Whether a word is the expected one or refines it after a dot.
fn continues(word: &str, expected: &str) -> bool {
    word.strip_prefix(expected).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn path_of(path: &[Segment]) -> Value {
    path.iter()
        .map(|segment| match segment {
            Segment::Key(key) => json!(key),
            Segment::Index(index) => json!(index),
        })
        .collect()
}

fn models(listed: &[CaseModel]) -> Result<Vec<Model>, String> {
    listed
        .iter()
        .map(|CaseModel { provider, id, reasoning, levels }| {
            let levels = levels.iter().map(|word| level(word)).collect::<Result<_, _>>()?;
            Ok(Model { provider: provider.clone(), id: id.clone(), reasoning: *reasoning, levels })
        })
        .collect()
}

fn level(word: &str) -> Result<Thinking, String> {
    Thinking::from_word(word).ok_or_else(|| format!("`{word}` is no thinking level"))
}

fn asked(named: &Named) -> Asked<'_> {
    Asked { model: named.model.as_deref(), thinking: named.thinking.as_deref() }
}
