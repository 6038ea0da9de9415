//! `cargo xtask test`: every test there is. Its last lines are the test runner's own summary.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::pi::{self, Pi};
use crate::program;

/// Arguments of cargo that select everything.
pub(crate) const EVERYTHING: [&str; 3] = ["--workspace", "--all-features", "--locked"];

/// Runs them. Without npm those that need the real pi are left out, which is said first and last.
///
/// # Errors
/// When a test runner cannot be started.
pub(crate) fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let pi = Pi::provide(root)?;
    let passed = match &pi {
        Some(pi) => pi.typechecks()? && with_pi(root, pi)?,
        None => without_pi(root)?,
    };
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs them and says whether all passed. Clients in other languages add their runners here.
///
/// # Errors
/// When a test runner cannot be started.
pub(crate) fn with_pi(root: &Path, pi: &Pi) -> anyhow::Result<bool> {
    let mut cargo = cargo(root);
    pi.tell(&mut cargo)?;
    Ok(pi.tests_pass()? && program::succeeds(&mut cargo)?)
}

fn without_pi(root: &Path) -> anyhow::Result<bool> {
    let mut cargo = cargo(root);
    pi::tell_missing(&mut cargo);
    pi::say_missing();
    let passed = program::succeeds(&mut cargo)?;
    pi::say_missing();
    Ok(passed)
}

fn cargo(root: &Path) -> Command {
    let mut cargo = program::cargo(root);
    cargo.arg("test").args(EVERYTHING);
    cargo
}
