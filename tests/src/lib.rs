//! Harness of the end-to-end tests: the workspace's real programs in private directories, a client, children that play
//! a part, and a look at the process table.
//!
//! A test makes a [`Site`], starts a [`Daemon`] there, connects as an [`Owner`] and hands over an [`Ask`]. What the child
//! does is told by a [`Script`] (the shipped child without a model plays it), by a [`Puppet`] (a shell script that says
//! what no sound child would say), or, on a [`Pi`] site with the real pi, by a [`Faux`] script or a [`Provider`].
//! Everything that was started carries the site's mark and is ended with the site.

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
mod faux;
mod gate;
mod owner;
mod pi;
mod processes;
mod programs;
mod provider;
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
pub use faux::Faux;
pub use gate::Gate;
pub use owner::{Owner, Watch, fault};
pub use pi::{FAUX, LOOP, LOOP_GONE, LOOP_KEYLESS, Pi};
pub use processes::Process;
pub use programs::{Programs, programs};
pub use provider::{Provider, Turn};
pub use puppet::Puppet;
pub use raw::Raw;
pub use script::Script;
pub use site::Site;
pub use stamps::Stamps;
pub use wait::{DEADLINE, until, until_blocking, within};
