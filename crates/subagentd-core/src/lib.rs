//! The rules of subagentd. Everything here is a function of its inputs: no I/O, no clock, no async.

pub mod advice;
pub mod definition;
pub mod deliver;
pub mod id;
pub mod life;
pub mod outcome;
pub mod plan;
pub mod resolve;
pub mod route;
pub mod schedule;
pub mod workspace;
