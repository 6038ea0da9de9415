//! `agent/*`: what can be launched.

use serde::{Deserialize, Serialize};

/// Parameters of `agent/catalog`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CatalogParams {
    /// An absolute path in the project whose agents are meant; absent means no project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Whether that project is trusted; absent means not, and its agents have no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// `user`, `project` or `both` (default).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_scope: Option<String>,
}

/// Parameters of `agent/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListParams {
    /// See [`CatalogParams::directory`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// See [`CatalogParams::trusted`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// See [`CatalogParams::agent_scope`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_scope: Option<String>,
    /// What is to be done: the text then ends with advice on who should do it. It is not stored and not repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}

/// Response of `agent/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResponse {
    /// For a model to read.
    pub text: String,
}

/// Response of `agent/catalog`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogResponse {
    /// Agents, by name.
    pub agents: Vec<AgentView>,
    /// Runtimes, by name.
    pub runtimes: Vec<RuntimeView>,
    /// What is wrong beside the agents themselves: directories that cannot be read, packages that are not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
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
    /// Other names that a call may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Whether it can be launched.
    pub launchable: bool,
    /// The files it is made of, lowest layer first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub definition: Vec<crate::run::DefinitionPart>,
    /// What is wrong with its files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ProblemView>,
}

/// Something wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProblemView {
    /// `error` keeps the agent from being launched, `warning` does not.
    pub severity: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
    /// What, and what to do.
    pub message: String,
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
