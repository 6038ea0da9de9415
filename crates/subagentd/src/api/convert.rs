//! The one place that maps core and store to the wire.

use std::path::Path;

use subagentd_core::definition::{AgentScope, Definition, Part, Problem, Role, Severity};
use subagentd_core::deliver::{self, Reference};
use subagentd_core::id::{ChildId, RunId};
use subagentd_core::life::State;
use subagentd_core::outcome::{Delivery, Outcome, Receipt, Reported, Usage};
use subagentd_core::plan::{Decision, Plan, Supplier};
use subagentd_core::resolve::{Capture, DefaultRuntime, Policy, active_tools, class_of, effective_tools};
use subagentd_core::schedule::Waits;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::{agent as wire_agent, inbox, run as wire};
use subagentd_runtime::files;
use subagentd_runtime::folder::Places;
use subagentd_store::{ChildRow, IntentKind, NoticeMark, NoticeRow, RunRow, SteerRow};

use super::task_file;
use crate::hub::Snapshot;
use crate::policy;
use crate::runtimes::Listed;

/// Bytes of a task in a view.
const TASK_HEAD: usize = 4 * 1024;
/// Characters of a title that is made from the task.
const TITLE_CHARACTERS: usize = 120;

pub(super) fn state(state: State) -> wire::State {
    match state {
        State::Queued => wire::State::Queued,
        State::Starting => wire::State::Starting,
        State::Running => wire::State::Running,
        State::Paused => wire::State::Paused,
        State::Succeeded => wire::State::Succeeded,
        State::Failed => wire::State::Failed,
        State::Cancelled => wire::State::Cancelled,
        State::TimedOut => wire::State::TimedOut,
        State::BudgetExhausted => wire::State::BudgetExhausted,
        State::Interrupted => wire::State::Interrupted,
        State::Rejected => wire::State::Rejected,
    }
}

pub(super) fn asked_state(asked: wire::State) -> Result<State, Fault> {
    let known = State::ALL.into_iter().find(|known| state(*known) == asked);
    known.ok_or_else(|| {
        let words: Vec<&str> = State::ALL.iter().map(|state| state.word()).collect();
        Fault::new(Kind::InvalidParams, format!("`states` has a word that is no state; they are {}", words.join(", ")))
    })
}

fn decision<T: Clone>(decision: &Decision<T>) -> wire::Decision<T> {
    mapped(decision, Clone::clone)
}

fn mapped<T, U>(decision: &Decision<T>, map: impl Fn(&T) -> U) -> wire::Decision<U> {
    let alternatives = decision.alternatives.iter();
    wire::Decision {
        value: map(&decision.value),
        source: decision.source.word().to_owned(),
        reason: decision.reason.clone(),
        alternatives: alternatives
            .map(|other| wire::Alternative { value: other.value.clone(), reason: other.reason.clone() })
            .collect(),
    }
}

pub(super) fn default_runtime(default: &DefaultRuntime) -> wire::Decision<String> {
    wire::Decision {
        value: default.name.clone(),
        source: default.source.word().to_owned(),
        reason: default.reason.clone(),
        alternatives: Vec::new(),
    }
}

pub(super) fn decisions(plan: &Plan) -> wire::Decisions {
    wire::Decisions {
        agent_source: plan.agent_source.clone(),
        runtime: decision(&plan.runtime),
        model: decision(&plan.model),
        thinking: decision(&plan.thinking),
        tools: decision(&plan.tools),
        context: decision(&plan.context),
        class: mapped(&plan.class, |class| class.word().to_owned()),
        background: decision(&plan.background),
        directory: text(&plan.workspace.directory),
        workspace: text(&plan.workspace.root),
        model_reason: (!plan.model_kind.is_empty()).then(|| plan.model_kind.clone()),
        trusted: plan.captured.trusted.as_ref().map(decision),
        standing: plan.captured.standing.as_ref().map(decision),
        suppliers: plan.captured.suppliers.iter().map(supplier).collect(),
        withheld: plan.captured.withheld.clone(),
        definition: Vec::new(),
        timeout_ms: plan.limits.value.total_ms,
        idle_timeout_ms: plan.limits.value.idle_ms,
        first_event_timeout_ms: Some(plan.limits.value.first_event_ms),
        tool_call_timeout_ms: Some(plan.limits.value.tool_call_ms),
        limits_source: Some(plan.limits.source.word().to_owned()),
        limits_reason: Some(plan.limits.reason.clone()),
    }
}

