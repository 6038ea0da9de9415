//! `lease/*`: which child holds which workspace.

use serde::{Deserialize, Serialize};

use crate::run::State;

/// Parameters of `lease/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListParams {}

/// Response of `lease/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResponse {
    /// Leases, oldest first.
    pub leases: Vec<LeaseView>,
}

/// One held workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeaseView {
    /// The run that holds it.
    pub run: String,
    /// Which of its children.
    pub child: u32,
    /// The child's state. An end means that processes of it could not be ended: see `lease/release`.
    pub state: State,
    /// The root that is locked.
    pub workspace: String,
    /// Since when.
    pub since_ms: u64,
}

/// Parameters of `lease/release`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReleaseParams {
    /// The run's id or a unique ending.
    pub run: String,
}

/// Response of `lease/release`, after the commit. A run that holds workspaces for live children only is refused
/// (`wrongState`): it is cancelled first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseResponse {
    /// How many workspaces were given up: those of children that have ended. Live children keep theirs. 0: it holds none.
    pub released: u32,
}
