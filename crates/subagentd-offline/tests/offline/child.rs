//! A running `subagentd-offline` with its pipes.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child as Process, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// Longest wait for anything; far above what a loaded machine needs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) struct Child {
    process: Process,
    input: Option<ChildStdin>,
    records: Receiver<Value>,
}

impl Child {
    pub(crate) fn start(work: &Path, args: &[&str]) -> Self {
        Self::start_with(work, args, &[])
    }

    pub(crate) fn start_with(work: &Path, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = command(work);
        command.args(args).envs(variables.iter().copied());
        Self::spawn(command)
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take();
        let output = process.stdout.take().unwrap();
        let (sender, records) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n') {
                let record = serde_json::from_slice(&line.unwrap()).unwrap();
                if sender.send(record).is_err() {
                    break;
                }
            }
        });
        Self { process, input, records }
    }

    pub(crate) fn send(&mut self, command: &Value) {
        self.send_raw(format!("{command}\n").as_bytes());
    }

    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.send(&json!({ "type": "prompt", "id": "p", "message": text }));
    }

    pub(crate) fn next(&self) -> Value {
        self.records.recv_timeout(DEADLINE).expect("a record within the deadline")
    }

    /// Records up to and with the first one that `last` says yes to.
    pub(crate) fn until(&self, last: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            match self.records.recv_timeout(DEADLINE) {
                Ok(record) => seen.push(record),
                Err(error) => panic!("{error}; seen so far: {seen:#?}"),
            }
            if seen.last().is_some_and(&last) {
                return seen;
            }
        }
    }

    pub(crate) fn until_type(&self, kind: &str) -> Vec<Value> {
        self.until(|record| record["type"] == kind)
    }

    pub(crate) fn settle(&self) -> Vec<Value> {
        self.until_type("agent_settled")
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.process.id()).unwrap())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }

    /// How the process ended, whether its output is closed or not.
    pub(crate) fn await_exit(&mut self) -> ExitStatus {
        wait(&mut self.process)
    }

    /// Drops the records that have come.
    pub(crate) fn is_output_closed(&self) -> bool {
        loop {
            match self.records.recv_timeout(Duration::from_millis(50)) {
                Ok(_) => {}
                Err(error) => return error == RecvTimeoutError::Disconnected,
            }
        }
    }

    /// The records that are left, and how it ended.
    pub(crate) fn end(mut self) -> (Vec<Value>, ExitStatus) {
        let mut rest = Vec::new();
        loop {
            match self.records.recv_timeout(DEADLINE) {
                Ok(record) => rest.push(record),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(error) => panic!("{error}; seen so far: {rest:#?}"),
            }
        }
        let status = wait(&mut self.process);
        (rest, status)
    }

    /// Closes the input and gives the exit code.
    pub(crate) fn finish(mut self) -> Option<i32> {
        self.close_input();
        self.end().1.code()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

pub(crate) fn command(work: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_subagentd-offline"));
    command.current_dir(work).env_remove("SUBAGENTD_OFFLINE_SCRIPT");
    command
}

/// Runs it with closed input to its end: exit code and standard error.
pub(crate) fn refused(work: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut process =
        command(work).args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let status = wait(&mut process);
    let mut said = String::new();
    process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (status.code(), said)
}

pub(crate) fn wait(process: &mut Process) -> ExitStatus {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(status) = process.try_wait().unwrap() {
            return status;
        }
        assert!(Instant::now() < deadline, "still running after {DEADLINE:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The text of the last assistant message and its stop reason.
pub(crate) fn answer(records: &[Value]) -> (String, String) {
    let message = &records
        .iter()
        .rfind(|record| record["type"] == "message_end" && record["message"]["role"] == "assistant")
        .expect("an assistant message")["message"];
    let text: String =
        message["content"].as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect();
    (text, message["stopReason"].as_str().unwrap().to_owned())
}

/// Types in order, a message with its role, without updates.
pub(crate) fn shape(records: &[Value]) -> Vec<String> {
    records
        .iter()
        .filter(|record| record["type"] != "message_update")
        .map(|record| match record["message"]["role"].as_str() {
            Some(role) => format!("{} {role}", record["type"].as_str().unwrap()),
            None => record["type"].as_str().unwrap().to_owned(),
        })
        .collect()
}
