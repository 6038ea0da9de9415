//! The driver for pi's RPC dialect: a pure machine. Bytes of the child's standard output go in; bytes for its standard
//! input and normalised events come out. It does no I/O and knows no clock, so limits and grace periods are its owner's.
//!
//! The owner's loop: [`Driver::feed`] what was read, take every [`Driver::next_event`], write what [`Driver::output`]
//! holds and say so with [`Driver::wrote`]. Commands go out one at a time, each after the response to the one before,
//! because the child handles commands concurrently.

mod argv;
mod command;
mod event;
mod frame;
mod machine;
mod record;
mod repair;
mod settle;
mod verify;

#[cfg(test)]
mod tests;

pub use argv::Files;
pub use event::{ARGS_BYTES, Event, Line, NAME_BYTES, Settlement, Totals};
pub use frame::LINE_BYTES;
pub use machine::{Driver, NOISE_EVENTS, Phase};
pub use verify::TOOLS_STATUS;

/// What a child is asked to be and to do. Has no `Debug`: a prompt is never logged.
#[derive(Clone)]
pub struct Asked {
    /// Provider, compared exactly with what the child reports.
    pub provider: String,
    /// Model id of that provider, compared exactly.
    pub model: String,
    /// Thinking level, compared exactly.
    pub thinking: String,
    /// The tools it may have, and no others.
    pub tools: Vec<String>,
    /// The whole first prompt. It is sent once, over standard input, and never an argument.
    pub prompt: String,
}
