//! A folder with a script, and what the processes that play it leave there.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::child::{Child, DEADLINE};

pub(crate) struct Stage {
    pub(crate) work: TempDir,
    pub(crate) script: PathBuf,
}

impl Stage {
    pub(crate) fn new(steps: &str) -> Self {
        let work = TempDir::new().unwrap();
        let script = work.path().join("script.jsonl");
        fs::write(&script, steps).unwrap();
        Self { work, script }
    }

    pub(crate) fn of(steps: &[Value]) -> Self {
        Self::new(&steps.iter().map(|step| format!("{step}\n")).collect::<String>())
    }

    pub(crate) fn start(&self) -> Child {
        self.start_with(&[])
    }

    pub(crate) fn start_with(&self, variables: &[(&str, &str)]) -> Child {
        let args = ["--session-id", "s-9", "--script", self.script.to_str().unwrap()];
        Child::start_with(self.work.path(), &args, variables)
    }

    /// Starts it from a shell that runs `line` with the program and its arguments.
    pub(crate) fn start_through(&self, line: &str) -> Child {
        let mut shell = Command::new("sh");
        shell
            .current_dir(self.work.path())
            .args(["-c", line, "sh", env!("CARGO_BIN_EXE_subagentd-offline"), "--script"])
            .arg(&self.script);
        Child::spawn(shell)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work.path().join(name)).unwrap_or_default()
    }

    /// Labels of the stamps in `stamps`, in order.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.read("stamps").lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
    }

    /// The process that left a stamp `<label> <pid>`, as soon as it has.
    pub(crate) fn process(&self, label: &str) -> Stray {
        let found = eventually(|| {
            self.labels().iter().find_map(|line| line.strip_prefix(label)?.strip_prefix(' ')?.parse().ok())
        });
        Stray(Pid::from_raw(found.unwrap_or_else(|| panic!("no {label} in {:?}", self.labels()))))
    }
}

/// A process that is not our child. Killed at the end of the test.
pub(crate) struct Stray(pub(crate) Pid);

impl Stray {
    pub(crate) fn is_alive(&self) -> bool {
        // A zombie has ended; whoever inherits it takes it away sooner or later.
        self.field("State").is_some_and(|state| !state.starts_with(['Z', 'X']))
    }

    /// A line of its `status`.
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).ok()?;
        status.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned()))
    }

    pub(crate) fn parent(&self) -> Pid {
        Pid::from_raw(self.field("PPid").unwrap().parse().unwrap())
    }

    pub(crate) fn has_variable(&self, variable: &str) -> bool {
        let environment = fs::read(format!("/proc/{}/environ", self.0)).unwrap();
        environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(format!("{variable}=").as_bytes()))
    }

    /// What a descriptor of it leads to.
    pub(crate) fn descriptor(&self, number: i32) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{}/fd/{number}", self.0)).ok()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.0, signal).unwrap();
    }

    pub(crate) fn await_end(&self) {
        eventually(|| (!self.is_alive()).then_some(())).unwrap_or_else(|| panic!("{} is still there", self.0));
    }
}

impl Drop for Stray {
    fn drop(&mut self) {
        kill(self.0, Signal::SIGKILL).ok();
    }
}

/// Asks until there is an answer or the deadline is over.
pub(crate) fn eventually<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if Instant::now() > deadline {
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
