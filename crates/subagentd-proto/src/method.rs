//! The method table: each name once, with the types on both of its sides.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{agent, daemon, inbox, lease, model, profile, run};

/// A request that is answered once.
pub trait Method {
    /// `resource/verb`.
    const NAME: &'static str;
    /// What the caller sends; absent `params` counts as `{}`.
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What the daemon answers.
    type Response: Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// A request that opens a stream of notifications.
pub trait Subscription {
    /// The method that opens it.
    const NAME: &'static str;
    /// The method that closes it.
    const UNSUBSCRIBE: &'static str;
    /// The method name that its notifications carry.
    const NOTIFICATION: &'static str;
    /// What the caller sends.
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// `params.result` of each notification.
    type Item: Serialize + DeserializeOwned + Send + Sync + 'static;
}

macro_rules! methods {
    ($($(#[$doc:meta])* $type:ident = $name:literal, $params:ty => $response:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub enum $type {}
            impl Method for $type {
                const NAME: &'static str = $name;
                type Params = $params;
                type Response = $response;
            }
        )*
        /// Every method name, as `daemon/hello` lists them in `features`.
        pub const METHODS: &[&str] = &[$($name,)* InboxWatch::NAME, RunProgress::NAME];
    };
}

methods! {
    /// Greets; must come before everything but the other two frozen methods.
    DaemonHello = "daemon/hello", daemon::HelloParams => daemon::HelloResponse;
    /// What the daemon is and does. Frozen; needs no hello.
    DaemonStatus = "daemon/status", daemon::StatusParams => daemon::StatusResponse;
    /// Ends the daemon; children go on. Frozen; needs no hello.
    DaemonStop = "daemon/stop", daemon::StopParams => daemon::StopResponse;
    /// The agents that can be launched, as data.
    AgentCatalog = "agent/catalog", agent::CatalogParams => agent::CatalogResponse;
    /// The agents as text for a model, with advice for a task (originals 000).
    AgentList = "agent/list", agent::ListParams => agent::ListResponse;
    /// The families' ladders that models are routed by.
    ProfileList = "profile/list", profile::ListParams => profile::ListResponse;
    /// The runtimes and the models that each can run.
    ModelList = "model/list", model::ListParams => model::ListResponse;
    /// What a launch would decide now, without launching.
    RunPreflight = "run/preflight", run::LaunchParams => run::PreflightResponse;
    /// Hands over work. Answered after the commit.
    RunLaunch = "run/launch", run::LaunchParams => run::LaunchResponse;
    /// One run, whole.
    RunGet = "run/get", run::GetParams => run::RunView;
    /// Runs, newest first.
    RunList = "run/list", run::ListParams => run::ListResponse;
    /// Answers at the run's end, or with the present state after the given time.
    RunWait = "run/wait", run::WaitParams => run::WaitResponse;
    /// Ends a run.
    RunCancel = "run/cancel", run::CancelParams => run::CancelResponse;
    /// Tells a child something while it works or waits.
    RunSteer = "run/steer", run::SteerParams => run::SteerResponse;
    /// Lets a run settle where it is, resumable.
    RunPause = "run/pause", run::PauseParams => run::PauseResponse;
    /// Goes on with a settled child in its conversation, as a new attempt.
    RunResume = "run/resume", run::ResumeParams => run::ResumeResponse;
    /// The reference of an answer, or a bounded slice of its text.
    RunResult = "run/result", run::ResultParams => run::ResultResponse;
    /// The owner's notices.
    InboxList = "inbox/list", inbox::ListParams => inbox::ListResponse;
    /// Acknowledges notices, durably.
    InboxAck = "inbox/ack", inbox::AckParams => inbox::AckResponse;
    /// Who holds which workspace.
    LeaseList = "lease/list", lease::ListParams => lease::ListResponse;
    /// Gives up the workspace of a child that has ended and left processes that could not be ended.
    LeaseRelease = "lease/release", lease::ReleaseParams => lease::ReleaseResponse;
}

/// The owner's notices as they come, from a cursor.
#[derive(Debug, Clone, Copy)]
pub enum InboxWatch {}

impl Subscription for InboxWatch {
    const NAME: &'static str = "inbox/watch";
    const UNSUBSCRIBE: &'static str = "inbox/unwatch";
    const NOTIFICATION: &'static str = "inbox/notice";
    type Params = inbox::WatchParams;
    type Item = inbox::Notice;
}

/// How far a run is: lossy, the newest state only. Ends with the run.
#[derive(Debug, Clone, Copy)]
pub enum RunProgress {}

impl Subscription for RunProgress {
    const NAME: &'static str = "run/progress";
    const UNSUBSCRIBE: &'static str = "run/unwatch";
    const NOTIFICATION: &'static str = "run/progressed";
    type Params = run::ProgressParams;
    type Item = run::RunProgress;
}
