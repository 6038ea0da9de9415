//! Both ends of subagentd's socket: where it is, how documents are framed on it, how methods are served and called.
//!
//! Daemon: [`place`] → [`socket`] → [`router`] → [`mod@serve`]. Client: [`place`] → [`start`] → [`client`]. What the methods
//! mean is known to neither: the types come from `subagentd-proto`.
//!
//! Calls of one connection run concurrently and answers may overtake each other. Where order matters (a cancel after a
//! launch, anything after `daemon/hello`) a client waits for the first answer. Notifications from clients are dropped:
//! every call needs an id.

pub mod client;
pub mod connection;
pub mod daemon_file;
pub mod directory;
mod dispatch;
mod exchange;
mod fault;
pub mod frame;
pub mod limits;
pub mod place;
pub mod reach;
pub mod router;
pub mod serve;
pub mod socket;
pub mod start;
mod writer;

pub use client::{CallError, Client, Items};
pub use connection::{Connection, Peer, Session};
pub use daemon_file::DaemonFile;
pub use jsonrpsee_core::server::Methods;
pub use limits::Limits;
pub use place::{Environment, Place};
pub use reach::ConnectError;
pub use router::{Router, Sink};
pub use serve::{Handle, ServeReport, Server, serve};
pub use socket::{Address, Bound, StateLock, bind_private};
pub use start::{connect_or_start, find};
