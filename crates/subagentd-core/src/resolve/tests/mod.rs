//! Requests in, plans and refusals out.

mod capture;
mod ceiling;
mod launch;
mod model;
mod tools;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::definition::{Catalog, Definition, Layer, Thinking};
use crate::plan::{Plan, Source, TimeLimits};
use crate::route::{Model, Registry};
use crate::workspace::{RootIdentity, Workspace};

use super::{Capture, DefaultRuntime, Facts, Policy, Request, RuntimeFacts, resolve};

fn model(provider: &str, id: &str, levels: &[Thinking]) -> Model {
    let reasoning = levels.iter().any(|level| *level != Thinking::Off);
    Model { provider: provider.to_owned(), id: id.to_owned(), reasoning, levels: levels.to_vec() }
}

fn runtime(models: Registry, default_model: Option<&str>, default_thinking: Option<Thinking>) -> RuntimeFacts {
    RuntimeFacts {
        usable: true,
        why: "it answers".to_owned(),
        models,
        takes_parent: true,
        default_model: default_model.map(str::to_owned),
        default_thinking,
        default_tools: None,
    }
}

/// `offline` by default; `pi` with models of its own; `open`, whose models show only after the start; `gone`, not
/// usable.
fn facts() -> Facts {
    use Thinking::{High, Low, Medium, Off};
    let pi = Registry::new([
        model("acme", "gpt-6-sol", &[Off, Low, Medium, High]),
        model("acme", "gpt-6-terra", &[Low, High]),
        model("acme", "vendor/two", &[]),
    ]);
    let offline = Registry::new([model("offline", "search", &[Off])]);
    let gone = RuntimeFacts {
        usable: false,
        why: "its program is not installed".to_owned(),
        ..runtime(Registry::unknown(), None, None)
    };
    let offline = RuntimeFacts { takes_parent: false, ..runtime(offline, Some("offline/search"), None) };
    let runtimes = [
        ("gone", gone),
        ("offline", offline),
        ("open", runtime(Registry::unknown(), None, None)),
        ("pi", runtime(pi, Some("acme/gpt-6-sol"), Some(High))),
    ];
    let directory = PathBuf::from("/w");
    Facts {
        runtimes: BTreeMap::from(runtimes.map(|(name, facts)| (name.to_owned(), facts))),
        default_runtime: DefaultRuntime {
            name: "offline".to_owned(),
            source: Source::Daemon,
            reason: "no other runtime is usable".to_owned(),
        },
        default_limits: TimeLimits { first_event_ms: 1, idle_ms: 2, tool_call_ms: 3, total_ms: 4, grace_ms: 5 },
        limits_source: Source::Configuration,
        policy: Policy::default(),
        capture: Capture::default(),
        workspace: Workspace::new(directory.clone(), directory, RootIdentity { device: 1, inode: 2 }, None),
        environment: Some("digest".to_owned()),
        umask: Some(0o022),
        resource_limits: BTreeMap::new(),
        environment_omitted: vec!["ODD".to_owned()],
        remarks: vec!["earlier".to_owned()],
    }
}

fn agent(lines: &str) -> Catalog {
    let text = format!("---\n{lines}\n---\nDo it.\n");
    Catalog::new([Definition::parse("agent", Layer::Builtin, "agent.md", &text)])
}

fn call(agent: &str) -> Request {
    Request { agent: agent.to_owned(), ..Request::default() }
}

/// A launch of an agent with these lines, without a host.
fn plan(agent_lines: &str) -> Plan {
    resolve(&call("agent"), &agent(agent_lines), &facts()).unwrap()
}

/// Alternatives as `value: reason`.
fn fell<T>(decision: &crate::plan::Decision<T>) -> Vec<String> {
    decision.alternatives.iter().map(|one| format!("{}: {}", one.value, one.reason)).collect()
}
