//! The way to the daemon: finds it, starts it where a command needs it, greets, calls.

use std::time::Duration;

use subagentd_ipc::client::{CallError, Client, Items};
use subagentd_ipc::daemon_file::DaemonFile;
use subagentd_ipc::place::{Environment, Place};
use subagentd_ipc::start::{FindError, StartError, connect_or_start, find};
use subagentd_proto::inbox::AckParams;
use subagentd_proto::method::{InboxAck, Method, Subscription};
use subagentd_proto::run::{NoticeRef, RunView};
use tokio::time::Instant;

use crate::exit::Exit;
use crate::failure::{Failure, LOST, Problem};
use crate::output::Screen;
use crate::render::words;
use crate::{environment, program};

/// A daemon that was started has to answer within this time; after it the command gives up.
const START_WITHIN: Duration = Duration::from_secs(10);
/// Between two looks for a daemon that went away.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The mark that everything inside a run has in its environment.
const INSIDE_RUN: &str = "SUBAGENTD_ATTEMPT";

/// Who calls, and where the daemon is.
#[derive(Debug)]
pub(crate) struct Caller {
    owner: Option<String>,
    pub(crate) place: Place,
}

impl Caller {
    pub(crate) fn new(owner: Option<String>) -> Result<Self, Failure> {
        let place = Place::find(&Environment::of_process())
            .map_err(|error| Problem::new(Exit::Unreachable, "place", format!("{error}.")))?;
        Ok(Self { owner, place })
    }

    fn owner(&self) -> String {
        self.owner.clone().unwrap_or_else(environment::owner)
    }

    /// A connection to a daemon that runs, without a greeting.
    pub(crate) async fn running(&self) -> Result<Option<Client>, Failure> {
        match find(&self.place).await {
            Ok(client) => Ok(Some(client)),
            Err(FindError::Nobody(_)) => Ok(None),
            Err(error) => Err(Problem::new(Exit::Unreachable, "unreachable", format!("{error}.")).into()),
        }
    }

    /// A connection to a daemon that is started if none runs, without a greeting.
    pub(crate) async fn started(&self) -> Result<Client, Failure> {
        // Looks before it thinks of starting: nearly always one runs, and then nothing else needs to be found out.
        if let Some(client) = self.running().await? {
            return Ok(client);
        }
        if std::env::var_os(INSIDE_RUN).is_some() {
            return Err(Problem::new(
                Exit::Unreachable,
                "insideRun",
                "No daemon answers, and from inside a run none is started.",
            )
            .hint("The one that started this run goes on with it once somebody runs `subagentd-cli daemon start` outside.")
            .into());
        }
        let program = program::daemon()?;
        connect_or_start(&program, &self.place, std::time::Instant::now() + START_WITHIN)
            .await
            .map_err(|error| start_failed(&error))
    }

    /// Whether anything can be stored here.
    fn has_state(&self) -> bool {
        self.place.state.exists()
    }
}

/// How a daemon went away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gone {
    /// It took leave: somebody stopped it.
    Stopped,
    /// It left its `daemon.json` behind.
    Crashed,
    /// It is still there, or the next one is.
    Unknown,
}

/// A daemon that was greeted.
#[derive(Debug)]
pub(crate) struct Daemon<'a> {
    client: Client,
    caller: &'a Caller,
    owner: String,
    /// Inside a run nothing may be acknowledged.
    inside_run: bool,
}

impl<'a> Daemon<'a> {
    /// The daemon, started if none runs.
    pub(crate) async fn reach(caller: &'a Caller) -> Result<Self, Failure> {
        Self::greet(caller.started().await?, caller).await
    }

    /// The daemon for what is stored, started if none runs; `None` where nothing was ever stored.
    pub(crate) async fn reach_stored(caller: &'a Caller) -> Result<Option<Self>, Failure> {
        let client = match caller.running().await? {
            Some(client) => client,
            None if caller.has_state() => caller.started().await?,
            None => return Ok(None),
        };
        Self::greet(client, caller).await.map(Some)
    }

    /// The daemon that knows `run`.
    pub(crate) async fn reach_run(caller: &'a Caller, run: &str) -> Result<Self, Failure> {
        Self::reach_stored(caller).await?.ok_or_else(|| {
            let state = caller.place.state.display();
            Problem::new(
                Exit::NotFound,
                "notFound",
                format!("There is no run {}: nothing was ever stored in {state}.", words::ending(run)),
            )
            .into()
        })
    }

