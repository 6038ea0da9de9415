//! What a caller states of itself, judged before anything is looked at: each member within its bounds, and named where
//! it is wrong.

use std::collections::BTreeMap;

use subagentd_core::definition::Thinking;
use subagentd_core::plan::{Source, Supplier};
use subagentd_core::resolve::{ActiveTool, Capture, Effect, Stated};
use subagentd_core::route::{Exact, Model, Parent, Registry, Runs};
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::limits::{
    CAPTURED_LEVELS, CAPTURED_MODELS, CAPTURED_NAME_BYTES, CAPTURED_PATH_BYTES, CAPTURED_PROVIDERS, CAPTURED_TOOLS,
};
use subagentd_proto::run as wire;

/// The word of a person at a command line.
const FLAG: &str = "flag";

/// What is stated, without what has to be read from files first. What is not stated is the default of callers without a
/// host (G8).
///
/// # Errors
/// When a member is not what it may be.
pub(super) fn read(stated: &wire::Capture) -> Result<Capture, Fault> {
    let source = source(stated.stated_by.as_deref())?;
    Ok(Capture {
        parent: parent(stated)?,
        models: stated.models.as_deref().map(models).transpose()?,
        tools: stated.tools.as_deref().map(tools).transpose()?.map(|value| Stated { value, source }),
        host: stated.host.as_ref().map(|host| supplier("host", host)).transpose()?,
        providers: providers(&stated.providers)?,
        trusted: stated.trusted.map_or_else(Stated::default, |value| Stated { value, source }),
        ..Capture::default()
    })
}

fn source(stated_by: Option<&str>) -> Result<Source, Fault> {
    match stated_by {
        None => Ok(Source::Capture),
        Some(FLAG) => Ok(Source::Flag),
        Some(_) => Err(invalid("statedBy", "is no word that is known; write `flag`, or leave it out")),
    }
}

fn parent(stated: &wire::Capture) -> Result<Option<Parent>, Fault> {
    let effort = stated.parent_thinking.as_deref().map(|word| level("parentThinking", word)).transpose()?;
    let Some(stated) = &stated.parent_model else {
        return Ok(None);
    };
    let Model { provider, id, reasoning, levels } = model("parentModel", stated)?;
    // A host that says neither does not know.
    let runs = (reasoning || !levels.is_empty()).then(|| Runs::new(reasoning, &levels));
    Ok(Some(Parent { model: Exact { provider, id }, effort, runs, source: Source::Capture }))
}

fn models(stated: &[wire::CapturedModel]) -> Result<Registry, Fault> {
    bounded("models", stated.len(), CAPTURED_MODELS, "models")?;
    let models = stated.iter().enumerate().map(|(index, one)| model(&format!("models[{index}]"), one));
    Ok(Registry::new(models.collect::<Result<Vec<_>, _>>()?))
}

fn model(at: &str, stated: &wire::CapturedModel) -> Result<Model, Fault> {
    let wire::CapturedModel { provider, id, reasoning, levels } = stated;
    named(&format!("{at}.provider"), provider, CAPTURED_NAME_BYTES)?;
    if provider.contains('/') {
        let message = "has a slash; the provider of `provider/id` ends at the first one";
        return Err(invalid(&format!("{at}.provider"), message));
    }
    named(&format!("{at}.id"), id, CAPTURED_NAME_BYTES)?;
    bounded(&format!("{at}.levels"), levels.len(), CAPTURED_LEVELS, "levels")?;
    // A level that this daemon does not know is one that it cannot ask for.
    let levels = levels.iter().filter_map(|word| Thinking::from_word(word)).collect();
    Ok(Model { provider: provider.clone(), id: id.clone(), reasoning: *reasoning, levels })
}

fn level(at: &str, word: &str) -> Result<Thinking, Fault> {
    Thinking::from_word(word).ok_or_else(|| {
        let levels = Thinking::ALL.map(Thinking::word).join(", ");
        invalid(at, &format!("is no thinking level; levels are {levels}"))
    })
}

fn tools(stated: &[wire::CapturedTool]) -> Result<Vec<ActiveTool>, Fault> {
    bounded("tools", stated.len(), CAPTURED_TOOLS, "tools")?;
    stated.iter().enumerate().map(|(index, one)| tool(&format!("tools[{index}]"), one)).collect()
}

