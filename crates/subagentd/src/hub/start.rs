//! Starting an attempt: folder made → `starting` committed → lock taken → shim spawned → pid stored (design 2).

use std::fmt::Display;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use subagentd_core::deliver;
use subagentd_core::id::{AttemptId, ChildId};
use subagentd_core::life::State;
use subagentd_core::plan::{Captured, Decision, Plan, Supplier};
use subagentd_core::resolve::PARENT;
use subagentd_runtime::format::{Conversation, REQUEST_FORMAT, Request, Resume, TaskText};
use subagentd_runtime::runner::{Handle, LaunchFault};
use subagentd_runtime::spawn::Shim;
use subagentd_store::{AttemptKind, Begun, NewAttempt, NewLease, Past, Spawned, Task};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::link::Link;
use super::live::Material;
use super::{Context, Event, Hub};
use crate::api::{conversation, instructions};
use crate::clock::now_ms;
use crate::settings::PI;

/// Name of a single run's answer in the run's folder (design 7).
pub(crate) const ANSWER: &str = "result.md";

/// What stands between an agent's own instructions and those that hold where it works.
const STANDING: &str = "# What holds where you work\n\nThe rest was written for everybody who works for this user and in \
    this directory. Follow it, too. Where it disagrees with what stands above on what you are to do and what you must \
    not, the words above hold.";

/// One start, on its own beside the hub.
struct Start {
    context: Arc<Context>,
    attempt: AttemptId,
    material: Option<Arc<Material>>,
    lease: Option<NewLease>,
    run_state: State,
}

impl Hub {
    /// A child got its slot and its scope.
    pub(super) async fn admit(&mut self, id: ChildId) {
        let Some(run) = self.runs.get_mut(&id.run) else { return };
        let run_state = run.state_with(id.index, State::Starting);
        let Some(child) = run.child(id.index) else { return };
        child.state = State::Starting;
        child.attempts += 1;
        child.elsewhere = false;
        let material = child.material.take();
        if material.is_some() {
            self.warm = self.warm.saturating_sub(1);
        }
        let start = Start {
            context: Arc::clone(&self.context),
            attempt: AttemptId { child: id, number: child.attempts },
            material,
            lease: child.scope.map(|identity| NewLease { identity, path: child.scope_path.clone() }),
            run_state,
        };
        self.show(id.run);
        let report = self.report.clone();
        self.starts.spawn(start.run(report));
    }

    pub(super) fn on_spawned(&mut self, attempt: AttemptId, shim: Shim) {
        let process = shim.started.map(|started| (shim.pid, started));
        self.link(self.handle(attempt, process), Some(shim.control), shim.pidfd);
    }

    /// A shim lives that this daemon did not start: it is taken up like one of an earlier daemon.
    pub(super) fn on_held(&mut self, attempt: AttemptId) {
        tracing::warn!(%attempt, "its lock is held: a shim lives already and is taken up");
        let handle = self.handle(attempt, None);
        let gone = self.context.runner.watch(&handle).ok().flatten();
        self.link(handle, None, gone);
    }

    /// Takes up a shim, and sends it what was stored for it.
    pub(super) fn link(&mut self, handle: Handle, control: Option<UnixStream>, gone: Option<OwnedFd>) {
        let (report, runner) = (self.report.clone(), Arc::clone(&self.context.runner));
        let attempt = handle.attempt;
        // Before anything else: its end is awaited even if nobody waits for the child any more.
        let link = Link::new(runner, handle, control, gone, report, &self.tasks);
        let Some(child) = self.live(attempt) else { return };
        child.link = Some(link);
        self.send_everything(attempt);
    }

    /// What is known of a shim that was started in this boot.
    pub(super) fn handle(&self, attempt: AttemptId, process: Option<(u32, u64)>) -> Handle {
        Handle { attempt, boot: self.context.boot.clone(), process }
    }
}

