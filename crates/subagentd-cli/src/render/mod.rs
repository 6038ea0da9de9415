//! From wire types to text for people: pure functions, so that every screen is a table in a test.

pub(crate) mod agents;
mod codes;
pub(crate) mod daemon;
pub(crate) mod explain;
pub(crate) mod fields;
pub(crate) mod fit;
mod history;
pub(crate) mod inbox;
pub(crate) mod lease;
pub(crate) mod list;
pub(crate) mod models;
pub(crate) mod profiles;
pub(crate) mod progress;
pub(crate) mod run;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod show;
pub(crate) mod table;
pub(crate) mod time;
pub(crate) mod words;
