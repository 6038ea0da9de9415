//! The shared cases, held against the rules as the runner does it.

#[path = "../examples/conform/advisory.rs"]
mod advisory;
#[path = "../examples/conform/case.rs"]
mod case;
#[path = "../examples/conform/definitions.rs"]
mod definitions;
#[path = "../examples/conform/task_intent.rs"]
mod task_intent;

use case::Kind;

const DEFINITIONS: Kind = Kind { name: "definitions", judge: definitions::judge, accepts: case::all_pass };
const ADVISORY: Kind = Kind { name: "advisory", judge: advisory::judge, accepts: case::all_pass };
const TASK_INTENT: Kind = Kind { name: "task-intent", judge: task_intent::judge, accepts: task_intent::accepts };

#[track_caller]
fn passes(kind: &Kind, text: &str) {
    let (accepted, told) =
        kind.run(text).map_or_else(|fault| (false, fault), |outcome| (outcome.accepted, outcome.told));
    assert!(accepted, "{}:\n{told}", kind.name);
}

#[test]
fn definitions_pass() {
    passes(&DEFINITIONS, include_str!("../../../tests/cases/definitions.jsonl"));
}

#[test]
fn advisory_passes() {
    passes(&ADVISORY, include_str!("../../../tests/cases/advisory.jsonl"));
}

#[test]
fn task_intent_passes() {
    passes(&TASK_INTENT, include_str!("../../../tests/cases/task-intent.jsonl"));
}

#[test]
fn task_intent_passes_on_sentences_that_the_rules_were_not_written_for() {
    passes(&TASK_INTENT, include_str!("../../../tests/cases/task-intent-holdout.jsonl"));
}

#[test]
fn a_file_fails_when_a_case_does() {
    let wrong = r#"{"id":"w","task":"Explain it","commonSense":"implementation"}"#;
    let outcome = TASK_INTENT.run(wrong).unwrap();
    assert!(!outcome.accepted, "{}", outcome.told);
    assert_eq!(outcome.told, "w: expected \"implementation\", got \"read-only\"\ndangerous 0\n0 passed, 1 failed\n");
    let broken = DEFINITIONS.run(r#"{"id":"b"}"#).unwrap();
    assert!(!broken.accepted && broken.told.ends_with("0 passed, 1 failed\n"), "{}", broken.told);
    assert!(DEFINITIONS.run("no case").is_err() && !ADVISORY.run("").unwrap().accepted);
}
