//! Holds the rules against files of cases.
//!
//! `cargo run -q -p subagentd-core --example conform -- KIND FILE.jsonl` prints a line for each case that fails and a
//! count at the end, and exits with 1 if the file as a whole did not pass. The schemas stand in `tests/cases`.

mod advisory;
mod case;
mod definitions;
mod routing;
mod task_intent;

use std::io::{Write, stderr, stdout};
use std::process::ExitCode;

use case::{Kind, Outcome};

/// Every kind of file, with what judges one case of it and what judges the file.
const KINDS: [Kind; 4] = [
    Kind { name: "definitions", judge: definitions::judge, accepts: case::all_pass },
    Kind { name: "routing", judge: routing::judge, accepts: case::all_pass },
    Kind { name: "task-intent", judge: task_intent::judge, accepts: task_intent::accepts },
    Kind { name: "advisory", judge: advisory::judge, accepts: case::all_pass },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [kind, file] => run(kind, file),
        _ => Err(format!("usage: conform KIND FILE.jsonl, where KIND is {}", names())),
    };
    match outcome {
        Ok(outcome) if outcome.accepted => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(fault) => {
            // A closed standard error leaves nobody to tell.
            let _told = writeln!(stderr(), "conform: {fault}");
            ExitCode::from(2)
        }
    }
}

fn run(kind: &str, file: &str) -> Result<Outcome, String> {
    let kind = KINDS.iter().find(|known| known.name == kind);
    let kind = kind.ok_or_else(|| format!("KIND is one of {}", names()))?;
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let outcome = kind.run(&text).map_err(|fault| format!("{file}: {fault}"))?;
    stdout().write_all(outcome.told.as_bytes()).map_err(|error| format!("standard output: {error}"))?;
    Ok(outcome)
}

fn names() -> String {
    KINDS.map(|kind| kind.name).join(", ")
}
