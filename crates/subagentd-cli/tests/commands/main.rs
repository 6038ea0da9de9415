//! The program as it is typed, against a scripted peer on the socket: what it sends, prints and exits with.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this whole program is a test"
)]

mod daemon;
mod documents;
mod explain;
mod inbox;
mod launch;
mod lists;
mod peer;
mod read;
mod screens;
mod steer;
mod wait;
