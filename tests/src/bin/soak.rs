//! The kill program: `soak DAEMON [--daemon-kills N] [--shim-kills M] [--seed S] [--runs R] [--seconds MAX]`.
//!
//! `cargo xtask soak --spine` builds both programs and calls it. Prints what was done and every broken promise; the exit
//! code is 1 when there is one.
//!
//! `soak DAEMON --pi ROUNDS` kills nobody: it runs eight real pi children at once, again and again, and measures them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use subagentd_tests::soak::{Plan, pi_rounds, soak};

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [daemon, flag, rounds] if flag == "--pi" => pi(daemon.as_ref(), rounds.parse().context("--pi needs a number")?),
        _ => kill(&plan(arguments.into_iter())?),
    }
}

fn pi(daemon: &Path, rounds: u32) -> anyhow::Result<ExitCode> {
    let verdict = pi_rounds(daemon, rounds, &mut say)?;
    say(&verdict.table);
    Ok(if verdict.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn kill(plan: &Plan) -> anyhow::Result<ExitCode> {
    // First of all: whatever happens next, it can be repeated.
    say(&format!(
        "seed {}: {} daemon kills, {} shim kills, at least {} runs, at most {} s\n",
        plan.seed,
        plan.daemon_kills,
        plan.shim_kills,
        plan.runs,
        plan.time.as_secs()
    ));
    let verdict = soak(plan)?;
    say(&verdict.text());
    if verdict.violations.is_empty() {
        say("no violation\n");
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("{} violations with seed {}\n", verdict.violations.len(), plan.seed));
    Ok(ExitCode::FAILURE)
}

fn plan(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Plan> {
    let program = arguments.next().context("usage: soak DAEMON [--daemon-kills N] [--shim-kills M] [--seed S] …")?;
    let mut plan = Plan {
        program: PathBuf::from(program),
        seed: 1,
        daemon_kills: 40,
        shim_kills: 20,
        runs: 0,
        time: Duration::from_secs(600),
    };
    while let Some(name) = arguments.next() {
        let text = arguments.next().with_context(|| format!("{name} needs a number"))?;
        let number: u64 = text.parse().with_context(|| format!("{name} is {text}, which is no number"))?;
        match name.as_str() {
            "--seed" => plan.seed = number,
            "--daemon-kills" => plan.daemon_kills = u32::try_from(number)?,
            "--shim-kills" => plan.shim_kills = u32::try_from(number)?,
            "--runs" => plan.runs = u32::try_from(number)?,
            "--seconds" => plan.time = Duration::from_secs(number),
            _ => bail!("{name} is not known"),
        }
    }
    Ok(plan)
}

fn say(text: &str) {
    // A closed pipe is the reader's wish.
    std::io::stdout().write_all(text.as_bytes()).ok();
}
