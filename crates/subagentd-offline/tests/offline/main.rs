//! The real program over pipes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod child;
mod conversation;
mod dialect;
mod grandchild;
mod manners;
mod script;
mod search;
mod stage;
