//! The probe process from outside: it is asked like the daemon asks it, about programs that misbehave.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// For what has to happen soon.
const SOON: Duration = Duration::from_secs(20);

struct Probe {
    process: Child,
    stream: Option<BufReader<UnixStream>>,
}

impl Probe {
    fn start() -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(SOON)).unwrap();
        let theirs = OwnedFd::from(theirs);
        let mut command = Command::new(env!("CARGO_BIN_EXE_subagentd"));
        command.arg("probe").env("PLANTED_DAEMON", "s3cret-d");
        command.stdin(Stdio::from(theirs.try_clone().unwrap())).stdout(Stdio::from(theirs));
        let process = command.spawn().unwrap();
        let mut probe = Self { process, stream: Some(BufReader::new(ours)) };
        let environment: BTreeMap<&str, &str> = [("PATH", "/usr/bin:/bin"), ("CLIENT", "c")].into();
        probe.send(&json!({ "environment": environment }));
        probe
    }

    fn send(&mut self, message: &Value) {
        let stream = self.stream.as_mut().unwrap().get_mut();
        stream.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn ask(&mut self, what: &str, script: &str, within_ms: u64) -> Value {
        self.ask_command(what, &["/bin/sh", "-c", script], within_ms)
    }

    fn ask_command(&mut self, what: &str, command: &[&str], within_ms: u64) -> Value {
        self.send(&json!({ "command": command, "what": what, "within_ms": within_ms }));
        let mut line = String::new();
        self.stream.as_mut().unwrap().read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn hang_up(&mut self) {
        self.stream = None;
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.hang_up();
        until("the probe ended", || self.process.try_wait().unwrap().is_some());
    }
}

fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !happened() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::yield_now();
    }
}

fn failed(reply: &Value) -> &str {
    reply["failed"].as_str().unwrap_or_else(|| panic!("no failure: {reply}"))
}

/// Answers in pi's dialect once it is asked, one command at a time.
const GOOD: &str = r#"
echo 'not a record'
read -r line; case $line in *get_state*) ;; *) exit 7 ;; esac
echo '{"type":"response","command":"get_state","success":true,"data":{"model":{"provider":"acme","id":"one","headers":{"k":"s3cret-h"}},"thinkingLevel":"low"}}'
read -r line; case $line in *get_available_models*) ;; *) exit 8 ;; esac
echo '{"type":"response","command":"get_available_models","success":true,"data":{"models":[{"provider":"acme","id":"one","reasoning":true,"headers":{"k":"s3cret-h"}}]}}'
read -r line
"#;

#[test]
fn models_are_told_without_what_else_the_records_hold() {
    let mut probe = Probe::start();
    for _ in 0..3 {
        let reply = probe.ask("models", GOOD, 10_000);
        assert_eq!(reply["models"]["default"], json!(["acme", "one"]), "{reply}");
        assert_eq!(reply["models"]["thinking"], "low");
        assert_eq!(reply["models"]["models"][0]["levels"], json!(["off", "minimal", "low", "medium", "high"]));
        assert!(!reply.to_string().contains("s3cret"), "{reply}");
    }
}

#[test]
fn a_line_is_told_and_only_the_given_environment_is_there() {
    let mut probe = Probe::start();
    let reply = probe.ask("line", "echo \"$CLIENT ${PLANTED_DAEMON-none} $PWD\"; echo more; sleep 60", 10_000);
    assert_eq!(reply, json!({ "line": "c none /" }));
}

#[test]
fn every_failure_has_its_words() {
    let table = [
        ("models", "exit 1", 10_000, "ended with exit code 1 before it told its models"),
        (
            "models",
            "echo one >&2; echo 'Error: no such key' >&2; exit 3",
            10_000,
            "ended with exit code 3: Error: no such key before",
        ),
        ("models", "kill -9 $$", 10_000, "was ended by signal 9"),
        ("models", "exec sleep 60", 100, "did not answer within 100 ms"),
        ("models", "while :; do echo '{\"type\":\"noise\"}'; done", 100, "did not answer within 100 ms"),
        ("models", "head -c 40000000 /dev/zero; sleep 60", 20_000, "wrote more than an answer can be long"),
        (
            "models",
            "echo '{\"type\":\"response\",\"command\":\"get_state\",\"success\":false,\"error\":\"no\"}'; sleep 60",
            10_000,
            "refused get_state: no",
        ),
        ("line", "exit 0", 10_000, "ended with exit code 0 and said nothing"),
        ("line", "exec sleep 60", 100, "did not answer within 100 ms"),
    ];
    let mut probe = Probe::start();
    for (what, script, within_ms, wanted) in table {
        let reply = probe.ask(what, script, within_ms);
        assert!(failed(&reply).contains(wanted), "{script}: {reply}");
    }
    let reply = probe.ask_command("line", &["/no/such/program"], 10_000);
    assert!(failed(&reply).starts_with("cannot be started: No such file"), "{reply}");
    assert_eq!(probe.ask("line", "echo still here", 10_000), json!({ "line": "still here" }));
}

/// Starts a process that nothing but its parent's parent knows of, and tells its id in a file.
fn with_descendant(folder: &Path, rest: &str) -> String {
    let file = folder.join("pid");
    let (file, beside) = (file.display(), folder.join("new").display().to_string());
    format!(
        "trap '' TERM; setsid sh -c 'trap \"\" TERM HUP; echo $$ > {beside}; mv {beside} {file}; exec sleep 600' >/dev/null 2>&1 & {rest}"
    )
}

fn descendant(folder: &Path) -> String {
    let mut pid = String::new();
    until("the descendant started", || {
        pid = fs::read_to_string(folder.join("pid")).unwrap_or_default().trim().to_owned();
        !pid.is_empty()
    });
    pid
}

fn is_gone(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

#[test]
fn nothing_is_left_of_a_program_that_was_late() {
    let folder = tempfile::tempdir().unwrap();
    let mut probe = Probe::start();
    let reply = probe.ask("models", &with_descendant(folder.path(), "sleep 600; sleep 600"), 300);
    assert!(failed(&reply).contains("did not answer"), "{reply}");
    let pid = descendant(folder.path());
    // The next answer comes after the end of what was asked before.
    assert_eq!(probe.ask("line", "echo next", 10_000), json!({ "line": "next" }));
    assert!(is_gone(&pid), "{pid} lives on");
}

#[test]
fn nothing_is_left_when_nobody_asks_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let mut probe = Probe::start();
    let script = with_descendant(folder.path(), "sleep 600; sleep 600");
    probe.send(&json!({ "command": ["/bin/sh", "-c", script], "what": "models", "within_ms": 600_000 }));
    let pid = descendant(folder.path());
    probe.hang_up();
    until("the probe ended", || probe.process.try_wait().unwrap().is_some());
    assert!(is_gone(&pid), "{pid} lives on");
}
