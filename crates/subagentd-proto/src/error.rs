//! Errors: `code` is the class, `data.kind` the stable word that clients branch on, the message is for people.

use serde::{Deserialize, Serialize};

/// Class of an error: the JSON-RPC `code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Code {
    /// Not JSON.
    Parse = -32_700,
    /// Not a request of JSON-RPC 2.0, or an id that is neither an unsigned integer nor a string.
    InvalidRequest = -32_600,
    /// No such method.
    MethodNotFound = -32_601,
    /// The parameters do not fit the method.
    InvalidParams = -32_602,
    /// A fault of the daemon.
    Internal = -32_603,
    /// Batches are not taken.
    Batch = -32_005,
    /// Too many subscriptions on this connection.
    Subscriptions = -32_006,
    /// The document is larger than a frame may be.
    RequestSize = -32_007,
    /// No such agent, or it is disabled.
    UnknownAgent = -33_001,
    /// The resolver refused the launch.
    Refused = -33_002,
    /// The key stands for another request, or the state does not allow the call.
    Conflict = -33_003,
    /// No such run, child or result.
    NotFound = -33_004,
    /// A queue is full; try again.
    Overloaded = -33_005,
    /// The daemon is stopping.
    Draining = -33_006,
    /// `daemon/hello` has to come first.
    NotHello = -33_007,
    /// A bound was passed.
    Limit = -33_008,
    /// The database or the disk failed.
    Storage = -33_009,
    /// The caller is inside a run and may not do this.
    InsideRun = -33_010,
    /// The protocols of client and daemon differ.
    Protocol = -33_011,
}

/// The stable word for what went wrong: `data.kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// See [`Code::Parse`].
    Parse,
    /// See [`Code::InvalidRequest`].
    InvalidRequest,
    /// See [`Code::MethodNotFound`].
    MethodNotFound,
    /// See [`Code::InvalidParams`].
    InvalidParams,
    /// See [`Code::Internal`].
    Internal,
    /// See [`Code::Batch`].
    Batch,
    /// See [`Code::Subscriptions`].
    Subscriptions,
    /// See [`Code::RequestSize`].
    RequestSize,
    /// The agent is not in the catalogue.
    UnknownAgent,
    /// The agent is there and switched off.
    AgentDisabled,
    /// The agent's definition has a fault; see `at`.
    AgentBroken,
    /// A model that is not written `provider/id`.
    ModelNotExact,
    /// The runtime cannot run this model.
    ModelUnavailable,
    /// The model does not have this thinking level.
    ThinkingUnavailable,
    /// A model that can think is not to be kept from it by `off`.
    ThinkingOffProhibited,
    /// The context that was asked for cannot be had: there is no conversation, or no such context.
    ContextUnavailable,
    /// A ceiling of the settings does not allow it.
    AboveCeiling,
    /// A settings file has a fault that could widen what a child may do; see `at`.
    SettingsBroken,
    /// No runtime of that name, or it is not usable.
    RuntimeUnavailable,
    /// The workspace is missing, no directory, or may not be entered.
    WorkspaceUnusable,
    /// Any other refusal of the resolver.
    Refused,
    /// The key stands for another request.
    KeyConflict,
    /// The state does not allow the call.
    WrongState,
    /// No such run or child.
    NotFound,
    /// More than one run ends like that.
    Ambiguous,
    /// The run has no answer, or not yet.
    NoResult,
    /// The answer's file is gone or unreadable.
    ResultGone,
    /// See [`Code::Overloaded`].
    Overloaded,
    /// See [`Code::Draining`].
    Draining,
    /// See [`Code::NotHello`].
    NotHello,
    /// A value is longer or larger than it may be.
    Limit,
    /// See [`Code::Storage`].
    Storage,
    /// See [`Code::InsideRun`].
    InsideRun,
    /// See [`Code::Protocol`].
    Protocol,
    /// A word that this client does not know.
    #[serde(other)]
    Unknown,
}

impl Kind {
    /// The class the kind belongs to.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::Parse => Code::Parse,
            Self::InvalidRequest => Code::InvalidRequest,
            Self::MethodNotFound => Code::MethodNotFound,
            Self::InvalidParams => Code::InvalidParams,
            Self::Internal | Self::Unknown => Code::Internal,
            Self::Batch => Code::Batch,
            Self::Subscriptions => Code::Subscriptions,
            Self::RequestSize => Code::RequestSize,
            Self::UnknownAgent | Self::AgentDisabled => Code::UnknownAgent,
            Self::AgentBroken
            | Self::ModelNotExact
            | Self::ModelUnavailable
            | Self::ThinkingUnavailable
            | Self::ThinkingOffProhibited
            | Self::ContextUnavailable
            | Self::AboveCeiling
            | Self::SettingsBroken
            | Self::RuntimeUnavailable
            | Self::WorkspaceUnusable
            | Self::Refused => Code::Refused,
            Self::KeyConflict | Self::WrongState | Self::Ambiguous => Code::Conflict,
            Self::NotFound | Self::NoResult | Self::ResultGone => Code::NotFound,
            Self::Overloaded => Code::Overloaded,
            Self::Draining => Code::Draining,
            Self::NotHello => Code::NotHello,
            Self::Limit => Code::Limit,
            Self::Storage => Code::Storage,
            Self::InsideRun => Code::InsideRun,
            Self::Protocol => Code::Protocol,
        }
    }

    /// Whether the same call may succeed later without being changed.
    #[must_use]
    pub const fn retryable(self) -> bool {
        matches!(self, Self::Overloaded | Self::Draining | Self::Storage)
    }
}

/// `data` of an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorData {
    /// The stable word.
    pub kind: Kind,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// The place in a file that is to blame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct At {
    /// The file.
    pub path: String,
    /// Its line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Its column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
}

/// An error as both sides handle it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The stable word.
    pub kind: Kind,
    /// What happened and what to do, for people.
    pub message: String,
    /// The place in a file that is to blame.
    pub at: Option<At>,
}

impl Fault {
    /// An error without a place.
    #[must_use]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), at: None }
    }

    /// The `data` member that goes with it.
    #[must_use]
    pub fn data(&self) -> ErrorData {
        ErrorData { kind: self.kind, retryable: self.kind.retryable(), at: self.at.clone() }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
