//! `cargo xtask bench`: a release build, measured.

use std::path::Path;
use std::process::ExitCode;

use crate::build::Built;
use crate::program;

/// Builds daemon and benchmark for release, and runs the benchmark. It judges nothing: figures are for people.
///
/// # Errors
/// When the build fails or the benchmark cannot be run.
pub(crate) fn run(root: &Path, rounds: u32) -> anyhow::Result<ExitCode> {
    program::say("== Building for release");
    let features = ["--release", "--features", "subagentd-tests/bench"];
    let built = Built::with(root, &[&features[..], &["--bin", "subagentd", "--bin", "bench"]].concat())?;
    let mut command = program::command(built.program("bench")?, root);
    command.arg(built.program("subagentd")?).arg(rounds.to_string());
    program::say("\n== Measuring");
    anyhow::ensure!(program::succeeds(&mut command)?, "the benchmark did not get to its end");
    Ok(ExitCode::SUCCESS)
}
