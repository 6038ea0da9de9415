//! Asking programs what they are and what they can run, from a process of its own (see [`main`]).

mod dialogue;
mod form;
mod process;
mod program;

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as BlockingStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Serialize;
use subagentd_core::plan::Environment;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

pub(crate) use form::{Model, Offer};
pub(crate) use process::main;

use form::{Ask, Begin, LINE_BYTES, Reply, What};

/// For the probe process to answer once the program's own time is over; then it is given up.
const SLACK: Duration = Duration::from_secs(3);

/// Why something could not be found out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The probe process ended under the question: somebody killed it. To ask again may help.
    Lost,
    /// Half a sentence that the program's name goes before.
    Because(String),
}

impl std::fmt::Display for Unanswered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lost => f.write_str("was not heard of, because its probe process was killed"),
            Self::Because(words) => f.write_str(words),
        }
    }
}

fn because(what: impl std::fmt::Display) -> Unanswered {
    Unanswered::Because(what.to_string())
}

/// A probe process. Dropping it ends it and whatever it runs.
pub(crate) struct Probe {
    stream: BufReader<UnixStream>,
}

impl Probe {
    /// Starts one whose programs get this environment and no other.
    ///
    /// # Errors
    /// When it could not be.
    pub(crate) async fn start(environment: Environment) -> Result<Self, Unanswered> {
        let stream = tokio::task::spawn_blocking(spawn).await.map_err(because)?;
        let stream =
            stream.and_then(UnixStream::from_std).map_err(|error| because(format_args!("cannot be asked: {error}")))?;
        let mut probe = Self { stream: BufReader::new(stream) };
        probe.send(&Begin { environment }).await?;
        Ok(probe)
    }

    /// The first line that a command writes.
    ///
    /// # Errors
    /// When it could not be found out.
    pub(crate) async fn line(&mut self, command: &[String], within: Duration) -> Result<String, Unanswered> {
        match self.ask(command, What::Line, within).await? {
            Reply::Line(line) => Ok(line),
            other => Err(unexpected(other)),
        }
    }

    /// The models that a command of pi's dialect offers.
    ///
    /// # Errors
    /// When it could not be found out.
    pub(crate) async fn models(&mut self, command: &[String], within: Duration) -> Result<Offer, Unanswered> {
        match self.ask(command, What::Models, within).await? {
            Reply::Models(offer) => Ok(offer),
            other => Err(unexpected(other)),
        }
    }

    async fn ask(&mut self, command: &[String], what: What, within: Duration) -> Result<Reply, Unanswered> {
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        self.send(&Ask { command: command.to_vec(), what, within_ms }).await?;
        let answer = tokio::time::timeout(within + SLACK, self.receive()).await;
        answer
            .map_err(|_| because(format_args!("did not answer within {} ms, nor did its probe", within.as_millis())))?
    }

    async fn send(&mut self, message: &impl Serialize) -> Result<(), Unanswered> {
        let mut line = serde_json::to_vec(message).map_err(because)?;
        line.push(b'\n');
        let written = tokio::time::timeout(SLACK, self.stream.get_mut().write_all(&line)).await;
        written.map_err(|_| because("could not be asked in time"))?.map_err(|_| Unanswered::Lost)
    }

    async fn receive(&mut self) -> Result<Reply, Unanswered> {
        let mut line = Vec::new();
        let mut bounded = (&mut self.stream).take(LINE_BYTES);
        bounded.read_until(b'\n', &mut line).await.map_err(|_| Unanswered::Lost)?;
        serde_json::from_slice(&line).map_err(|_| Unanswered::Lost)
    }
}

fn unexpected(reply: Reply) -> Unanswered {
    match reply {
        Reply::Failed(words) => Unanswered::Because(words),
        Reply::Line(_) | Reply::Models(_) => because("answered something else"),
    }
}

/// Starts the probe process; the daemon reaps it with its other children.
fn spawn() -> std::io::Result<BlockingStream> {
    let (ours, theirs) = BlockingStream::pair()?;
    ours.set_nonblocking(true)?;
    let theirs = OwnedFd::from(theirs);
    let mut command = Command::new("/proc/self/exe");
    command.arg0("subagentd").arg("probe").env_clear();
    command.stdin(Stdio::from(theirs.try_clone()?)).stdout(Stdio::from(theirs)).stderr(Stdio::null());
    subagentd_runtime::spawn::own(&mut command)?;
    Ok(ours)
}
