//! Why a launch is refused, with everything a caller needs to do better.

use std::fmt;

use crate::definition::{Missing, Problem, Thinking};
use crate::outcome::error_line;
use crate::plan::Source;

/// Names that one sentence lists; the rest is counted.
const LISTED: usize = 20;

/// Why a launch is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such agent, or it cannot be launched.
    Agent(Missing),
    /// No runtime has this name.
    RuntimeUnknown {
        /// The name.
        asked: String,
        /// Who named it.
        source: Source,
        /// Runtimes that can be used.
        available: Vec<String>,
    },
    /// The runtime cannot start a child.
    RuntimeUnusable {
        /// Its name.
        runtime: String,
        /// Why.
        why: String,
        /// Runtimes that can be used.
        available: Vec<String>,
    },
    /// The model is not written `provider/id`.
    ModelNotExact {
        /// What was written.
        asked: String,
        /// Who wrote it.
        source: Source,
    },
    /// The runtime cannot run exactly this model.
    ModelUnavailable {
        /// The provider that was asked for.
        provider: String,
        /// The id that was asked for.
        id: String,
        /// Who asked.
        source: Source,
        /// The runtime.
        runtime: String,
        /// What it can run.
        available: Vec<String>,
    },
    /// Nobody named a model, and the runtime has no default.
    ModelNotNamed {
        /// The runtime.
        runtime: String,
        /// What it can run.
        available: Vec<String>,
    },
    /// The call wants its parent's conversation and brought none.
    ConversationMissing,
    /// There is no such context.
    ContextUnknown {
        /// The word.
        asked: String,
    },
    /// There is no such thinking level.
    ThinkingUnknown {
        /// The word.
        asked: String,
        /// Who wrote it.
        source: Source,
    },
    /// The model does not have this level.
    ThinkingUnavailable {
        /// The level that was asked for.
        asked: Thinking,
        /// Who asked.
        source: Source,
        /// The model.
        model: String,
        /// The levels it has.
        available: Vec<Thinking>,
    },
}

/// The kind of a refusal: what a client branches on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// No such agent.
    UnknownAgent,
    /// The agent is switched off.
    AgentDisabled,
    /// The agent's file has an error.
    AgentBroken,
    /// No such runtime, or it cannot be used.
    RuntimeUnavailable,
    /// A model that is not written exactly.
    ModelNotExact,
    /// A model that cannot be run, or none at all.
    ModelUnavailable,
    /// A thinking level that the model does not have, or that does not exist.
    ThinkingUnavailable,
    /// A context that cannot be had, or that does not exist.
    ContextUnavailable,
}

impl Refusal {
    /// What a client branches on.
    #[must_use]
    pub const fn kind(&self) -> RefusalKind {
        match self {
            Self::Agent(Missing::Unknown { .. }) => RefusalKind::UnknownAgent,
            Self::Agent(Missing::Disabled { .. }) => RefusalKind::AgentDisabled,
            Self::Agent(Missing::Broken { .. }) => RefusalKind::AgentBroken,
            Self::RuntimeUnknown { .. } | Self::RuntimeUnusable { .. } => RefusalKind::RuntimeUnavailable,
            Self::ModelNotExact { .. } => RefusalKind::ModelNotExact,
            Self::ModelUnavailable { .. } | Self::ModelNotNamed { .. } => RefusalKind::ModelUnavailable,
            Self::ThinkingUnknown { .. } | Self::ThinkingUnavailable { .. } => RefusalKind::ThinkingUnavailable,
            Self::ConversationMissing | Self::ContextUnknown { .. } => RefusalKind::ContextUnavailable,
        }
    }

    /// The file and the place in it that are to blame, if it is a file's fault.
    #[must_use]
    pub fn at(&self) -> Option<(&str, &Problem)> {
        match self {
            Self::Agent(Missing::Broken { file, problem, .. }) => Some((file, problem)),
            _ => None,
        }
    }
}

impl From<Missing> for Refusal {
    fn from(missing: Missing) -> Self {
        Self::Agent(missing)
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(missing) => missing.fmt(f),
            Self::RuntimeUnknown { asked, source, available } => write!(
                f,
                "there is no runtime `{}`, which {} names; {}",
                error_line(asked),
                who(*source),
                Offer("usable runtimes", available)
            ),
            Self::RuntimeUnusable { runtime, why, available } => {
                write!(f, "the runtime `{runtime}` cannot be used: {why}; {}", Offer("usable runtimes", available))
            }
            Self::ModelNotExact { asked, source } => write!(
                f,
                "model `{}`, which {} names, is not exact; write it as `provider/id`",
                error_line(asked),
                who(*source)
            ),
            Self::ModelUnavailable { provider, id, source, runtime, available } => write!(
                f,
                "the runtime `{runtime}` cannot run model `{}` of provider `{}`, which {} names; {}",
                error_line(id),
                error_line(provider),
                who(*source),
                Offer("it can run", available)
            ),
            Self::ModelNotNamed { runtime, available } => write!(
                f,
                "the runtime `{runtime}` has no default model; name one as `provider/id`; {}",
                Offer("it can run", available)
            ),
            Self::ConversationMissing => f.write_str(
                "the call asks for its parent's conversation, and no conversation came with it; a host names one in \
                 `capture.conversation`, others leave `context` out",
            ),
            Self::ContextUnknown { asked } => {
                write!(f, "`{}` is no context; a context is `fresh` or `parent`", error_line(asked))
            }
            Self::ThinkingUnknown { asked, source } => write!(
                f,
                "`{}`, which {} names, is no thinking level; levels are {}",
                error_line(asked),
                who(*source),
                levels(&Thinking::ALL)
            ),
            Self::ThinkingUnavailable { asked, source, model, available } => {
                let (asked, who) = (asked.word(), who(*source));
                write!(f, "model `{model}` cannot think at level `{asked}`, which {who} names; ")?;
                match available.as_slice() {
                    [] => f.write_str("it has no levels, so name none"),
                    some => write!(f, "it has {}", levels(some)),
                }
            }
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { asked, nearest, available } => {
                write!(f, "there is no agent `{}`; ", error_line(asked))?;
                if let Some(nearest) = nearest {
                    write!(f, "did you mean `{nearest}`? ")?;
                }
                Offer("agents", available).fmt(f)
            }
            Self::Disabled { agent, file } => {
                write!(
                    f,
                    "the agent `{agent}` is switched off by `enabled: false` in {file}; choose another or change that line"
                )
            }
            Self::Broken { agent, file, problem } => write!(
                f,
                "the agent `{agent}` cannot be launched until {file} is mended, line {}, column {}: {}",
                problem.line, problem.column, problem.message
            ),
        }
    }
}

/// What there is to choose from.
struct Offer<'a>(&'static str, &'a [String]);

impl fmt::Display for Offer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(what, names) = self;
        if names.is_empty() {
            return write!(f, "{what}: none");
        }
        let listed: Vec<_> = names.iter().take(LISTED).map(String::as_str).collect();
        write!(f, "{what}: {}", listed.join(", "))?;
        match names.len() - listed.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

fn levels(levels: &[Thinking]) -> String {
    let words: Vec<_> = levels.iter().map(|level| level.word()).collect();
    words.join(", ")
}

const fn who(source: Source) -> &'static str {
    match source {
        Source::Call => "the call",
        Source::Definition => "the agent's definition",
        Source::Configuration => "the configuration",
        Source::Default => "the default",
        Source::Runtime => "the runtime's default",
        Source::Daemon => "the daemon",
    }
}
