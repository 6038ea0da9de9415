//! Which program is the daemon.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::exit::Exit;
use crate::failure::{Failure, Problem};

/// Names the daemon's program, whatever lies beside this one.
const VARIABLE: &str = "SUBAGENTD_DAEMON";
/// Its file name.
const NAME: &str = "subagentd";

/// The daemon's program: named by the environment, else beside this program, else in `PATH`.
pub(crate) fn daemon() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    find(std::env::var_os(VARIABLE), own.as_deref().and_then(Path::parent), &path).map_err(|message| missing(&message))
}

fn missing(message: &str) -> Failure {
    Problem::new(Exit::Unreachable, "daemonMissing", message)
        .hint(format!("Install `{NAME}` beside `subagentd-cli`, or name it in {VARIABLE}."))
        .into()
}

fn find(named: Option<OsString>, beside: Option<&Path>, path: &OsStr) -> Result<PathBuf, String> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        return if is_program(&named) {
            Ok(std::path::absolute(&named).unwrap_or(named))
        } else {
            Err(format!("{VARIABLE} names no program: {}.", named.display()))
        };
    }
    beside
        .map(Path::to_owned)
        .into_iter()
        // A relative entry means another place in each directory; a daemon is not started from there.
        .chain(std::env::split_paths(path).filter(|directory| directory.is_absolute()))
        .map(|directory| directory.join(NAME))
        .find(|candidate| is_program(candidate))
        .ok_or_else(|| {
            format!("The daemon does not run, and its program `{NAME}` is neither beside this one nor in PATH.")
        })
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn program(directory: &Path) -> PathBuf {
        fs::create_dir_all(directory).unwrap();
        let path = directory.join(NAME);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn named_beside_and_path_come_in_that_order() {
        let temp = tempfile::tempdir().unwrap();
        let beside = program(&temp.path().join("beside"));
        let in_path = program(&temp.path().join("path"));
        let named = program(&temp.path().join("named"));
        let empty = temp.path().join("empty");
        let path = OsString::from(format!("{}:.:{}", empty.display(), temp.path().join("path").display()));

        let all = find(Some(named.clone().into()), beside.parent(), &path);
        assert_eq!(all.unwrap(), named);
        assert_eq!(find(None, beside.parent(), &path).unwrap(), beside);
        assert_eq!(find(Some(OsString::new()), Some(&empty), &path).unwrap(), in_path);
    }

    #[test]
    fn a_missing_program_is_told() {
        let temp = tempfile::tempdir().unwrap();
        let plain = temp.path().join("plain");
        fs::write(&plain, "").unwrap();
        let nothing = OsStr::new("");
        let named = find(Some(plain.into()), None, nothing).unwrap_err();
        assert!(named.contains("SUBAGENTD_DAEMON names no program"), "{named}");
        let nowhere = find(None, Some(temp.path()), nothing).unwrap_err();
        assert!(nowhere.contains("neither beside"), "{nowhere}");
    }
}
