//! The half of a connection that writes.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::value::RawValue;
use subagentd_proto::limits::OUTBOX_BYTES;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::frame::Framing;

/// Messages gathered for one write; more wait for the next one.
const GATHER: usize = 16;

pub(crate) struct Writer {
    pub(crate) socket: OwnedWriteHalf,
    pub(crate) queue: mpsc::Receiver<Box<RawValue>>,
    /// Set by the reader at the first byte. There is nothing to write before.
    pub(crate) framing: Arc<OnceLock<Framing>>,
    pub(crate) stall: Duration,
    /// Subscriptions hold senders, so the queue never closes by itself: without this word the writer, its socket and
    /// the subscriptions would keep each other alive for ever.
    pub(crate) drain: CancellationToken,
}

/// How writing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// Everything that was queued is with the kernel.
    All,
    /// The client took nothing for too long.
    Stalled,
    /// The socket failed; most often the client is gone.
    Failed,
}

impl Writer {
    /// Writes until told to drain. Dropping the queue afterwards is what ends the senders.
    pub(crate) async fn run(mut self) -> Written {
        let mut gathered = Vec::with_capacity(GATHER);
        loop {
            let draining = self.drain.is_cancelled();
            if draining {
                self.queue.close();
            }
            let count = tokio::select! {
                count = self.queue.recv_many(&mut gathered, GATHER) => count,
                () = self.drain.cancelled(), if !draining => continue,
            };
            if count == 0 {
                // Fails only when the peer is gone already.
                return self.socket.shutdown().await.map_or(Written::Failed, |()| Written::All);
            }
            match self.write(&mut gathered).await {
                Written::All => {}
                end => return end,
            }
        }
    }

    async fn write(&mut self, gathered: &mut Vec<Box<RawValue>>) -> Written {
        let framing = self.framing.get().copied().unwrap_or(Framing::Lines);
        let mut bytes = Vec::new();
        for message in gathered.drain(..) {
            framing.append(message.get(), &mut bytes);
            if bytes.len() >= OUTBOX_BYTES {
                match put(&mut self.socket, &bytes, self.stall).await {
                    Written::All => bytes.clear(),
                    end => return end,
                }
            }
        }
        put(&mut self.socket, &bytes, self.stall).await
    }
}

/// The clock starts anew with every byte taken: slow is allowed, dead is not.
async fn put(socket: &mut OwnedWriteHalf, mut bytes: &[u8], stall: Duration) -> Written {
    while !bytes.is_empty() {
        match tokio::time::timeout(stall, socket.write(bytes)).await {
            Ok(Ok(taken)) if taken > 0 => bytes = bytes.get(taken..).unwrap_or_default(),
            Ok(_) => return Written::Failed,
            Err(_) => return Written::Stalled,
        }
    }
    Written::All
}
