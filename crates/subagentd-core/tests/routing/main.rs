//! Routing, held against files: the cases, and the decision for every model of a catalogue.

#[path = "../../examples/conform/case.rs"]
#[allow(dead_code, reason = "the runner prints more than a test needs")]
mod case;
#[cfg(test)]
mod catalogue;
#[path = "../../examples/conform/routing.rs"]
mod judge;

#[test]
fn every_case_passes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/routing.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let kind = case::Kind { name: "routing", judge: judge::judge, accepts: case::all_pass };
    let outcome = kind.run(&text).unwrap();
    assert!(outcome.accepted, "{}", outcome.told);
}
