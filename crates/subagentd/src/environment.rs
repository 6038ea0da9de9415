//! Environments of clients: which variables a child gets (A11), and the files they are kept in.
//!
//! Values are secrets: they stand in private files, written once and shared by digest, never in the database or a log.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use subagentd_core::deliver::digest;
use subagentd_core::plan::Environment;
use subagentd_runtime::files;

/// Everything inside a run has it.
const MARK: &str = "SUBAGENTD_ATTEMPT";

/// Never passed on: they belong to the client's terminal, editor, repository command or service manager, not to work
/// done elsewhere (A11). A trailing `*` covers a family.
pub(crate) const NOT_PASSED: &[&str] = &[
    MARK,
    "LISTEN_*",
    "NOTIFY_SOCKET",
    "JOURNAL_STREAM",
    "INVOCATION_ID",
    "TERM",
    "TERMCAP",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "WINDOWID",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "EDITOR",
    "VISUAL",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "VSCODE_*",
    "NVIM",
    "INSIDE_EMACS",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_WORK_TREE",
    "NODE_OPTIONS",
    "ELECTRON_RUN_AS_NODE",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "_",
];

/// What a child gets of the daemon's own variables when a client states none.
const OF_THE_DAEMON: &[&str] =
    &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];

/// Bytes of another process's environment that are read; the kernel lets one have 6 MiB.
const PROCESS_BYTES: u64 = 8 * 1024 * 1024;

/// Set for every child: nobody can answer a prompt there (F22).
const ALWAYS: &[(&str, &str)] = &[("TERM", "dumb"), ("GIT_TERMINAL_PROMPT", "0")];

/// What a child gets of a client's variables.
#[must_use]
pub(crate) fn for_child(client: &Environment, only: &[String]) -> Environment {
    let passes = |name: &str| {
        let named = |pattern: &str| pattern.strip_suffix('*').map_or(name == pattern, |head| name.starts_with(head));
        let asked = only.is_empty() || only.iter().any(|pattern| named(pattern));
        // A name with `=` or an empty one cannot be set; neither can a value with a NUL byte.
        let possible = !name.is_empty() && !name.contains(['=', '\0']);
        asked && possible && !NOT_PASSED.iter().any(|pattern| named(pattern))
    };
    let taken = client.iter().filter(|(name, value)| passes(name) && !value.contains('\0'));
    let mut environment: Environment = taken.map(|(name, value)| (name.clone(), value.clone())).collect();
    for (name, value) in ALWAYS {
        environment.entry((*name).to_owned()).or_insert_with(|| (*value).to_owned());
    }
    environment
}

/// What stands in for the environment of a client that states none.
pub(crate) fn of_the_daemon(variables: impl Iterator<Item = (String, String)>) -> Environment {
    variables.filter(|(name, _)| OF_THE_DAEMON.contains(&name.as_str())).collect()
}

/// What this daemon lends.
pub(crate) fn lent() -> Environment {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    of_the_daemon(std::env::vars_os().filter_map(text))
}

/// The variables that another process was started with; `None` where they cannot be read, or when it belongs to a run:
/// a child may not choose which programs are started outside of its own folders.
pub(crate) fn of_process(pid: i32) -> Option<Environment> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(format!("/proc/{pid}/environ")).ok()?;
    file.take(PROCESS_BYTES).read_to_end(&mut bytes).ok()?;
    let variables =
        bytes.split(|byte| *byte == 0).filter_map(|variable| std::str::from_utf8(variable).ok()?.split_once('='));
    let environment: Environment = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    (environment.contains_key("PATH") && !environment.contains_key(MARK)).then_some(environment)
}

/// The home directory that programs find in these variables; without one there, this user's.
#[must_use]
pub(crate) fn home(environment: &Environment) -> PathBuf {
    let own = || nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten().map(|user| user.dir);
    let given = environment.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    given.or_else(own).unwrap_or_default()
}

/// A path as people write it: `~/` is the home directory.
#[must_use]
pub(crate) fn below_home(environment: &Environment, path: &Path) -> PathBuf {
    match path.strip_prefix("~") {
        Ok(below) => home(environment).join(below),
        Err(_) => path.to_owned(),
    }
}

