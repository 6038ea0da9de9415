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
    Agent(Box<Missing>),
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
        model: String,
        /// Who asked for it.
        source: Source,
    },
    /// The call asks for the parent's conversation, and there is none.
    NoConversation,
    /// There is no such context.
    ContextUnknown {
        /// The word.
        asked: String,
    },
    /// A ceiling keeps this agent from being launched.
    CeilingAgent {
        /// The agent.
        agent: String,
        /// Whose ceiling.
        ceiling: String,
    },
    /// The call asks for more thinking than a ceiling allows.
    CeilingThinking {
        /// The level that was asked for.
        asked: Thinking,
        /// The highest that is allowed.
        most: Thinking,
        /// Whose ceiling.
        ceiling: String,
    },
    /// A ceiling leaves none of the agent's tools.
    CeilingTools {
        /// The tools before it.
        tools: Vec<String>,
        /// Whose ceiling.
        ceiling: String,
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
    /// A thinking level that does not exist.
    ThinkingUnavailable,
    /// Off, where it is prohibited.
    OffProhibited,
    /// A context that cannot be had.
    ContextUnavailable,
    /// A ceiling does not allow it.
    AboveCeiling,
}

impl Refusal {
    /// What a client branches on.
    #[must_use]
    pub fn kind(&self) -> RefusalKind {
        match self {
            Self::Agent(missing) => match **missing {
                Missing::Unknown { .. } | Missing::BadName { .. } | Missing::Ambiguous { .. } => {
                    RefusalKind::UnknownAgent
                }
                Missing::Disabled { .. } => RefusalKind::AgentDisabled,
                Missing::Broken { .. } | Missing::Duplicate { .. } | Missing::Unread { .. } => RefusalKind::AgentBroken,
            },
            Self::RuntimeUnknown { .. } | Self::RuntimeUnusable { .. } => RefusalKind::RuntimeUnavailable,
            Self::ModelNotExact { .. } => RefusalKind::ModelNotExact,
            Self::ModelUnavailable { .. } | Self::ModelNotNamed { .. } => RefusalKind::ModelUnavailable,
            Self::ThinkingUnknown { .. } => RefusalKind::ThinkingUnavailable,
            Self::OffProhibited { .. } => RefusalKind::OffProhibited,
            Self::NoConversation | Self::ContextUnknown { .. } => RefusalKind::ContextUnavailable,
            Self::CeilingAgent { .. } | Self::CeilingThinking { .. } | Self::CeilingTools { .. } => {
                RefusalKind::AboveCeiling
            }
        }
    }

    /// The file and the place in it that are to blame, if it is a file's fault.
    #[must_use]
    pub fn at(&self) -> Option<(&str, &Problem)> {
        let Self::Agent(missing) = self else {
            return None;
        };
        match &**missing {
            Missing::Broken { problem, .. } | Missing::Duplicate { problem, .. } => Some((&problem.file, problem)),
            Missing::Unknown { .. }
            | Missing::BadName { .. }
            | Missing::Ambiguous { .. }
            | Missing::Unread { .. }
            | Missing::Disabled { .. } => None,
        }
    }
}

impl From<Missing> for Refusal {
    fn from(missing: Missing) -> Self {
        Self::Agent(Box::new(missing))
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
            Self::ThinkingUnknown { asked, source } => write!(
                f,
                "`{}`, which {} names, is no thinking level; levels are {}",
                error_line(asked),
                who(*source),
                levels(&Thinking::ALL)
            ),
            Self::OffProhibited { model, source } => write!(
                f,
                "model `{}` can think and is not to be kept from it by `off`, which {} names; name a level or none",
                error_line(model),
                who(*source)
            ),
            Self::NoConversation => f.write_str(
                "the call asks for its parent's conversation, and none came with it; launch from a host, or ask for a \
                 fresh context",
            ),
            Self::ContextUnknown { asked } => {
                write!(f, "`{}` is no context; write `fresh` or `parent`", error_line(asked))
            }
            Self::CeilingAgent { agent, ceiling } => {
                write!(f, "{ceiling} does not allow the agent `{agent}`; choose another, or raise that ceiling")
            }
            Self::CeilingThinking { asked, most, ceiling } => write!(
                f,
                "{ceiling} allows no more thinking than `{}`, and the call asks for `{}`; ask for less, or raise that \
                 ceiling",
                most.word(),
                asked.word()
            ),
            Self::CeilingTools { tools, ceiling } => write!(
                f,
                "{ceiling} leaves the agent none of its tools; choose another agent, or raise that ceiling; {}",
                Offer("its tools", tools)
            ),
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
            Self::BadName { asked, fault } => write!(f, "`{}` cannot name an agent: {fault}", error_line(asked)),
            Self::Ambiguous { asked, candidates } => write!(
                f,
                "`{}` is another name of several agents; call one by its own name; {}",
                error_line(asked),
                Offer("agents", candidates)
            ),
            Self::Unread { asked, path, reason } => write!(
                f,
                "`{}` is not launched: the agents in {} cannot be read, and one of them may be it or change it: {}",
                error_line(asked),
                error_line(path),
                error_line(reason)
            ),
            Self::Duplicate { agent, files, .. } => write!(
                f,
                "the agent `{agent}` cannot be launched: several files of one place claim its name; rename or remove \
                 all but one; {}",
                Offer("files", files)
            ),
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
        Source::Capture => "the parent",
        Source::Flag => "a flag",
        Source::Profile => "the profile",
        Source::Runtime => "the runtime's default",
        Source::Daemon => "the daemon",
    }
}