    /// Whose runs and inbox are at hand.
    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    /// Whether notices can be marked as seen.
    pub(crate) fn may_acknowledge(&self) -> bool {
        !self.inside_run
    }

    async fn greet(client: Client, caller: &'a Caller) -> Result<Self, Failure> {
        let owner = caller.owner();
        let hello = client.hello(&owner, env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        let hello = hello.await.map_err(failed)?;
        Ok(Self { client, caller, owner, inside_run: hello.inside_run.is_some() })
    }

    /// How the daemon went that was here.
    pub(crate) fn gone(&self) -> Gone {
        match DaemonFile::read(&self.caller.place.state) {
            None => Gone::Stopped,
            Some(file) if file.is_alive() => Gone::Unknown,
            Some(_) => Gone::Crashed,
        }
    }

    /// Looks for the daemon again after it went away, until `end`. One that crashed is replaced; one that was stopped was
    /// stopped on purpose, so none is started then.
    pub(crate) async fn reach_again(&mut self, end: Instant) -> Result<(), Failure> {
        loop {
            // First, since one that says that it is stopping may still be there.
            tokio::time::sleep(LOOK_EVERY).await;
            let client = match self.gone() {
                Gone::Crashed => Some(self.caller.started().await?),
                Gone::Stopped | Gone::Unknown => self.caller.running().await?,
            };
            if let Some(client) = client {
                match Self::greet(client, self.caller).await {
                    Ok(daemon) => {
                        *self = daemon;
                        return Ok(());
                    }
                    Err(Failure::Problem(problem)) if problem.is_away() => {}
                    Err(failure) => return Err(failure),
                }
            }
            if Instant::now() >= end {
                return Err(Problem::new(Exit::Unreachable, "unreachable", "The daemon does not run any more.").into());
            }
        }
    }

    pub(crate) async fn call<M: Method>(&self, params: M::Params) -> Result<M::Response, Failure> {
        call::<M>(&self.client, params).await
    }

    pub(crate) async fn subscribe<S: Subscription>(&self, params: S::Params) -> Result<Items<S::Item>, Failure> {
        self.client.subscribe::<S>(params).await.map_err(failed)
    }

    /// Marks the notice of a run's end as seen, if the run is this caller's own: others see theirs themselves.
    pub(crate) async fn acknowledge_run(&self, run: &RunView, screen: &Screen) {
        if let Some(notice) = run.notice.filter(|_| run.state.is_end() && run.owner == self.owner) {
            self.acknowledge(notice, screen).await;
        }
    }

    /// Marks a notice as seen. What it was about has been shown already, so a failure is only a warning.
    pub(crate) async fn acknowledge(&self, notice: NoticeRef, screen: &Screen) {
        if notice.acknowledged || !self.may_acknowledge() {
            return;
        }
        let params = AckParams { up_to: None, seqs: vec![notice.seq] };
        if let Err(Failure::Problem(problem)) = self.call::<InboxAck>(params).await {
            let seq = notice.seq;
            screen.warn(&format!("notice {seq} could not be marked as seen: {}", problem.message));
        }
    }
}

/// Calls a method on a connection, greeted or not.
pub(crate) async fn call<M: Method>(client: &Client, params: M::Params) -> Result<M::Response, Failure> {
    client.call::<M>(params).await.map_err(failed)
}

fn start_failed(error: &StartError) -> Failure {
    let problem = Problem::new(Exit::Unreachable, "startFailed", format!("{error}."));
    match error {
        StartError::Directory(_) | StartError::Io { .. } => problem
            .hint(
                "The daemon keeps its state there: make it yours and writable, or set SUBAGENTD_STATE_DIR to another.",
            )
            .into(),
        _ => problem.into(),
    }
}

fn failed(error: CallError) -> Failure {
    let kind = match error {
        CallError::Fault(fault) => return fault.into(),
        CallError::Closed | CallError::Timeout | CallError::Lagged => LOST,
        CallError::Malformed(_) => "malformed",
    };
    let told = match error {
        CallError::Closed => "The daemon closed the connection.".to_owned(),
        other => format!("{other}."),
    };
    Problem::new(Exit::Unreachable, kind, told).into()
}
