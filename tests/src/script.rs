//! What a child plays: the script format of `subagentd-offline`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::site::Site;

/// Steps, one a line. The crate documentation of `subagentd-offline` describes them.
#[derive(Debug, Clone, Default)]
pub struct Script(Vec<Value>);

impl Script {
    /// Without any step.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Any step.
    #[must_use]
    pub fn step(mut self, step: Value) -> Self {
        self.0.push(step);
        self
    }

    /// Adds to the final message.
    #[must_use]
    pub fn say(self, text: &str) -> Self {
        self.step(json!({ "say": text }))
    }

    /// Ends the final message in another way than well.
    #[must_use]
    pub fn stops(self, text: &str, stop: &str, error: &str) -> Self {
        self.step(json!({ "say": { "text": text, "stop": stop, "error": error } }))
    }

    /// Rests; an abort or the end of the input cuts it short.
    #[must_use]
    pub fn sleep(self, ms: u64) -> Self {
        self.step(json!({ "sleep": ms }))
    }

    /// Rests until somebody ends the child.
    #[must_use]
    pub fn sleep_long(self) -> Self {
        self.sleep(600_000)
    }

    /// Writes the time and a label, followed by the attempt's mark, into a file.
    #[must_use]
    pub fn stamp(self, file: &std::path::Path, label: &str) -> Self {
        self.step(json!({ "touch": { "path": file, "label": format!("{label} $ATTEMPT") } }))
    }

    /// Writes the script into the site and gives its path.
    #[must_use]
    pub fn write(&self, site: &Site) -> PathBuf {
        let path = site.path(format!("parts/script-{}.jsonl", site.number()));
        let lines: String = self.0.iter().map(|step| format!("{step}\n")).collect();
        std::fs::write(&path, lines).unwrap();
        path
    }
}
