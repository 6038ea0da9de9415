//! Why no model can be chosen.

use crate::plan::Source;

use super::Exact;

/// Why no model can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RouteError {
    /// The model is not written `provider/id`.
    NotExact {
        /// What was written.
        asked: String,
        /// Who wrote it.
        source: Source,
    },
    /// Exactly this model cannot be run.
    Unavailable {
        /// The model.
        model: Exact,
        /// Who named it.
        source: Source,
    },
    /// Nobody named a model, and no parent is known.
    NotNamed,
    /// There is no such thinking level.
    ThinkingUnknown {
        /// The word.
        asked: String,
        /// Who wrote it.
        source: Source,
    },
    /// A model that can think is not to be kept from it.
    OffProhibited {
        /// The model.
        model: Exact,
        /// Who asked for it.
        source: Source,
    },
}

impl RouteError {
    /// The stable word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NotExact { .. } => "model.not-exact",
            Self::Unavailable { .. } => "model.unavailable",
            Self::NotNamed => "model.not-named",
            Self::ThinkingUnknown { .. } => "thinking.unknown",
            Self::OffProhibited { .. } => "thinking.off-prohibited",
        }
    }
}
