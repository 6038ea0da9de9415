//! The command line, run to its end.

use std::process::{Command, Output, Stdio};
use std::sync::mpsc;

use serde_json::Value;

use crate::programs::programs;
use crate::site::Site;
use crate::wait::DEADLINE;

/// What a program said, and how it ended.
#[derive(Debug)]
pub struct Said {
    /// Its exit code.
    pub code: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl Said {
    /// Runs a command to its end, which has to come before the deadline.
    #[must_use]
    pub fn of(mut command: Command) -> Self {
        let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, receiver) = mpsc::channel();
        let shown = format!("{command:?}");
        std::thread::spawn(move || sender.send(process.wait_with_output()));
        // What hangs carries the site's mark and is ended with it.
        let output = receiver.recv_timeout(DEADLINE).unwrap_or_else(|_| panic!("{shown} does not end")).unwrap();
        Self::from(output)
    }

    /// The one document on standard output.
    #[must_use]
    pub fn document(&self) -> Value {
        let lines: Vec<&str> = self.out.lines().collect();
        assert_eq!(lines.len(), 1, "one document on one line: {self:?}");
        serde_json::from_str(lines[0]).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl Site {
    /// The command line with this site's environment.
    #[must_use]
    pub fn cli_command(&self, args: &[&str]) -> Command {
        let mut command = self.command(&programs().cli);
        command.args(args);
        command
    }

    /// Runs the command line to its end, beside whatever else the test does.
    pub async fn cli(&self, args: &[&str]) -> Said {
        let command = self.cli_command(args);
        tokio::task::spawn_blocking(move || Said::of(command)).await.unwrap()
    }
}
