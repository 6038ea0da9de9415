//! Accepts connections, for this user only and not more than allowed.

use std::sync::Arc;
use std::time::Duration;

use jsonrpsee_core::server::Methods;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, Peer};
use crate::exchange::{End, exchange};
use crate::limits::Limits;

/// Wait after a failed accept. Most often descriptors have run out, and the listener would be ready again at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Beyond [`Limits::grace`], for connections to notice that it is over.
const CLOSE_MARGIN: Duration = Duration::from_millis(250);

/// What a server did, for the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServeReport {
    /// Connections that were served.
    pub served: u64,
    /// Connections closed at once because there were too many.
    pub refused: u64,
    /// Connections closed at once because they came from another user.
    pub foreign: u64,
    /// Connections that were cut off: stalled, unreadable, or ended by a handler.
    pub cut_off: u64,
    /// Connections that had not ended when the time after the stop was up.
    pub abandoned: u64,
}

/// Serves one listener until `stop`: [`Server`] without its [`Handle`].
#[must_use]
pub async fn serve(listener: UnixListener, methods: Methods, limits: Limits, stop: CancellationToken) -> ServeReport {
    Server::new(methods, limits, stop).0.run(listener).await
}

/// A server before it runs.
#[derive(Debug)]
pub struct Server {
    methods: Methods,
    limits: Limits,
    stop: CancellationToken,
    uid: u32,
    places: Arc<Semaphore>,
    listeners: mpsc::Receiver<UnixListener>,
    next_id: u64,
    report: ServeReport,
}

/// What the rest of the daemon can do with a running server.
#[derive(Debug, Clone)]
pub struct Handle {
    listeners: mpsc::Sender<UnixListener>,
    places: Arc<Semaphore>,
    connections: usize,
}

impl Handle {
    /// Goes on with another listener: the socket's path was taken or removed, and a new socket was bound. Open
    /// connections stay. Says whether the server still runs.
    pub async fn rebind(&self, listener: UnixListener) -> bool {
        self.listeners.send(listener).await.is_ok()
    }

    /// Connections at this moment.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections - self.places.available_permits()
    }
}

impl Server {
    /// A server that runs until `stop` is cancelled.
    #[must_use]
    pub fn new(methods: Methods, limits: Limits, stop: CancellationToken) -> (Self, Handle) {
        Self::for_user(nix::unistd::geteuid().as_raw(), methods, limits, stop)
    }

    pub(crate) fn for_user(uid: u32, methods: Methods, limits: Limits, stop: CancellationToken) -> (Self, Handle) {
        let (sender, listeners) = mpsc::channel(1);
        let places = Arc::new(Semaphore::new(limits.connections));
        let handle = Handle { listeners: sender, places: Arc::clone(&places), connections: limits.connections };
        let server = Self { methods, limits, stop, uid, places, listeners, next_id: 0, report: ServeReport::default() };
        (server, handle)
    }

    /// Accepts until the stop, then lets calls under way finish within [`Limits::grace`] and closes everything.
    #[must_use]
    pub async fn run(mut self, mut listener: UnixListener) -> ServeReport {
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                Some(other) = self.listeners.recv() => listener = other,
                Some(end) = open.join_next() => self.note(end.ok()),
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => self.admit(stream, &mut open),
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
        drop(listener);
        self.close(open).await
    }

    fn admit(&mut self, stream: UnixStream, open: &mut JoinSet<End>) {
        let Some(peer) = peer(&stream).filter(|peer| peer.uid == self.uid) else {
            self.report.foreign += 1;
            return;
        };
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            self.report.refused += 1;
            tracing::warn!(limit = self.limits.connections, "too many connections; one more was closed");
            return;
        };
        self.report.served += 1;
        self.next_id += 1;
        let connection = Arc::new(Connection::new(self.next_id, peer));
        tracing::debug!(connection = connection.id, pid = peer.pid, "connected");
        let served = exchange(stream, connection, self.methods.clone(), self.limits, self.stop.clone());
        open.spawn(placed(served, place));
    }

    fn note(&mut self, end: Option<End>) {
        match end {
            Some(End::Closed | End::Stopped) => {}
            Some(End::CutOff) | None => self.report.cut_off += 1,
        }
    }

    async fn close(mut self, mut open: JoinSet<End>) -> ServeReport {
        let deadline = tokio::time::Instant::now() + self.limits.grace + CLOSE_MARGIN;
        while let Ok(Some(end)) = tokio::time::timeout_at(deadline, open.join_next()).await {
            self.note(end.ok());
        }
        self.report.abandoned = u64::try_from(open.len()).unwrap_or(u64::MAX);
        open.shutdown().await;
        self.report
    }
}

/// Keeps the connection's place until it has ended.
async fn placed(served: impl Future<Output = End>, place: OwnedSemaphorePermit) -> End {
    let end = served.await;
    drop(place);
    end
}

fn peer(stream: &UnixStream) -> Option<Peer> {
    let credentials = stream.peer_cred().ok()?;
    Some(Peer { pid: credentials.pid().filter(|pid| *pid > 0), uid: credentials.uid() })
}

#[cfg(test)]
#[path = "serve_tests/mod.rs"]
mod tests;
