//! `daemon/*`: frozen shapes that work between any two builds. They ignore unknown members in both directions.

use serde::{Deserialize, Serialize};

/// Parameters of `daemon/hello`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HelloParams {
    /// Who calls.
    #[serde(default)]
    pub client: ClientInfo,
    /// The protocol the client speaks ([`crate::PROTOCOL`]).
    #[serde(default)]
    pub protocol: u32,
    /// Stable identity of whoever launches: a host's session, an editor window, `cli:<user>`. At most 200 bytes.
    #[serde(default)]
    pub owner: String,
    /// Earlier owners of the same host process, whose notices this one takes over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_owners: Vec<String>,
}

/// The calling program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientInfo {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
}

/// Response of `daemon/hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HelloResponse {
    /// The protocol the daemon speaks.
    pub protocol: u32,
    /// The daemon's version.
    pub version: String,
    /// Identity of the database: a cursor into another one means nothing.
    pub store: String,
    /// What clients may use: method names and words for later additions.
    pub features: Vec<String>,
    /// The bounds that this daemon holds clients to.
    pub limits: LimitsView,
    /// The run that the caller is part of, if it is inside one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside_run: Option<String>,
}

/// The bounds a client has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsView {
    /// Bytes of a document.
    pub frame_bytes: u64,
    /// Requests under way on one connection.
    pub in_flight: u32,
    /// Subscriptions of one connection.
    pub subscriptions: u32,
    /// Bytes of text in one reply.
    pub text_slice_bytes: u32,
    /// The longest wait.
    pub wait_ms: u64,
}

/// Parameters of `daemon/status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusParams {}

/// Response of `daemon/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusResponse {
    /// The daemon's version.
    pub version: String,
    /// The protocol it speaks.
    pub protocol: u32,
    /// Its process.
    pub pid: u32,
    /// When it began to serve.
    pub started_at_ms: u64,
    /// Its state directory.
    pub state_directory: String,
    /// Its socket.
    pub socket: String,
    /// Whether it takes new work.
    pub stopping: bool,
    /// Children with a shim.
    pub live: u32,
    /// Children waiting.
    pub queued: u32,
    /// Children at once at most.
    pub max_children: u32,
    /// The runtime that a launch gets when it names none, and why.
    pub default_runtime: crate::run::Decision<String>,
}

/// Parameters of `daemon/stop`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StopParams {}

/// Response of `daemon/stop`, sent before the daemon goes. Absent numbers are 0: so a command line can say with the same
/// document that none ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StopResponse {
    /// Children that go on running and are taken up by the next daemon.
    #[serde(default)]
    pub live: u32,
    /// Children that wait for the next daemon.
    #[serde(default)]
    pub queued: u32,
}