/// The digest that an environment is kept under.
///
/// # Errors
/// When it cannot be written down.
pub(crate) fn digest_of(environment: &Environment) -> io::Result<String> {
    Ok(digest(&serde_json::to_vec(environment)?))
}

/// Keeps an environment and gives its digest. The file is synced: a queued run must still find it after a power cut.
///
/// # Errors
/// As the system says.
pub(crate) fn keep(folder: &Path, environment: &Environment) -> io::Result<String> {
    let bytes = serde_json::to_vec(environment)?;
    let digest = digest(&bytes);
    let open = files::open_folder(folder)?;
    if files::open_file_in(&open, &digest).is_err() {
        write_once(&open, &digest, &bytes)?;
    }
    Ok(digest)
}

fn write_once(folder: &impl std::os::fd::AsFd, digest: &str, bytes: &[u8]) -> io::Result<()> {
    // A name of its own: two launches may write the same environment at once.
    let beside = format!("{digest}.{}.new", uuid::Uuid::now_v7().simple());
    let mut file = files::create_file_in(folder, &beside)?;
    let written = file.write_all(bytes).and_then(|()| {
        rustix::fs::fdatasync(&file)?;
        rustix::fs::renameat(folder, &beside, folder, digest)?;
        Ok(rustix::fs::fsync(folder)?)
    });
    if written.is_err() {
        // The first error counts; the leftover is small and private.
        rustix::fs::unlinkat(folder, &beside, rustix::fs::AtFlags::empty()).ok();
    }
    written
}

/// The file of a kept environment.
#[must_use]
pub(crate) fn path(folder: &Path, digest: &str) -> PathBuf {
    folder.join(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(list: &[(&str, &str)]) -> Environment {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn keys_pass_and_the_documented_list_does_not() {
        let client = environment(&[
            ("API_KEY", "k"),
            ("PATH", "/p"),
            ("GIT_DIR", "/g"),
            ("VSCODE_PID", "1"),
            ("LISTEN_FDS", "3"),
            ("TERM", "xterm"),
            ("SUBAGENTD_OFFLINE_SCRIPT", "/s"),
            ("BAD", "a\0b"),
        ]);
        let child = for_child(&client, &[]);
        let names: Vec<_> = child.keys().map(String::as_str).collect();
        assert_eq!(names, ["API_KEY", "GIT_TERMINAL_PROMPT", "PATH", "SUBAGENTD_OFFLINE_SCRIPT", "TERM"]);
        assert_eq!(child["TERM"], "dumb");
        let only = for_child(&client, &["PA*".to_owned(), "GIT_DIR".to_owned()]);
        assert_eq!(only.keys().map(String::as_str).collect::<Vec<_>>(), ["GIT_TERMINAL_PROMPT", "PATH", "TERM"]);
    }

    #[test]
    fn a_daemon_lends_only_its_short_list() {
        let own = vec![("HOME".to_owned(), "/h".to_owned()), ("SECRET".to_owned(), "s".to_owned())];
        assert_eq!(of_the_daemon(own.into_iter()), environment(&[("HOME", "/h")]));
    }

    #[test]
    fn a_process_shows_what_it_was_started_with() {
        let started = |mark: Option<&str>| {
            let mut command = std::process::Command::new("/bin/cat");
            command.env_clear().env("PATH", "/p").env("K", "a=b");
            command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
            mark.map(|mark| command.env(MARK, mark));
            let mut child = command.spawn().unwrap();
            // Once it answers, the kernel has its variables in place.
            let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            input.write_all(b"x").unwrap();
            output.read_exact(&mut [0]).unwrap();
            let seen = of_process(i32::try_from(child.id()).unwrap());
            drop(input);
            child.wait().unwrap();
            seen
        };
        assert_eq!(started(None), Some(environment(&[("K", "a=b"), ("PATH", "/p")])));
        assert_eq!(started(Some("run/0.1")), None, "a run's own process");
        assert_eq!(of_process(i32::MAX), None);
    }

    #[test]
    fn one_environment_is_one_private_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let first = keep(folder.path(), &environment(&[("A", "1")])).unwrap();
        assert_eq!(keep(folder.path(), &environment(&[("A", "1")])).unwrap(), first);
        assert_ne!(keep(folder.path(), &environment(&[("A", "2")])).unwrap(), first);
        let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
        assert_eq!(files.len(), 2);
        for file in files {
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
