//! `run/launch`: validate, resolve everything, store, answer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use subagentd_core::deliver;
use subagentd_core::id::{ChildId, RunId};
use subagentd_core::life::State;
use subagentd_core::plan::{Environment, Plan};
use subagentd_core::schedule::Waits;
use subagentd_ipc::connection::Connection;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::limits;
use subagentd_proto::run::{CapturedEnvironment, LaunchParams, LaunchResponse};
use subagentd_runtime::files;
use subagentd_store::{NewChild, NewRun, RequestKey, RunKind, Task};

use super::settle::{Asked, Settled, settled};
use super::{Api, conversation, convert, fault, instructions, run, task_file};
use crate::clock::now_ms;
use crate::environment;
use crate::hub::{Launched, Submission};

/// Tasks up to here are rows, longer ones files (design 5).
const TASK_ROW_BYTES: usize = 64 * 1024;
/// How long a launch looks at the disk.
const LOOK: Duration = Duration::from_secs(10);
/// Remark: the client stated no environment.
const REMARK_ENVIRONMENT: &str = "environment.of-daemon";

pub(super) async fn launch(
    api: Arc<Api>,
    connection: Arc<Connection>,
    params: LaunchParams,
) -> Result<LaunchResponse, Fault> {
    check(&params)?;
    let owner = run::session(&connection)?.owner.clone();
    let key = params.key.clone().map(|key| RequestKey { key, digest: digest(&params) });
    if let Some(key) = &key
        && let Some(answer) = repeated(&api, &owner, key).await?
    {
        return Ok(answer);
    }
    let asked = Asked { owner: owner.clone(), params };
    let run = settled(&api, asked, move |api, settled| keep(api, owner, key, settled)).await?;
    let id = run.id;
    let plan = run.children.first().map(|child| child.plan.clone()).ok_or_else(|| fault::internal(&"no child"))?;
    let launched = api.hub.launch(Submission { run }).await;
    if !matches!(launched, Ok(Launched::Accepted(..))) {
        forget_files(&api, id);
    }
    match launched? {
        Launched::Accepted(state, waits) => {
            tracing::info!(run = %id, agent = plan.agent, %state, "accepted");
            Ok(response(id, state, waits, &plan, false))
        }
        Launched::Repeated(run) => repeated_run(&api, run).await,
    }
}

/// Looks at the disk beside everybody else, and not for ever.
pub(super) async fn beside<T: Send + 'static>(
    api: &Arc<Api>,
    what: &str,
    look: impl FnOnce(&Api) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let slow = |what: &str| {
        let seconds = LOOK.as_secs();
        Fault::new(Kind::Overloaded, format!("{what} within {seconds} s; a file system may hang. Try again later"))
    };
    let place = tokio::time::timeout(LOOK, Arc::clone(&api.lookers).acquire_owned()).await;
    let place = place.map_err(|_| slow("no other launch was done"))?.map_err(|error| fault::internal(&error))?;
    let work = Arc::clone(api);
    let looking = tokio::task::spawn_blocking(move || {
        // Given back by the thread itself: one that hangs keeps its place.
        let _place = place;
        look(&work)
    });
    let looked = tokio::time::timeout(LOOK, looking).await;
    looked.map_err(|_| slow(&format!("{what} did not answer")))?.map_err(|error| fault::internal(&error))?
}

/// A launch that was not accepted leaves nothing behind.
fn forget_files(api: &Api, id: RunId) {
    let folder = api.context.places.run(id);
    tokio::task::spawn_blocking(move || match std::fs::remove_dir_all(&folder) {
        Ok(()) => {}
        // Most have none.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(run = %id, %error, "the files of a refused launch could not be removed"),
    });
}

pub(super) fn check(params: &LaunchParams) -> Result<(), Fault> {
    let bounded = |what: &str, text: &str, most: usize| {
        if text.len() <= most {
            return Ok(());
        }
        Err(Fault::new(Kind::Limit, format!("`{what}` has {} bytes; at most {most} are taken", text.len())))
    };
    bounded("agent", &params.agent, limits::AGENT_BYTES)?;
    bounded("title", params.title.as_deref().unwrap_or_default(), limits::TITLE_BYTES)?;
    bounded("key", params.key.as_deref().unwrap_or_default(), limits::KEY_BYTES)?;
    if params.task.trim().is_empty() {
        return Err(Fault::new(Kind::InvalidParams, "`task` is blank; say what the agent shall do"));
    }
    if params.task.contains('\0') {
        return Err(Fault::new(Kind::InvalidParams, "`task` has a NUL byte, which no program takes; remove it"));
    }
    if params.key.as_deref() == Some("") {
        return Err(Fault::new(Kind::InvalidParams, "`key` is empty; leave it out or give it a value"));
    }
    Ok(())
}

/// What the caller asked, without what its host stated.
fn digest(params: &LaunchParams) -> String {
    let asked = LaunchParams { key: None, capture: Default::default(), ..params.clone() };
    deliver::digest(&serde_json::to_vec(&asked).unwrap_or_default())
}

