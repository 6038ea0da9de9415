//! What clients can call. Each file serves one resource; [`convert`] is the one place that maps core and store to the
//! wire.

mod agent;
mod capture;
pub(crate) mod conversation;
mod convert;
mod daemon;
mod default_tools;
pub(crate) mod fault;
mod inbox;
pub(crate) mod instructions;
mod launch;
mod lease;
mod ledger;
mod model;
mod preflight;
mod profile;
mod progress;
mod result;
mod run;
mod settle;
mod steer;
mod workspace;

use std::path::PathBuf;
use std::sync::Arc;

use jsonrpsee_core::server::Methods;
use subagentd_core::id::ChildId;
use subagentd_ipc::router::Router;
use subagentd_proto::method as m;
use subagentd_runtime::folder::{Places, TASK_PREFIX};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::definitions::Definitions;
use crate::hub::{Context, Handle};
use crate::policy::Policies;
use crate::runtimes::Runtimes;
use crate::settings::Settings;
use ledger::Ledger;

/// What every handler has.
pub(crate) struct Api {
    /// The hub.
    pub hub: Handle,
    /// Store, places, settings.
    pub context: Arc<Context>,
    /// Agents.
    pub definitions: Definitions,
    /// Child programs.
    pub runtimes: Arc<Runtimes>,
    /// What the settings say about launches.
    pub policies: Policies,
    /// Who watches which inbox, and what was sent to whom.
    pub ledger: Ledger,
    /// Places for looking at paths that clients name. A dead file system holds those who look at it for ever: it must
    /// not hold the threads that everything else needs.
    pub(crate) lookers: Arc<Semaphore>,
    /// What `daemon/status` tells.
    pub about: About,
    /// Ends the daemon.
    pub stop: CancellationToken,
}

/// Facts of this daemon.
pub(crate) struct About {
    /// Identity of the store.
    pub store: String,
    /// When it began to serve.
    pub started_at_ms: u64,
    /// Its state directory.
    pub state: PathBuf,
    /// Its socket.
    pub socket: PathBuf,
}

/// This program's version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The file of a task that is too long for the database.
#[must_use]
pub(crate) fn task_file(places: &Places, child: ChildId) -> PathBuf {
    places.run(child.run).join(format!("{TASK_PREFIX}{}.txt", child.index))
}

/// Launches that look at the disk at once.
const LOOKERS: usize = 8;

/// The places for [`Api::lookers`].
#[must_use]
pub(crate) fn lookers() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(LOOKERS))
}

/// An empty ledger.
#[must_use]
pub(crate) fn ledger(settings: &Settings) -> Ledger {
    Ledger::new(settings.inbox_offer())
}

/// Every method of the table with its handler.
#[must_use]
pub(crate) fn methods(api: Arc<Api>) -> Methods {
    let mut router = Router::new(api);
    router.method::<m::DaemonHello, _, _>(daemon::hello);
    router.method::<m::DaemonStatus, _, _>(daemon::status);
    router.method::<m::DaemonStop, _, _>(daemon::stop);
    router.method::<m::AgentCatalog, _, _>(agent::catalog);
    router.method::<m::AgentList, _, _>(agent::list);
    router.method::<m::ModelList, _, _>(model::list);
    router.method::<m::ProfileList, _, _>(profile::list);
    router.method::<m::RunPreflight, _, _>(preflight::preflight);
    router.method::<m::RunLaunch, _, _>(launch::launch);
    router.method::<m::RunGet, _, _>(run::get);
    router.method::<m::RunList, _, _>(run::list);
    router.method::<m::RunWait, _, _>(run::wait);
    router.method::<m::RunCancel, _, _>(run::cancel);
    router.method::<m::RunSteer, _, _>(steer::steer);
    router.method::<m::RunPause, _, _>(steer::pause);
    router.method::<m::RunResume, _, _>(steer::resume);
    router.method::<m::RunResult, _, _>(result::result);
    router.method::<m::InboxList, _, _>(inbox::list);
    router.method::<m::InboxAck, _, _>(inbox::ack);
    router.method::<m::LeaseList, _, _>(lease::list);
    router.method::<m::LeaseRelease, _, _>(lease::release);
    router.subscription::<m::RunProgress, _, _>(progress::watch);
    router.subscription::<m::InboxWatch, _, _>(inbox::watch);
    router.finish()
}
