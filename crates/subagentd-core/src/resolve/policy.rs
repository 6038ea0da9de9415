//! What the configuration says about every launch.

use std::collections::BTreeMap;

use crate::definition::Thinking;
use crate::plan::{Decision, Source};
use crate::route::{Applied, Profiles, Runs};

use super::capture::Effect;
use super::{Refusal, Request};

/// Tools whose effect is known without a word of the host: they look at the net, never at the workspace.
const NO_EFFECT: [&str; 4] = ["web_search", "fetch_content", "get_search_content", "source_check"];

/// What the configuration says about every launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The families' ladders.
    pub profiles: Profiles,
    /// Effects of captured tools for which the host states none, by name.
    pub effects: BTreeMap<String, Effect>,
    /// Packages whose extensions no child loads.
    pub excluded_packages: Vec<String>,
    /// What no launch may exceed. Each narrows what the one before it left.
    pub ceilings: Vec<Ceiling>,
}

impl Policy {
    /// Whether no child loads the extensions of this package, whatever its version or reference.
    pub(super) fn excludes(&self, source: &str) -> bool {
        self.excluded_packages.iter().any(|other| package(other) == package(source))
    }
}

/// Which package a source names, whatever version or reference of it: `npm:a@1.0` is `npm:a`.
fn package(source: &str) -> &str {
    let source = source.split('#').next().unwrap_or(source);
    let name = source.rfind('/').map_or(0, |slash| slash + 1);
    // A scope's own `@` stands before the slash.
    match source.get(name..).and_then(|last| last.rfind('@')) {
        Some(at) if at > 0 => source.get(..name + at).unwrap_or(source),
        _ => source,
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            profiles: Profiles::shipped().clone(),
            effects: NO_EFFECT.map(|name| (name.to_owned(), Effect::None)).into(),
            excluded_packages: Vec::new(),
            ceilings: Vec::new(),
        }
    }
}

/// What a launch may not exceed. An absent member sets no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ceiling {
    /// Who sets it, for people: `the configuration`, `the owner pi:42`.
    pub of: String,
    /// Identifiers of the agents that may be launched.
    pub agents: Option<Vec<String>>,
    /// Names of the tools that a child may have.
    pub tools: Option<Vec<String>>,
    /// Whether tools that the runtime does not have itself are out.
    pub deny_extensions: bool,
    /// How hard a child may think.
    pub thinking: Option<Thinking>,
}

/// Remark: the model has no level as low as the ceiling, and thinks at its lowest.
pub(super) const REMARK_ABOVE: &str = "thinking.above-ceiling";

pub(super) fn admit(agent: &str, ceilings: &[Ceiling]) -> Result<(), Refusal> {
    let forbids =
        |ceiling: &&Ceiling| ceiling.agents.as_ref().is_some_and(|agents| !agents.iter().any(|name| name == agent));
    match ceilings.iter().find(forbids) {
        Some(ceiling) => Err(Refusal::CeilingAgent { agent: agent.to_owned(), ceiling: ceiling.of.clone() }),
        None => Ok(()),
    }
}

/// The lowest of the ceilings, and who sets it.
fn lowest(ceilings: &[Ceiling]) -> Option<(Thinking, &str)> {
    let set = ceilings.iter().filter_map(|ceiling| Some((ceiling.thinking?, ceiling.of.as_str())));
    set.min_by_key(|(level, _)| *level)
}

/// What the call asks for is refused above the ceiling; anything else is lowered to it, though never to off.
pub(super) fn lower(
    thinking: &mut Decision<Applied>,
    request: &Request,
    runs: Option<&Runs>,
    ceilings: &[Ceiling],
) -> Result<bool, Refusal> {
    let (Some((most, of)), Applied::Level(level)) = (lowest(ceilings), thinking.value) else {
        return Ok(false);
    };
    let asked = request.thinking.as_deref().and_then(Thinking::from_word);
    if let Some(asked) = asked.filter(|asked| *asked > most) {
        return Err(Refusal::CeilingThinking { asked, most, ceiling: of.to_owned() });
    }
    if level <= most {
        return Ok(false);
    }
    let efforts = runs.map(Runs::efforts);
    let under = match efforts {
        Some(efforts) => efforts.iter().rev().copied().find(|effort| *effort <= most),
        None => Some(most.max(Thinking::Minimal)),
    };
    let lowered = under.or_else(|| efforts.and_then(|efforts| efforts.first().copied())).unwrap_or(level);
    let reason = format!("{of} allows no more than {}", most.word());
    thinking.alternatives.push(crate::plan::Alternative { value: level.word().to_owned(), reason: reason.clone() });
    thinking.value = Applied::Level(lowered);
    thinking.source = Source::Configuration;
    thinking.reason = match under {
        Some(_) => reason,
        None => format!("{reason}, and the model has no level as low; this is its lowest"),
    };
    Ok(lowered > most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_the_same_at_every_version() {
        for (source, same) in [
            ("npm:a", "npm:a"),
            ("npm:a@1.0.0", "npm:a"),
            ("npm:@scope/a", "npm:@scope/a"),
            ("npm:@scope/a@latest", "npm:@scope/a"),
            ("git:github.com/u/r@v1", "git:github.com/u/r"),
            ("https://h/u/r#main", "https://h/u/r"),
            ("./packages/a", "./packages/a"),
            ("@", "@"),
            ("", ""),
        ] {
            assert_eq!(package(source), same, "{source}");
        }
    }
}