/// A key that names a run is answered before anything is resolved: the agent may be gone by now.
async fn repeated(api: &Api, owner: &str, key: &RequestKey) -> Result<Option<LaunchResponse>, Fault> {
    let known = api.context.reader.run_by_key(owner, &key.key).await.map_err(|error| fault::storage(&error))?;
    match known {
        Some((run, digest)) if digest == key.digest => repeated_run(api, run).await.map(Some),
        // The store refuses it with the run's id.
        _ => Ok(None),
    }
}

async fn repeated_run(api: &Api, id: RunId) -> Result<LaunchResponse, Fault> {
    let row = run::row(api, id).await?;
    let child = row.children.first().ok_or_else(|| fault::internal(&"a run without a child"))?;
    let waits = api.hub.waits(vec![ChildId { run: id, index: child.index }]).await?;
    Ok(response(id, row.state, waits.into_iter().next().flatten(), &child.plan, true))
}

fn response(id: RunId, state: State, waits: Option<Waits>, plan: &Plan, repeated: bool) -> LaunchResponse {
    LaunchResponse {
        run: id.to_string(),
        state: convert::state(state),
        repeated,
        waits: waits.map(convert::waits),
        digest: plan.digest.clone(),
        decisions: convert::decisions(plan),
        remarks: plan.remarks.clone(),
    }
}

/// Writes what goes into files; all of it is synced before the launch is committed.
fn keep(api: &Api, owner: String, key: Option<RequestKey>, settled: Settled) -> Result<NewRun, Fault> {
    let Settled { plan, title, task, client, conversation, standing, .. } = settled;
    let places = &api.context.places;
    let id = RunId::from_uuid(uuid::Uuid::now_v7());
    let child = ChildId { run: id, index: 0 };
    let files = || {
        client.keep(api)?;
        conversation.map_or(Ok(()), |conversation| conversation::keep(places, child, &conversation))?;
        standing.map_or(Ok(()), |standing| instructions::keep(places, child, &standing))?;
        keep_task(api, child, task)
    };
    let task = files().inspect_err(|_| forget_files(api, id))?;
    Ok(NewRun {
        id,
        owner,
        kind: RunKind::Single,
        title,
        key,
        background: plan.background.value,
        created_at_ms: now_ms(),
        children: vec![NewChild { agent: plan.agent.clone(), plan, task }],
    })
}

/// What a client's environment became. Has no `Debug`: it has secrets.
pub(super) struct Client {
    /// What a child gets of it.
    pub(super) variables: Environment,
    /// Digest of the file that has it, once it is kept.
    pub(super) digest: String,
    /// File mode mask.
    pub(super) umask: Option<u32>,
    /// Soft resource limits.
    pub(super) limits: BTreeMap<String, u64>,
    /// Names of variables that were left out.
    pub(super) omitted: Vec<String>,
    /// Stable codes.
    pub(super) remarks: Vec<String>,
}

impl Client {
    /// What the client stated of its environment, else what the daemon lends.
    pub(super) fn of(api: &Api, stated: Option<CapturedEnvironment>) -> Result<Self, Fault> {
        let only = &api.context.settings.environment.only;
        let (variables, umask, limits, omitted, remarks) = match stated {
            Some(stated) => {
                let variables = environment::for_child(&stated.variables, only);
                (variables, stated.umask, stated.limits, stated.omitted, Vec::new())
            }
            None => {
                let lent = environment::for_child(&environment::lent(), only);
                (lent, None, BTreeMap::new(), Vec::new(), vec![REMARK_ENVIRONMENT.to_owned()])
            }
        };
        if umask.is_some_and(|mask| mask > 0o777) {
            return Err(Fault::new(Kind::InvalidParams, "`capture.environment.umask` is more than 0777"));
        }
        let digest = environment::digest_of(&variables).map_err(|error| unstorable(&error))?;
        Ok(Self { variables, digest, umask, limits, omitted, remarks })
    }

    /// Writes its file, synced.
    pub(super) fn keep(&self, api: &Api) -> Result<(), Fault> {
        let kept = environment::keep(&api.context.places.environments(), &self.variables);
        kept.map(drop).map_err(|error| unstorable(&error))
    }
}

/// Keeps what the client of a resume stated of its environment, else what the daemon lends.
pub(super) fn take_environment(api: &Api, stated: Option<CapturedEnvironment>) -> Result<Client, Fault> {
    let client = Client::of(api, stated)?;
    client.keep(api)?;
    Ok(client)
}

/// A long task becomes a file that is synced before the launch is committed.
fn keep_task(api: &Api, child: ChildId, task: String) -> Result<Task, Fault> {
    if task.len() <= TASK_ROW_BYTES {
        return Ok(Task::Text(task));
    }
    let places = &api.context.places;
    let path = task_file(places, child);
    let name = path.file_name().map(Path::new).unwrap_or(&path);
    let written = places.make_run(child.run).and_then(|folder| files::write_synced_in(folder, name, task.as_bytes()));
    written.map(|()| Task::File).map_err(|error| unstorable(&error))
}

pub(super) fn unstorable(error: &std::io::Error) -> Fault {
    Fault::new(
        Kind::Storage,
        format!("the launch cannot be kept: {error}; free some space or repair the disk, then try again"),
    )
}
