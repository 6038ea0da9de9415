//! The driver for pi's RPC dialect. Commands go out one at a time, each after the response to the one before, because the
//! child handles commands concurrently.

mod argv;
mod command;
mod entry;
mod machine;
mod record;
mod repair;
mod reply;
mod settle;
mod supply;
mod tools;
mod verify;

#[cfg(test)]
mod tests;

pub use entry::said;
pub use machine::{Driver, NOISE_EVENTS};
pub use tools::{CALLABLE_STATUS, TOOLS_STATUS};
