//! Cases of `task-intent.jsonl`.

use serde_json::Value;
use subagentd_core::advice::intent;

use crate::case::{Closing, Verdict};

/// Of a hundred cases so many must be right.
const RIGHT: usize = 90;

/// Judges one case: `commonSense` is what is expected.
pub(crate) fn judge(case: &Value) -> Result<Verdict, String> {
    let text = |key: &str| case.get(key).and_then(Value::as_str).ok_or_else(|| format!("`{key}` is no text"));
    let expected = text("commonSense")?;
    Ok(Verdict::equal(Value::from(expected), Value::from(intent(text("task")?).word())))
}

/// A file passes with nine tenths right, and never with a task that only looks taken for an implementation.
pub(crate) fn accepts(verdicts: &[Verdict]) -> Closing {
    let dangerous =
        verdicts.iter().filter(|verdict| verdict.expected == "read-only" && verdict.got == "implementation");
    let dangerous = dangerous.count();
    let right = verdicts.iter().filter(|verdict| verdict.passed).count();
    Closing {
        passed: dangerous == 0 && right * 100 >= verdicts.len() * RIGHT,
        lines: vec![format!("dangerous {dangerous}")],
    }
}
