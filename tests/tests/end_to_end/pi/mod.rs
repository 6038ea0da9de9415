//! The real pi as a child, with a scripted provider in place of a model.

mod answer;
mod cancel;
mod crash;
mod ends;
mod fork;
mod known;
mod order;
mod orders;
mod pause;
mod provider;
mod questions;
mod start;
mod steer;
mod told;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use subagentd_proto::run::RunView;
use subagentd_tests::Site;

/// Lines of a file in the child's newest folder, each a document.
fn lines(view: &RunView, name: &str) -> Vec<Value> {
    let folder = view.children[0].folder.as_deref().unwrap();
    let text = fs::read_to_string(Path::new(folder).join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What is known of the child's tool calls: name and exit code.
fn facts(view: &RunView) -> Vec<(String, Option<i64>)> {
    let fact = |line: &Value| (line["name"].as_str().unwrap().to_owned(), line["exitCode"].as_i64());
    lines(view, "facts.jsonl").iter().map(fact).collect()
}

/// The files of a run's conversations.
fn conversations(site: &Site, run: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = below(&site.state().join("runs").join(run));
    files.retain(|path| path.to_str().is_some_and(|text| text.contains("/session/") && text.ends_with(".jsonl")));
    files
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
}
