//! Scripts: one step a line. The crate's page describes the format.

mod field;
mod step;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub(crate) use self::step::{Act, Beat, Fork, ForkLoop, Ignore, Manner, Parting, Say, Sleep, Step, Tool, Touch, acts};
use self::step::{object, parse_step};

/// Longest script; a longer one is refused.
const SCRIPT_BYTES: u64 = 4 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) before: Vec<Act>,
    pub(crate) steps: Vec<Step>,
    /// In place of the steps, when a conversation goes on.
    pub(crate) resumed: Vec<Step>,
    pub(crate) after: Vec<Act>,
}

#[derive(Debug, Error)]
pub(crate) enum ScriptError {
    #[error("cannot read the script {}: {why}", .file.display())]
    Unreadable { file: PathBuf, why: String },
    #[error(
        "{}:{line}: {why}\neach line is one JSON object with one step: say, tool, sleep, touch, exit, die, beat, fork, \
         background, forkLoop, ignore, onTerm, raw, stderr, hang, listen, or one of them inside resumed, or one of them but \
         say, tool and listen inside before or after",
        .file.display()
    )]
    Step { file: PathBuf, line: usize, why: String },
}

/// A step and when it runs.
#[derive(Debug, PartialEq, Eq)]
enum Placed {
    Before(Act),
    Prompt(Step),
    Resumed(Step),
    After(Act),
}

impl Script {
    pub(crate) fn read(file: &Path) -> Result<Self, ScriptError> {
        let unreadable = |why: String| ScriptError::Unreadable { file: file.to_owned(), why };
        let mut text = String::new();
        let opened = File::open(file).map_err(|error| unreadable(error.to_string()))?;
        let size = opened
            .take(SCRIPT_BYTES.saturating_add(1))
            .read_to_string(&mut text)
            .map_err(|error| unreadable(error.to_string()))?;
        if u64::try_from(size).unwrap_or(u64::MAX) > SCRIPT_BYTES {
            return Err(unreadable(format!("it is longer than {SCRIPT_BYTES} bytes")));
        }
        Self::parse(&text).map_err(|(line, why)| ScriptError::Step { file: file.to_owned(), line, why })
    }

    fn parse(text: &str) -> Result<Self, (usize, String)> {
        let mut script = Self::default();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            match parse_line(line).map_err(|why| (at.saturating_add(1), why))? {
                Placed::Before(act) => script.before.push(act),
                Placed::Prompt(step) => script.steps.push(step),
                Placed::Resumed(step) => script.resumed.push(step),
                Placed::After(act) => script.after.push(act),
            }
        }
        Ok(script)
    }
}

fn parse_line(line: &str) -> Result<Placed, String> {
    let fields = object(serde_json::from_str(line).map_err(|error| error.to_string())?)?;
    for key in ["before", "after", "resumed"] {
        let Some(inner) = fields.get(key) else { continue };
        if fields.len() > 1 {
            return Err(format!("{key} stands alone in its line"));
        }
        return match parse_step(object(inner.clone())?)? {
            step if key == "resumed" => Ok(Placed::Resumed(step)),
            Step::Say(_) | Step::Tool(_) | Step::Listen(_) => {
                Err(format!("say, tool and listen belong to a prompt and cannot stand in {key}"))
            }
            Step::Act(act) if key == "before" => Ok(Placed::Before(act)),
            Step::Act(act) => Ok(Placed::After(act)),
        };
    }
    parse_step(fields).map(Placed::Prompt)
}
