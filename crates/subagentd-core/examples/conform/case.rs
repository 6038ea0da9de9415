//! Cases, their verdicts, and the count at the end.

use std::fmt::Write;

use serde_json::Value;

/// What became of one case. The two values are compared by their judge; here they are only shown.
pub(crate) struct Verdict {
    /// Whether the rules say what the case expects.
    pub(crate) passed: bool,
    /// What the case expects.
    pub(crate) expected: Value,
    /// What the rules say.
    pub(crate) got: Value,
}

impl Verdict {
    /// A case that passes when both are equal.
    pub(crate) fn equal(expected: Value, got: Value) -> Self {
        Self { passed: expected == got, expected, got }
    }
}

/// The closing lines of a file beside its count, and whether it passes.
pub(crate) struct Closing {
    pub(crate) passed: bool,
    pub(crate) lines: Vec<String>,
}

/// One kind of case file.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Judges one case; an error is a case that does not follow its schema.
    pub(crate) judge: fn(&Value) -> Result<Verdict, String>,
    /// Judges the whole file.
    pub(crate) accepts: fn(&[Verdict]) -> Closing,
}

/// What is printed about a file, and whether it passes.
pub(crate) struct Outcome {
    pub(crate) accepted: bool,
    pub(crate) told: String,
}

impl Kind {
    /// Judges every line of a file. A line that is no case fails by its number.
    pub(crate) fn run(&self, text: &str) -> Result<Outcome, String> {
        let mut told = String::new();
        let mut verdicts = Vec::new();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let case: Value = serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
            let id = case.get("id").and_then(Value::as_str).map_or_else(|| format!("line {number}"), str::to_owned);
            let verdict = (self.judge)(&case).unwrap_or_else(|fault| Verdict {
                passed: false,
                expected: Value::from("a case of the schema"),
                got: Value::from(fault),
            });
            if !verdict.passed {
                writeln!(told, "{id}: expected {}, got {}", verdict.expected, verdict.got).map_err(said)?;
            }
            verdicts.push(verdict);
        }
        let passed = verdicts.iter().filter(|verdict| verdict.passed).count();
        let closing = (self.accepts)(&verdicts);
        for line in closing.lines {
            writeln!(told, "{line}").map_err(said)?;
        }
        writeln!(told, "{passed} passed, {} failed", verdicts.len() - passed).map_err(said)?;
        Ok(Outcome { accepted: closing.passed && passed > 0, told })
    }
}

/// The rule of most files: no case may fail.
pub(crate) fn all_pass(verdicts: &[Verdict]) -> Closing {
    Closing { passed: verdicts.iter().all(|verdict| verdict.passed), lines: Vec::new() }
}

fn said(error: std::fmt::Error) -> String {
    error.to_string()
}