fn supplier(supplier: &Supplier) -> wire::Supplier {
    match supplier {
        Supplier::File(name) => wire::Supplier::File(name.clone()),
        Supplier::Package(name) => wire::Supplier::Package(name.clone()),
        Supplier::Builtin(name) => wire::Supplier::Builtin(name.clone()),
    }
}

pub(super) fn waits(waits: Waits) -> wire::Waits {
    wire::Waits {
        on: waits.on.word().to_owned(),
        place: waits.place,
        holder: waits.holder.map(|holder| holder.run.to_string()),
        holder_since_ms: waits.holder_since_ms,
    }
}

fn waits_of(all: &[(ChildId, Waits)], run: RunId, index: u32) -> Option<wire::Waits> {
    let child = ChildId { run, index };
    all.iter().find(|(one, _)| *one == child).map(|(_, found)| waits(*found))
}

pub(super) fn reference(reference: &Reference) -> wire::Reference {
    wire::Reference {
        path: text(&reference.path),
        bytes: reference.bytes,
        lines: reference.lines,
        sha256: reference.sha256.clone(),
    }
}

pub(super) fn notice_ref(mark: NoticeMark) -> wire::NoticeRef {
    wire::NoticeRef { seq: mark.seq, acknowledged: mark.acknowledged }
}

pub(super) fn run(places: &Places, row: &RunRow, waits: &[(ChildId, Waits)]) -> wire::RunView {
    wire::RunView {
        run: row.id.to_string(),
        kind: row.kind.word().to_owned(),
        owner: row.owner.clone(),
        title: row.title.clone(),
        state: state(row.state),
        created_at_ms: row.created_at_ms,
        started_at_ms: row.started_at_ms,
        ended_at_ms: row.ended_at_ms,
        children: row.children.iter().map(|one| child(places, row, one, waits)).collect(),
        notice: row.notice.map(notice_ref),
    }
}

fn child(places: &Places, run: &RunRow, row: &ChildRow, waits: &[(ChildId, Waits)]) -> wire::ChildView {
    let attempt = row.attempt.as_ref();
    let outcome = attempt.and_then(|attempt| attempt.outcome.as_ref());
    let answer = outcome.and_then(|outcome| outcome.answer.as_ref());
    wire::ChildView {
        index: row.index,
        agent: row.agent.clone(),
        task: row.task_head.clone().unwrap_or_else(|| head_of_file(places, run.id, row.index)),
        state: state(row.state),
        reason: row.reason.map(|reason| reason.code().to_owned()),
        error: row.error.clone(),
        attempt: row.attempts,
        started_at_ms: attempt.map(|attempt| attempt.begun_at_ms),
        ended_at_ms: attempt.and_then(|attempt| attempt.ended_at_ms),
        intent: intent(row),
        waits: waits_of(waits, run.id, row.index),
        reference: answer.map(|answer| reference(&answer.reference)),
        answer_complete: answer.map(|answer| answer.complete),
        decisions: decisions(&row.plan),
        reported: outcome.map(|outcome| reported(&outcome.reported)),
        tool_calls: outcome.map(|outcome| outcome.tool_calls),
        usage: outcome.map(|outcome| usage(&outcome.usage)),
        tools_missing: outcome.map(|outcome| outcome.tools_missing.clone()).unwrap_or_default(),
        remarks: remarks(row, outcome),
        steers: row.steers.iter().map(steer).collect(),
        resume_refusal: None,
        folder: attempt.map(|attempt| {
            let id = subagentd_core::id::AttemptId {
                child: ChildId { run: run.id, index: row.index },
                number: attempt.number,
            };
            text(&places.attempt(id))
        }),
    }
}

pub(super) fn progress(run: RunId, snapshot: &Snapshot, waits: &[(ChildId, Waits)]) -> wire::RunProgress {
    let children = (0..).zip(&snapshot.children).map(|(index, child)| wire::ChildProgress {
        index,
        agent: child.agent.clone(),
        state: state(child.state),
        tool_calls: child.progress.tool_calls,
        turns: child.progress.turns,
        tokens: child.progress.tokens,
        tool: child.progress.tool.clone(),
        last_event_at_ms: child.progress.last_event_at_ms,
        waits: waits_of(waits, run, index),
    });
    wire::RunProgress { run: run.to_string(), state: state(snapshot.state), children: children.collect() }
}

