//! What is said about a pi that cannot be used, or not fully: what was looked for, where, and what mends it.

use std::fmt::Display;
use std::path::Path;

use subagentd_core::plan::Environment;

use super::find::PACKAGE;
use crate::runtimes::stamp;
use crate::runtimes::version::Version;

/// Bytes of a `PATH` that a sentence shows.
const PATH_BYTES: usize = 120;
/// A command without words.
pub(super) const EMPTY: &str = "is empty";

const NAME_IT: &str = "name it by `runtimes.pi.command`";

pub(super) fn no_pi(environment: &Environment) -> String {
    format!("there is no `pi` in {}; install it with `npm install -g {PACKAGE}`, or {NAME_IT}", path(environment))
}

pub(super) fn no_node(environment: &Environment) -> String {
    format!("there is no `node` in {}; pi needs Node.js 22.19 or newer, e.g. `nvm install 22`", path(environment))
}

pub(super) fn not_the_package(pi: &Path) -> String {
    format!(
        "{} is not part of {PACKAGE}; if another program has that name, or a script stands before pi, {NAME_IT}",
        pi.display()
    )
}

pub(super) fn too_old(version: &str, folder: &Path, oldest: Version) -> String {
    let folder = folder.display();
    format!("pi {version} in {folder} is older than {oldest}; update it with `npm install -g {PACKAGE}@latest`")
}

pub(super) fn not_there(program: &str, how: &str) -> String {
    format!("`{program}`, which `runtimes.pi.command` names, {how}; correct that setting or remove it")
}

/// What is wrong with the place of a configured program that is not there.
pub(super) fn places(program: &str, environment: &Environment) -> &'static str {
    match (Path::new(program).is_absolute(), program.contains('/')) {
        (true, _) => "does not exist or cannot be run",
        (false, true) => "is neither an absolute path nor a bare name",
        (false, false) if stamp::folders(environment).next().is_none() => "is not in PATH, which is empty",
        (false, false) => "is not in PATH",
    }
}

pub(super) fn node_too_old(version: Version, oldest: Version) -> String {
    format!("is version {version}, older than {oldest}")
}

pub(super) fn node_unfit(node: &str, what: &dyn Display) -> String {
    format!("{node} {what}; pi needs Node.js 22.19 or newer, e.g. `nvm install 22`")
}

pub(super) fn failed(command: &[String], what: &dyn Display) -> String {
    let last = command.last().map(String::as_str).unwrap_or_default();
    format!("pi ({last}) {what}; run `pi` yourself to see more, then `subagentd-cli models --refresh`")
}

pub(super) fn no_model(name: &str) -> String {
    format!("{name} has no model it may use; run `pi` and `/login`, or set a provider's key, such as ANTHROPIC_API_KEY")
}

pub(super) fn no_rg(folder: &Path) -> String {
    let folder = folder.display();
    format!("pi's tool `grep` fails: there is no `rg` in PATH or {folder}/bin; install it, e.g. `apt install ripgrep`")
}

pub(super) fn no_fd(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "pi's tool `find` fails: there is no `fd` in PATH or {folder}/bin; install 10 or newer, e.g. `cargo install fd-find`"
    )
}

pub(super) fn fd_too_old(fd: &Path, version: Version) -> String {
    let fd = fd.display();
    format!("pi's tool `find` fails: {fd} is fd {version}; install 10 or newer, e.g. `cargo install fd-find`")
}

pub(super) fn tool_fails(tool: &str, program: &Path, what: &dyn Display, mend: &str) -> String {
    format!("pi's tool `{tool}` may fail: {} {what}; install another one, e.g. `{mend}`", program.display())
}

fn path(environment: &Environment) -> String {
    match environment.get("PATH").filter(|path| !path.is_empty()) {
        None => "PATH: PATH is empty".to_owned(),
        Some(path) if path.len() <= PATH_BYTES => format!("PATH ({path})"),
        Some(_) => format!("PATH ({} folders)", stamp::folders(environment).count()),
    }
}
