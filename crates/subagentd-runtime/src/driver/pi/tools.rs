//! Which tools a child has, as its probe tells.

use std::collections::BTreeSet;

/// Key of the status line in which the probe publishes the active tools, as a JSON list of names.
pub const TOOLS_STATUS: &str = "subagentd.tools";
/// The same for tools that are not active and can be called by those that are.
pub const CALLABLE_STATUS: &str = "subagentd.callable";

/// Tools that call others for the model. Without one of them what is not active is out of its reach.
const CALLERS: [&str; 2] = ["codemode", "tool_search"];

/// Which tools a child has.
#[derive(Default)]
pub(super) struct Tools {
    /// Those that its model is told of; `None` before the child said it.
    pub(super) active: Option<Vec<String>>,
    /// Those that it can only call by way of another one.
    pub(super) callable: Vec<String>,
    /// Asked tools that were not there at the verification: they may come, which is no change.
    late: Vec<String>,
    /// Those of them that never were there.
    missing: Vec<String>,
    /// Some came since that was told.
    came: bool,
}

impl Tools {
    /// Everything that the child has in one way or the other; `None` before it said that.
    pub(super) fn all(&self) -> Option<Vec<&str>> {
        let active = self.active.as_ref()?;
        Some(active.iter().chain(&self.callable).map(String::as_str).collect())
    }

    /// What the model can make use of.
    pub(super) fn there(&self) -> Vec<&str> {
        there(self.active.as_deref().unwrap_or_default(), &self.callable)
    }

    /// The child was verified without these.
    pub(super) fn begin(&mut self, missing: Vec<String>) {
        self.late.clone_from(&missing);
        self.missing = missing;
    }

    /// The active tools are these now; whether they are others than before the prompt.
    pub(super) fn active_now(&mut self, now: &[String]) -> bool {
        arrive(&mut self.missing, &mut self.came, &there(now, &self.callable));
        let known = self.active.iter().flatten();
        let late: BTreeSet<&String> = self.late.iter().collect();
        !known.eq(now.iter().filter(|tool| !late.contains(tool)))
    }

    /// The tools that can only be called are these now; whether one of them was not asked for.
    pub(super) fn callable_now(&mut self, now: Vec<String>, asked: &[String]) -> bool {
        self.callable = now;
        let active = self.active.as_deref().unwrap_or_default();
        arrive(&mut self.missing, &mut self.came, &there(active, &self.callable));
        let asked: BTreeSet<&String> = asked.iter().collect();
        self.callable.iter().any(|tool| !asked.contains(tool))
    }

    /// Those that are still missing, if that has changed.
    pub(super) fn came(&mut self) -> Option<Vec<String>> {
        std::mem::take(&mut self.came).then(|| self.missing.clone())
    }
}

fn arrive(missing: &mut Vec<String>, came: &mut bool, there: &[&str]) {
    let there: BTreeSet<&str> = there.iter().copied().collect();
    let before = missing.len();
    missing.retain(|tool| !there.contains(tool.as_str()));
    *came |= missing.len() < before;
}

fn there<'a>(active: &'a [String], callable: &'a [String]) -> Vec<&'a str> {
    let calls = active.iter().any(|tool| CALLERS.contains(&tool.as_str()));
    let callable = if calls { callable } else { &[] };
    active.iter().chain(callable).map(String::as_str).collect()
}

/// Those of the first list that the second one lacks, each once.
pub(super) fn absent<'a>(these: &[&'a str], those: &[&'a str]) -> Vec<&'a str> {
    // A set: a hostile child may publish any number of names.
    let mut seen: BTreeSet<&str> = those.iter().copied().collect();
    these.iter().copied().filter(|tool| seen.insert(tool)).collect()
}
