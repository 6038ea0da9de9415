//! `agent/*`: what can be launched.

use serde::{Deserialize, Serialize};

/// Parameters of `agent/catalog`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CatalogParams {}

/// Response of `agent/catalog`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogResponse {
    /// Agents, by name.
    pub agents: Vec<AgentView>,
    /// Runtimes, by name.
    pub runtimes: Vec<RuntimeView>,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    /// Normalised identifier, the name a launch uses.
    pub name: String,
    /// Name for people, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What it is for.
    pub description: String,
    /// Layer of the definition: `builtin`, `package`, `user`, `project`.
    pub source: String,
    /// `null` means inherited from the launcher.
    pub tools: Option<Vec<String>>,
    /// Exact model, if the definition names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Thinking level, if the definition names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// `shared` or `exclusive`.
    pub class: String,
    /// Whether a launch returns at once unless it says otherwise.
    pub background: bool,
    /// Declared role: `read-only`, `writer`, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// One runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeView {
    /// Its name.
    pub name: String,
    /// Whether a launch that names none gets it.
    pub default: bool,
    /// Why it is, or is not, the default.
    pub reason: String,
}
