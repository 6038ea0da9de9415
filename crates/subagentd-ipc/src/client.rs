//! The calling end: jsonrpsee's client over our socket.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use jsonrpsee_core::client::async_client::RpcService;
use jsonrpsee_core::client::{
    ClientBuilder, ClientT as _, Error, ReceivedMessage, Subscription as RpcSubscription, SubscriptionClientT as _,
    SubscriptionCloseReason, TransportReceiverT, TransportSenderT,
};
use jsonrpsee_core::middleware::RpcServiceBuilder;
use jsonrpsee_core::traits::ToRpcParams;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use subagentd_proto::PROTOCOL;
use subagentd_proto::daemon::{ClientInfo, HelloParams, HelloResponse};
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::limits::FRAME_BYTES;
use subagentd_proto::method::{DaemonHello, Method, Subscription};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::fault::from_error;
use crate::frame::{Frame, FrameReader};
use crate::reach::{ConnectError, open};

/// A call without an answer for so long ends as [`CallError::Timeout`]. Above the longest `run/wait`.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Calls on their way to the socket; further ones wait.
const CALLS: usize = 64;
/// Items of one subscription that nobody has taken yet. Beyond it the subscription ends as [`CallError::Lagged`].
const ITEMS: usize = 1_024;

/// A connection to the daemon. Clones share it; it closes with the last clone and the last [`Items`].
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    rpc: jsonrpsee_core::client::Client<RpcService>,
    peer: Option<i32>,
}

/// Why a call has no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The daemon refused it and says why.
    #[error(transparent)]
    Fault(Fault),
    /// The connection ended. Whether the call was carried out is not known.
    #[error("the daemon closed the connection; whether it carried out the call is not known, look before trying again")]
    Closed,
    /// No answer in time. The call may still be carried out.
    #[error("the daemon did not answer within {} s; it may still carry out the call", REQUEST_TIMEOUT.as_secs())]
    Timeout,
    /// The answer does not fit its type.
    #[error("the daemon's answer cannot be read ({0}); compare the versions of daemon and client")]
    Malformed(String),
    /// Items came faster than they were taken.
    #[error("{ITEMS} items of a subscription were not taken in time; subscribe again from the last one seen")]
    Lagged,
}

impl Client {
    /// Connects to the daemon's socket.
    ///
    /// # Errors
    /// When nobody listens there, or the socket or its directory is another user's.
    pub async fn connect(path: &Path) -> Result<Self, ConnectError> {
        Ok(Self::over(open(path).await?))
    }

    /// A client on a connection that is already there. Needs a tokio runtime.
    #[must_use]
    pub fn over(stream: UnixStream) -> Self {
        let peer = stream.peer_cred().ok().and_then(|credentials| credentials.pid());
        let (read, write) = stream.into_split();
        // Without jsonrpsee's own logger, which would print whole parameters.
        let rpc = ClientBuilder::new()
            .set_rpc_middleware(RpcServiceBuilder::new())
            .request_timeout(REQUEST_TIMEOUT)
            .max_concurrent_requests(CALLS)
            .max_buffer_capacity_per_subscription(ITEMS)
            .build_with_tokio(Sender(write), Receiver(FrameReader::new(read, FRAME_BYTES)));
        Self { inner: Arc::new(Inner { rpc, peer }) }
    }

    /// The process that made the socket. A service manager may have made it in the daemon's place.
    #[must_use]
    pub fn daemon_pid(&self) -> Option<i32> {
        self.inner.peer
    }

    /// Whether the connection still stands, as far as is known.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.inner.rpc.is_connected()
    }

    /// Calls a method and waits for its answer. Calls of one client run side by side; where order matters, wait.
    ///
    /// # Errors
    /// The daemon's refusal, or why there is no answer.
    pub async fn call<M: Method>(&self, params: M::Params) -> Result<M::Response, CallError> {
        let params = Named::from(&params)?;
        self.inner.rpc.request(M::NAME, params).await.map_err(|error| lost(&error))
    }

    /// Opens a subscription.
    ///
    /// # Errors
    /// The daemon's refusal, or why there is no answer.
    pub async fn subscribe<S: Subscription>(&self, params: S::Params) -> Result<Items<S::Item>, CallError> {
        let params = Named::from(&params)?;
        let inner = self.inner.rpc.subscribe(S::NAME, params, S::UNSUBSCRIBE).await;
        Ok(Items { inner: inner.map_err(|error| lost(&error))?, client: self.clone(), over: false })
    }

    /// Greets. Has to be answered before anything but `daemon/status` and `daemon/stop` is called.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn hello(&self, owner: &str, name: &str, version: &str) -> Result<HelloResponse, CallError> {
        self.call::<DaemonHello>(HelloParams {
            client: ClientInfo { name: name.to_owned(), version: version.to_owned() },
            protocol: PROTOCOL,
            owner: owner.to_owned(),
            earlier_owners: Vec::new(),
        })
        .await
    }
}

