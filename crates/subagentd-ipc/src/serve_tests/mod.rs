//! The server seen through its socket, with raw bytes where the bytes matter.

mod client;
mod ends;
mod requests;
mod rig;
mod subscriptions;
