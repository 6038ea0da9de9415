//! Tasks of this repository, as `cargo xtask TASK`. No product code.

mod bench;
mod build;
mod checks;
mod ci;
mod licence;
mod pi;
mod program;
mod soak;
mod test;
mod trial;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Tasks of this repository")]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Build, start the daemon and let `explore` answer a question about this repository
    Try {
        /// What to look for
        #[arg(default_value = trial::QUESTION)]
        question: String,
    },
    /// Run all tests
    Test,
    /// Check everything: repository rules, fmt, clippy, doc, then all tests
    Ci,
    /// Measure a release build against the floor of this machine
    Bench {
        /// Launches to measure; medians of fewer than 30 say little
        #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        rounds: u32,
    },
    /// Kill daemons and shims at random moments under load and check from outside that no promise is broken
    Soak(soak::Soak),
}

fn main() -> ExitCode {
    match run(&Xtask::parse().task) {
        Ok(code) => code,
        Err(error) => {
            program::say(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(task: &Task) -> anyhow::Result<ExitCode> {
    let root = root()?;
    match task {
        Task::Try { question } => trial::run(&root, question),
        Task::Test => test::run(&root),
        Task::Ci => ci::run(&root),
        Task::Bench { rounds } => bench::run(&root, *rounds),
        Task::Soak(asked) => soak::run(&root, asked),
    }
}

/// The repository, wherever the task was typed.
fn root() -> anyhow::Result<PathBuf> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = own.parent().and_then(|crates| crates.parent()).context("this crate is not below crates/")?;
    anyhow::ensure!(
        root.join("Cargo.lock").is_file(),
        "{} is not the repository any more; build xtask again with `cargo xtask`",
        root.display()
    );
    Ok(root.to_owned())
}