/// What a subscription brings. Ends with `None` when the daemon ended it, with an error and then `None` when items were
/// lost or the connection closed. Dropping it unsubscribes.
#[derive(Debug)]
pub struct Items<T> {
    inner: RpcSubscription<T>,
    client: Client,
    over: bool,
}

impl<T: DeserializeOwned> Items<T> {
    /// The next item. Cancel-safe.
    pub async fn next(&mut self) -> Option<Result<T, CallError>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<T: DeserializeOwned> Stream for Items<T> {
    type Item = Result<T, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.over {
            return Poll::Ready(None);
        }
        let item = std::task::ready!(Pin::new(&mut self.inner).poll_next(context));
        Poll::Ready(match item {
            Some(item) => Some(item.map_err(|error| CallError::Malformed(error.to_string()))),
            None => {
                self.over = true;
                match self.inner.close_reason() {
                    Some(SubscriptionCloseReason::Lagged) => Some(Err(CallError::Lagged)),
                    _ if !self.client.is_connected() => Some(Err(CallError::Closed)),
                    _ => None,
                }
            }
        })
    }
}

/// Parameters by name, written once and checked for size before they are sent: the daemon's answer to an oversize
/// document carries no id and would end the connection here.
struct Named(Box<RawValue>);

impl Named {
    /// Room for the envelope around the parameters.
    const ENVELOPE: usize = 1_024;

    fn from(params: &impl Serialize) -> Result<Self, CallError> {
        let json = serde_json::value::to_raw_value(params).map_err(|error| CallError::Malformed(error.to_string()))?;
        let most = FRAME_BYTES - Self::ENVELOPE;
        if json.get().len() > most {
            let message = format!(
                "the request has {} bytes, {most} are allowed; put large text into files and name them",
                json.get().len()
            );
            return Err(CallError::Fault(Fault::new(Kind::RequestSize, message)));
        }
        Ok(Self(json))
    }
}

impl ToRpcParams for Named {
    fn to_rpc_params(self) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        Ok(Some(self.0))
    }
}

fn lost(error: &Error) -> CallError {
    match error {
        Error::Call(error) => CallError::Fault(from_error(error)),
        Error::RequestTimeout => CallError::Timeout,
        Error::ParseError(error) => CallError::Malformed(error.to_string()),
        Error::InvalidSubscriptionId | Error::InvalidRequestId(_) => CallError::Malformed(error.to_string()),
        Error::Transport(_)
        | Error::RestartNeeded(_)
        | Error::Custom(_)
        | Error::ServiceDisconnect
        | Error::HttpNotImplemented
        | Error::EmptyBatchRequest(_)
        | Error::RegisterMethod(_) => CallError::Closed,
    }
}

struct Sender(OwnedWriteHalf);

impl TransportSenderT for Sender {
    type Error = io::Error;

    async fn send(&mut self, message: String) -> Result<(), io::Error> {
        let mut line = message.into_bytes();
        line.push(b'\n');
        self.0.write_all(&line).await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.0.shutdown().await
    }
}

struct Receiver(FrameReader<OwnedReadHalf>);

impl TransportReceiverT for Receiver {
    type Error = io::Error;

    async fn receive(&mut self) -> Result<ReceivedMessage, io::Error> {
        match self.0.next().await {
            Ok(Some(Frame::Document(bytes))) => Ok(ReceivedMessage::Bytes(bytes.to_vec())),
            Ok(Some(Frame::Oversize)) => Err(io::Error::other("an answer is larger than a frame may be")),
            Ok(None) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}
