//! What handlers know of the connection that a request came on.

use std::sync::OnceLock;

use subagentd_proto::daemon::ClientInfo;
use subagentd_proto::error::{Fault, Kind};
use tokio_util::sync::CancellationToken;

/// The process at the other end, as it was when it connected: fit for logs and for a look into /proc at once, never
/// for trust later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its process, unless it lives in another pid namespace.
    pub pid: Option<i32>,
    /// Its user.
    pub uid: u32,
}

/// What `daemon/hello` said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Stable identity of whoever launches.
    pub owner: String,
    /// Earlier owners whose notices this one takes over.
    pub earlier_owners: Vec<String>,
    /// The calling program.
    pub client: ClientInfo,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    /// Unique within one server.
    pub id: u64,
    /// Who is at the other end.
    pub peer: Peer,
    /// Set by [`Connection::greet`], once.
    pub session: OnceLock<Session>,
    /// Cancelled when the connection ends for whatever reason. Handlers that wait should stop waiting then. To cancel
    /// it is to cut the connection off.
    pub closed: CancellationToken,
}

impl Connection {
    /// A connection that has not said hello.
    #[must_use]
    pub fn new(id: u64, peer: Peer) -> Self {
        Self { id, peer, session: OnceLock::new(), closed: CancellationToken::new() }
    }

    /// Opens the gate for everything beyond the three frozen methods.
    ///
    /// # Errors
    /// [`Kind::WrongState`] when the connection has greeted before; the first session stays.
    pub fn greet(&self, session: Session) -> Result<(), Fault> {
        self.session.set(session).map_err(|_| {
            Fault::new(
                Kind::WrongState,
                "daemon/hello was answered on this connection before; open another one for another owner",
            )
        })
    }
}
