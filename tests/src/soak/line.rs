//! A client's connection that is made anew as often as the daemon is killed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use subagentd_ipc::client::{CallError, Client};
use subagentd_proto::method::Method;

use super::board::Board;
use super::rig::Rig;

/// Between two tries to reach a daemon.
const AGAIN: Duration = Duration::from_millis(3);
/// Before a call is repeated that the daemon asked to repeat.
const LATER: Duration = Duration::from_millis(20);

/// The connection of one owner.
pub(super) struct Line {
    socket: PathBuf,
    owner: String,
    board: Arc<Board>,
    client: Option<Client>,
}

/// What became of a call.
pub(super) enum Call<T> {
    /// Its answer.
    Answer(T),
    /// The connection was lost before the answer.
    Lost,
    /// The daemon refused it, for good.
    Refused(String),
    /// It is over.
    Over,
}

impl Line {
    pub(super) fn new(rig: &Rig, board: &Arc<Board>, owner: &str) -> Self {
        Self { socket: rig.socket(), owner: owner.to_owned(), board: Arc::clone(board), client: None }
    }

    /// A greeted connection; `None` when it is over.
    pub(super) async fn client(&mut self) -> Option<Client> {
        loop {
            if self.board.is_over() {
                return None;
            }
            if let Some(client) = self.client.as_ref().filter(|client| client.is_connected()) {
                return Some(client.clone());
            }
            if let Ok(client) = Client::connect(&self.socket).await {
                match client.hello(&self.owner, "soak", env!("CARGO_PKG_VERSION")).await {
                    Ok(_) => {
                        self.client = Some(client.clone());
                        return Some(client);
                    }
                    Err(CallError::Fault(fault)) => self.board.trouble(format!("hello was refused: {fault}")),
                    Err(_) => {}
                }
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// One call. What the daemon asks to repeat is repeated.
    pub(super) async fn call<M: Method>(&mut self, params: M::Params) -> Call<M::Response>
    where
        M::Params: Clone,
    {
        loop {
            let Some(client) = self.client().await else { return Call::Over };
            match client.call::<M>(params.clone()).await {
                Ok(answer) => return Call::Answer(answer),
                Err(CallError::Fault(fault)) if fault.kind.retryable() => tokio::time::sleep(LATER).await,
                Err(CallError::Fault(fault)) => return Call::Refused(format!("{:?}: {fault}", fault.kind)),
                Err(CallError::Closed) => {
                    self.client = None;
                    self.board.lost.fetch_add(1, Ordering::Relaxed);
                    return Call::Lost;
                }
                Err(error) => {
                    self.client = None;
                    self.board.trouble(format!("{}: {error}", M::NAME));
                    return Call::Lost;
                }
            }
        }
    }

    /// The same, again and again until there is an answer.
    pub(super) async fn insist<M: Method>(&mut self, params: M::Params) -> Call<M::Response>
    where
        M::Params: Clone,
    {
        loop {
            match self.call::<M>(params.clone()).await {
                Call::Lost => {}
                other => return other,
            }
        }
    }
}