/// Since when a child is in its present state. When a resume was asked for is not kept.
fn since(run: &RunRow, child: &ChildRow) -> Option<u64> {
    let attempt = child.attempt.as_ref();
    match child.state {
        State::Queued => (child.attempts == 0).then_some(run.created_at_ms),
        State::Starting => attempt.map(|attempt| attempt.begun_at_ms),
        State::Running => attempt.map(|attempt| attempt.begun_at_ms),
        // A child that never ran has no attempt that ended.
        _ => attempt.and_then(|attempt| attempt.ended_at_ms).or(run.ended_at_ms),
    }
}

/// What was asked of a child and has not happened yet. A cancel decides, whatever else was asked.
fn intent(row: &ChildRow) -> Option<String> {
    let open = row.intents.iter().filter(|_| !row.state.is_end() && row.state != State::Paused);
    open.map(|intent| intent.kind).min_by_key(|kind| *kind != IntentKind::Cancel).map(|kind| kind.word().to_owned())
}

fn steer(row: &SteerRow) -> wire::SteerView {
    let delivery = match row.delivery {
        Delivery::Steer => wire::Delivery::Steer,
        Delivery::FollowUp => wire::Delivery::FollowUp,
    };
    wire::SteerView { number: row.number, at_ms: row.at_ms, delivery, receipt: receipt(row.receipt) }
}

pub(super) fn asked_delivery(delivery: wire::Delivery) -> Result<Delivery, Fault> {
    match delivery {
        wire::Delivery::Steer => Ok(Delivery::Steer),
        wire::Delivery::FollowUp => Ok(Delivery::FollowUp),
        wire::Delivery::Unknown => {
            Err(Fault::new(Kind::InvalidParams, "`delivery` is not one that is known: `steer` or `followUp`"))
        }
    }
}

/// Without the child's word it is what is stored.
pub(super) const fn receipt(receipt: Option<Receipt>) -> wire::Receipt {
    match receipt {
        None => wire::Receipt::Stored,
        Some(Receipt::Accepted) => wire::Receipt::Accepted,
        Some(Receipt::Delivered) => wire::Receipt::Delivered,
        Some(Receipt::Undelivered) => wire::Receipt::Undelivered,
    }
}

fn remarks(row: &ChildRow, outcome: Option<&Outcome>) -> Vec<String> {
    let ended = outcome.map(|outcome| outcome.remarks.as_slice()).unwrap_or_default();
    row.plan.remarks.iter().chain(ended).cloned().collect()
}

fn reported(reported: &Reported) -> wire::Reported {
    wire::Reported { model: reported.model.clone(), thinking: reported.thinking.clone(), tools: reported.tools.clone() }
}

fn usage(usage: &Usage) -> wire::Usage {
    wire::Usage {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        cost: usage.cost,
    }
}

/// The beginning of a task that is kept as a file.
fn head_of_file(places: &Places, run: RunId, index: u32) -> String {
    use std::io::Read as _;
    let path = task_file(places, ChildId { run, index });
    let mut bytes = Vec::new();
    let opened = files::open_folder(&places.run(run))
        .and_then(|folder| files::open_file_in(&folder, path.file_name().map(Path::new).unwrap_or(&path)));
    // A view without it is still a view.
    opened.and_then(|file| file.take(TASK_HEAD as u64).read_to_end(&mut bytes)).ok();
    let (skip, length) = deliver::whole_characters(&bytes);
    bytes.get(skip..skip + length).map(String::from_utf8_lossy).unwrap_or_default().into_owned()
}

pub(super) fn summary(row: &RunRow, waits: &[(ChildId, Waits)]) -> wire::RunSummary {
    let first = row.children.first();
    let title = row.title.clone().or_else(|| first.and_then(|child| child.task_head.as_deref()).map(title_of));
    wire::RunSummary {
        run: row.id.to_string(),
        state: state(row.state),
        reason: first.and_then(|child| child.reason).map(|reason| reason.code().to_owned()),
        agent: first.map(|child| child.agent.clone()).unwrap_or_default(),
        children: u32::try_from(row.children.len()).unwrap_or(u32::MAX),
        title: title.unwrap_or_default(),
        owner: row.owner.clone(),
        directory: first.map(|child| text(&child.plan.workspace.directory)).unwrap_or_default(),
        runtime: first.map(|child| child.plan.runtime.value.clone()).unwrap_or_default(),
        created_at_ms: row.created_at_ms,
        started_at_ms: row.started_at_ms,
        ended_at_ms: row.ended_at_ms,
        since_ms: first.and_then(|child| since(row, child)),
        intent: first.and_then(intent),
        waits: first.and_then(|child| waits_of(waits, row.id, child.index)),
        notice: row.notice.map(notice_ref),
    }
}

