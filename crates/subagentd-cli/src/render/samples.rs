//! Wire values that the screens' tests start from.

use subagentd_proto::inbox::{Notice, NoticeReference};
use subagentd_proto::run::{
    ChildView, Decision, Decisions, NoticeRef, Reference, Reported, RunSummary, RunView, State, Usage, Waits,
};

use super::time::Clock;
use crate::output::Screen;

pub(crate) const RUN: &str = "01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d";
pub(crate) const OTHER: &str = "01998c1e-7a4b-7c3d-9e1f-00009f8e7d6c";
/// 22:13:20 UTC.
pub(crate) const CREATED: u64 = 1_700_000_000_000;
const STARTED: u64 = CREATED + 1_000;
const ENDED: u64 = STARTED + 123_000;

pub(crate) fn clock() -> Clock {
    Clock::utc(CREATED + 600_000)
}

pub(crate) fn screen() -> Screen {
    Screen { json: false, width: 80, color: false, terminal: false }
}

pub(crate) fn waits_on_scope() -> Waits {
    Waits { on: "scope".to_owned(), place: 1, holder: Some(OTHER.to_owned()), holder_since_ms: Some(CREATED) }
}

pub(crate) fn summary(state: State, title: &str) -> RunSummary {
    RunSummary {
        run: RUN.to_owned(),
        state,
        reason: None,
        agent: "explore".to_owned(),
        children: 1,
        title: title.to_owned(),
        owner: "cli:ada".to_owned(),
        directory: "/home/ada/project".to_owned(),
        runtime: "offline".to_owned(),
        created_at_ms: CREATED,
        started_at_ms: Some(STARTED),
        ended_at_ms: Some(ENDED),
        since_ms: Some(ENDED),
        intent: None,
        waits: None,
        notice: None,
    }
}

pub(crate) fn decision<T>(value: T, source: &str, reason: &str) -> Decision<T> {
    Decision { value, source: source.to_owned(), reason: reason.to_owned(), alternatives: Vec::new() }
}

pub(crate) fn decisions() -> Decisions {
    let tools = ["read", "grep", "find", "ls"].map(str::to_owned).to_vec();
    Decisions {
        agent_source: "builtin".to_owned(),
        runtime: decision("offline".to_owned(), "default", "no pi was found in PATH"),
        model: decision("offline/search".to_owned(), "runtime", "the only model of offline"),
        thinking: decision("off".to_owned(), "runtime", "offline has no thinking levels"),
        tools: decision(tools, "definition", "listed by explore"),
        context: decision("fresh".to_owned(), "default", "nobody asked for the parent's"),
        class: decision("shared".to_owned(), "default", "none of its tools can write"),
        background: decision(false, "call", "asked for"),
        directory: "/home/ada/project".to_owned(),
        workspace: "/home/ada/project".to_owned(),
        model_reason: None,
        trusted: None,
        standing: None,
        suppliers: Vec::new(),
        withheld: Vec::new(),
        definition: Vec::new(),
        timeout_ms: 14_400_000,
        idle_timeout_ms: 600_000,
        first_event_timeout_ms: Some(120_000),
        tool_call_timeout_ms: Some(3_600_000),
        limits_source: Some("configuration".to_owned()),
        limits_reason: Some("in all by the call, others by the configuration".to_owned()),
    }
}

pub(crate) fn reference() -> Reference {
    Reference {
        path: "/home/ada/.local/state/subagentd/runs/01998c1e/result.md".to_owned(),
        bytes: 2_150,
        lines: 41,
        sha256: "ab".repeat(32),
    }
}

/// A single run that succeeded.
pub(crate) fn ended() -> RunView {
    RunView {
        run: RUN.to_owned(),
        kind: "single".to_owned(),
        owner: "cli:ada".to_owned(),
        title: None,
        state: State::Succeeded,
        created_at_ms: CREATED,
        started_at_ms: Some(STARTED),
        ended_at_ms: Some(ENDED),
        children: vec![ChildView {
            index: 0,
            agent: "explore".to_owned(),
            task: "where are stale sockets handled?".to_owned(),
            state: State::Succeeded,
            reason: Some("completed".to_owned()),
            error: None,
            attempt: 1,
            started_at_ms: Some(STARTED),
            ended_at_ms: Some(ENDED),
            intent: None,
            waits: None,
            reference: Some(reference()),
            answer_complete: Some(true),
            decisions: decisions(),
            reported: Some(Reported {
                model: Some("offline/search".to_owned()),
                thinking: Some("off".to_owned()),
                tools: Some(vec!["read".to_owned(), "grep".to_owned()]),
            }),
            tool_calls: Some(7),
            usage: Some(Usage { input: 1_200, output: 340, ..Usage::default() }),
            tools_missing: Vec::new(),
            remarks: Vec::new(),
            steers: Vec::new(),
            resume_refusal: None,
            folder: Some("/home/ada/.local/state/subagentd/runs/01998c1e/0.1".to_owned()),
        }],
        notice: Some(NoticeRef { seq: 12, acknowledged: false }),
    }
}

/// The same, ended badly and without an answer.
pub(crate) fn failed() -> RunView {
    let mut run = ended();
    run.state = State::Failed;
    for child in &mut run.children {
        child.state = State::Failed;
        child.reason = Some("child.exited".to_owned());
        child.error = Some("pi: cannot open settings.json".to_owned());
        child.reference = None;
        child.answer_complete = None;
        child.reported = None;
    }
    run
}

/// The same, still waiting for another writer.
pub(crate) fn queued() -> RunView {
    let mut run = ended();
    run.state = State::Queued;
    run.started_at_ms = None;
    run.ended_at_ms = None;
    run.notice = None;
    for child in &mut run.children {
        child.state = State::Queued;
        child.reason = None;
        child.attempt = 0;
        child.started_at_ms = None;
        child.ended_at_ms = None;
        child.waits = Some(waits_on_scope());
        child.reference = None;
        child.answer_complete = None;
        child.reported = None;
        child.tool_calls = None;
        child.usage = None;
        child.folder = None;
    }
    run
}

pub(crate) fn notice(seq: u64, state: State) -> Notice {
    let reference = (state == State::Succeeded).then(|| NoticeReference::from(reference()));
    Notice {
        seq,
        kind: "ended".to_owned(),
        run: RUN.to_owned(),
        state,
        reason: if state == State::Succeeded { "completed" } else { "timeout.idle" }.to_owned(),
        agent: "explore".to_owned(),
        title: Some("stale sockets".to_owned()),
        children: None,
        reference,
        text: None,
        at_ms: ENDED,
    }
}
