//! The only mapping from the daemon's errors to those of the wire.

use subagentd_core::resolve::{Refusal, RefusalKind};
use subagentd_proto::error::{At, Fault, Kind};
use subagentd_store::StoreError;

use crate::policy::Problem;

/// A failed commit or question.
#[must_use]
pub(crate) fn storage(error: &StoreError) -> Fault {
    let kind = match error {
        StoreError::Unavailable { .. } | StoreError::Read(_) => Kind::Storage,
        StoreError::Closed => Kind::Draining,
        StoreError::Unknown(_) => Kind::NotFound,
        StoreError::Refused(_) | StoreError::Unreadable { .. } | StoreError::Unstorable { .. } => Kind::Internal,
    };
    Fault::new(kind, error.to_string())
}

/// A launch that the resolver refused.
#[must_use]
pub(crate) fn refusal(refusal: &Refusal) -> Fault {
    let kind = match refusal.kind() {
        RefusalKind::UnknownAgent => Kind::UnknownAgent,
        RefusalKind::AgentDisabled => Kind::AgentDisabled,
        RefusalKind::AgentBroken => Kind::AgentBroken,
        RefusalKind::RuntimeUnavailable => Kind::RuntimeUnavailable,
        RefusalKind::ModelNotExact => Kind::ModelNotExact,
        RefusalKind::ModelUnavailable => Kind::ModelUnavailable,
        RefusalKind::ThinkingUnavailable => Kind::ThinkingUnavailable,
        RefusalKind::OffProhibited => Kind::ThinkingOffProhibited,
        RefusalKind::ContextUnavailable => Kind::ContextUnavailable,
        RefusalKind::AboveCeiling => Kind::AboveCeiling,
    };
    let at = refusal.at().map(|(file, problem)| At {
        path: file.to_owned(),
        line: Some(problem.line),
        column: Some(problem.column),
    });
    Fault { kind, message: refusal.to_string(), at }
}

/// A setting that restricts and cannot be understood.
#[must_use]
pub(crate) fn settings(problem: &Problem) -> Fault {
    let at = At { path: problem.file.clone(), line: Some(problem.line), column: Some(problem.column) };
    Fault { kind: Kind::SettingsBroken, message: problem.to_string(), at: Some(at) }
}

/// A task of the daemon's own that did not come back.
#[must_use]
pub(crate) fn internal(error: &dyn std::fmt::Display) -> Fault {
    Fault::new(Kind::Internal, format!("the daemon failed: {error}; its log may say more"))
}