fn tool(at: &str, stated: &wire::CapturedTool) -> Result<ActiveTool, Fault> {
    let name = format!("{at}.name");
    named(&name, &stated.name, CAPTURED_NAME_BYTES)?;
    // Runtimes are told tools as one list, and what they must leave out as patterns.
    if stated.name.contains(|c: char| c.is_whitespace() || matches!(c, ',' | '*')) {
        return Err(invalid(&name, "has a space, comma or asterisk, which no name of a tool has"));
    }
    let word = |word: &str| {
        let effect = Effect::ALL.into_iter().find(|effect| effect.word() == word);
        effect.ok_or_else(|| invalid(&format!("{at}.effect"), "is no effect; write `none`, `read` or `write`"))
    };
    Ok(ActiveTool {
        name: stated.name.clone(),
        supplier: stated.supplier.as_ref().map(|one| supplier(&format!("{at}.supplier"), one)).transpose()?,
        effect: stated.effect.as_deref().map(word).transpose()?,
        read_only: stated.read_only_hint,
        destructive: stated.destructive_hint,
    })
}

fn providers(stated: &BTreeMap<String, wire::Supplier>) -> Result<BTreeMap<String, Supplier>, Fault> {
    bounded("providers", stated.len(), CAPTURED_PROVIDERS, "providers")?;
    let entry = |(name, one): (&String, &wire::Supplier)| {
        named("providers", name, CAPTURED_NAME_BYTES)?;
        Ok((name.clone(), supplier(&format!("providers.{name}"), one)?))
    };
    stated.iter().map(entry).collect()
}

fn supplier(at: &str, stated: &wire::Supplier) -> Result<Supplier, Fault> {
    let (wire::Supplier::File(name) | wire::Supplier::Package(name) | wire::Supplier::Builtin(name)) = stated;
    named(at, name, CAPTURED_PATH_BYTES)?;
    match stated {
        wire::Supplier::File(path) if !path.starts_with('/') => Err(invalid(at, "is no absolute path")),
        wire::Supplier::File(path) => Ok(Supplier::File(path.clone())),
        // A runtime would take it for an option.
        _ if name.starts_with('-') => Err(invalid(at, "begins with a hyphen, which no name of a supplier does")),
        wire::Supplier::Package(source) => Ok(Supplier::Package(source.clone())),
        wire::Supplier::Builtin(name) => Ok(Supplier::Builtin(name.clone())),
    }
}

fn named(at: &str, name: &str, most: usize) -> Result<(), Fault> {
    if name.len() > most {
        let message = format!("`capture.{at}` has {} bytes; at most {most} are taken", name.len());
        return Err(Fault::new(Kind::Limit, message));
    }
    if name.is_empty() || name.contains(char::is_control) {
        return Err(invalid(at, "is empty or has control characters"));
    }
    Ok(())
}

fn bounded(at: &str, count: usize, most: usize, what: &str) -> Result<(), Fault> {
    if count <= most {
        return Ok(());
    }
    Err(Fault::new(Kind::Limit, format!("`capture.{at}` has {count} {what}; at most {most} are taken")))
}

