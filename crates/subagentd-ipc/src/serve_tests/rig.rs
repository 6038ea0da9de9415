use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use subagentd_proto::daemon::{HelloResponse, LimitsView};
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::method::{DaemonHello, Method, Subscription};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::serve::{Handle, ServeReport, Server};
use crate::socket::bind_private;
use crate::{Limits, Methods, Router, Session};

pub(super) const PATIENCE: Duration = Duration::from_secs(10);

macro_rules! table {
    ($($type:ident = $name:literal, $params:ty => $response:ty;)*) => {$(
        #[derive(Debug)]
        pub(super) enum $type {}
        impl Method for $type {
            const NAME: &'static str = $name;
            type Params = $params;
            type Response = $response;
        }
    )*};
}

table! {
    Echo = "test/echo", EchoParams => EchoParams;
    Held = "test/held", Empty => u32;
    Waiting = "test/waiting", Empty => u32;
    Panic = "test/panic", Empty => u32;
    PanicLate = "test/panicLate", Empty => u32;
    Refused = "test/refused", Empty => u32;
    Large = "test/large", LargeParams => String;
}

#[derive(Debug)]
pub(super) enum Count {}

impl Subscription for Count {
    const NAME: &'static str = "test/count";
    const UNSUBSCRIBE: &'static str = "test/uncount";
    const NOTIFICATION: &'static str = "test/number";
    type Params = CountParams;
    type Item = Number;
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EchoParams {
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) inner: Option<Inner>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inner {
    pub(super) times: u32,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LargeParams {
    pub(super) bytes: usize,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CountParams {
    pub(super) to: u64,
    #[serde(default)]
    pub(super) then: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Number {
    pub(super) n: u64,
    pub(super) padding: String,
}

/// What handlers and tests share.
pub(super) struct Shared {
    pub(super) gate: Semaphore,
    pub(super) running: AtomicUsize,
    pub(super) subscribed: AtomicUsize,
    pub(super) sent: AtomicUsize,
}

struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(counter)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn methods(shared: Arc<Shared>) -> Methods {
    let mut router = Router::new(shared);
    router
        .method::<DaemonHello, _, _>(|_, connection, params| async move {
            connection.greet(Session {
                owner: params.owner,
                earlier_owners: params.earlier_owners,
                client: params.client,
            })?;
            Ok(hello())
        })
        .method::<Echo, _, _>(|_, _, params| async move { Ok(params) })
        .method::<Held, _, _>(|shared: Arc<Shared>, _, _| async move {
            let _running = Counted::new(&shared.running);
            shared.gate.acquire().await.unwrap().forget();
            Ok(7)
        })
        .method::<Waiting, _, _>(|shared: Arc<Shared>, connection, _| async move {
            let _running = Counted::new(&shared.running);
            connection.closed.cancelled().await;
            Ok(7)
        })
        .method::<Panic, _, _>(|_, _, _| async move { panic!("on purpose") })
        .method::<PanicLate, _, _>(|_, _, _| async move {
            tokio::task::yield_now().await;
            panic!("on purpose")
        })
        .method::<Refused, _, _>(|_, _, _| async move { Err(Fault::new(Kind::Overloaded, "the queue is full")) })
        .method::<Large, _, _>(|_, _, params| async move { Ok("x".repeat(params.bytes)) })
        .subscription::<Count, _, _>(|shared: Arc<Shared>, _, params, sink| async move {
            let _subscribed = Counted::new(&shared.subscribed);
            for n in 1..=params.to {
                let padding = "x".repeat(1_000);
                if sink.send(&Number { n, padding }).await.is_err() {
                    return;
                }
                shared.sent.fetch_add(1, Ordering::SeqCst);
            }
            match params.then.as_str() {
                "end" => {}
                "panic" => panic!("on purpose"),
                _ => std::future::pending().await,
            }
        });
    router.finish()
}

fn hello() -> HelloResponse {
    HelloResponse {
        protocol: 1,
        version: "0".to_owned(),
        store: "s".to_owned(),
        features: Vec::new(),
        limits: LimitsView { frame_bytes: 1, in_flight: 1, subscriptions: 1, text_slice_bytes: 1, wait_ms: 1 },
        inside_run: None,
    }
}

/// A running server.
pub(super) struct Rig {
    pub(super) directory: tempfile::TempDir,
    pub(super) socket: PathBuf,
    pub(super) shared: Arc<Shared>,
    pub(super) handle: Handle,
    pub(super) stop: CancellationToken,
    pub(super) server: JoinHandle<ServeReport>,
}

pub(super) fn rig(limits: Limits) -> Rig {
    rig_for(nix::unistd::geteuid().as_raw(), limits)
}

pub(super) fn rig_for(uid: u32, limits: Limits) -> Rig {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("s/rpc.sock");
    let bound = bind_private(&socket).unwrap();
    let shared = Arc::new(Shared {
        gate: Semaphore::new(0),
        running: AtomicUsize::new(0),
        subscribed: AtomicUsize::new(0),
        sent: AtomicUsize::new(0),
    });
    let stop = CancellationToken::new();
    let (server, handle) = Server::for_user(uid, methods(Arc::clone(&shared)), limits, stop.clone());
    Rig { directory, socket, shared, handle, stop, server: tokio::spawn(server.run(bound.listener)) }
}

impl Rig {
    /// A connection that has said nothing.
    pub(super) async fn raw(&self) -> Raw {
        Raw(BufReader::new(UnixStream::connect(&self.socket).await.unwrap()))
    }

    /// A connection that has greeted.
    pub(super) async fn greeted(&self) -> Raw {
        let mut raw = self.raw().await;
        let answer = raw.ask(r#"{"jsonrpc":"2.0","id":0,"method":"daemon/hello","params":{"owner":"me"}}"#).await;
        assert_eq!(answer["result"]["protocol"], 1, "{answer}");
        raw
    }

    pub(super) async fn finish(self) -> ServeReport {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.server).await.unwrap().unwrap()
    }
}

pub(super) fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}

/// Waits until `seen` gives `expected`.
pub(super) async fn until(what: &str, expected: usize, seen: impl Fn() -> usize) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while seen() != expected {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    });
    assert!(waited.await.is_ok(), "{what}: {} instead of {expected}", seen());
}

/// A client that speaks bytes.
pub(super) struct Raw(pub(super) BufReader<UnixStream>);

impl Raw {
    pub(super) async fn send(&mut self, text: &str) {
        self.0.write_all(format!("{text}\n").as_bytes()).await.unwrap();
    }

    pub(super) async fn line(&mut self) -> Value {
        let mut line = String::new();
        tokio::time::timeout(PATIENCE, self.0.read_line(&mut line)).await.unwrap().unwrap();
        assert!(!line.is_empty(), "the connection ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    pub(super) async fn ask(&mut self, text: &str) -> Value {
        self.send(text).await;
        self.line().await
    }

    pub(super) async fn call(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.ask(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await
    }

    pub(super) async fn post(&mut self, id: u64, method: &str) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string()).await;
    }

    pub(super) async fn half_close(&mut self) {
        self.0.shutdown().await.unwrap();
    }

    /// What comes until the end of the connection.
    pub(super) async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        // A reset is an end too.
        let _end = tokio::time::timeout(PATIENCE, self.0.read_to_end(&mut rest)).await.unwrap();
        String::from_utf8(rest).unwrap()
    }
}
