//! `run/launch`, and what it decides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::State;

/// Parameters of `run/launch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LaunchParams {
    /// The agent's name.
    pub agent: String,
    /// What it shall do. Not blank, no NUL byte.
    pub task: String,
    /// Where: an absolute path. The workspace is derived from it.
    pub directory: String,
    /// A few words for lists, at most 120 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Exact `provider/id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `off`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Whether the caller will not wait. A stored decision; the reply comes after the commit in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// `fresh` or `parent` (with [`Capture::conversation`]); absent leaves it to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The runtime; absent means the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Total time of the child in milliseconds; waiting is not counted. 0 means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Time without any event in milliseconds, not counted while a tool call is open. 0 means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<u64>,
    /// Makes a repeated call harmless: the same key and request give the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What the host states about itself.
    #[serde(default)]
    pub capture: Capture,
}

/// What the host states at request time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Capture {
    /// The client's environment for the child. Absent: a short list of the daemon's own variables, with a remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<CapturedEnvironment>,
    /// The host's own conversation, for children that begin with their parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<CapturedConversation>,
}

/// A host's conversation as a file, copied before the reply: what the host adds later does not reach the child (G13).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CapturedConversation {
    /// An absolute path.
    pub path: String,
    /// The entry that it reaches up to; absent means all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf: Option<String>,
}

/// The client's environment.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CapturedEnvironment {
    /// Variables by name.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// Names of variables whose values are not UTF-8 and were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
    /// File mode mask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub umask: Option<u32>,
    /// Soft resource limits by their lower-case names (`nofile`, `core`, `stack`, …); absent ones stay the daemon's.
    /// 18446744073709551615 is no limit, and so is any larger number that a client makes of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "saturated")]
    pub limits: BTreeMap<String, u64>,
}

/// A client whose numbers are floating-point cannot write the largest one: what is larger is taken for it.
fn saturated<'de, D: serde::Deserializer<'de>>(limits: D) -> Result<BTreeMap<String, u64>, D::Error> {
    let numbers = BTreeMap::<String, Number>::deserialize(limits)?;
    Ok(numbers.into_iter().map(|(name, number)| (name, number.whole())).collect())
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Whole(u64),
    Float(f64),
}

impl Number {
    /// The conversion saturates; what is no number counts as none.
    fn whole(self) -> u64 {
        match self {
            Self::Whole(number) => number,
            Self::Float(number) => number as u64,
        }
    }
}

impl std::fmt::Debug for CapturedEnvironment {
    // Values are secrets: names only.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CapturedEnvironment")
            .field("variables", &self.variables.keys())
            .field("omitted", &self.omitted)
            .field("umask", &self.umask)
            .field("limits", &self.limits)
            .finish()
    }
}

/// A value, where it came from and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision<T> {
    /// What holds.
    pub value: T,
    /// Who said so.
    pub source: String,
    /// Why.
    pub reason: String,
    /// What fell through on the way.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
}

/// A choice that was looked at and not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Alternative {
    /// The choice.
    pub value: String,
    /// Why it was not taken.
    pub reason: String,
}

/// Everything that was decided about a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decisions {
    /// Layer of the agent's definition.
    pub agent_source: String,
    /// The runtime.
    pub runtime: Decision<String>,
    /// Exact `provider/id`.
    pub model: Decision<String>,
    /// Thinking level.
    pub thinking: Decision<String>,
    /// Effective tools.
    pub tools: Decision<Vec<String>>,
    /// `fresh` or `parent`.
    pub context: Decision<String>,
    /// `shared` or `exclusive`.
    pub class: Decision<String>,
    /// Whether the caller wants to wait.
    pub background: Decision<bool>,
    /// Where it works, as the caller named it.
    pub directory: String,
    /// The root that a writer locks.
    pub workspace: String,
    /// Total time limit in milliseconds; 0 means none.
    pub timeout_ms: u64,
    /// Idle limit in milliseconds; 0 means none.
    pub idle_timeout_ms: u64,
    /// From the start to the first event, in milliseconds; 0 means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_event_timeout_ms: Option<u64>,
    /// One tool call, in milliseconds; 0 means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_timeout_ms: Option<u64>,
}

/// Response of `run/launch`, after the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaunchResponse {
    /// The run.
    pub run: String,
    /// Its state at the time of the reply.
    pub state: State,
    /// Whether the key named a run that was already there.
    pub repeated: bool,
    /// Where it stands if it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// What was decided.
    pub decisions: Decisions,
    /// Remarks: stable codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// Why and behind whom a child waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waits {
    /// `slot` (the limit of children at once), `scope` (another writer), `elsewhere` (a writer of another daemon),
    /// `not-before` (the next try of a start that failed), or `closed` (nothing is admitted now).
    pub on: String,
    /// Its place among those that wait, from 1.
    pub place: u32,
    /// The run that holds the scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder_since_ms: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_beyond_the_largest_number_are_the_largest_number() {
        let text = r#"{"limits": {"nofile": 1024, "core": 18446744073709551615, "stack": 18446744073709552000}}"#;
        let captured: CapturedEnvironment = serde_json::from_str(text).unwrap();
        let expected = [("core", u64::MAX), ("nofile", 1024), ("stack", u64::MAX)];
        assert_eq!(captured.limits, expected.map(|(name, limit)| (name.to_owned(), limit)).into());
    }
}
