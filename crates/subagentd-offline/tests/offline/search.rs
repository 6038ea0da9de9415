use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::child::{Child, answer};

const PIPE: &str = "\
//! Water pipes.

/// Where water comes from.
pub struct Place;

impl Place {
    pub fn path(&self) -> &str {
        \"hot.tap\"
    }

    /// Thaws a pipe that a cold night left behind, and opens it.
    pub fn bind(&self) -> std::io::Result<Water> {
        if is_frozen(self.path()) {
            warm(self.path())?;
        }
        Water::bind(self.path())
    }
}

/// A pipe is frozen when nothing comes out of it.
fn is_frozen(path: &str) -> bool {
    drops(path) == 0
}

#[cfg(test)]
mod tests {
    #[test]
    fn frozen_pipes_are_thawed() {
        let frozen_pipe = super::is_frozen(\"frozen pipe\");
        assert!(frozen_pipe, \"frozen pipes thawed\");
    }
}
";

fn tree() -> TempDir {
    let work = TempDir::new().unwrap();
    let write = |path: &str, text: &str| {
        let path = work.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("src/pipe.rs", PIPE);
    write("src/main.rs", "mod pipe;\n\nfn main() {\n    let pipe = 1; // thaw the pipe\n    let thaw = pipe;\n}\n");
    write("src/cache.rs", "/// Drops frozen entries.\nfn drop_frozen_entries() {\n    // frozen, frozen, frozen\n}\n");
    write("src/take_lease.py", "class Lease:\n    def takeLease(self):\n        return 1\n");
    write("tests/pipe.rs", "// frozen pipe thawed\n#[test]\nfn a_frozen_pipe_is_thawed() { thaw(frozen_pipe()); }\n");
    write("CHANGELOG.md", "# Changes\n\n- frozen pipes are thawed\n- frozen pipes thawed again\n");
    write("README.md", "# Place\n\nAsk it: where are frozen pipes thawed?\n");
    write("Cargo.lock", "# frozen pipe thawed\n");
    write(".gitignore", "ignored/\n");
    write("ignored/pipe.rs", "fn handle_frozen_pipe() {}\n");
    write(".hidden/pipe.rs", "fn handle_frozen_pipe() {}\n");
    fs::write(work.path().join("image.bin"), b"frozen pipe thawed\0\0").unwrap();
    std::os::unix::fs::symlink("..", work.path().join("src/loop")).unwrap();
    work
}

fn ask(work: &Path, task: &str) -> String {
    let mut child = Child::start(work, &[]);
    child.prompt(task);
    let (text, stop) = answer(&child.settle());
    assert_eq!(stop, "stop");
    assert_eq!(child.finish(), Some(0));
    text
}

/// The lines `N. \`path:line\` …` in order.
fn findings(answer: &str) -> Vec<&str> {
    answer
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()) && line.contains(". `"))
        .collect()
}

#[test]
fn the_code_that_does_it_comes_first() {
    let work = tree();
    let text = ask(work.path(), "Where are frozen pipes thawed?");
    assert!(text.starts_with("No model was used: this is a text search"), "{text}");
    let found = findings(&text);
    let top = found.iter().take(2).filter(|line| line.contains("src/pipe.rs:") && line.contains("fn ")).count();
    assert_eq!(top, 2, "{text}");
    assert!(found[0].contains("is_frozen") || found[0].contains("bind"), "{text}");
    for never in ["ignored/", ".hidden", "image.bin", "loop/"] {
        assert!(!found.iter().any(|line| line.contains(never)), "{never}: {text}");
    }
    let place = |part: &str| found.iter().position(|line| line.contains(part)).unwrap_or(usize::MAX);
    assert!(place("CHANGELOG") > place("src/pipe.rs") && place("tests/pipe.rs") > 1, "{text}");
    for part in ["`frozen` (", "`pipes` (", "Looked at", "1 file binary"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().filter(|line| line.starts_with("    ") || line.starts_with("   ")).count() > 5, "{text}");
}

#[test]
fn names_lead_to_their_definition() {
    let work = tree();
    for (task, expected) in [
        ("who calls `is_frozen`?", "src/pipe.rs:"),
        ("explain takeLease", "src/take_lease.py:2"),
        ("What does Place::bind return?", "src/pipe.rs:"),
        ("what is in src/take_lease.py", "src/take_lease.py:"),
        ("dropping frozen entry", "src/cache.rs:"),
        ("the error \"hot.tap\"", "src/pipe.rs:8"),
    ] {
        let text = ask(work.path(), task);
        let found = findings(&text);
        assert!(found.first().is_some_and(|line| line.contains(expected)), "{task}: {text}");
    }
}

#[test]
fn the_same_tree_gives_the_same_answer() {
    let (one, two) = (tree(), tree());
    let task = "Where are frozen pipes thawed?";
    assert_eq!(ask(one.path(), task), ask(two.path(), task));
}

#[test]
fn nothing_found_is_said_with_what_was_searched() {
    let work = tree();
    let text = ask(work.path(), "Where is the xylophone tuned?");
    for part in ["No model was used", "Nothing was found.", "In no file: `xylophone`, `tuned`.", "Looked at"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = ask(work.path(), "where is it?");
    assert!(text.contains("names nothing that can be searched for"), "{text}");
}

#[test]
fn odd_files_do_no_harm() {
    let work = TempDir::new().unwrap();
    fs::write(work.path().join("latin.txt"), b"gate \xff\xfe gate\n").unwrap();
    fs::write(work.path().join("minified.js"), format!("var x=1;{}gate()", "y();".repeat(100_000))).unwrap();
    fs::write(work.path().join("ticks.md"), "# gate\n\n````\n```\ngate\n```\n````\n").unwrap();
    fs::write(work.path().join("escape.rs"), "fn gate() { \u{1b}[31m }\n").unwrap();
    fs::write(work.path().join("large.rs"), "fn gate() {}\n".repeat(90_000)).unwrap();
    nix::unistd::mkfifo(&work.path().join("pipe.rs"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let text = ask(work.path(), "gate");
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(text.contains("1 file too large"), "{text}");
    assert!(text.contains("   `````md"), "the fence is longer than what it holds: {text}");
    assert!(text.lines().all(|line| line.chars().count() < 200), "{text}");
}

#[test]
fn an_answer_stays_bounded() {
    let work = TempDir::new().unwrap();
    for at in 0..60 {
        let body = format!("/// Gate {at} {}\nfn gate_{at}() {{\n    open();\n}}\n", "z".repeat(150)).repeat(20);
        fs::write(work.path().join(format!("gate{at}.rs")), body).unwrap();
    }
    let text = ask(work.path(), "gate");
    assert!(findings(&text).len() <= 12 && text.len() <= 24 * 1024, "{} {text}", text.len());
}

#[test]
fn the_search_is_a_tool_call() {
    let work = tree();
    let mut child = Child::start(work.path(), &[]);
    child.prompt("frozen pipes");
    let records = child.settle();
    let of = |kind: &str| -> Vec<Value> { records.iter().filter(|record| record["type"] == kind).cloned().collect() };
    let (starts, ends) = (of("tool_execution_start"), of("tool_execution_end"));
    assert_eq!((starts.len(), ends.len()), (1, 1));
    assert_eq!(starts[0]["toolName"], "grep");
    assert_eq!(starts[0]["args"]["pattern"], "frozen|pipes");
    assert_eq!(ends[0]["isError"], false);
    assert!(ends[0]["result"]["content"][0]["text"].as_str().unwrap().contains("src/pipe.rs:"), "{}", ends[0]);
}
