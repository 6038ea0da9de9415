//! The control protocol's end in the shim: one JSON document per line, orders in, words out.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use crate::format::{CONTROL_LINE, Order, Word};
use crate::process;

/// Connections at once: the daemon's, and one more while it is being replaced. The oldest makes room.
const CONNECTIONS: usize = 4;
/// Parents of a peer that are looked at.
const GENERATIONS: usize = 256;
/// Unwritten bytes of one connection; a daemon that reads nothing is dropped and connects again.
const OUTBOX: usize = 64 * 1024;

struct Connection {
    stream: UnixStream,
    incoming: Vec<u8>,
    outgoing: VecDeque<u8>,
    open: bool,
}

/// The listener and everybody connected to it.
pub(super) struct Control {
    listener: UnixListener,
    connections: Vec<Connection>,
}

impl Control {
    /// Begins with the connection that came with the start.
    pub(super) fn new(listener: UnixListener, first: Option<UnixStream>) -> Self {
        let mut control = Self { listener, connections: Vec::new() };
        if let Some(stream) = first {
            control.add(stream);
        }
        control
    }

    /// What to poll: the listener first, then each connection with whether it waits to be written to.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = (BorrowedFd<'_>, bool)> {
        let listener = std::iter::once((self.listener.as_fd(), false));
        listener.chain(self.connections.iter().map(|one| (one.stream.as_fd(), !one.outgoing.is_empty())))
    }

    /// Takes new connections, greeting each, and reads orders. Never blocks.
    pub(super) fn turn(&mut self, greeting: impl Fn() -> Vec<Word>) -> Vec<Order> {
        while let Ok((stream, _)) = self.listener.accept() {
            if is_daemon(&stream) {
                self.add(stream);
                if let Some(newest) = self.connections.last_mut() {
                    greeting().iter().for_each(|word| newest.say(word));
                }
            }
        }
        let orders = self.connections.iter_mut().flat_map(Connection::read).collect();
        self.write();
        orders
    }

    /// Tells everybody.
    pub(super) fn say(&mut self, word: &Word) {
        for connection in &mut self.connections {
            connection.say(word);
        }
        self.write();
    }

    fn write(&mut self) {
        for connection in &mut self.connections {
            connection.write();
        }
        self.connections.retain(|connection| connection.open);
    }

    fn add(&mut self, stream: UnixStream) {
        if stream.set_nonblocking(true).is_err() {
            return;
        }
        if self.connections.len() == CONNECTIONS {
            self.connections.remove(0);
        }
        self.connections.push(Connection { stream, incoming: Vec::new(), outgoing: VecDeque::new(), open: true });
    }
}

impl Connection {
    /// One read a turn: whoever writes without pause must not keep the loop.
    fn read(&mut self) -> Vec<Order> {
        let mut orders = Vec::new();
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.open = false,
            Ok(size) => {
                self.incoming.extend(buffer.iter().take(size));
                self.take_lines(&mut orders);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.open = false,
        }
        orders
    }

    fn take_lines(&mut self, orders: &mut Vec<Order>) {
        while let Some(end) = self.incoming.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.incoming.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(order) => orders.push(order),
                Err(error) => {
                    super::log(format_args!("an order was not understood, its connection is closed: {error}"));
                    self.open = false;
                    return;
                }
            }
        }
        if self.incoming.len() > CONTROL_LINE {
            self.open = false;
        }
    }

    fn say(&mut self, word: &Word) {
        let Ok(line) = serde_json::to_vec(word) else { return };
        self.outgoing.extend(line);
        self.outgoing.push_back(b'\n');
        if self.outgoing.len() > OUTBOX {
            self.open = false;
        }
    }

    fn write(&mut self) {
        while self.open && !self.outgoing.is_empty() {
            let (front, _) = self.outgoing.as_slices();
            match self.stream.write(front) {
                Ok(size) => drop(self.outgoing.drain(..size)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.open = false,
            }
        }
    }
}

/// Whether the peer may give orders: our user, and neither the child nor anything it started (design 8). The folder is
/// private, so this keeps out what runs inside it.
fn is_daemon(stream: &UnixStream) -> bool {
    let Ok(peer) = rustix::net::sockopt::socket_peercred(stream) else { return false };
    let own = std::process::id();
    let above = std::iter::successors(u32::try_from(peer.pid.as_raw_nonzero().get()).ok(), |pid| process::parent(*pid));
    let above: Vec<u32> = above.take(GENERATIONS).collect();
    // Up to the first process, without a gap: one that is gone by now has no parents to tell whose it was.
    let is_whole = above.last().is_some_and(|first| *first <= 1);
    peer.uid == rustix::process::geteuid() && is_whole && !above.contains(&own)
}
