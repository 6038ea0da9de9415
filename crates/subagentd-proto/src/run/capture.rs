//! What a host states of itself at request time. Taken once: what changes at the host later touches no accepted launch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the host states at request time. A caller that is no host leaves it out, but for its environment (G8).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Capture {
    /// The client's environment for the child. Absent: a short list of the daemon's own variables, with a remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<CapturedEnvironment>,
    /// The host's own conversation, for children that begin with their parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<CapturedConversation>,
    /// The model that launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_model: Option<CapturedModel>,
    /// How hard it thinks, if it does and that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_thinking: Option<String>,
    /// The host's active tools. Absent: those that the runtime activates by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<CapturedTool>>,
    /// Every model that the host can run, credentials and restrictions considered. Absent: what the runtime says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<CapturedModel>>,
    /// What supplies providers that were registered at run time, by provider.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<String, Supplier>,
    /// The host's own extension, which no child loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Supplier>,
    /// Standing instructions that hold in the host's directory: files in their order, copied before the reply. They hold
    /// for a child in the same directory; for another one the daemon reads that directory's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<CapturedInstructions>,
    /// Whether the project is trusted; absent means not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// Who states `tools` and `trusted`: `flag` for a person at a command line, absent for a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_by: Option<String>,
}

/// A model as the host knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CapturedModel {
    /// Its provider.
    pub provider: String,
    /// Its id, which may contain slashes.
    pub id: String,
    /// Whether it can think.
    #[serde(default)]
    pub reasoning: bool,
    /// The levels it supports, `off` included where it does.
    #[serde(default)]
    pub levels: Vec<String>,
}

/// An active tool of the host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CapturedTool {
    /// Its name.
    pub name: String,
    /// What supplies it; absent for the runtime's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supplier: Option<Supplier>,
    /// What it does to the workspace: `none`, `read` or `write`; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// Whether it calls itself read-only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// Whether it calls itself destructive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
}

/// What brings a tool or a provider into a runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "name", rename_all = "camelCase")]
pub enum Supplier {
    /// An extension's file: an absolute path.
    File(String),
    /// A package, as its source is written.
    Package(String),
    /// An extension that is part of the runtime and loaded by name.
    Builtin(String),
}

/// Standing instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CapturedInstructions {
    /// The directory that they hold in: an absolute path.
    pub directory: String,
    /// Absolute paths, outermost first.
    pub files: Vec<String>,
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
