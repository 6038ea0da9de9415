//! `profile/list`: the families' ladders that models are routed by.

use serde::{Deserialize, Serialize};

use crate::agent::ProblemView;

/// Parameters of `profile/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListParams {
    /// An absolute path in the project whose settings are meant; absent means no project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Whether that project is trusted; absent means not, and its settings have no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
}

/// Response of `profile/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResponse {
    /// Families, by name.
    pub profiles: Vec<ProfileView>,
    /// What else is wrong in the settings files that were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ProblemView>,
}

/// The ladder of one family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileView {
    /// The family.
    pub family: String,
    /// The layer that it comes from as a whole: `builtin`, `user` or `project`.
    pub source: String,
    /// `size` or `planner-worker`; absent if it is out of order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Rungs, most capable first.
    pub tiers: Vec<TierView>,
    /// What is wrong with it. A family with faults routes nobody until they are mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// One rung.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TierView {
    /// Its name; empty for the unnamed line.
    pub name: String,
    /// `XL`, `L`, `M`, `S`, `planner` or `worker`.
    pub label: String,
}
