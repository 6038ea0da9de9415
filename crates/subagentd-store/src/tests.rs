//! Tests on real files: the log and several connections behave otherwise in memory.

mod life;
mod migrate;
mod open;
mod reads;
mod resume;
mod statements;
mod steer;
mod trouble;

use std::path::Path;

use subagentd_core::deliver::{Notice, NoticeKind, Reference};
use subagentd_core::id::{AttemptId, ChildId, RunId};
use subagentd_core::life::{Reason, State};
use subagentd_core::outcome::{Answer, Delivery, Outcome};
use subagentd_core::plan::{Captured, Class, Decision, PLAN_FORMAT, Plan, Source, TimeLimits};
use subagentd_core::workspace::{RootIdentity, Workspace};
use tempfile::TempDir;
use uuid::Uuid;

use crate::{
    AttemptKind, Begun, ChildRow, Intended, Intent, NewAttempt, NewChild, NewIntent, NewLease, NewRun, RequestKey,
    RunKind, RunRow, Settled, Settlement, Store, Submitted, Task,
};

const NOW: u64 = 1_796_000_000_000;

struct Bench {
    directory: TempDir,
    store: Store,
}

async fn bench() -> Bench {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).await.unwrap();
    Bench { directory, store }
}

impl Bench {
    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Closes the store and opens it again.
    async fn reopened(self) -> Self {
        self.store.close().await.unwrap();
        let store = Store::open(self.directory.path()).await.unwrap();
        Self { store, ..self }
    }

    async fn submitted(&self, run: NewRun) -> Submitted {
        self.store.writer.submit(run).await.await.unwrap()
    }

    /// A stored run of one child.
    async fn run(&self, owner: &str) -> ChildId {
        let run = new_run(owner);
        let id = run.id;
        let submitted = self.submitted(run).await;
        assert!(matches!(submitted, Submitted::Accepted { .. }), "{submitted:?}");
        ChildId { run: id, index: 0 }
    }

    async fn begun(&self, child: ChildId, number: u32) -> AttemptId {
        let attempt = AttemptId { child, number };
        let begun = self.store.writer.begin_attempt(new_attempt(attempt)).await.await.unwrap();
        assert_eq!(begun, Begun::Started);
        attempt
    }

    /// An attempt whose child is at work.
    async fn running(&self, child: ChildId, number: u32) -> AttemptId {
        let attempt = self.begun(child, number).await;
        self.store.writer.running(attempt, State::Running, NOW + 3).await.await.unwrap();
        attempt
    }

    async fn paused(&self, child: ChildId, attempt: Option<AttemptId>) {
        let settled = self.store.writer.settle(pause(child, attempt)).await.await;
        assert_eq!(settled, Ok(Settled::Stored { notice: None }));
    }

    async fn intended(&self, child: ChildId, intent: Intent) -> Intended {
        self.store.writer.intend(NewIntent { child, intent, at_ms: NOW + 6 }).await.await.unwrap()
    }

    /// Tells a child something; the answer is its number.
    async fn told(&self, child: ChildId, text: &str) -> u32 {
        match self.intended(child, steer(text)).await {
            Intended::Stored { number } => number,
            other => panic!("{other:?}"),
        }
    }

    async fn child(&self, child: ChildId) -> ChildRow {
        self.row(child.run).await.children.remove(child.index as usize)
    }

    async fn row(&self, run: RunId) -> RunRow {
        self.store.reader.run(run).await.unwrap().unwrap()
    }
}

fn new_id() -> RunId {
    RunId::from_uuid(Uuid::now_v7())
}

fn new_run(owner: &str) -> NewRun {
    NewRun {
        id: new_id(),
        owner: owner.to_owned(),
        kind: RunKind::Single,
        title: Some("stale sockets".to_owned()),
        key: None,
        background: false,
        created_at_ms: NOW,
        children: vec![new_child("explore", "where are stale sockets handled?")],
    }
}

fn keyed(owner: &str, key: &str, digest: &str) -> NewRun {
    NewRun { key: Some(RequestKey { key: key.to_owned(), digest: digest.to_owned() }), ..new_run(owner) }
}

fn new_child(agent: &str, task: &str) -> NewChild {
    NewChild { agent: agent.to_owned(), plan: plan(agent), task: Task::Text(task.to_owned()) }
}

fn new_attempt(attempt: AttemptId) -> NewAttempt {
    NewAttempt {
        attempt,
        kind: AttemptKind::First,
        lease: Some(NewLease { identity: root(), path: "/home/ada/project".into() }),
        boot: "5c1f".to_owned(),
        run_state: State::Starting,
        at_ms: NOW + 1,
    }
}

/// All bits of the device number are used.
fn root() -> RootIdentity {
    RootIdentity { device: u64::MAX, inode: 42 }
}

fn decision<T>(value: T) -> Decision<T> {
    Decision {
        value,
        source: Source::Definition,
        reason: "the definition says so".to_owned(),
        alternatives: Vec::new(),
    }
}

fn plan(agent: &str) -> Plan {
    Plan {
        format: PLAN_FORMAT,
        agent: agent.to_owned(),
        agent_source: "builtin".to_owned(),
        runtime: decision("offline".to_owned()),
        model: decision("offline/search".to_owned()),
        model_kind: "retained.unknown-family".to_owned(),
        thinking: decision("off".to_owned()),
        tools: decision(vec!["read".to_owned(), "grep".to_owned()]),
        context: decision("fresh".to_owned()),
        background: decision(false),
        class: decision(Class::Exclusive),
        workspace: Workspace {
            directory: "/home/ada/project".into(),
            resolved: "/home/ada/project".into(),
            root: "/home/ada/project".into(),
            identity: root(),
        },
        limits: decision(TimeLimits { first_event_ms: 1, idle_ms: 2, tool_call_ms: 3, total_ms: 4, grace_ms: 5 }),
        instructions: "Search, then answer. \"Quotes\" and \u{e4}\u{f6}\u{fc}.\n".repeat(20),
        captured: Captured::default(),
        environment: None,
        resource_limits: Default::default(),
        umask: Some(0o22),
        environment_omitted: Vec::new(),
        remarks: vec!["environment.daemon".to_owned()],
        program: None,
        digest: None,
    }
}

fn outcome(reason: Reason) -> Outcome {
    Outcome {
        answer: Some(Answer {
            reference: Reference {
                path: "/state/runs/1/result.md".into(),
                bytes: 10,
                lines: 1,
                sha256: "ab".repeat(32),
            },
            complete: true,
        }),
        started_at_ms: Some(NOW + 2),
        ..Outcome::bare(reason, Some("one line".to_owned()), NOW + 9)
    }
}

fn notice(reason: Reason) -> Notice {
    Notice {
        kind: NoticeKind::Ended,
        state: reason.state(),
        reason,
        agent: "explore".to_owned(),
        title: None,
        children: None,
        reference: None,
        at_ms: NOW + 10,
    }
}

fn settlement(child: ChildId, attempt: Option<AttemptId>, reason: Reason) -> Settlement {
    Settlement {
        child,
        attempt,
        outcome: outcome(reason),
        run_state: reason.state(),
        run_ended: true,
        notice: Some(notice(reason)),
        keep_lease: false,
    }
}

fn pause(child: ChildId, attempt: Option<AttemptId>) -> Settlement {
    Settlement { run_ended: false, notice: None, ..settlement(child, attempt, Reason::Paused) }
}

fn steer(text: &str) -> Intent {
    Intent::Steer { text: text.to_owned(), delivery: Delivery::Steer }
}
