//! One connection from its first byte to its end.

use std::os::fd::AsFd as _;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use jsonrpsee_core::server::Methods;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use serde_json::value::RawValue;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::connection::Connection;
use crate::dispatch::{Call, Dispatch, Outcome};
use crate::frame::{Frame, FrameError, FrameReader, Framing};
use crate::limits::Limits;
use crate::writer::{Writer, Written};

/// How often a client that closed only its sending half is looked at while calls of it are under way.
const HANG_UP_CHECK: Duration = Duration::from_secs(1);

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The client closed.
    Closed,
    /// The server stopped.
    Stopped,
    /// The client took nothing, sent what cannot be read, or was cut off by a handler.
    CutOff,
}

/// Why no more requests are read.
enum Last {
    HalfClosed,
    HungUp,
    Stopped,
    Unreadable,
    Cut,
}

/// Serves one connection.
pub(crate) async fn exchange(
    stream: UnixStream,
    connection: Arc<Connection>,
    methods: Methods,
    limits: Limits,
    stop: CancellationToken,
) -> End {
    // Whatever ends this function, a panic included, ends the subscriptions.
    let _closing = connection.closed.clone().drop_guard();
    let (read, write) = stream.into_split();
    let (outbox, queue) = mpsc::channel(limits.outbox);
    let framing = Arc::new(OnceLock::new());
    let drain = CancellationToken::new();
    let writer =
        Writer { socket: write, queue, framing: Arc::clone(&framing), stall: limits.stall, drain: drain.clone() };
    let mut writer = AbortOnDropHandle::new(tokio::spawn(watched(writer, connection.closed.clone())));
    let mut requests = Requests {
        frames: FrameReader::new(read, limits.frame),
        framing,
        dispatch: Dispatch::new(methods, Arc::clone(&connection), outbox.clone(), &limits),
        outbox,
        in_flight: Arc::new(Semaphore::new(limits.in_flight)),
        calls: TaskTracker::new(),
        stop: stop.clone(),
        closed: connection.closed.clone(),
    };

    let last = requests.read().await;
    requests.calls.close();
    let until = match last {
        Last::HungUp | Last::Cut => None,
        Last::Stopped => {
            let until = Instant::now() + limits.grace;
            // What has not answered by then is not answered.
            let _late = tokio::time::timeout_at(until, requests.calls.wait()).await.is_err();
            Some(until)
        }
        Last::HalfClosed | Last::Unreadable => {
            tokio::select! {
                () = requests.calls.wait() => {}
                () = hang_up(requests.frames.source()) => {}
                () = connection.closed.cancelled() => {}
                () = async { stop.cancelled().await; tokio::time::sleep(limits.grace).await } => {}
            }
            Some(Instant::now() + limits.stall)
        }
    };
    connection.closed.cancel();
    drain.cancel();
    if let Some(until) = until {
        let written = tokio::time::timeout_at(until, &mut writer).await;
        if !matches!(written, Ok(Ok(Written::All))) {
            tracing::debug!(connection = connection.id, "a connection was closed before all of it was written");
        }
    }
    match last {
        Last::HalfClosed | Last::HungUp => End::Closed,
        Last::Stopped => End::Stopped,
        Last::Unreadable | Last::Cut => End::CutOff,
    }
}

/// A writer that has ended takes the whole connection with it.
async fn watched(writer: Writer, closed: CancellationToken) -> Written {
    let written = writer.run().await;
    closed.cancel();
    written
}

struct Requests {
    frames: FrameReader<OwnedReadHalf>,
    framing: Arc<OnceLock<Framing>>,
    dispatch: Dispatch,
    outbox: mpsc::Sender<Box<RawValue>>,
    in_flight: Arc<Semaphore>,
    calls: TaskTracker,
    stop: CancellationToken,
    closed: CancellationToken,
}

impl Requests {
    async fn read(&mut self) -> Last {
        loop {
            // Taken before the read: with all places in use the kernel's buffer pushes back on the client.
            let permit = tokio::select! {
                biased;
                () = self.closed.cancelled() => return Last::Cut,
                () = self.stop.cancelled() => return Last::Stopped,
                permit = Arc::clone(&self.in_flight).acquire_owned() => permit,
            };
            let Ok(permit) = permit else { return Last::Cut };
            let frame = tokio::select! {
                biased;
                () = self.closed.cancelled() => return Last::Cut,
                () = self.stop.cancelled() => return Last::Stopped,
                frame = self.frames.next() => frame,
            };
            let outcome = match frame {
                Ok(Some(Frame::Document(bytes))) => Ok(self.dispatch.document(bytes)),
                Ok(Some(Frame::Oversize)) => Ok(Outcome::Answer(self.dispatch.oversize())),
                Ok(None) => Err(None),
                Err(error) => Err(Some(error)),
            };
            let outcome = match outcome {
                Ok(outcome) => outcome,
                Err(None) if has_hung_up(self.frames.source()) => return Last::HungUp,
                Err(None) => return Last::HalfClosed,
                Err(Some(error)) => return self.unreadable(&error).await,
            };
            self.note_framing();
            if !self.perform(outcome, permit).await {
                return Last::Cut;
            }
        }
    }

    /// Polls a call once where it is: most are ready, and a task costs more than they do.
    async fn perform(&self, outcome: Outcome, permit: OwnedSemaphorePermit) -> bool {
        let mut call = match outcome {
            Outcome::Nothing => return true,
            Outcome::Answer(answer) => return self.outbox.send(answer).await.is_ok(),
            Outcome::Call(call) => call,
        };
        let first = std::future::poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
        match first {
            Poll::Ready(Some(answer)) => self.outbox.send(answer).await.is_ok(),
            Poll::Ready(None) => true,
            Poll::Pending => {
                self.calls.spawn(finish(call, self.outbox.clone(), permit));
                true
            }
        }
    }

    async fn unreadable(&self, error: &FrameError) -> Last {
        self.note_framing();
        tracing::debug!(%error, "a connection cannot be read any further");
        if matches!(error, FrameError::TooLong { .. }) && self.outbox.send(self.dispatch.oversize()).await.is_err() {
            return Last::Cut;
        }
        match error {
            FrameError::Io(_) => Last::HungUp,
            FrameError::Truncated | FrameError::Head | FrameError::TooLong { .. } => Last::Unreadable,
        }
    }

    fn note_framing(&self) {
        if let Some(framing) = self.frames.framing() {
            self.framing.get_or_init(|| framing);
        }
    }
}

async fn finish(call: Call, outbox: mpsc::Sender<Box<RawValue>>, permit: OwnedSemaphorePermit) {
    if let Some(answer) = call.await {
        // Fails only when the connection is gone; then nobody waits for the answer.
        let _gone = outbox.send(answer).await.is_err();
    }
    drop(permit);
}

/// Whether the peer closed both directions. After that nobody can read an answer.
fn has_hung_up(socket: &OwnedReadHalf) -> bool {
    let stream: &UnixStream = socket.as_ref();
    let mut sockets = [PollFd::new(stream.as_fd(), PollFlags::empty())];
    // An end of input tells a half close from a full one no other way.
    let ready = nix::poll::poll(&mut sockets, PollTimeout::ZERO);
    ready.is_ok_and(|count| count > 0)
}

async fn hang_up(socket: &OwnedReadHalf) {
    while !has_hung_up(socket) {
        tokio::time::sleep(HANG_UP_CHECK).await;
    }
}
