//! The product from outside: its real programs in private directories.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this whole program is a test"
)]

mod cancel;
mod child;
mod cli;
mod inbox;
mod launch;
mod limits;
mod places;
mod protocol;
mod queue;
mod records;
mod restart;
mod results;
mod soak;
mod starting;
mod workspace;
