//! Drivers: what a child program's dialect means. Each is a pure machine. Bytes of the child's standard output go in; bytes
//! for its standard input and normalised events come out. It does no I/O and knows no clock, so limits and grace periods
//! are its owner's.
//!
//! The owner's loop: [`Dialect::feed`] what was read, take every [`Dialect::next_event`], write what
//! [`Dialect::output`] holds and say so with [`Dialect::wrote`].
//!
//! # Another dialect
//!
//! A module beside `pi` with a type that implements [`Dialect`], and a branch in [`begin`]; the request then has to
//! name the dialect, absent meaning pi's, since shims of an older build read it, too. Lines come from `frame`, steers and
//! their receipts from `steers`: both belong to no dialect. Recorded streams of the real program and the tests of `pi`
//! show what has to hold. Nothing in the shim knows a dialect's words.

mod dialect;
mod event;
mod frame;
mod pi;
mod steers;

pub use dialect::{Asked, Dialect, Extension, Files, Phase, Stop, Supply, begin};
pub use event::{ARGS_BYTES, Event, Line, NAME_BYTES, Settlement, Totals};
pub use frame::LINE_BYTES;
pub use pi::{CALLABLE_STATUS, Driver, NOISE_EVENTS, TOOLS_STATUS, said};
pub use steers::{OPEN_STEERS, STEERS};
