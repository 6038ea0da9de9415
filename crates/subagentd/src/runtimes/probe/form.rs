//! What daemon and probe process tell each other, one JSON document a line. Both are the same program.

use serde::{Deserialize, Serialize};
use subagentd_core::plan::Environment;

/// A line in either direction; a longer one ends the probe. An environment has at most a few MiB.
pub(crate) const LINE_BYTES: u64 = 16 * 1024 * 1024;
/// Models that are kept of a list; what is beyond is left out.
pub(crate) const MODELS: usize = 5_000;
/// Bytes of a name: a provider, an id, a version. A model with a longer one is left out.
pub(crate) const NAME_BYTES: usize = 256;

/// The first line: what the programs get as their environment. Has no `Debug`: values are secrets.
#[derive(Serialize, Deserialize)]
pub(crate) struct Begin {
    /// All of it.
    pub environment: Environment,
}

/// One thing to find out.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ask {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What of it.
    pub what: What,
    /// How long it may take; then its whole tree is killed.
    pub within_ms: u64,
}

/// What is to be found out of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum What {
    /// The first line that it writes.
    Line,
    /// The models that it can run, asked in pi's dialect.
    Models,
}

/// The answer to an [`Ask`].
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reply {
    /// For [`What::Line`].
    Line(String),
    /// For [`What::Models`].
    Models(Offer),
    /// It could not be found out: half a sentence that the program's name goes before.
    Failed(String),
}

/// What a program says that it can run.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// The model that it takes when nobody names one, as provider and id.
    pub default: Option<(String, String)>,
    /// The thinking level that goes with it.
    pub thinking: Option<String>,
    /// The first [`MODELS`] of them.
    pub models: Vec<Model>,
}

/// One model, without anything that could be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Model {
    /// Its provider.
    pub provider: String,
    /// Its id at that provider.
    pub id: String,
    /// Its name for people.
    pub name: Option<String>,
    /// The levels it supports.
    pub levels: Vec<String>,
    /// Tokens that fit into its context.
    pub context_window: Option<u64>,
}
