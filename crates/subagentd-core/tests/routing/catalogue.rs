//! The decision for every model of a catalogue as the parent, in every role, against a file that was read and approved.
//!
//! `UPDATE=1 cargo test -p subagentd-core --test routing` writes the file anew.

use std::fmt::Write;
use std::path::PathBuf;

use subagentd_core::definition::Thinking;
use subagentd_core::plan::Source;
use subagentd_core::route::{Asked, Exact, Model, Parent, Profiles, ReasonKind, Registry, RouteRequest, Routed, route};

const ROLES: [&str; 6] = ["worker", "researcher", "debug", "reviewer", "explore", "custom"];
/// How hard every parent thinks here.
const EFFORT: Thinking = Thinking::High;

const HEAD: &str = "\
# Shipped ladders, all models of model-catalogue.txt runnable, every parent at high.
# parent | worker | researcher | debug | reviewer | explore | custom
# A cell is the id (`provider:id` at another provider than the parent's) and the level. `=` is the parent's own model,
# found on its rung; `=family`, `=version`, `=tier`, `=end` is the parent's, kept because of an unknown family, an id
# without a version, a tier that is not on the ladder, or because nothing from the target down runs. `n/a`: no thinking.
";

fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases")).join(name)
}

/// Lines of `provider id levels`: the levels by their first letters, `-` for a model that cannot think.
fn models() -> Vec<Model> {
    let text = std::fs::read_to_string(file("model-catalogue.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let [provider, id, levels] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let has = |level: &Thinking| levels.contains(letter(*level));
            let levels: Vec<_> = Thinking::ALL.into_iter().filter(has).collect();
            Model { provider: provider.to_owned(), id: id.to_owned(), reasoning: !levels.is_empty(), levels }
        })
        .collect()
}

/// Medium and max have no first letter of their own beside minimal.
fn letter(level: Thinking) -> char {
    match level {
        Thinking::Off => 'o',
        Thinking::Minimal => 'i',
        Thinking::Low => 'l',
        Thinking::Medium => 'm',
        Thinking::High => 'h',
        Thinking::Xhigh => 'x',
        Thinking::Max => 'M',
    }
}

fn cell(parent: &Parent, routed: &Routed) -> String {
    let Exact { provider, id } = &routed.model.value;
    let model = match routed.kind {
        ReasonKind::Routed if routed.model.value == parent.model => "=".to_owned(),
        ReasonKind::Routed if *provider == parent.model.provider => id.clone(),
        ReasonKind::Routed => format!("{provider}:{id}"),
        ReasonKind::UnknownFamily => "=family".to_owned(),
        ReasonKind::UnparsedVersion => "=version".to_owned(),
        ReasonKind::UnknownTier => "=tier".to_owned(),
        ReasonKind::Exhausted => "=end".to_owned(),
        other => format!("={}", other.word()),
    };
    let thinking = routed.thinking.value.word();
    format!("{model} {}", if thinking == "not-applicable" { "n/a" } else { thinking })
}

fn decided(models: Vec<Model>) -> String {
    let mut parents: Vec<_> = models.iter().map(|model| (model.provider.clone(), model.id.clone())).collect();
    parents.sort();
    let registry = Registry::new(models);
    let mut told = HEAD.to_owned();
    for (provider, id) in parents {
        let parent =
            Parent { model: Exact { provider, id }, effort: Some(EFFORT), runs: None, source: Source::Capture };
        write!(told, "{}", parent.model).unwrap();
        for role in ROLES {
            let nothing = Asked::default();
            let request = RouteRequest { role, parent: Some(&parent), call: nothing, definition: nothing };
            let routed = route(&request, Profiles::shipped(), &registry).unwrap();
            write!(told, " | {}", cell(&parent, &routed)).unwrap();
        }
        told.push('\n');
    }
    told
}

#[test]
fn every_model_of_the_catalogue_is_routed_as_approved() {
    let models = models();
    assert_eq!(models.len(), 1698);
    let path = file("routing-catalogue.txt");
    let told = decided(models);
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(&path, &told).unwrap();
    }
    let approved = std::fs::read_to_string(&path).unwrap();
    let different = approved.lines().zip(told.lines()).filter(|(approved, told)| approved != told);
    let shown: Vec<_> = different.take(20).map(|(approved, told)| format!("- {approved}\n+ {told}")).collect();
    assert!(shown.is_empty(), "{}\nUPDATE=1 takes them over", shown.join("\n"));
    assert_eq!(approved.lines().count(), told.lines().count());
}
