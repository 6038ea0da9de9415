//! From one document to one answer: the envelope of JSON-RPC, the gate, and the call into jsonrpsee's method table.
//!
//! jsonrpsee's own envelope is not used on purpose: it takes a request with an id that it does not know (`-1`, `1.5`)
//! for a notification and never answers it.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jsonrpsee_core::id_providers::RandomStringIdProvider;
use jsonrpsee_core::server::{
    BoundedSubscriptions, ConnectionId, Extensions, MethodCallback, MethodResponse, MethodSink, Methods,
    SubscriptionState,
};
use jsonrpsee_types::error::OVERSIZED_RESPONSE_CODE;
use jsonrpsee_types::{Id, Params};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::method::{DaemonHello, DaemonStatus, DaemonStop, Method as _};
use tokio::sync::mpsc;

use crate::connection::Connection;
use crate::fault::refusal;
use crate::limits::Limits;

/// Served before a hello, between any two builds.
const FROZEN: [&str; 3] = [DaemonHello::NAME, DaemonStatus::NAME, DaemonStop::NAME];
/// Characters of a subscription's id.
const SUBSCRIPTION_ID: usize = 16;
/// jsonrpsee panics when the answer to a subscription does not fit; it always fits into this many bytes.
const SMALLEST_ANSWER: u32 = 4_096;
/// Characters of a name that an error or a log line repeats.
const NAME_SHOWN: usize = 64;

/// A call that may still be running; it ends with the answer, if there is one left to send.
pub(crate) type Call = BoxFuture<'static, Option<Box<RawValue>>>;

pub(crate) enum Outcome {
    Answer(Box<RawValue>),
    Call(Call),
    Nothing,
}

/// The methods as one connection sees them.
pub(crate) struct Dispatch {
    methods: Methods,
    connection: Arc<Connection>,
    outbox: mpsc::Sender<Box<RawValue>>,
    subscriptions: BoundedSubscriptions,
    ids: RandomStringIdProvider,
    frame: usize,
    notification_logged: AtomicBool,
}

/// The members that matter; others are ignored, as the standard leaves them open.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
}

/// `null` is a value here: an `Option` alone would read `"id": null` as no id.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl Dispatch {
    pub(crate) fn new(
        methods: Methods,
        connection: Arc<Connection>,
        outbox: mpsc::Sender<Box<RawValue>>,
        limits: &Limits,
    ) -> Self {
        Self {
            methods,
            connection,
            outbox,
            subscriptions: BoundedSubscriptions::new(u32::try_from(limits.subscriptions).unwrap_or(u32::MAX)),
            ids: RandomStringIdProvider::new(SUBSCRIPTION_ID),
            frame: limits.frame,
            notification_logged: AtomicBool::new(false),
        }
    }

    pub(crate) fn oversize(&self) -> Box<RawValue> {
        let message = format!("the document is larger than the {} bytes that are allowed", self.frame);
        refusal(Id::Null, &Fault::new(Kind::RequestSize, message))
    }

    pub(crate) fn document(&self, bytes: &[u8]) -> Outcome {
        match self.request(bytes) {
            Ok(outcome) => outcome,
            Err((id, fault)) => Outcome::Answer(refusal(id, &fault)),
        }
    }

    fn request<'a>(&self, bytes: &'a [u8]) -> Result<Outcome, (Id<'a>, Fault)> {
        let envelope = envelope(bytes).map_err(|fault| (Id::Null, fault))?;
        let id = envelope.id.map(request_id).transpose().map_err(|fault| (Id::Null, fault))?;
        let refuse = |fault| (id.clone().unwrap_or(Id::Null), fault);

        if envelope.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
            return Err(refuse(invalid("\"jsonrpc\": \"2.0\" is missing")));
        }
        let method = envelope
            .method
            .and_then(|raw| serde_json::from_str::<Cow<'_, str>>(raw.get()).ok())
            .ok_or_else(|| refuse(invalid("\"method\" is missing or no string")))?;
        let Some(id) = id.clone() else {
            self.drop_notification(&method);
            return Ok(Outcome::Nothing);
        };
        let params = envelope.params.map(RawValue::get).filter(|raw| *raw != "null");
        self.call(&method, params, &id).map_err(|fault| (id, fault))
    }

    fn call(&self, method: &str, params: Option<&str>, id: &Id<'_>) -> Result<Outcome, Fault> {
        if self.connection.session.get().is_none() && !FROZEN.contains(&method) {
            let message = "say who you are first: call daemon/hello and wait for its answer";
            return Err(Fault::new(Kind::NotHello, message));
        }
        let Some((name, callback)) = self.methods.method_with_name(method) else {
            let message = format!("there is no method {:?}; daemon/hello lists them in features", shown(method));
            return Err(Fault::new(Kind::MethodNotFound, message));
        };
        let mut extensions = Extensions::new();
        extensions.insert(Arc::clone(&self.connection));
        let connection = ConnectionId(usize::try_from(self.connection.id).unwrap_or(usize::MAX));
        let id = id.clone().into_owned();
        let params = Params::new(params);

        let call = match callback {
            MethodCallback::Sync(callback) => {
                let response = callback(id.clone(), params, self.frame, extensions);
                futures_util::future::ready(response).boxed()
            }
            MethodCallback::Async(callback) => {
                callback(id.clone(), params.into_owned(), connection, self.frame, extensions)
            }
            MethodCallback::Subscription(callback) => {
                let state = SubscriptionState {
                    conn_id: connection,
                    id_provider: &self.ids,
                    subscription_permit: self.subscriptions.acquire().ok_or_else(|| self.too_many())?,
                };
                let largest = u32::try_from(self.frame).unwrap_or(u32::MAX).max(SMALLEST_ANSWER);
                let sink = MethodSink::new_with_limit(self.outbox.clone(), largest);
                callback(id.clone(), params, sink, state, extensions)
            }
            MethodCallback::Unsubscription(callback) => {
                let params = unsubscription(&params)?;
                let response = callback(id.clone(), Params::new(Some(&params)), connection, self.frame, extensions);
                futures_util::future::ready(response).boxed()
            }
        };
        Ok(Outcome::Call(answered(call, id, name, self.frame).boxed()))
    }

    fn too_many(&self) -> Fault {
        let message = format!(
            "this connection has {} subscriptions, the most that are allowed; close one first",
            self.subscriptions.max()
        );
        Fault::new(Kind::Subscriptions, message)
    }

    /// One line per connection: a client that sends nothing but notifications must not fill the log.
    fn drop_notification(&self, method: &str) {
        if !self.notification_logged.swap(true, Ordering::Relaxed) {
            let (connection, method) = (self.connection.id, shown(method));
            tracing::warn!(connection, ?method, "a request without id was dropped; every call needs one");
        }
    }
}

