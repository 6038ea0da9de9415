//! The real daemon, started by hand.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;

use rustix::process::{Pid, Signal};
use subagentd_ipc::client::Client;
use subagentd_proto::daemon::{StatusParams, StatusResponse, StopParams, StopResponse};
use subagentd_proto::method::{DaemonStatus, DaemonStop};

use crate::owner::Owner;
use crate::programs::programs;
use crate::raw::Raw;
use crate::site::Site;
use crate::wait::{DEADLINE, until_blocking, within};

/// A daemon that serves. Dropping it kills it.
#[derive(Debug)]
pub struct Daemon {
    process: Child,
    socket: PathBuf,
    _output: BufReader<ChildStdout>,
}

/// A daemon that ended before it served.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code.
    pub code: Option<i32>,
    /// Its standard error.
    pub said: String,
}

impl Site {
    /// `subagentd serve` with this site's environment.
    #[must_use]
    pub fn serve(&self) -> Command {
        let mut command = self.command(&programs().daemon);
        command.arg("serve");
        command
    }

    /// Starts a daemon that has to serve.
    #[must_use]
    pub fn start(&self) -> Daemon {
        self.try_start(self.serve()).unwrap_or_else(|ended| panic!("the daemon ended: {ended:?}"))
    }

    /// Starts a daemon and waits for its ready line or its end.
    ///
    /// # Errors
    /// When it ended.
    pub fn try_start(&self, mut command: Command) -> Result<Daemon, Ended> {
        let log = self.path(format!("logs/daemon-{:03}.log", self.number()));
        let errors = OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let mut process = command.stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        let (line, output) = first_line(process.stdout.take().unwrap());
        if let Some(socket) = line.strip_prefix("ready ").map(|rest| PathBuf::from(rest.trim_end())) {
            self.remember(&socket);
            return Ok(Daemon { process, socket, _output: output });
        }
        let status = end_of(&mut process);
        Err(Ended { code: status.code(), said: std::fs::read_to_string(log).unwrap() })
    }
}

fn first_line(output: ChildStdout) -> (String, BufReader<ChildStdout>) {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        // The test may have given up.
        sender.send((line, output)).ok();
    });
    receiver.recv_timeout(DEADLINE).expect("the daemon is ready or ends")
}

fn end_of(process: &mut Child) -> ExitStatus {
    until_blocking("the daemon's end", || process.try_wait().unwrap())
}

impl Daemon {
    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// A connection without a greeting.
    pub async fn client(&self) -> Client {
        within("a connection", Client::connect(&self.socket)).await.unwrap()
    }

    /// A connection that has greeted as `name`.
    pub async fn owner(&self, name: &str) -> Owner {
        Owner::greet(self.client().await, name).await
    }

    /// A connection that speaks bytes.
    #[must_use]
    pub fn raw(&self) -> Raw {
        Raw::connect(&self.socket)
    }

    /// What it says of itself.
    pub async fn status(&self) -> StatusResponse {
        let client = self.client().await;
        within("daemon/status", client.call::<DaemonStatus>(StatusParams {})).await.unwrap()
    }

    /// Ends it by a signal that it cannot see.
    pub fn kill9(mut self) {
        self.process.kill().unwrap();
        let status = end_of(&mut self.process);
        assert_eq!(status.signal(), Some(9));
    }

    /// Ends it as a service manager does, and gives its exit code.
    #[must_use]
    pub fn terminate(mut self) -> Option<i32> {
        let pid = i32::try_from(self.process.id()).unwrap();
        rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
        end_of(&mut self.process).code()
    }

    /// Ends it by `daemon/stop` and waits for its exit with code 0.
    pub async fn stop(mut self) -> StopResponse {
        let client = self.client().await;
        let answer = within("daemon/stop", client.call::<DaemonStop>(StopParams {})).await.unwrap();
        assert_eq!(end_of(&mut self.process).code(), Some(0));
        answer
    }

    /// A plain stop and a new daemon in its place.
    #[must_use]
    pub async fn restart(self, site: &Site) -> Self {
        self.stop().await;
        site.start()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended already.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
