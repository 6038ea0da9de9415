//! Running other programs, and what is told about it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;

/// What `cargo run` sets for this program. It is not the caller's environment, and children of the daemon would get it.
const OF_CARGO_RUN: [&str; 4] = ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_", "CARGO_BIN_NAME"];

/// The cargo that runs this task, in the repository.
pub(crate) fn cargo(root: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    command(cargo.as_ref(), root)
}

/// A program in the repository, with the caller's environment.
pub(crate) fn command(program: &Path, root: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root).env("PWD", root).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if OF_CARGO_RUN.iter().any(|head| name.to_string_lossy().starts_with(head)) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a program whose output goes where ours goes; says whether it succeeded.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn succeeds(command: &mut Command) -> anyhow::Result<bool> {
    let status = command.status().with_context(|| format!("{} cannot be started", name(command)))?;
    Ok(status.success())
}

/// Runs a program and gives its standard output; its standard error goes where ours goes.
///
/// # Errors
/// When it cannot be started, fails, or writes no text.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let name = name(command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("{name} cannot be started"))?;
    anyhow::ensure!(output.status.success(), "{name} failed: {}", output.status);
    String::from_utf8(output.stdout).with_context(|| format!("{name} wrote no text"))
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// Tells a person what happens: standard error, so that results stay alone on standard output.
pub(crate) fn say(line: &str) {
    // Nobody may be reading.
    writeln!(std::io::stderr(), "{line}").ok();
}

/// Prints a result.
pub(crate) fn print(text: &str) {
    let mut output = std::io::stdout();
    // A closed pipe is the reader's wish.
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).ok();
}