/// The first line that says something, cut.
fn title_of(task: &str) -> String {
    let line = task.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut characters = line.chars().map(|character| if character.is_control() { ' ' } else { character });
    let title: String = characters.by_ref().take(TITLE_CHARACTERS).collect();
    if characters.next().is_some() { format!("{title}…") } else { title }
}

pub(super) fn notice(row: NoticeRow) -> inbox::Notice {
    let notice = row.notice;
    inbox::Notice {
        seq: row.seq,
        kind: notice.kind.word().to_owned(),
        run: row.run.to_string(),
        state: state(notice.state),
        reason: notice.reason.code().to_owned(),
        agent: notice.agent,
        title: notice.title,
        children: notice.children,
        reference: notice.reference.map(|reference| inbox::NoticeReference {
            path: reference.path.as_deref().map(text),
            bytes: reference.bytes,
            lines: reference.lines,
            sha256: reference.sha256,
        }),
        text: None,
        at_ms: notice.at_ms,
    }
}

/// As a launch without a host would find it.
pub(super) fn agent(definition: &Definition, policy: &Policy) -> wire_agent::AgentView {
    let capture = Capture::default();
    let active = active_tools(&capture, None);
    let tools = effective_tools(definition, &active, &capture, policy);
    let inherits = !matches!(definition.tools.set(), Some(subagentd_core::definition::Tools::List(_)));
    wire_agent::AgentView {
        name: definition.identifier.clone(),
        display_name: definition.display_name.set().cloned(),
        description: definition.described().to_owned(),
        source: definition.layer.word().to_owned(),
        class: class_of(definition, &tools, &active.value, &policy.effects).value.word().to_owned(),
        tools: (!inherits).then_some(tools.value),
        model: definition.model.set().cloned(),
        thinking: definition.thinking.set().cloned(),
        background: definition.in_background(),
        role: definition.acceptance_role.set().map(role),
        aliases: definition.aliases.set().cloned().unwrap_or_default(),
        launchable: !definition.broken && definition.is_enabled(),
        definition: parts(definition),
        problems: definition.problems.iter().map(problem).collect(),
    }
}

pub(super) fn asked_scope(word: Option<&str>) -> Result<AgentScope, Fault> {
    let Some(word) = word else { return Ok(AgentScope::default()) };
    AgentScope::from_word(word).ok_or_else(|| {
        let words = AgentScope::ALL.map(AgentScope::word).join(", ");
        Fault::new(Kind::InvalidParams, format!("`agentScope` is none of {words}"))
    })
}

pub(super) fn parts(definition: &Definition) -> Vec<wire::DefinitionPart> {
    let part = |part: &Part| wire::DefinitionPart {
        source: part.layer.word().to_owned(),
        file: part.file.clone(),
        fields: part.keys.iter().map(|key| key.word().to_owned()).collect(),
    };
    definition.parts.iter().map(part).collect()
}

fn problem(problem: &Problem) -> wire_agent::ProblemView {
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    wire_agent::ProblemView {
        severity: severity.to_owned(),
        file: problem.file.clone(),
        line: problem.line,
        column: problem.column,
        message: problem.message.clone(),
    }
}

pub(super) fn setting(problem: &policy::Problem) -> wire_agent::ProblemView {
    wire_agent::ProblemView {
        severity: "warning".to_owned(),
        file: problem.file.clone(),
        line: problem.line,
        column: problem.column,
        message: problem.sentence(),
    }
}

fn role(role: &Role) -> String {
    match role {
        Role::ReadOnly => "read-only".to_owned(),
        Role::Writer => "writer".to_owned(),
    }
}

pub(super) fn runtime(listed: Listed<'_>) -> wire_agent::RuntimeView {
    wire_agent::RuntimeView { name: listed.name.to_owned(), default: listed.default, reason: listed.reason.to_owned() }
}

/// Paths on the wire are text; what is not UTF-8 in them is shown as such.
fn text(path: &Path) -> String {
    path.display().to_string()
}
