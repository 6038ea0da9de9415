//! What a shim writes down while the child works: records, facts, standard error. Working records, never synced; a full
//! disk loses lines here and nothing else.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

use super::setup::Setup;
use crate::{files, folder};

/// `events.jsonl`, in bytes; after that the file ends with a line that says so (design 7).
const EVENTS_BYTES: u64 = 256 * 1024 * 1024;
/// `facts.jsonl`, in bytes.
const FACTS_BYTES: u64 = 64 * 1024 * 1024;
/// `stderr.log`, in bytes; the last line is still watched after that.
const STDERR_BYTES: u64 = 16 * 1024 * 1024;
/// Tool calls that are open at once and remembered.
const OPEN_TOOLS: usize = 1024;
/// Bytes of a standard-error line that are looked at, and of the last one kept for an error.
const LAST_LINE: usize = 8 * 1024;

/// A file that stops growing at a bound and says so in its last line.
struct Bounded {
    file: Option<File>,
    left: u64,
    pending: Vec<u8>,
}

impl Bounded {
    fn open(setup: &Setup, name: &str, bytes: u64) -> io::Result<Self> {
        let file = files::append_file_in(&setup.folder, name)?;
        Ok(Self { file: Some(file), left: bytes, pending: Vec::new() })
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.file.is_none() {
            return;
        }
        let size = bytes.len() as u64;
        if size > self.left {
            self.pending.extend_from_slice(b"{\"kind\":\"cut\"}\n");
            self.flush();
            self.file = None;
        } else {
            self.left -= size;
            self.pending.extend_from_slice(bytes);
        }
    }

    fn flush(&mut self) {
        if let Some(file) = &mut self.file
            && !self.pending.is_empty()
            && let Err(error) = file.write_all(&self.pending)
        {
            super::log(format_args!("a working record could not be written: {error}"));
        }
        self.pending.clear();
    }
}

/// One line of `events.jsonl` (N17).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventLine<'a> {
    seq: u64,
    at_ms: u64,
    kind: &'a str,
    record: &'a RawValue,
}

/// One line of `facts.jsonl` (N9).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FactLine<'a> {
    seq: u64,
    id: &'a str,
    parent: Option<&'a str>,
    name: &'a str,
    args: &'a str,
    clipped: bool,
    exit_code: Option<i64>,
    is_error: bool,
    started_ms: u64,
    ended_ms: u64,
}

/// A tool call that began.
pub(super) struct ToolStart {
    pub(super) seq: u64,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    pub(super) args: String,
    pub(super) clipped: bool,
    pub(super) started_ms: u64,
}

/// All of them.
pub(super) struct Sinks {
    events: Bounded,
    facts: Bounded,
    stderr: Bounded,
    seq: u64,
    open_tools: HashMap<String, ToolStart>,
    last_line: Vec<u8>,
    line: Vec<u8>,
    watched: Option<&'static str>,
    seen: bool,
}

impl Sinks {
    pub(super) fn open(setup: &Setup) -> io::Result<Self> {
        Ok(Self {
            events: Bounded::open(setup, folder::EVENTS, EVENTS_BYTES)?,
            facts: Bounded::open(setup, folder::FACTS, FACTS_BYTES)?,
            stderr: Bounded::open(setup, folder::STDERR, STDERR_BYTES)?,
            seq: 0,
            open_tools: HashMap::new(),
            last_line: Vec::new(),
            line: Vec::new(),
            watched: None,
            seen: false,
        })
    }

    /// Keeps a record of the runtime.
    pub(super) fn record(&mut self, kind: &str, record: &RawValue) {
        self.seq += 1;
        let line = EventLine { seq: self.seq, at_ms: super::now_ms(), kind, record };
        push_line(&mut self.events, &line);
    }

    /// Remembers a tool call until it ends.
    pub(super) fn tool_started(&mut self, id: String, start: ToolStart) {
        if self.open_tools.len() < OPEN_TOOLS {
            self.open_tools.insert(id, start);
        }
    }

    /// Writes the fact of a finished tool call.
    pub(super) fn tool_ended(&mut self, id: &str, exit_code: Option<i64>, is_error: bool) {
        // What it had called and not waited for will not be told any more.
        self.open_tools.retain(|open, start| open == id || start.parent.as_deref() != Some(id));
        let Some(start) = self.open_tools.remove(id) else {
            return;
        };
        let line = FactLine {
            seq: start.seq,
            id,
            parent: start.parent.as_deref(),
            name: &start.name,
            args: &start.args,
            clipped: start.clipped,
            exit_code,
            is_error,
            started_ms: start.started_ms,
            ended_ms: super::now_ms(),
        };
        push_line(&mut self.facts, &line);
    }

    /// Keeps standard error, and its last line apart.
    pub(super) fn stderr(&mut self, bytes: &[u8]) {
        self.stderr.push(bytes);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LAST_LINE.saturating_sub(self.line.len());
            self.line.extend(part.iter().take(room).filter(|byte| **byte != b'\n'));
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    /// Looks out for a line of standard error that has this in it.
    pub(super) fn watch_for(&mut self, watched: Option<&'static str>) {
        (self.watched, self.seen) = (watched, false);
    }

    /// Whether there was such a line.
    pub(super) fn saw_watched(&self) -> bool {
        self.seen
    }

    fn end_line(&mut self) {
        let has = |text: &str| self.line.windows(text.len()).any(|piece| piece == text.as_bytes());
        self.seen |= self.watched.is_some_and(has);
        // A hint how to go on follows the error, and is for whoever typed the command; that a conversation begins is no
        // error.
        let says_nothing = [&b"Hint: "[..], b"Warning: No project session found"];
        let is_told = !says_nothing.iter().any(|beginning| self.line.starts_with(beginning));
        if is_told && self.line.iter().any(|byte| !byte.is_ascii_whitespace()) {
            std::mem::swap(&mut self.last_line, &mut self.line);
        }
        self.line.clear();
    }

    /// The last line of standard error that says something (N8).
    pub(super) fn last_error_line(&mut self) -> Option<String> {
        self.end_line();
        (!self.last_line.is_empty()).then(|| String::from_utf8_lossy(&self.last_line).into_owned())
    }

    /// Writes what was gathered in this round.
    pub(super) fn flush(&mut self) {
        self.events.flush();
        self.facts.flush();
        self.stderr.flush();
    }
}

fn push_line(sink: &mut Bounded, line: &impl Serialize) {
    match serde_json::to_vec(line) {
        Ok(mut bytes) => {
            bytes.push(b'\n');
            sink.push(&bytes);
        }
        Err(error) => super::log(format_args!("a working record could not be made: {error}")),
    }
}
