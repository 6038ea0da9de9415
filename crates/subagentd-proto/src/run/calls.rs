//! `run/list`, `run/wait`, `run/cancel`, `run/result`.

use serde::{Deserialize, Serialize};

use super::{NoticeRef, Reference, RunView, State, Waits};

/// Parameters of `run/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListParams {
    /// From an earlier page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most so many (default 50, at most 500).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only runs in one of these states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<State>,
    /// Only runs of this owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
}

/// Response of `run/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResponse {
    /// Runs, newest first.
    pub runs: Vec<RunSummary>,
    /// For the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// Its id.
    pub run: String,
    /// Its state.
    pub state: State,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The agent of its first child.
    pub agent: String,
    /// How many children it has.
    pub children: u32,
    /// The caller's title, else the task's first line, cut.
    pub title: String,
    /// Who launched it.
    pub owner: String,
    /// Where it works.
    pub directory: String,
    /// The runtime of its first child.
    pub runtime: String,
    /// When it was accepted.
    pub created_at_ms: u64,
    /// When its first child started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at_ms: Option<u64>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<u64>,
    /// Since when its first child is in its present state; absent where that is not known, as after a resume that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<u64>,
    /// What was asked of it and has not happened yet: `cancel` or `pause`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Where it stands if it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// The notice of its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<NoticeRef>,
}

/// Parameters of `run/wait`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitParams {
    /// The run's id or a unique ending.
    pub run: String,
    /// At most so long; 50,000 is the most and the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// This connection will show how the run ended, so the notice of it is kept from the watchers of the owner's inbox:
    /// from now on, also after this wait, until the notice is acknowledged or the connection closes. The connection's
    /// latest wait for the run decides: one without this gives the notice back, at once with a `timeoutMs` of 0.
    ///
    /// The answer that tells of the end has the notice's number, to be acknowledged as if an `inbox/watch` had sent it
    /// (`upTo` covers it). If that does not happen within `inbox.offer`, the watchers are offered the notice; likewise
    /// if nobody asked for the answer for so long. Several connections may wait so for one run: each is told, and the
    /// watchers are offered the notice when none keeps it any more. One of another owner only observes, and one that
    /// does this for more than 256 runs keeps nothing of the further ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreground: bool,
}

/// Response of `run/wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitResponse {
    /// Whether the run has ended; otherwise the time was up.
    pub ended: bool,
    /// The run as it stands.
    pub run: RunView,
}

/// Parameters of `run/cancel`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancelParams {
    /// The run's id or a unique ending.
    pub run: String,
}

/// Response of `run/cancel`, after the commit of the intent or of the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelResponse {
    /// The run.
    pub run: String,
    /// Its state: an end if it had ended before or never started, else the state it is cancelled in.
    pub state: State,
    /// `cancelled` (it never started), `cancelling` (it will end as cancelled), or `already-ended`.
    pub outcome: String,
}

/// Parameters of `run/result`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResultParams {
    /// The run's id or a unique ending.
    pub run: String,
    /// Which child; the first one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<u32>,
    /// Ask for text: from this byte. A place inside a character is moved to its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// At most so many bytes of text (at most and by default 262,144, at least 4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Response of `run/result`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultResponse {
    /// The run.
    pub run: String,
    /// The child.
    pub child: u32,
    /// The child's state.
    pub state: State,
    /// Whether the answer is known to be whole.
    pub complete: bool,
    /// Where the answer is.
    pub reference: Reference,
    /// The asked slice; absent unless `offset` or `limit` was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextSlice>,
    /// The notice of the run's end, to acknowledge once shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<NoticeRef>,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextSlice {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// The part; whole characters.
    pub text: String,
    /// Where the next part begins; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
}
