//! From what a caller asks and states to a plan: the one way of launching and of looking ahead. Nothing is stored here.

use std::sync::Arc;
use std::time::Duration;

use subagentd_core::definition::{AgentScope, Catalog};
use subagentd_core::plan::{Environment, Plan, Source};
use subagentd_core::resolve::{Capture, FRESH, Facts, PARENT, Request, plan_digest, resolve};
use subagentd_core::route::Exact;
use subagentd_core::workspace::Workspace;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::run::{DefinitionPart, LaunchParams};

use super::launch::{Client, beside};
use super::{Api, capture, conversation, convert, default_tools, fault, instructions, workspace};
use crate::definitions::CatalogRequest;
use crate::policy::{Layers, Problem};
use crate::runtimes::{Sight, Survey, configuration_folder};
use crate::settings::PI;

/// How long a launch waits for the programs of its runtimes to tell what they can run. Longer than each may take.
const ASKING: Duration = Duration::from_secs(30);
/// Remark: something in the settings is wrong and had no effect on this launch but that it is left out.
const REMARK_SETTINGS: &str = "settings.problems";

/// What a caller asks, on its way through the looks at the disk.
pub(super) struct Asked {
    pub(super) owner: String,
    pub(super) params: LaunchParams,
}

/// Everything that is settled about a child, and what of it goes into files. Has no `Debug`: it has secrets.
pub(super) struct Settled {
    /// With its digest.
    pub(super) plan: Plan,
    /// The files that its definition is made of.
    pub(super) definition: Vec<DefinitionPart>,
    pub(super) title: Option<String>,
    pub(super) task: String,
    pub(super) client: Client,
    /// The parent's, for a child that begins with it.
    pub(super) conversation: Option<conversation::Copy>,
    /// If there are some.
    pub(super) standing: Option<instructions::Standing>,
    /// What is wrong in the settings and keeps nobody from launching.
    pub(super) problems: Vec<Problem>,
}

/// What the first look gave.
enum Prepared<T, F> {
    /// Everything is settled, and done with.
    Done(T),
    /// A runtime's program has to be asked.
    Open(Box<Open>, F),
}

struct Open {
    asked: Asked,
    capture: Capture,
    client: Client,
    workspace: Workspace,
    sight: Sight,
}

/// Settles everything and hands it to `finish`, which may write to the disk. Only a launch that needs a runtime whose
/// program has to be asked first looks twice.
pub(super) async fn settled<T, F>(api: &Arc<Api>, asked: Asked, finish: F) -> Result<T, Fault>
where
    T: Send + 'static,
    F: FnOnce(&Api, Settled) -> Result<T, Fault> + Send + 'static,
{
    let directory = asked.params.directory.clone();
    match beside(api, &directory, move |api| prepare(api, asked, finish)).await? {
        Prepared::Done(done) => Ok(done),
        Prepared::Open(open, finish) => {
            let Open { asked, capture, client, workspace, sight } = *open;
            let survey = api.runtimes.ask(sight, ASKING).await;
            let settle = move |api: &Api| finish(api, settle(api, asked, capture, client, workspace, &survey)?);
            beside(api, &directory, settle).await
        }
    }
}

fn prepare<T, F>(api: &Api, mut asked: Asked, finish: F) -> Result<Prepared<T, F>, Fault>
where
    F: FnOnce(&Api, Settled) -> Result<T, Fault>,
{
    let capture = capture::read(&asked.params.capture)?;
    let workspace = workspace::find(&asked.params.directory)?;
    let client = Client::of(api, asked.params.capture.environment.take())?;
    let needed = api.runtimes.needed(asked.params.runtime.as_deref());
    match api.runtimes.settled(api.runtimes.look(needed, &client.variables, false)) {
        Ok(survey) => {
            let settled = settle(api, asked, capture, client, workspace, &survey)?;
            finish(api, settled).map(Prepared::Done)
        }
        Err(sight) => Ok(Prepared::Open(Box::new(Open { asked, capture, client, workspace, sight }), finish)),
    }
}

