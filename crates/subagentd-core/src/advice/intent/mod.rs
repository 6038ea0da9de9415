//! What a task asks for, by its grammar: whether somebody is to change things or only to look.
//!
//! The rules look at heads of orders (`review … and fix …`), at what they are about (`write a report`, `write a test`),
//! at what is forbidden as a whole (`do not edit files`) or in part (`do not touch the tests`), and at questions. A verb
//! in a subordinate clause, a path or a quotation is no order. What has two readings is [`Intent::Unknown`]: to call a
//! task that only looks an implementation would be the one bad mistake.

mod clause;
mod foreign;
mod head;
mod lexicon;
mod object;
mod sentence;
mod standing;
mod token;
mod words;

#[cfg(test)]
mod tests;

use sentence::Reader;

/// What a task asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Intent {
    /// To change something.
    Implementation,
    /// To look and tell.
    ReadOnly,
    /// It does not say, or says both.
    Unknown,
}

impl Intent {
    /// The word in texts and on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Implementation => "implementation",
            Self::ReadOnly => "read-only",
            Self::Unknown => "unknown",
        }
    }
}

/// Bytes of a task that are read; an order behind them does not count. A task that long is not judged by its end.
pub const READ_BYTES: usize = 64 * 1024;

/// What a task asks for.
#[must_use]
pub fn intent(task: &str) -> Intent {
    let end = task.floor_char_boundary(READ_BYTES);
    let mut reader = Reader::default();
    for sentence in token::sentences(task.get(..end).unwrap_or_default()) {
        reader.read(&sentence);
    }
    let said = reader.said();
    if said.change && (end < task.len() || reader.left_out()) {
        // What follows may take it back.
        return Intent::Unknown;
    }
    if said.forbidden {
        // An order to change something and a prohibition of all changes: one of them is not what it seems.
        return if said.change { Intent::Unknown } else { Intent::ReadOnly };
    }
    if said.change {
        return Intent::Implementation;
    }
    match (said.doubt || said.mild && said.look, said.look, said.mild || said.form) {
        (true, ..) => Intent::Unknown,
        (false, true, _) => Intent::ReadOnly,
        (false, false, true) => Intent::Implementation,
        (false, false, false) => Intent::Unknown,
    }
}
