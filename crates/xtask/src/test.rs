//! `cargo xtask test`: every test there is. Its last lines are the test runner's own summary.

use std::path::Path;
use std::process::ExitCode;

use crate::program;

/// Arguments of cargo that select everything.
pub(crate) const EVERYTHING: [&str; 3] = ["--workspace", "--all-features", "--locked"];

/// Runs them.
///
/// # Errors
/// When a test runner cannot be started.
pub(crate) fn run(root: &Path) -> anyhow::Result<ExitCode> {
    Ok(if all_pass(root)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs them and says whether all passed. Clients in other languages add their runners here.
///
/// # Errors
/// When a test runner cannot be started.
pub(crate) fn all_pass(root: &Path) -> anyhow::Result<bool> {
    program::succeeds(program::cargo(root).arg("test").args(EVERYTHING))
}