fn settle(
    api: &Api,
    asked: Asked,
    mut capture: Capture,
    client: Client,
    workspace: Workspace,
    survey: &Survey,
) -> Result<Settled, Fault> {
    let Asked { owner, params } = asked;
    let trusted = capture.trusted.value;
    let layers = api.policies.read(trusted.then_some(workspace.root.as_path()));
    let policy = layers.policy(&owner).map_err(fault::settings)?;
    let catalog = catalog(api, &client.variables, &workspace, trusted);
    // A child that is to begin fresh needs none.
    let stated = params.capture.conversation.as_ref().filter(|_| params.context.as_deref() != Some(FRESH));
    let conversation = stated.map(conversation::take).transpose()?;
    let standing = instructions::take(params.capture.instructions.as_ref(), &workspace, trusted, &client.variables)?;
    let default_tools = of_pi(&client.variables, &workspace, trusted);
    capture.conversation = conversation.as_ref().map(|copy| copy.sha256.clone());
    capture.standing = standing.stated();
    capture.parent = capture.parent.or_else(|| layers.parent());
    let mut facts = Facts {
        runtimes: survey.facts(),
        default_runtime: survey.default().clone(),
        default_limits: api.context.settings.time_limits(),
        limits_source: Source::Configuration,
        policy,
        capture,
        workspace,
        environment: Some(client.digest.clone()),
        umask: client.umask,
        resource_limits: client.limits.clone(),
        environment_omitted: client.omitted.clone(),
        remarks: client.remarks.clone(),
    };
    if let Some(pi) = facts.runtimes.get_mut(PI) {
        pi.default_tools = Some(default_tools);
    }
    let LaunchParams {
        agent, task, title, model, thinking, background, context, runtime, timeout, idle_timeout, ..
    } = params;
    let request = Request {
        agent,
        model,
        thinking,
        background,
        runtime,
        context,
        timeout_ms: timeout,
        idle_timeout_ms: idle_timeout,
    };
    let mut plan = resolve(&request, &catalog, &facts).map_err(|refused| fault::refusal(&refused))?;
    check_configured(&plan, &facts, &layers)?;
    let problems = layers.problems();
    if !problems.is_empty() {
        plan.remarks.push(REMARK_SETTINGS.to_owned());
    }
    plan.program = survey.program(&plan.runtime.value);
    plan.digest = Some(plan_digest(&plan, task.as_bytes()));
    let standing = explained(standing, &mut plan);
    let definition = catalog.find(&plan.agent).map(convert::parts).unwrap_or_default();
    let conversation = conversation.filter(|_| plan.context.value == PARENT);
    Ok(Settled { plan, definition, title, task, client, conversation, standing, problems })
}

/// The agents there are for a launch.
fn catalog(api: &Api, environment: &Environment, workspace: &Workspace, trusted: bool) -> Arc<Catalog> {
    let project = Some(workspace.root.as_path());
    api.definitions.catalog(&CatalogRequest { environment, project, trusted, scope: AgentScope::Both })
}

/// The tools that pi activates by itself.
fn of_pi(environment: &Environment, workspace: &Workspace, trusted: bool) -> Vec<String> {
    default_tools::of_pi(&configuration_folder(environment), trusted.then_some(workspace.resolved.as_path()))
}

/// A model that only the settings name, and that nothing can run, is refused as one that a call names.
fn check_configured(plan: &Plan, facts: &Facts, layers: &Layers) -> Result<(), Fault> {
    let is_configured = plan.model.source == Source::Configuration;
    let own = facts.runtimes.get(&plan.runtime.value).map(|runtime| &runtime.models);
    let (true, Some(own), Some(model)) = (is_configured, own, Exact::parse(&plan.model.value)) else {
        return Ok(());
    };
    let models = facts.capture.models.as_ref().unwrap_or(own);
    if models.is_unknown() || models.get(&model).is_some() {
        return Ok(());
    }
    let text = format!(
        "the runtime `{}` cannot run `{model}`, which is `parent_model` in {}; set another, or name a model",
        plan.runtime.value,
        layers.parent_file()
    );
    Err(Fault::new(Kind::ModelUnavailable, text))
}

/// The plan tells which files the instructions are from.
fn explained(mut standing: instructions::Standing, plan: &mut Plan) -> Option<instructions::Standing> {
    if let Some(decision) = &mut plan.captured.standing {
        standing.explain(decision);
    }
    (!standing.is_empty()).then_some(standing)
}
