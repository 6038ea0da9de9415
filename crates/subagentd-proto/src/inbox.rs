//! `inbox/*`: notices, one durable row each, offered until acknowledged.

use serde::{Deserialize, Serialize};

use crate::run::{Reference, State};

/// A run reached an end, asks a question, or needs attention. At most 1 KiB; holds nothing the child wrote (N5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Its number: rises, never repeats in one store.
    pub seq: u64,
    /// `ended` for now; clients need a default branch.
    pub kind: String,
    /// The run.
    pub run: String,
    /// Its state.
    pub state: State,
    /// Why, a stable code.
    pub reason: String,
    /// The agent.
    pub agent: String,
    /// The caller's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How many children, when there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children: Option<u32>,
    /// Where the answer is. A path above 400 bytes is left out; `run/get` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<NoticeReference>,
    /// Present when only a bounded text could be kept: how to ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// When it was made.
    pub at_ms: u64,
}

/// A reference inside a notice: the path may have been left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeReference {
    /// The answer's file, unless its path is too long for a notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Its lines.
    pub lines: u64,
    /// Its digest, hex.
    pub sha256: String,
}

impl From<Reference> for NoticeReference {
    fn from(reference: Reference) -> Self {
        Self { path: Some(reference.path), bytes: reference.bytes, lines: reference.lines, sha256: reference.sha256 }
    }
}

/// A place in one store's notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cursor {
    /// The store's identity from `daemon/hello`; another one means from the beginning.
    pub store: String,
    /// The last number seen.
    pub seq: u64,
}

/// Parameters of `inbox/watch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WatchParams {
    /// Only later notices; absent means every unacknowledged one. A watch sends a notice that was kept for a foreground
    /// `run/wait`, and not acknowledged there, after higher numbers; a cursor can leave that one out. A client that
    /// acknowledges what it was sent needs no cursor to come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Cursor>,
}

/// Parameters of `inbox/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListParams {
    /// Only notices with a higher number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// At most so many (default 50, at most 500).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Also those already acknowledged.
    #[serde(default)]
    pub acknowledged: bool,
}

/// Response of `inbox/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResponse {
    /// Notices, oldest first.
    pub notices: Vec<Notice>,
    /// Pass as `after` for the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_after: Option<u64>,
}

/// Parameters of `inbox/ack`. At least one of the two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AckParams {
    /// Everything up to this number *that this connection was sent* by its watch, or told by a foreground `run/wait`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to: Option<u64>,
    /// Single notices by number, however they were learnt of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seqs: Vec<u64>,
}

/// Response of `inbox/ack`, after the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AckResponse {
    /// How many were newly acknowledged.
    pub acknowledged: u64,
}
