//! The product from outside: its real programs in private directories.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this whole program is a test"
)]

mod adoption;
mod cancel;
mod child;
mod cli;
mod database;
mod definitions;
mod delivery;
mod histories;
mod inbox;
mod launch;
mod limits;
mod lives;
mod never_started;
mod orders;
mod pausing;
mod pi;
mod places;
mod preflight;
mod protocol;
mod queue;
mod records;
mod resolver_pi;
mod restart;
mod results;
mod shim_loss;
mod soak;
mod spool;
mod starting;
mod stopping;
mod stored_cancel;
mod told;
mod tree;
mod workspace;
