//! `model/list`: runtimes and the models that each can run.

use serde::{Deserialize, Serialize};

/// Parameters of `model/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListParams {
    /// Only of this runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Ask the runtime again, whatever is known.
    #[serde(default)]
    pub refresh: bool,
}

/// Response of `model/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResponse {
    /// Runtimes, by name.
    pub runtimes: Vec<RuntimeView>,
}

/// One runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeView {
    /// Its name.
    pub name: String,
    /// Whether launches that name none get it.
    pub default: bool,
    /// Whether a child of it can be started.
    pub usable: bool,
    /// Why it can, why not and what to do, or why it is the default: one sentence for people.
    pub reason: String,
    /// Its program and first arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Its version, as it says itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its model when nobody names one, exact `provider/id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_model: Option<String>,
    /// The models it can run; absent if only a child can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<ModelView>>,
    /// What its children lack on this machine, and the command that mends it: one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelView {
    /// Its provider.
    pub provider: String,
    /// Its id, which may contain slashes.
    pub id: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The levels it supports, `off` included where it does.
    pub thinking_levels: Vec<String>,
    /// Tokens that fit into its context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
}
