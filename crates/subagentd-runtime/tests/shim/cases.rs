//! The cases.

use Receipt::{Accepted, Delivered, Undelivered};
use subagentd_core::life::Reason;
use subagentd_runtime::format::{Delivery, Order, Phase, Receipt, Word};

use crate::attempt::{Attempt, names};
use crate::child::{ARGUMENTS, LIMITS, PROMPTS, TERMINAL, VARIABLES};

type Case = (&'static str, fn());

pub(crate) const ALL: [Case; 14] = [
    ("steers_are_told_with_receipts_on_every_connection", steers_are_told),
    ("a_steer_before_the_prompt_comes_after_it", early_steer),
    ("a_pause_keeps_what_was_not_heard_open", pause),
    ("a_cancel_beats_a_pause", cancel_beats_pause),
    ("a_deaf_child_is_paused_all_the_same", deaf_pause),
    ("a_child_that_was_done_is_not_paused", late_pause),
    ("a_start_that_met_others_is_repeated_once", contended_exit),
    ("a_child_without_its_settings_gets_no_prompt", contended_warning),
    ("a_second_start_that_met_others_goes_on", contended_always),
    ("a_cancel_ends_a_start_that_met_others", contended_cancel),
    ("the_child_gets_its_extension_and_a_changed_one_refuses", extension),
    ("a_conversation_is_forked_until_it_was_begun", fork),
    ("an_earlier_answer_is_kept", earlier_answer),
    ("limits_variables_and_terminal_are_the_clients_or_none", surroundings),
];

fn steers_are_told() {
    let attempt = Attempt::new("work");
    let mut line = attempt.start();
    line.until_running();
    line.steer(1, "look left");
    line.until_receipt(1, Accepted);
    // A daemon that is started anew hears where it stands, and may tell again what it has no receipt for.
    let mut second = attempt.connect();
    assert!(matches!(second.next(), Some(Word::Hello { phase: Phase::Running, .. })));
    assert_eq!(second.next(), Some(Word::Steered { intent: 1, receipt: Accepted }));
    second.steer(1, "look left");
    second.steer(2, "finish");
    let outcome = attempt.outcome(&mut second);
    assert_eq!((outcome.reason, outcome.answer.map(|answer| answer.complete)), (Reason::Completed, Some(true)));
    let told = [(1, Accepted), (1, Accepted), (2, Accepted), (1, Delivered), (2, Delivered)];
    assert_eq!(second.receipts(), told);
    while line.next().is_some() {}
    assert_eq!(line.receipts(), told, "everybody hears everything");
    assert_eq!(attempt.left(PROMPTS), "begin\nlook left\nfinish\n");
}

fn early_steer() {
    let attempt = Attempt::new("work");
    let mut line = attempt.start();
    line.steer(7, "finish");
    assert_eq!(attempt.outcome(&mut line).reason, Reason::Completed);
    assert_eq!(line.receipts(), [(7, Accepted), (7, Delivered)]);
    assert_eq!(attempt.left(PROMPTS), "begin\nfinish\n");
}

fn pause() {
    let attempt = Attempt::new("work");
    let mut line = attempt.start();
    line.until_running();
    line.steer(1, "later");
    line.until_receipt(1, Accepted);
    let too_late = Order::Steer { intent: 3, text: "too late".into(), delivery: Delivery::Steer };
    line.orders(&[Order::Pause { intent: 2 }, Order::Pause { intent: 2 }, too_late]);
    let outcome = attempt.outcome(&mut line);
    assert_eq!((outcome.reason, outcome.error, outcome.answer), (Reason::Paused, None, None));
    assert_eq!(line.receipts(), [(1, Accepted)]);
    let confirmed = line.heard.iter().filter(|word| **word == Word::Confirmed { intent: 2 }).count();
    assert_eq!(confirmed, 2);
    assert!(!attempt.run_folder().join("result.md").exists());
}

fn cancel_beats_pause() {
    let attempt = Attempt::new("deaf");
    let mut line = attempt.start();
    line.until_running();
    line.steer(1, "x");
    line.until_receipt(1, Accepted);
    line.order(&Order::Pause { intent: 2 });
    line.order(&Order::Cancel { intent: 3 });
    let outcome = attempt.outcome(&mut line);
    assert_eq!(outcome.reason, Reason::Cancelled);
    assert_eq!(line.receipts(), [(1, Accepted), (1, Undelivered)]);
}

fn deaf_pause() {
    let attempt = Attempt::new("deaf");
    let mut line = attempt.start();
    line.until_running();
    line.steer(1, "x");
    line.until_receipt(1, Accepted);
    line.order(&Order::Pause { intent: 2 });
    let outcome = attempt.outcome(&mut line);
    assert_eq!((outcome.reason, outcome.answer), (Reason::Paused, None));
    assert_eq!(line.receipts(), [(1, Accepted)]);
}

fn late_pause() {
    let attempt = Attempt::new("work");
    let mut line = attempt.start();
    line.until_running();
    line.steer(1, "finish");
    line.order(&Order::Pause { intent: 2 });
    let outcome = attempt.outcome(&mut line);
    // The steer is heard and answered in one go, before the child reads about the pause.
    assert_eq!((outcome.reason, outcome.answer.map(|answer| answer.complete)), (Reason::Completed, Some(true)));
    assert_eq!(line.receipts(), [(1, Accepted), (1, Delivered)]);
}

fn contended_exit() {
    let attempt = Attempt::new("contended-exit");
    let mut line = attempt.start();
    line.steer(1, "finish");
    let outcome = attempt.outcome(&mut line);
    assert_eq!((outcome.reason, outcome.remarks), (Reason::Completed, vec!["start.retried".to_owned()]));
    assert_eq!(line.receipts(), [(1, Accepted), (1, Delivered)]);
    assert_eq!(attempt.left(PROMPTS), "begin\nfinish\n");
}

fn contended_warning() {
    let attempt = Attempt::new("contended-warning");
    let mut line = attempt.start();
    line.until_running();
    line.steer(1, "finish");
    let outcome = attempt.outcome(&mut line);
    assert_eq!((outcome.reason, outcome.remarks), (Reason::Completed, vec!["start.retried".to_owned()]));
    assert_eq!(attempt.left(PROMPTS), "begin\nfinish\n", "the first one was asked nothing");
}

fn contended_always() {
    let attempt = Attempt::new("contended-always");
    let mut line = attempt.start();
    line.until_running();
    line.steer(1, "finish");
    let outcome = attempt.outcome(&mut line);
    assert_eq!(outcome.reason, Reason::Completed);
    assert_eq!(outcome.remarks, ["start.retried", "start.contended"]);
}

fn contended_cancel() {
    let attempt = Attempt::new("contended-exit");
    let mut line = attempt.start();
    line.steer(1, "x");
    line.order(&Order::Cancel { intent: 2 });
    assert_eq!(attempt.outcome(&mut line).reason, Reason::Cancelled);
    assert_eq!(line.receipts(), [(1, Undelivered)]);
    assert!(!attempt.work.path().join(PROMPTS).exists());
}

fn extension() {
    let attempt = Attempt::new("work");
    let mut line = attempt.start();
    line.steer(1, "finish");
    assert_eq!(attempt.outcome(&mut line).reason, Reason::Completed);
    let path = attempt.folder().join("child.ts");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("subagentd.tools"), "{text}");
    assert!(attempt.left(ARGUMENTS).contains(&format!("-e\n{}\n", path.display())));

    for spoil in [changed, longer, linked, folder] {
        let attempt = Attempt::new("work");
        attempt.prepare();
        spoil(&attempt.folder().join("child.ts"), &text);
        let outcome = attempt.outcome(&mut attempt.start_prepared());
        assert_eq!(outcome.reason, Reason::StartFailed);
        assert!(outcome.error.as_ref().unwrap().contains("child.ts cannot be used"), "{:?}", outcome.error);
        assert!(!attempt.work.path().join(ARGUMENTS).exists(), "it was not started");
    }
}

