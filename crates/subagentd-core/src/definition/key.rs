//! The fields of a definition, as names.

/// A field of a definition: a key of the front matter, or the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// `description`.
    Description,
    /// `display_name`.
    DisplayName,
    /// `aliases`.
    Aliases,
    /// `tools`.
    Tools,
    /// `inherit_tools`.
    InheritTools,
    /// `exclude_tools`.
    ExcludeTools,
    /// `model`.
    Model,
    /// `thinking`.
    Thinking,
    /// `max_turns`.
    MaxTurns,
    /// `inherit_context`.
    InheritContext,
    /// `run_in_background`.
    RunInBackground,
    /// `enabled`.
    Enabled,
    /// `acceptance_role`.
    AcceptanceRole,
    /// `access`.
    Access,
    /// `timeout`.
    Timeout,
    /// `idle_timeout`.
    IdleTimeout,
    /// `output`.
    Output,
    /// `runtime`.
    Runtime,
    /// `allow_plan_files`.
    AllowPlanFiles,
    /// The body of the file.
    Instructions,
}

impl Key {
    /// Every field, in the order in which they are listed.
    pub const ALL: [Self; 20] = [
        Self::Description,
        Self::DisplayName,
        Self::Aliases,
        Self::Tools,
        Self::InheritTools,
        Self::ExcludeTools,
        Self::Model,
        Self::Thinking,
        Self::MaxTurns,
        Self::InheritContext,
        Self::RunInBackground,
        Self::Enabled,
        Self::AcceptanceRole,
        Self::Access,
        Self::Timeout,
        Self::IdleTimeout,
        Self::Output,
        Self::Runtime,
        Self::AllowPlanFiles,
        Self::Instructions,
    ];

    /// The key in the front matter; of the body, what it holds.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Description => "description",
            Self::DisplayName => "display_name",
            Self::Aliases => "aliases",
            Self::Tools => "tools",
            Self::InheritTools => "inherit_tools",
            Self::ExcludeTools => "exclude_tools",
            Self::Model => "model",
            Self::Thinking => "thinking",
            Self::MaxTurns => "max_turns",
            Self::InheritContext => "inherit_context",
            Self::RunInBackground => "run_in_background",
            Self::Enabled => "enabled",
            Self::AcceptanceRole => "acceptance_role",
            Self::Access => "access",
            Self::Timeout => "timeout",
            Self::IdleTimeout => "idle_timeout",
            Self::Output => "output",
            Self::Runtime => "runtime",
            Self::AllowPlanFiles => "allow_plan_files",
            Self::Instructions => "instructions",
        }
    }

    /// The field that a key of the front matter sets; the body has no key.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| *key != Self::Instructions && key.word() == word)
    }
}
