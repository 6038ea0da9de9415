//! Child programs: the dialects they speak, the shim that owns each of them, and the folder an attempt lives in.
//!
//! The daemon side ([`folder`], [`spawn`], [`process`]) prepares an attempt and starts its shim; the [`shim`] side is
//! a program of its own that outlives the daemon. They share [`mod@format`] and nothing else.

pub mod clock;
pub mod driver;
pub mod files;
pub mod folder;
pub mod format;
pub mod leftovers;
pub mod process;
pub mod runner;
pub mod shim;
pub mod spawn;