fn changed(path: &std::path::Path, text: &str) {
    std::fs::write(path, text.replace("subagentd", "Subagentd")).unwrap();
}

fn longer(path: &std::path::Path, text: &str) {
    std::fs::write(path, format!("{text}\n")).unwrap();
}

fn linked(path: &std::path::Path, text: &str) {
    let beside = path.with_extension("other");
    std::fs::write(&beside, text).unwrap();
    std::os::unix::fs::symlink(beside, path).unwrap();
}

fn folder(path: &std::path::Path, _: &str) {
    std::fs::create_dir(path).unwrap();
}

fn fork() {
    for (begun, id, forks) in [(false, "", true), (false, "c-1", true), (true, "c-1", false), (true, "", false)] {
        let mut attempt = Attempt::new("work");
        attempt.request.conversation.id = id.into();
        attempt.request.conversation.fork = Some("/parent.jsonl".into());
        let id = if id.is_empty() { attempt.request.attempt.child.run.to_string() } else { id.to_owned() };
        attempt.prepare();
        let session = attempt.run_folder().join("session");
        std::fs::create_dir(&session).unwrap();
        // One of another child is none of this one's.
        std::fs::write(session.join(format!("2026-01-01_0{id}.jsonl")), "").unwrap();
        if begun {
            std::fs::write(session.join(format!("2026-01-01_{id}.jsonl")), "").unwrap();
        }
        let mut line = attempt.start_prepared();
        line.steer(1, "finish");
        assert_eq!(attempt.outcome(&mut line).reason, Reason::Completed);
        let arguments = attempt.left(ARGUMENTS);
        assert_eq!(arguments.contains("--fork\n/parent.jsonl\n"), forks, "{begun}: {arguments}");
        assert!(arguments.contains(&format!("--session-dir\n{}\n--session-id\n{id}\n", session.display())));
    }
}

