//! `cargo xtask soak`: the kill program, for as long as one likes.

use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::Args;

use crate::build::Built;
use crate::pi::Pi;
use crate::program;

/// What to kill, and how often.
#[derive(Debug, Args)]
pub(crate) struct Soak {
    /// The course of single runs
    #[arg(long, required_unless_present = "pi", conflicts_with = "pi")]
    spine: bool,
    /// Instead: so many rounds of eight real pi children at once, measured; nobody is killed
    #[arg(long, value_name = "ROUNDS")]
    pi: Option<u32>,
    /// Daemons to kill
    #[arg(long, default_value_t = 200)]
    daemon_kills: u32,
    /// Shims to kill
    #[arg(long, default_value_t = 100)]
    shim_kills: u32,
    /// Decides every choice; a new one unless given
    #[arg(long)]
    seed: Option<u64>,
    /// Launches to make at least
    #[arg(long, default_value_t = 0)]
    runs: u32,
    /// Seconds within which kills and launches have to be done
    #[arg(long, default_value_t = 600)]
    seconds: u32,
}

/// Builds the daemon and the kill program and lets it loose; it prints what it did and what it found.
///
/// # Errors
/// When the build fails or the program cannot be run.
pub(crate) fn run(root: &Path, asked: &Soak) -> anyhow::Result<ExitCode> {
    program::say("== Building");
    let daemon = Built::with(root, &["--package", "subagentd"])?;
    let soak = Built::with(root, &["--package", "subagentd-tests", "--bin", "soak"])?;
    let mut command = program::command(soak.program("soak")?, root);
    command.arg(daemon.program("subagentd")?);
    if let Some(rounds) = asked.pi {
        let pi = Pi::provide(root)?.context("these rounds need npm, which fetches pi")?;
        pi.tell(&mut command)?;
        command.arg("--pi").arg(rounds.to_string());
        program::say("\n== Eight at once");
        return Ok(if program::succeeds(&mut command)? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let numbers = [
        ("--seed", asked.seed.unwrap_or_else(new_seed)),
        ("--daemon-kills", asked.daemon_kills.into()),
        ("--shim-kills", asked.shim_kills.into()),
        ("--runs", asked.runs.into()),
        ("--seconds", asked.seconds.into()),
    ];
    for (name, number) in numbers {
        command.arg(name).arg(number.to_string());
    }
    program::say("\n== Killing");
    Ok(if program::succeeds(&mut command)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) ^ now.as_secs()
}
