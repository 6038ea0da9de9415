//! What travels on subagentd's socket: methods, their parameters and responses, errors and limits.
//!
//! Plain data only. Parameters refuse unknown members (the frozen `daemon/*` methods ignore them); clients ignore
//! unknown members of responses and have a default branch for every word. Names on the wire are camelCase, times are
//! integer milliseconds since the epoch (`…AtMs`), durations integer milliseconds (`…Ms`).

pub mod agent;
pub mod daemon;
pub mod error;
pub mod inbox;
pub mod lease;
pub mod limits;
pub mod method;
pub mod model;
pub mod profile;
pub mod run;

/// Number of the protocol. Raised when an old client could misread a new daemon, or the reverse.
pub const PROTOCOL: u32 = 1;