fn earlier_answer() {
    let mut attempt = Attempt::new("work");
    attempt.request.earlier_answer = Some(1);
    attempt.prepare();
    std::fs::write(attempt.run_folder().join("result.md"), "of the first attempt").unwrap();
    let mut line = attempt.start_prepared();
    line.steer(1, "finish");
    assert_eq!(attempt.outcome(&mut line).reason, Reason::Completed);
    let read = |name: &str| std::fs::read_to_string(attempt.run_folder().join(name)).unwrap();
    assert_eq!((read("result.1.md"), read("result.md")), ("of the first attempt".into(), "All done.".into()));
    let results = names(&attempt.run_folder()).into_iter().filter(|name| name.starts_with("result")).count();
    assert_eq!(results, 2);
}

fn surroundings() {
    let mut attempt = Attempt::new("work");
    let environment = attempt.work.path().join("environment.json");
    std::fs::write(
        &environment,
        r#"{"SSH_ASKPASS":"/bin/ask","GIT_ASKPASS":"/bin/ask","GIT_TERMINAL_PROMPT":"1","KEY":"v"}"#,
    )
    .unwrap();
    attempt.request.environment = Some(environment);
    attempt.request.resource_limits = [("core", 0), ("nofile", 77), ("fsize", u64::MAX), ("made_up", 1)]
        .map(|(name, soft)| (name.into(), soft))
        .into();
    let mut line = attempt.start();
    line.steer(1, "finish");
    assert_eq!(attempt.outcome(&mut line).reason, Reason::Completed);
    let limits = attempt.left(LIMITS);
    let soft = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!((soft("Max open files").as_str(), soft("Max core file size").as_str()), ("77", "0"));
    let variables = attempt.left(VARIABLES);
    let has = |line: &str| variables.lines().any(|known| known == line);
    assert!(has("KEY=v") && has("GIT_TERMINAL_PROMPT=0") && has("GIT_ASKPASS=") && has("SSH_ASKPASS_REQUIRE=never"));
    assert!(!variables.contains("SSH_ASKPASS=") && !variables.contains("/bin/ask"), "{variables}");
    assert!(attempt.left(TERMINAL).contains("No such device"), "{}", attempt.left(TERMINAL));

    let attempt = Attempt::new("work");
    let mut line = attempt.start();
    line.steer(1, "finish");
    attempt.outcome(&mut line);
    assert!(attempt.left(LIMITS).lines().any(|line| line.starts_with("Max open files            300 ")));
}
