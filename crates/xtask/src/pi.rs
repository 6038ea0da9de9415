//! What stands in `clients/pi`: checked, tested, and provided for tests of the daemon with the real pi. npm brings pi,
//! the Node it runs on and TypeScript, all pinned by the lock file.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::program::{command, say, succeeds};

const FOLDER: &str = "clients/pi";
const LOCK: &str = "package-lock.json";
/// The lock file that the installed packages are of.
const STAMP: &str = "node_modules/.installed-lock.json";
/// In npm's words.
const CPU: &str = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
const CLI: &str = "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js";

/// Told to the tests: the program, or `NONE`. Without the variable they look in [`FOLDER`] themselves.
const NODE_VARIABLE: &str = "SUBAGENTD_TEST_NODE";
const CLI_VARIABLE: &str = "SUBAGENTD_TEST_PI";
const RIPGREP_VARIABLE: &str = "SUBAGENTD_TEST_RG";
const NONE: &str = "none";

/// The installed packages.
#[derive(Debug)]
pub(crate) struct Pi {
    folder: PathBuf,
}

impl Pi {
    /// Installs what the lock file names unless that is done; `None` when it is not and this machine has no npm.
    ///
    /// # Errors
    /// When npm fails; it has told why.
    pub(crate) fn provide(root: &Path) -> anyhow::Result<Option<Self>> {
        let pi = Self { folder: root.join(FOLDER) };
        if pi.is_current()? {
            return Ok(Some(pi));
        }
        if !has_npm(root)? {
            return Ok(None);
        }
        say(&format!("== npm ci in {FOLDER}"));
        let mut npm = command("npm".as_ref(), &pi.folder);
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]);
        anyhow::ensure!(succeeds(&mut npm)?, "npm could not install what {FOLDER}/{LOCK} names");
        fs::copy(pi.folder.join(LOCK), pi.folder.join(STAMP)).with_context(|| format!("{STAMP} cannot be written"))?;
        Ok(Some(pi))
    }

    /// Whether the types are right.
    ///
    /// # Errors
    /// When the compiler cannot be started.
    pub(crate) fn typechecks(&self) -> anyhow::Result<bool> {
        succeeds(self.node().args(["node_modules/typescript/bin/tsc", "--project", "."]))
    }

    /// Runs the tests, each with a pi of its own.
    ///
    /// # Errors
    /// When the test runner cannot be started.
    pub(crate) fn tests_pass(&self) -> anyhow::Result<bool> {
        succeeds(self.node().args(["--test", "--test-reporter", "spec", "test/*.test.ts"]))
    }

    /// Tells tests that this command runs where everything is.
    ///
    /// # Errors
    /// When a program is not where npm should have put it.
    pub(crate) fn tell(&self, command: &mut Command) -> anyhow::Result<()> {
        for (variable, path) in [(NODE_VARIABLE, &*node()), (CLI_VARIABLE, CLI), (RIPGREP_VARIABLE, &*ripgrep())] {
            let path = self.folder.join(path);
            anyhow::ensure!(path.is_file(), "{} is missing", path.display());
            command.env(variable, path);
        }
        Ok(())
    }

    fn node(&self) -> Command {
        command(&self.folder.join(node()), &self.folder)
    }

    fn is_current(&self) -> anyhow::Result<bool> {
        let wanted = fs::read(self.folder.join(LOCK)).with_context(|| format!("{FOLDER}/{LOCK} cannot be read"))?;
        let installed = fs::read(self.folder.join(STAMP));
        Ok(installed.is_ok_and(|installed| installed == wanted) && self.folder.join(node()).is_file())
    }
}

/// Tells tests that this command runs that there is no pi, so that they skip what needs one.
pub(crate) fn tell_missing(command: &mut Command) {
    command.env(CLI_VARIABLE, NONE);
}

/// Says what is not tested without npm.
pub(crate) fn say_missing() {
    say("");
    say("!! NOT TESTED: everything with the real pi, for npm is not on PATH.");
    say(&format!("!! That is {FOLDER} (types and tests) and the daemon's tests with pi as the child."));
    say("!! Install npm (Debian: apt-get install npm; any Node brings it) and run this again.");
    say("");
}

fn has_npm(root: &Path) -> anyhow::Result<bool> {
    match command("npm".as_ref(), root).arg("--version").stdout(Stdio::null()).status() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).context("npm cannot be started"),
    }
}

// Older npm leaves the link in node_modules/.bin out.
fn node() -> String {
    format!("node_modules/node-linux-{CPU}/bin/node")
}

/// pi's `grep` needs it.
fn ripgrep() -> String {
    format!("node_modules/@vscode/ripgrep-linux-{CPU}/bin/rg")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn an_install_counts_for_its_own_lock_file_and_with_its_node() {
        let root = tempfile::tempdir().unwrap();
        let pi = Pi { folder: root.path().join(FOLDER) };
        assert!(pi.is_current().unwrap_err().to_string().contains(LOCK));
        write(&pi.folder.join(LOCK), "one");
        assert!(!pi.is_current().unwrap(), "nothing is installed");
        write(&pi.folder.join(STAMP), "one");
        assert!(!pi.is_current().unwrap(), "node is missing");
        write(&pi.folder.join(node()), "");
        assert!(pi.is_current().unwrap());
        write(&pi.folder.join(LOCK), "two");
        assert!(!pi.is_current().unwrap(), "the lock file has changed");
    }

    #[test]
    fn tests_are_told_existing_programs_only() {
        let root = tempfile::tempdir().unwrap();
        let pi = Pi { folder: root.path().to_owned() };
        let mut command = Command::new("x");
        write(&pi.folder.join(node()), "");
        write(&pi.folder.join(CLI), "");
        assert!(pi.tell(&mut command).unwrap_err().to_string().ends_with("rg is missing"));
        write(&pi.folder.join(ripgrep()), "");
        pi.tell(&mut command).unwrap();
        let cli = pi.folder.join(CLI);
        assert!(command.get_envs().any(|told| told == (OsStr::new(CLI_VARIABLE), Some(cli.as_os_str()))));
        tell_missing(&mut command);
        assert!(command.get_envs().any(|told| told == (OsStr::new(CLI_VARIABLE), Some(OsStr::new(NONE)))));
    }
}
