//! `cargo xtask try`: the first thing to do with this repository.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::Context as _;
use serde_json::Value;

use crate::build::Built;
use crate::program::{self, command, print, say};

/// Asked when nothing else is.
pub(crate) const QUESTION: &str = "Where are stale sockets handled?";
/// Exit code of `subagentd-cli daemon status` when none runs.
const NOT_RUNNING: i32 = 9;

/// Builds daemon and command line, starts the daemon, runs `explore` on this repository and shows what it found.
///
/// # Errors
/// When a step cannot be carried out, with what to do.
pub(crate) fn run(root: &Path, question: &str) -> anyhow::Result<ExitCode> {
    say("== Building daemon and command line");
    let built = Built::with(root, &["--bin", "subagentd", "--bin", "subagentd-cli"])?;
    let cli = Cli { program: built.program("subagentd-cli")?, root };

    say("\n== The daemon of this user");
    let status = cli.command(&["daemon", "status"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let was_running = status.context("subagentd-cli cannot be started")?.code() != Some(NOT_RUNNING);
    anyhow::ensure!(program::succeeds(&mut cli.command(&["daemon", "start"]))?, "the daemon could not be started");
    if was_running {
        say("It may be of an earlier build; stop it first to try this one.");
    }

    say(&format!("\n== explore, on {}: {question}", root.display()));
    let run = launch(&cli, question)?;
    let ended_well = program::succeeds(&mut cli.command(&["wait", &run]))?;

    say("\n== What it found");
    let shown = ended_well && program::succeeds(&mut cli.command(&["result", &run]))?;

    let name = cli.program.display();
    print("\n");
    say("== The daemon goes on running. Next:");
    say(&format!("{name} --help          more to do with it"));
    say(&format!("{name} daemon stop     stop it"));
    Ok(if shown { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Launches and gives the run's id.
fn launch(cli: &Cli<'_>, question: &str) -> anyhow::Result<String> {
    let reply = program::output(&mut cli.command(&["--json", "run", "--detach", "explore", "--", question]))?;
    let reply: Value = serde_json::from_str(&reply).context("the reply of subagentd-cli is no JSON")?;
    Ok(reply.get("run").and_then(Value::as_str).context("the reply of subagentd-cli names no run")?.to_owned())
}

struct Cli<'a> {
    program: &'a Path,
    root: &'a Path,
}

impl Cli<'_> {
    /// In the repository, so that this is the workspace.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(self.program, self.root);
        command.args(arguments);
        command
    }
}