fn invalid(at: &str, what: &str) -> Fault {
    Fault::new(Kind::InvalidParams, format!("`capture.{at}` {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn taken(stated: Value) -> Result<Capture, Fault> {
        read(&serde_json::from_value(stated).unwrap())
    }

    #[test]
    fn nothing_stated_is_a_caller_without_a_host() {
        assert_eq!(taken(json!({})).unwrap(), Capture::default());
    }

    #[test]
    fn everything_a_host_states_is_taken() {
        let file = json!({"kind": "file", "name": "/x/web.ts"});
        let capture = taken(json!({
            "parentModel": {"provider": "acme", "id": "a/large-2", "reasoning": true, "levels": ["off", "low", "ultra"]},
            "parentThinking": "high",
            "tools": [{"name": "read"}, {"name": "web", "supplier": file, "effect": "none", "readOnlyHint": true}],
            "models": [{"provider": "acme", "id": "a/large-2"}, {"provider": "b", "id": "c"}],
            "providers": {"acme": {"kind": "package", "name": "npm:acme"}},
            "host": {"kind": "builtin", "name": "subagentd"},
            "trusted": true,
        }))
        .unwrap();
        let parent = capture.parent.unwrap();
        assert_eq!((parent.model.to_string().as_str(), parent.effort), ("acme/a/large-2", Some(Thinking::High)));
        assert_eq!(parent.runs.unwrap().efforts(), [Thinking::Low], "and one that nobody knows is left out");
        assert_eq!(capture.models.unwrap().iter().count(), 2);
        let tools = capture.tools.unwrap();
        assert_eq!((tools.value.len(), tools.source), (2, Source::Capture));
        assert_eq!(tools.value[1].supplier, Some(Supplier::File("/x/web.ts".to_owned())));
        assert_eq!((tools.value[1].effect, tools.value[1].read_only), (Some(Effect::None), Some(true)));
        assert_eq!(capture.providers["acme"], Supplier::Package("npm:acme".to_owned()));
        assert_eq!(capture.trusted, Stated { value: true, source: Source::Capture });
    }

    #[test]
    fn a_flag_is_told_from_a_host_and_silence_from_ignorance() {
        let capture = taken(json!({"statedBy": "flag", "trusted": false, "tools": []})).unwrap();
        assert_eq!(capture.trusted, Stated { value: false, source: Source::Flag });
        assert_eq!(capture.tools.unwrap().source, Source::Flag);
        let parent = |stated: Value| taken(json!({"parentModel": stated})).unwrap().parent.unwrap();
        assert_eq!(parent(json!({"provider": "a", "id": "b"})).runs, None, "what it can do is not stated");
        assert!(parent(json!({"provider": "a", "id": "b", "levels": ["off"]})).runs.unwrap().efforts().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        let long = "x".repeat(CAPTURED_NAME_BYTES + 1);
        let many = |count: usize| (0..count).map(|n| json!({"name": format!("t{n}")})).collect::<Vec<_>>();
        let table = [
            (json!({"statedBy": "me"}), Kind::InvalidParams, "capture.statedBy"),
            (json!({"parentThinking": "HIGH"}), Kind::InvalidParams, "capture.parentThinking"),
            (json!({"parentModel": {"provider": "", "id": "x"}}), Kind::InvalidParams, "capture.parentModel.provider"),
            (
                json!({"parentModel": {"provider": "a/b", "id": "x"}}),
                Kind::InvalidParams,
                "capture.parentModel.provider",
            ),
            (
                json!({"models": [{"provider": "a", "id": "b"}, {"provider": "a", "id": "\n"}]}),
                Kind::InvalidParams,
                "capture.models[1].id",
            ),
            (json!({"models": [{"provider": "a", "id": long}]}), Kind::Limit, "capture.models[0].id"),
            (
                json!({"models": [{"provider": "a", "id": "b", "levels": vec!["low"; CAPTURED_LEVELS + 1]}]}),
                Kind::Limit,
                "capture.models[0].levels",
            ),
            (json!({"tools": many(CAPTURED_TOOLS + 1)}), Kind::Limit, "capture.tools"),
            (json!({"tools": [{"name": "read,bash"}]}), Kind::InvalidParams, "capture.tools[0].name"),
            (json!({"tools": [{"name": "mcp__*"}]}), Kind::InvalidParams, "capture.tools[0].name"),
            (json!({"tools": [{"name": "x", "effect": "reads"}]}), Kind::InvalidParams, "capture.tools[0].effect"),
            (
                json!({"tools": [{"name": "x", "supplier": {"kind": "file", "name": "x.ts"}}]}),
                Kind::InvalidParams,
                "capture.tools[0].supplier",
            ),
            (json!({"host": {"kind": "builtin", "name": "--offline"}}), Kind::InvalidParams, "capture.host"),
            (json!({"providers": {"": {"kind": "builtin", "name": "x"}}}), Kind::InvalidParams, "capture.providers"),
        ];
        for (stated, kind, path) in table {
            let fault = taken(stated).unwrap_err();
            assert_eq!(fault.kind, kind, "{fault}");
            assert!(fault.message.starts_with(&format!("`{path}`")), "{path}: {fault}");
        }
        assert!(taken(json!({"tools": many(CAPTURED_TOOLS)})).is_ok());
    }
}