impl Start {
    async fn run(self, report: mpsc::Sender<Event>) {
        let attempt = self.attempt;
        let event = match self.go().await {
            Ok(shim) => Event::Spawned(attempt, Box::new(shim)),
            Err(Refusal::Unprepared(error)) => Event::NotPrepared(attempt, error),
            Err(Refusal::Impossible(error)) => Event::Impossible(attempt, error),
            Err(Refusal::Held) => Event::Held(attempt),
            Err(Refusal::Elsewhere) => Event::NotBegun(attempt),
            Err(Refusal::Unspawned(error)) => Event::NotSpawned(attempt, error),
        };
        // A hub that is gone has stopped; the next start finds the attempt in the store.
        report.send(event).await.ok();
    }

    async fn go(self) -> Result<Shim, Refusal> {
        let material = self.material().await.map_err(Refusal::Unprepared)?;
        let past = self.past().await.map_err(Refusal::Unprepared)?;
        let kind = past.continuation.as_ref().map_or(AttemptKind::First, |_| AttemptKind::Resume);
        let request = self.request(&material, past).map_err(Refusal::Impossible)?;
        let instructions = self.instructions(&material.plan).await.map_err(Refusal::Unprepared)?;
        let runner = Arc::clone(&self.context.runner);
        let prepared = tokio::task::spawn_blocking(move || runner.prepare(&request, &instructions)).await;
        prepared
            .map_err(|error| Refusal::Unprepared(error.to_string()))?
            .map_err(|error| Refusal::Unprepared(format!("the attempt's folder cannot be made: {error}")))?;
        self.keep_distance(&material.plan.runtime.value).await;
        self.begin(kind).await?;
        let (runner, attempt) = (Arc::clone(&self.context.runner), self.attempt);
        let spawned = tokio::task::spawn_blocking(move || runner.launch(attempt)).await;
        let shim = spawned.map_err(|error| Refusal::Unspawned(error.to_string()))?.map_err(|fault| match fault {
            LaunchFault::Held => Refusal::Held,
            LaunchFault::Failed(_) => Refusal::Unspawned(fault.to_string()),
        })?;
        let Some(pid_start) = shim.started else { return Ok(shim) };
        let stored = Spawned { attempt: self.attempt, pid: shim.pid, pid_start };
        let receipt = self.context.writer.spawned(stored).await;
        // The start does not wait for it: the pid only helps a later daemon, which looks at the lock first.
        tokio::spawn(async move {
            if let Err(error) = receipt.await {
                tracing::warn!(%error, "the shim's process id could not be stored");
            }
        });
        Ok(shim)
    }

    /// Starts of pi follow each other at a distance: those that read one configuration folder at the same moment find its
    /// locks held, and would go on without the user's settings.
    async fn keep_distance(&self, runtime: &str) {
        let distance = self.context.settings.start_distance();
        if runtime != PI || distance.is_zero() {
            return;
        }
        let mut last = self.context.last_start.lock().await;
        if let Some(last) = *last {
            tokio::time::sleep_until(last + distance).await;
        }
        *last = Some(Instant::now());
    }

    async fn begin(&self, kind: AttemptKind) -> Result<(), Refusal> {
        let begin = NewAttempt {
            attempt: self.attempt,
            kind,
            lease: self.lease.clone(),
            boot: self.context.boot.clone(),
            run_state: self.run_state,
            at_ms: now_ms(),
        };
        match self.context.writer.begin_attempt(begin).await.await {
            Ok(Begun::Started) => Ok(()),
            Ok(Begun::Elsewhere { .. }) => Err(Refusal::Elsewhere),
            Err(error) => Err(Refusal::Unprepared(format!("the attempt could not be stored: {error}"))),
        }
    }

    async fn material(&self) -> Result<Arc<Material>, String> {
        if let Some(material) = &self.material {
            return Ok(Arc::clone(material));
        }
        let reader = &self.context.reader;
        let child = self.attempt.child;
        let run = reader.run(child.run).await.map_err(|error| error.to_string())?;
        let mut children = run.map(|run| run.children).unwrap_or_default().into_iter();
        let plan =
            children.find(|row| row.index == child.index).map(|row| row.plan).ok_or("the child is not stored")?;
        let task = reader.task(child).await.map_err(|error| error.to_string())?.ok_or("the task is not stored")?;
        Ok(Arc::new(Material { plan, task }))
    }

