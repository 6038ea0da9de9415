//! The bounds of one server, in one place and passed in.

use std::time::Duration;

use subagentd_proto::limits;

/// What a server holds its clients to. [`Default`] takes the wire's numbers; tests take smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one document, either way. A longer line is drained and answered −32007, a longer header frame closes;
    /// a longer answer is replaced by an error of kind `limit`.
    pub frame: usize,
    /// Connections at once. The next one is closed without a word.
    pub connections: usize,
    /// Requests under way on one connection. The reader stops reading until one is answered.
    pub in_flight: usize,
    /// Subscriptions of one connection. The next one is refused with −32006.
    pub subscriptions: usize,
    /// Messages waiting to be written to one client. Senders wait for room; nothing is dropped.
    pub outbox: usize,
    /// A client that takes no byte for so long is cut off.
    pub stall: Duration,
    /// After the stop: calls under way may take so long, then their connections are closed.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame: limits::FRAME_BYTES,
            connections: limits::CONNECTIONS,
            in_flight: limits::IN_FLIGHT,
            subscriptions: limits::SUBSCRIPTIONS,
            outbox: limits::OUTBOX_MESSAGES,
            stall: Duration::from_millis(limits::STALL_MS),
            grace: Duration::from_secs(2),
        }
    }
}
