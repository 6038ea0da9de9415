//! Cases of `definitions.jsonl`.

use serde_json::{Map, Value, json};
use subagentd_core::definition::{
    About, Catalog, Content, Definition, Key, Layer, Missing, SourceFile, Sources, Tools,
};
use subagentd_core::plan::Source;
use subagentd_core::resolve::{ActiveTool, Capture, Policy, Stated, active_tools, effective_tools};

use crate::case::Verdict;

/// Judges one case. Only what the case names is compared.
pub(crate) fn judge(case: &Value) -> Result<Verdict, String> {
    let expect = case.get("expect").ok_or("nothing is expected")?;
    let asked = text(case, "agent")?;
    let catalog = Catalog::build(&sources(case)?);
    let got = match (catalog.find(asked), expect.get("effective")) {
        (Err(missing), _) => json!({ "error": error(&missing) }),
        (Ok(_), None) => json!({ "error": null }),
        (Ok(definition), Some(effective)) => {
            let effective = effective.as_object().ok_or("`effective` is no map")?;
            json!({ "effective": compared(definition, effective, case)? })
        }
    };
    Ok(Verdict::equal(sorted(expect.clone()), sorted(got)))
}

fn sources(case: &Value) -> Result<Sources, String> {
    let layers = case.get("layers").and_then(Value::as_array).ok_or("`layers` is no list")?;
    let files = layers.iter().map(|file| {
        let (layer, folder) = match text(file, "scope")? {
            "global" | "user" => (Layer::User, "/home/user/agents"),
            "project" => (Layer::Project, "/project/agents"),
            other => return Err(format!("`scope` is {other}")),
        };
        let path = format!("{folder}/{}", text(file, "filename")?);
        let content = Content::Bytes(text(file, "text")?.as_bytes().to_vec());
        Ok(SourceFile { layer, package: None, path, content })
    });
    let trusted = case.get("projectTrusted").and_then(Value::as_bool).unwrap_or(true);
    Ok(Sources { files: files.collect::<Result<_, _>>()?, project_trusted: trusted, ..Sources::default() })
}

fn error(missing: &Missing) -> &'static str {
    match missing {
        Missing::BadName { .. } | Missing::Unknown { .. } => "unknown-agent",
        Missing::Ambiguous { .. } => "ambiguous-alias",
        Missing::Duplicate { .. } => "duplicate-identifier",
        Missing::Disabled { .. } => "agent-disabled",
        Missing::Broken { problem, .. } if problem.about == About::Field(Key::Tools) => "invalid-tools",
        Missing::Broken { .. } | Missing::Unread { .. } => "broken",
    }
}

fn compared(definition: &Definition, effective: &Map<String, Value>, case: &Value) -> Result<Value, String> {
    let mut got = Map::new();
    for (key, expected) in effective {
        let value = match key.as_str() {
            "identifier" => json!(definition.identifier),
            "displayName" => json!(definition.display_name.set()),
            "description" => json!(definition.described()),
            "model" => json!(definition.model.set()),
            "thinking" => json!(definition.thinking.set()),
            "maxTurns" => json!(definition.max_turns.set()),
            "tools" => match definition.tools.set() {
                Some(Tools::List(names)) => json!({ "mode": "list", "names": names }),
                Some(Tools::Inherit) | None => json!({ "mode": "inherit" }),
            },
            "resolvedTools" => json!(resolved(definition, case)),
            "inheritContext" => json!(definition.inherit_context.set() == Some(&true)),
            "background" => json!(definition.in_background()),
            "enabled" => json!(definition.is_enabled()),
            "instructions" if expected.get("from").is_some() => json!({ "from": written_by(definition) }),
            "instructions" => json!({ "text": definition.instructions }),
            other => return Err(format!("`{other}` is no field that is compared")),
        };
        got.insert(key.clone(), value);
    }
    Ok(Value::Object(got))
}

fn written_by(definition: &Definition) -> &'static str {
    match definition.origin(Key::Instructions).map(|origin| origin.layer) {
        Some(Layer::Builtin | Layer::Package) => "shipped",
        Some(layer) => layer.word(),
        None => "nobody",
    }
}

fn resolved(definition: &Definition, case: &Value) -> Vec<String> {
    let names = case.get("parentActiveTools").and_then(Value::as_array);
    let tools = names.map(|names| Stated {
        value: names.iter().filter_map(Value::as_str).map(ActiveTool::named).collect(),
        source: Source::Capture,
    });
    let capture = Capture { tools, ..Capture::default() };
    effective_tools(definition, &active_tools(&capture, None), &capture, &Policy::default()).value
}

/// Resolved tools are a set.
fn sorted(mut value: Value) -> Value {
    if let Some(Value::Array(names)) = value.pointer_mut("/effective/resolvedTools") {
        names.sort_by_key(Value::to_string);
    }
    if let Some(Value::String(text)) = value.pointer_mut("/effective/instructions/text") {
        *text = text.trim().to_owned();
    }
    value
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    value.get(key).and_then(Value::as_str).ok_or_else(|| format!("`{key}` is no text"))
}
