//! Harness of the end-to-end tests: the workspace's real programs in private directories, a client, children that play
//! a part, and a look at the process table.
//!
//! A test makes a [`Site`], starts a [`Daemon`] there, connects as an [`Owner`] and hands over an [`Ask`]. What the child
//! does is told by a [`Script`] (the shipped child without a model plays it) or by a [`Puppet`] (a shell script that says
//! what no sound child would say). Everything that was started carries the site's mark and is ended with the site.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::missing_panics_doc,
    reason = "a library for tests: what is not as it should be ends the test"
)]

mod ask;
mod cli;
mod daemon;
mod owner;
mod processes;
mod programs;
mod puppet;
mod raw;
mod script;
mod site;
pub mod soak;
mod stamps;
mod wait;

pub use ask::Ask;
pub use cli::Said;
pub use daemon::{Daemon, Ended};
pub use owner::{Owner, Watch, fault};
pub use processes::Process;
pub use programs::{Programs, programs};
pub use puppet::Puppet;
pub use raw::Raw;
pub use script::Script;
pub use site::Site;
pub use stamps::Stamps;
pub use wait::{DEADLINE, until, until_blocking, within};
