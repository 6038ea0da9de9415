//! Typed methods on jsonrpsee's method table.

use std::marker::PhantomData;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use jsonrpsee_core::server::{Extensions, Methods, RpcModule, SubscriptionCloseResponse, SubscriptionSink};
use jsonrpsee_core::{RegisterMethodError, SubscriptionError};
use jsonrpsee_types::{ErrorObjectOwned, Params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::method::{Method, Subscription};

use crate::connection::Connection;
use crate::fault::to_error;

/// Characters of serde's words that an error repeats: they may hold a whole value of the caller's.
const REASON_SHOWN: usize = 300;

/// Collects the methods of one server.
#[derive(Debug)]
pub struct Router<C> {
    module: RpcModule<C>,
}

impl<C: Send + Sync + 'static> Router<C> {
    /// A router whose handlers all get `context`.
    #[must_use]
    pub fn new(context: Arc<C>) -> Self {
        Self { module: RpcModule::from_arc(context) }
    }

    /// Adds a method.
    ///
    /// The handler is polled once where the request was read and becomes a task if that does not finish it, so it must
    /// not block. It runs to its end even when the client goes; one that only waits should also wait for
    /// [`Connection::closed`]. If it panics, the request is answered −32603 and the connection lives.
    pub fn method<M, F, Fut>(&mut self, handler: F) -> &mut Self
    where
        M: Method,
        F: Fn(Arc<C>, Arc<Connection>, M::Params) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<M::Response, Fault>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let added = self.module.register_async_method(M::NAME, move |params, context, extensions| {
            let handler = Arc::clone(&handler);
            async move {
                let (connection, params) = opened::<M::Params>(&params, &extensions)?;
                drop(extensions);
                let response = handler(context, connection, params).await.map_err(|fault| to_error(&fault))?;
                encoded(&response)
            }
        });
        check(M::NAME, added.map(drop));
        self
    }

    /// Adds a subscription. Its parameters are checked and the request is answered before the handler starts.
    ///
    /// The handler is dropped when the client unsubscribes or the connection ends. A handler that returns (or panics)
    /// before that ends the subscription, and the client is told by a last notification with `error`.
    pub fn subscription<S, F, Fut>(&mut self, handler: F) -> &mut Self
    where
        S: Subscription,
        F: Fn(Arc<C>, Arc<Connection>, S::Params, Sink<S::Item>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let added = self.module.register_subscription(
            S::NAME,
            S::NOTIFICATION,
            S::UNSUBSCRIBE,
            move |params, pending, context, extensions| {
                let handler = Arc::clone(&handler);
                async move {
                    let (connection, params) = match opened::<S::Params>(&params, &extensions) {
                        Ok(opened) => opened,
                        Err(error) => {
                            pending.reject(error).await;
                            return SubscriptionCloseResponse::None;
                        }
                    };
                    drop(extensions);
                    let Ok(sink) = pending.accept().await else {
                        return SubscriptionCloseResponse::None;
                    };
                    let sink = Sink::new(sink);
                    let closed = connection.closed.clone();
                    let serving = async { handler(context, connection, params, sink.clone()).await };
                    tokio::select! {
                        biased;
                        () = closed.cancelled() => SubscriptionCloseResponse::None,
                        () = sink.closed() => SubscriptionCloseResponse::None,
                        end = AssertUnwindSafe(serving).catch_unwind() => last_word(S::NAME, end.is_err()),
                    }
                }
            },
        );
        check(S::NAME, added.map(drop));
        self
    }

    /// The table for a server.
    #[must_use]
    pub fn finish(self) -> Methods {
        self.module.into()
    }
}

/// Where a subscription's items go.
#[derive(Debug)]
pub struct Sink<T> {
    inner: Arc<SubscriptionSink>,
    item: PhantomData<fn(&T)>,
}

/// The client unsubscribed or is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the subscription is closed")]
pub struct Closed;

impl<T> Clone for Sink<T> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), item: PhantomData }
    }
}

impl<T> Sink<T> {
    fn new(inner: SubscriptionSink) -> Self {
        Self { inner: Arc::new(inner), item: PhantomData }
    }

    /// Completes when nobody listens any more.
    pub async fn closed(&self) {
        self.inner.closed().await;
    }
}

impl<T: Serialize> Sink<T> {
    /// Sends one item. Waits while the client's outbox is full and never drops an item; a client that takes nothing is
    /// cut off by the server's stall limit, which ends the wait.
    ///
    /// # Errors
    /// [`Closed`] when nobody listens any more.
    pub async fn send(&self, item: &T) -> Result<(), Closed> {
        let item = serde_json::value::to_raw_value(item).map_err(|error| {
            tracing::error!(%error, "an item of a subscription cannot be written as JSON");
            Closed
        })?;
        self.inner.send(item).await.map_err(|_| Closed)
    }
}

fn opened<P: DeserializeOwned>(
    params: &Params<'_>,
    extensions: &Extensions,
) -> Result<(Arc<Connection>, P), ErrorObjectOwned> {
    let connection = extensions.get::<Arc<Connection>>().cloned();
    let connection = connection.ok_or_else(|| to_error(&Fault::new(Kind::Internal, "called without a connection")))?;
    let params = named(params.as_str().unwrap_or("{}")).map_err(|fault| to_error(&fault))?;
    Ok((connection, params))
}

fn named<P: DeserializeOwned>(params: &str) -> Result<P, Fault> {
    // serde would fill a struct from an array, field by field in the order of declaration.
    if !params.starts_with('{') {
        return Err(Fault::new(Kind::InvalidParams, "params must be one object: parameters go by name"));
    }
    serde_json::from_str(params).map_err(|plain| {
        // The second pass costs only those who err, and knows the name of the field.
        let described = serde_path_to_error::deserialize::<_, P>(&mut serde_json::Deserializer::from_str(params))
            .err()
            .filter(|error| error.path().iter().next().is_some())
            .map_or_else(|| plain.to_string(), |error| error.to_string());
        let reason: String = described.chars().take(REASON_SHOWN).collect();
        Fault::new(Kind::InvalidParams, format!("params do not fit the method: {reason}"))
    })
}

/// Written here because jsonrpsee would ask for a response that can be cloned.
fn encoded(response: &impl Serialize) -> Result<Box<RawValue>, ErrorObjectOwned> {
    serde_json::value::to_raw_value(response).map_err(|error| {
        let message = format!("the answer cannot be written as JSON: {error}");
        to_error(&Fault::new(Kind::Internal, message))
    })
}

fn last_word(method: &'static str, panicked: bool) -> SubscriptionCloseResponse {
    let message = if panicked {
        tracing::error!(method, "the handler of a subscription panicked");
        "the subscription failed inside the daemon; its log says where"
    } else {
        "the daemon ended the subscription; subscribe again to go on"
    };
    let fault = Fault::new(Kind::Internal, message);
    SubscriptionCloseResponse::NotifErr(match serde_json::value::to_raw_value(&to_error(&fault)) {
        Ok(json) => SubscriptionError::from_json(json),
        Err(_) => SubscriptionError::from(message),
    })
}

fn check(name: &'static str, added: Result<(), RegisterMethodError>) {
    if let Err(error) = added {
        debug_assert!(false, "{name}: {error}");
        tracing::error!(name, %error, "a method is registered twice; the first one stays");
    }
}
