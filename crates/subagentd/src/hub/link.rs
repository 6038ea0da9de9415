//! The daemon's side of a live shim: its control connection, and the descriptor that tells of its end.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use subagentd_core::id::AttemptId;
use subagentd_runtime::format::{CONTROL_LINE, Order, Word};
use subagentd_runtime::runner::{Collected, Handle, Runner};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::Event;
use crate::descriptors::readable;

/// Orders waiting for one shim: a cancel, a pause, and as many steers as may be open, with some room. A full queue drops
/// the order, which is sent again when the shim greets.
const ORDERS: usize = 48;
/// Before a lost control connection is made anew. The shim's end is told by its descriptor, not by this.
const AGAIN: Duration = Duration::from_millis(200);

/// Between two looks at the lock of a shim whose end nobody tells.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The way to a live shim. Dropping it lets the conversation end; its end is awaited all the same.
pub(super) struct Link {
    orders: mpsc::Sender<Order>,
    runner: Arc<dyn Runner>,
    handle: Handle,
    /// The highest number of a steer that went to the shim on its present connection.
    pub(super) told: u32,
    /// The store is being asked for steers.
    pub(super) asking: bool,
    /// Another steer was stored meanwhile.
    pub(super) ask_again: bool,
}

impl Link {
    /// Takes up a shim. Without `control` it is connected to; without `gone`, which is readable once it is, it is looked
    /// at again and again. One that is gone already is found out by the first look.
    pub(super) fn new(
        runner: Arc<dyn Runner>,
        handle: Handle,
        control: Option<std::os::unix::net::UnixStream>,
        gone: Option<OwnedFd>,
        report: mpsc::Sender<Event>,
        tasks: &TaskTracker,
    ) -> Self {
        let (orders, queue) = mpsc::channel(ORDERS);
        let gone = gone.and_then(|descriptor| readable(descriptor).ok());
        tasks.spawn(await_end(Arc::clone(&runner), handle.clone(), gone, report.clone()));
        tasks.spawn(talk(Arc::clone(&runner), handle.attempt, control, queue, report));
        Self { orders, runner, handle, told: 0, asking: false, ask_again: false }
    }

    /// Orders the shim to end its child.
    pub(super) fn cancel(&self, intent: u32) {
        self.order(Order::Cancel { intent });
    }

    /// Gives the shim an order; `false` when it was dropped, see [`ORDERS`].
    pub(super) fn order(&self, order: Order) -> bool {
        self.orders.try_send(order).is_ok()
    }

    /// Kills a shim that does not do what it is there for. What it leaves is ended by the look that follows.
    pub(super) fn kill(&self) {
        let (runner, handle) = (Arc::clone(&self.runner), self.handle.clone());
        // Nobody waits for it: the end that follows is seen like any other.
        drop(tokio::task::spawn_blocking(move || runner.kill(&handle)));
    }
}

/// Waits for the shim's end, then looks at lock and spool.
async fn await_end(
    runner: Arc<dyn Runner>,
    handle: Handle,
    gone: Option<AsyncFd<OwnedFd>>,
    report: mpsc::Sender<Event>,
) {
    let attempt = handle.attempt;
    if let Some(descriptor) = gone {
        // An error can only mean that the descriptor is of no use: the lock tells, too.
        descriptor.readable().await.map(drop).ok();
    }
    loop {
        let (looking, looked) = (Arc::clone(&runner), handle.clone());
        let collected = tokio::task::spawn_blocking(move || looking.collect(&looked)).await;
        let event = match collected.map_err(std::io::Error::from).flatten() {
            Ok(Collected::Alive) => {
                tokio::time::sleep(LOOK_AGAIN).await;
                continue;
            }
            Ok(Collected::Record(record, name)) => Event::Record(record, name),
            Ok(Collected::Unexplained) => Event::Unexplained(handle),
            Ok(Collected::NeverStarted(why)) => Event::NeverStarted(attempt, why),
            Err(error) => {
                // Never read as death or as "never started": it may be another time.
                tracing::error!(%attempt, %error, "an attempt cannot be looked at; it is looked at again");
                tokio::time::sleep(LOOK_AGAIN).await;
                continue;
            }
        };
        // A hub that is gone has stopped; the next start looks again.
        report.send(event).await.ok();
        return;
    }
}

/// Carries words and orders until the hub lets go of the shim or the shim is gone.
async fn talk(
    runner: Arc<dyn Runner>,
    attempt: AttemptId,
    control: Option<std::os::unix::net::UnixStream>,
    mut orders: mpsc::Receiver<Order>,
    report: mpsc::Sender<Event>,
) {
    let mut control = control;
    loop {
        let stream = match control.take() {
            Some(stream) => Ok(stream),
            None => runner.attach(attempt),
        };
        let stream = stream.and_then(|stream| {
            stream.set_nonblocking(true)?;
            UnixStream::from_std(stream)
        });
        if let Ok(stream) = stream
            && !converse(stream, attempt, &mut orders, &report).await
        {
            return;
        }
        // The shim is gone, or was too busy to listen: while the hub still wants it, try again.
        tokio::select! {
            order = orders.recv() => if order.is_none() { return },
            () = tokio::time::sleep(AGAIN) => {}
        }
    }
}

/// One connection. `false` when the hub let go.
async fn converse(
    stream: UnixStream,
    attempt: AttemptId,
    orders: &mut mpsc::Receiver<Order>,
    report: &mpsc::Sender<Event>,
) -> bool {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read);
    let mut line = Vec::new();
    loop {
        // Cancel-safe because a part of a line stays in `line`.
        let mut bounded = (&mut lines).take(CONTROL_LINE as u64);
        tokio::select! {
            order = orders.recv() => {
                let Some(order) = order else { return false };
                let Ok(mut bytes) = serde_json::to_vec(&order) else { continue };
                bytes.push(b'\n');
                if write.write_all(&bytes).await.is_err() {
                    return true;
                }
            }
            read = bounded.read_until(b'\n', &mut line) => {
                match read {
                    Ok(0) | Err(_) => return true,
                    Ok(_) if line.len() > CONTROL_LINE => return true,
                    Ok(_) if !line.ends_with(b"\n") => {}
                    Ok(_) => {
                        match serde_json::from_slice::<Word>(&line) {
                            Ok(word) => drop(report.send(Event::Word(attempt, word)).await),
                            // A newer shim may say more.
                            Err(error) => tracing::debug!(%attempt, %error, "a shim's word was not understood"),
                        }
                        line.clear();
                    }
                }
            }
        }
    }
}
