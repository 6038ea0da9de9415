//! `agent/*`.

use std::sync::Arc;
use std::time::Duration;

use subagentd_core::advice::{self, ListRequest};
use subagentd_core::definition::{AgentScope, Catalog};
use subagentd_core::resolve::Policy;
use subagentd_ipc::connection::Connection;
use subagentd_proto::agent::{CatalogParams, CatalogResponse, ListParams, ListResponse};
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::limits;

use super::{Api, convert, fault, launch, model, run, workspace};
use crate::definitions::CatalogRequest;
use crate::policy::Problem;

/// How long the list waits for runtimes to tell what they can run: agents are what it is for.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn catalog(
    api: Arc<Api>,
    connection: Arc<Connection>,
    params: CatalogParams,
) -> Result<CatalogResponse, Fault> {
    let CatalogParams { directory, trusted, agent_scope } = params;
    let whose = Whose::of(&connection, directory, trusted, agent_scope.as_deref())?;
    let what = whose.what();
    let (agents, faults) = launch::beside(&api, &what, move |api| {
        let (catalog, policy) = whose.look(api)?;
        let mut faults = catalog.faults().to_vec();
        let policy = policy.unwrap_or_else(|problem| {
            faults.push(format!("{problem}; until that is mended no agent is launched"));
            Policy::default()
        });
        Ok((catalog.iter().map(|definition| convert::agent(definition, &policy)).collect(), faults))
    })
    .await?;
    let survey = model::survey(&api, &connection, None, false, PATIENCE).await?;
    Ok(CatalogResponse { agents, runtimes: survey.list().map(convert::runtime).collect(), faults })
}

/// The agents as text. The task is looked at and forgotten: no word of it is stored, logged or repeated.
pub(super) async fn list(
    api: Arc<Api>,
    connection: Arc<Connection>,
    params: ListParams,
) -> Result<ListResponse, Fault> {
    let ListParams { directory, trusted, agent_scope, task } = params;
    let (length, most) = (task.as_ref().map_or(0, String::len), limits::ADVICE_TASK_BYTES);
    if length > most {
        return Err(Fault::new(Kind::Limit, format!("`task` has {length} bytes; advice takes at most {most}")));
    }
    let whose = Whose::of(&connection, directory, trusted, agent_scope.as_deref())?;
    let what = whose.what();
    let listed = launch::beside(&api, &what, move |api| {
        let (catalog, policy) = whose.look(api)?;
        // Advice that does not know what is allowed could advise what is not.
        let policy = policy.map_err(|problem| fault::settings(&problem))?;
        Ok(advice::list(&catalog, &ListRequest { task: task.as_deref(), ceilings: &policy.ceilings }))
    });
    Ok(ListResponse { text: listed.await? })
}

/// Whose agents a call is about.
struct Whose {
    owner: String,
    peer: Option<i32>,
    directory: Option<String>,
    trusted: bool,
    scope: AgentScope,
}

impl Whose {
    fn of(
        connection: &Connection,
        directory: Option<String>,
        trusted: Option<bool>,
        scope: Option<&str>,
    ) -> Result<Self, Fault> {
        let scope = convert::asked_scope(scope)?;
        let owner = run::session(connection)?.owner.clone();
        Ok(Self { owner, peer: connection.peer.pid, directory, trusted: trusted == Some(true), scope })
    }

    /// What may be slow.
    fn what(&self) -> String {
        self.directory.clone().unwrap_or_else(|| "a directory with agents".to_owned())
    }

    /// Looks at the disk: the agents that a launch from there would find, and what holds for it.
    fn look(&self, api: &Api) -> Result<(Arc<Catalog>, Result<Policy, Problem>), Fault> {
        let workspace = self.directory.as_deref().map(workspace::find).transpose()?;
        let project = workspace.as_ref().map(|workspace| workspace.root.as_path());
        let layers = api.policies.read(project.filter(|_| self.trusted));
        let catalog = api.definitions.catalog(&CatalogRequest {
            environment: &model::of_peer(api, self.peer),
            project,
            trusted: self.trusted,
            scope: self.scope,
        });
        Ok((catalog, layers.policy(&self.owner).map_err(Clone::clone)))
    }
}
