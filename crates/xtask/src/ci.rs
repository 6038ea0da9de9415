//! `cargo xtask ci`: everything that has to hold before a change is taken, cheapest first.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::pi::{self, Pi};
use crate::program::{cargo, print, say, succeeds};
use crate::{checks, licence, test};

type Check = fn(&Path) -> anyhow::Result<bool>;

const STEPS: [(&str, Check); 7] = [
    ("files", files),
    ("fmt", fmt),
    ("licences", licences),
    ("types", types),
    ("clippy", clippy),
    ("doc", doc),
    ("test", tests),
];

struct Done {
    name: &'static str,
    passed: bool,
    took: Duration,
}

/// Runs all steps up to the first that fails, and closes with a table.
///
/// # Errors
/// When a step cannot be carried out at all.
pub(crate) fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let mut done = Vec::new();
    for (name, check) in STEPS {
        say(&format!("== {name}"));
        let start = Instant::now();
        let passed = check(root)?;
        done.push(Done { name, passed, took: start.elapsed() });
        if !passed {
            break;
        }
    }
    print(&table(&done));
    let all = done.len() == STEPS.len() && done.iter().all(|step| step.passed);
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn table(done: &[Done]) -> String {
    let mut table = String::from("\n");
    for step in done {
        let word = if step.passed { "ok" } else { "FAILED" };
        // Writing to a string cannot fail.
        writeln!(table, "{:<10}{word:<8}{:>7.1} s", step.name, step.took.as_secs_f64()).ok();
    }
    for (name, _) in STEPS.iter().skip(done.len()) {
        writeln!(table, "{name:<10}not run").ok();
    }
    let total: Duration = done.iter().map(|step| step.took).sum();
    writeln!(table, "{:<18}{:>7.1} s", "total", total.as_secs_f64()).ok();
    table
}

fn files(root: &Path) -> anyhow::Result<bool> {
    told(&checks::files(root)?)
}

fn licences(root: &Path) -> anyhow::Result<bool> {
    let mut faults = licence::packages(root)?;
    faults.append(&mut licence::npm_packages(root)?);
    told(&faults)
}

/// Shows faults; none is what passes.
fn told(faults: &[String]) -> anyhow::Result<bool> {
    for fault in faults {
        say(fault);
    }
    Ok(faults.is_empty())
}

fn fmt(root: &Path) -> anyhow::Result<bool> {
    succeeds(cargo(root).args(["fmt", "--all", "--check"]))
}

/// Of the clients in TypeScript. Nothing is left out here: without npm it fails.
fn types(root: &Path) -> anyhow::Result<bool> {
    provided(root, Pi::typechecks)
}

fn tests(root: &Path) -> anyhow::Result<bool> {
    provided(root, |pi| test::with_pi(root, pi))
}

fn provided(root: &Path, check: impl FnOnce(&Pi) -> anyhow::Result<bool>) -> anyhow::Result<bool> {
    if let Some(pi) = Pi::provide(root)? {
        return check(&pi);
    }
    pi::say_missing();
    Ok(false)
}

fn clippy(root: &Path) -> anyhow::Result<bool> {
    let lints = ["--all-targets", "--keep-going", "--", "-D", "warnings"];
    succeeds(cargo(root).arg("clippy").args(test::EVERYTHING).args(lints))
}

fn doc(root: &Path) -> anyhow::Result<bool> {
    let mut doc = cargo(root);
    doc.env("RUSTDOCFLAGS", "-D warnings").arg("doc").args(test::EVERYTHING);
    succeeds(doc.args(["--no-deps", "--keep-going"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_what_failed_and_what_was_not_run() {
        let done = |name, passed, ms| Done { name, passed, took: Duration::from_millis(ms) };
        let table = table(&[done("files", true, 40), done("fmt", false, 1_260)]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[1], "files     ok          0.0 s");
        assert_eq!(lines[2], "fmt       FAILED      1.3 s");
        assert_eq!(lines[3], "licences  not run");
        assert_eq!(lines[7], "test      not run");
        assert_eq!(lines[8], "total                 1.3 s");
    }
}