fn envelope(bytes: &[u8]) -> Result<Envelope<'_>, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("the document is not UTF-8 from byte {} on", error.valid_up_to());
        Fault::new(Kind::Parse, message)
    })?;
    if text.trim_ascii_start().starts_with('[') {
        let message = "batches are not taken; send the requests one by one, they run concurrently";
        return Err(Fault::new(Kind::Batch, message));
    }
    serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => invalid("the document is not one object with each member once"),
        _ => Fault::new(Kind::Parse, format!("the document is not JSON: {error}")),
    })
}

fn request_id(raw: &RawValue) -> Result<Id<'_>, Fault> {
    serde_json::from_str(raw.get()).map_err(|_| invalid("\"id\" must be an unsigned integer below 2^64 or a string"))
}

fn invalid(what: &str) -> Fault {
    Fault::new(Kind::InvalidRequest, format!("not a request of JSON-RPC 2.0: {what}"))
}

fn shown(name: &str) -> String {
    name.chars().take(NAME_SHOWN).collect()
}

/// jsonrpsee wants `[id]` here, as its own client sends it; everybody else names it like all parameters.
fn unsubscription(params: &Params<'_>) -> Result<String, Fault> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Named {
        subscription: String,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        Positional([String; 1]),
        Named(Named),
    }
    let given = serde_json::from_str(params.as_str().unwrap_or("{}"));
    let Ok(Given::Positional([subscription]) | Given::Named(Named { subscription })) = given else {
        let message = "params must be {\"subscription\": ID} with the id that the subscription was answered with";
        return Err(Fault::new(Kind::InvalidParams, message));
    };
    Ok(serde_json::Value::from(vec![subscription]).to_string())
}

async fn answered(
    call: BoxFuture<'static, MethodResponse>,
    id: Id<'static>,
    method: &'static str,
    frame: usize,
) -> Option<Box<RawValue>> {
    match AssertUnwindSafe(call).catch_unwind().await {
        // The answer went through the sink, before the first notification.
        Ok(response) if response.is_subscription() => None,
        Ok(response) if response.as_error_code() == Some(OVERSIZED_RESPONSE_CODE) => {
            let message = format!("the answer is larger than the {frame} bytes that are allowed; ask for less at once");
            Some(refusal(id, &Fault::new(Kind::Limit, message)))
        }
        Ok(response) => Some(response.into_json()),
        Err(_) => {
            tracing::error!(method, "a handler panicked");
            let message = format!("{method} failed inside the daemon; its log says where");
            Some(refusal(id, &Fault::new(Kind::Internal, message)))
        }
    }
}
