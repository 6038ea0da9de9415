//! Starting the child program, and what is known of it while it lives.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::SigSet;
use rustix::process::{Pid, Signal};

use super::rlimits::SoftLimits;
use super::setup::Setup;
use subagentd_core::outcome::Exit;

/// The variable that marks a child and everything it starts.
pub(crate) const MARK: &str = "SUBAGENTD_ATTEMPT";

/// Nobody could answer a question that a child's programs ask (F22): they shall fail at once and say so. An empty name of
/// a helper keeps git from every helper that asks a person, those of its settings included; stored credentials stay.
const NOBODY_THERE: [(&str, &str); 4] =
    [("GIT_TERMINAL_PROMPT", "0"), ("GIT_ASKPASS", ""), ("SSH_ASKPASS_REQUIRE", "never"), ("GCM_INTERACTIVE", "never")];

/// A child process and our ends of its pipes.
pub(super) struct Child {
    /// Its process; ours until we reap it.
    pub(super) pid: Pid,
    /// How it ended, once reaped.
    pub(super) exit: Option<Exit>,
    /// Its standard input; none once closed.
    pub(super) input: Option<File>,
    /// Its standard output; none once it ended.
    pub(super) output: Option<File>,
    /// Its standard error; none once it ended.
    pub(super) errors: Option<File>,
}

/// Starts the child.
///
/// # Errors
/// One line that names the program and the system's reason.
pub(super) fn start(setup: &Setup, environment: &[(String, String)], dialect: &[OsString]) -> Result<Child, String> {
    let request = &setup.request;
    let program = find(&request.program.path, environment)?;
    let mut command = Command::new(&program);
    command.args(&request.program.args).args(dialect).current_dir(&request.directory);
    command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    command.env("PWD", &request.directory).env(MARK, mark(setup));
    command.envs(NOBODY_THERE).env_remove("SSH_ASKPASS").env_remove("SUDO_ASKPASS");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, in our session: no controlling terminal, and none can be acquired by opening one.
    command.process_group(0);
    before_exec(&mut command, SoftLimits::of(&request.resource_limits, request.open_files));

    let own_mask = request.umask.map(|mask| rustix::process::umask(rustix::fs::Mode::from_raw_mode(mask)));
    let spawned = command.spawn();
    if let Some(mask) = own_mask {
        rustix::process::umask(mask);
    }
    let mut child = spawned.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or("the child has no process id")?;
    let pipe = |end: Option<OwnedFd>| pipe_end(end).map_err(|error| format!("cannot set up a pipe: {error}"));
    Ok(Child {
        pid,
        exit: None,
        input: pipe(child.stdin.take().map(Into::into))?,
        output: pipe(child.stdout.take().map(Into::into))?,
        errors: pipe(child.stderr.take().map(Into::into))?,
    })
}

/// The value of [`MARK`].
fn mark(setup: &Setup) -> String {
    setup.request.attempt.to_string()
}

/// The kernel kills the child when the shim dies, however it dies; the child gets the limits of its client, and none of
/// the signals that the shim blocks for itself (the standard library leaves the mask as it is).
#[expect(unsafe_code, reason = "the only way to run something between fork and exec")]
fn before_exec(command: &mut Command, limits: SoftLimits) {
    let shim = rustix::process::getpid();
    // SAFETY: the closure makes a few system calls and allocates nothing, as must be after a fork.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // Killed between fork and the line above: nobody would tell us any more.
            if rustix::process::getppid() != Some(shim) {
                return Err(io::Error::from(rustix::io::Errno::SRCH));
            }
            SigSet::empty().thread_set_mask()?;
            Ok(limits.apply()?)
        });
    }
}

fn pipe_end(end: Option<OwnedFd>) -> io::Result<Option<File>> {
    let Some(end) = end else { return Ok(None) };
    rustix::io::ioctl_fionbio(&end, true)?;
    Ok(Some(File::from(end)))
}

/// Finds the program: a path as it is, a name in the child's own `PATH`.
fn find(program: &Path, environment: &[(String, String)]) -> Result<PathBuf, String> {
    if program.components().count() > 1 || program.is_absolute() {
        return Ok(program.to_owned());
    }
    let search = environment.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value.as_str());
    std::env::split_paths(search)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|path| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok())
        .ok_or_else(|| format!("the program {} is in none of the folders of the client's PATH", program.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up_in_the_childs_path_only() {
        let path = |value: &str| vec![("PATH".to_owned(), value.to_owned())];
        assert!(find(Path::new("sh"), &path("/nowhere:/bin")).unwrap().ends_with("bin/sh"));
        assert_eq!(find(Path::new("/x/y"), &[]).unwrap(), Path::new("/x/y"));
        let error = find(Path::new("sh"), &path("relative:/nowhere")).unwrap_err();
        assert!(error.contains("sh is in none"), "{error}");
        assert!(find(Path::new("sh"), &[]).is_err());
    }
}