    /// A start that was not resumed has nothing to look up.
    async fn past(&self) -> Result<Past, String> {
        if self.attempt.number == 1 && self.material.is_some() {
            return Ok(Past { continuation: None, answered: None, conversation: false });
        }
        let past = self.context.reader.past(self.attempt).await.map_err(|error| error.to_string())?;
        past.ok_or_else(|| "the child is not stored".to_owned())
    }

    /// The agent's own, and behind them those that hold where it works, as they were when it was launched.
    async fn instructions(&self, plan: &Plan) -> Result<String, String> {
        let Captured { standing: Some(Decision { value: Some(digest), .. }), .. } = &plan.captured else {
            return Ok(plan.instructions.clone());
        };
        let file = instructions::file(&self.context.places, self.attempt.child);
        let unusable =
            |error: &dyn Display| format!("the standing instructions {} cannot be used: {error}", file.display());
        let standing = tokio::fs::read_to_string(&file).await.map_err(|error| unusable(&error))?;
        if deliver::digest(standing.as_bytes()) != *digest {
            return Err(unusable(&"they were changed since the launch"));
        }
        Ok(joined(&plan.instructions, &standing))
    }

    fn request(&self, material: &Material, past: Past) -> Result<Request, String> {
        let Past { continuation, answered, .. } = past;
        let plan = &material.plan;
        let (provider, model) = plan.model.value.split_once('/').ok_or("the stored model is not exact")?;
        let places = &self.context.places;
        let runtime = &plan.runtime.value;
        let configured = || self.context.settings.program(runtime);
        let program = plan.program.clone().or_else(configured).ok_or_else(|| missing_runtime(runtime))?;
        // A resume brings the environment that holds from then on (G42).
        let (environment, umask, limits) = match &continuation {
            Some(resumed) => (&resumed.environment, resumed.umask, &resumed.limits),
            None => (&plan.environment, plan.umask, &plan.resource_limits),
        };
        let fork = (plan.context.value == PARENT).then(|| conversation::file(places, self.attempt.child));
        Ok(Request {
            format: REQUEST_FORMAT,
            attempt: self.attempt,
            program,
            directory: plan.workspace.directory.clone(),
            root: plan.workspace.root.clone(),
            identity: plan.workspace.identity,
            exclusive: self.lease.is_some(),
            environment: environment.as_ref().map(|digest| crate::environment::path(&places.environments(), digest)),
            umask,
            open_files: self.context.open_files,
            resource_limits: limits.clone(),
            provider: provider.to_owned(),
            model: model.to_owned(),
            thinking: plan.thinking_argument().to_owned(),
            tools: plan.tools.value.clone(),
            extensions: plan.captured.suppliers.iter().map(extension).collect(),
            excluded_tools: plan.captured.withheld.clone(),
            task: task_text(&material.task, self),
            resume: continuation.map(|resumed| Resume { text: resumed.text }),
            conversation: Conversation { id: self.attempt.child.run.to_string(), fork },
            answer: ANSWER.into(),
            earlier_answer: answered,
            spool: places.spool(),
            limits: plan.limits.value,
        })
    }
}

/// How the request names what is loaded into a child.
fn extension(supplier: &Supplier) -> String {
    match supplier {
        Supplier::File(name) | Supplier::Package(name) => name.clone(),
        Supplier::Builtin(name) => format!("builtin:{name}"),
    }
}

/// Says whose words are whose: only the agent's own say what it is for.
fn joined(own: &str, standing: &str) -> String {
    let own = own.trim_end();
    if own.is_empty() { standing.to_owned() } else { format!("{own}\n\n{STANDING}\n\n{standing}") }
}

fn task_text(task: &Task, start: &Start) -> TaskText {
    match task {
        Task::Text(text) => TaskText::Inline(text.clone()),
        Task::File => TaskText::File(crate::api::task_file(&start.context.places, start.attempt.child)),
    }
}

fn missing_runtime(runtime: &str) -> String {
    format!("the runtime {runtime} is not configured any more; set runtimes.{runtime}.command")
}

/// Why a start came to nothing.
enum Refusal {
    Unprepared(String),
    Impossible(String),
    Elsewhere,
    Unspawned(String),
    Held,
}
