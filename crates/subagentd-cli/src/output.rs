//! What goes to standard output and standard error.
//!
//! Standard output carries results only: one JSON document with `--json`, text for people otherwise. Standard error
//! carries hints, progress and errors.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use serde::Serialize;

use crate::exit::Exit;
use crate::failure::{Failure, Problem};
use crate::hints::{self, Hints};
use crate::render::fit;

/// Columns when standard output is no terminal.
const PLAIN_WIDTH: u16 = 80;
/// Lines longer than this are hard to read, however wide the terminal is.
const MOST_WIDTH: u16 = 120;
/// Narrower tables would hold nothing but ellipses; the terminal wraps them instead.
const LEAST_WIDTH: u16 = 32;

/// The two streams and how they are written to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    pub(crate) json: bool,
    /// Columns of a table.
    pub(crate) width: u16,
    pub(crate) color: bool,
    /// Whether a person reads standard output directly.
    pub(crate) terminal: bool,
}

impl Screen {
    pub(crate) fn new(json: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let columns = columns(io::stdout());
        let width = columns.map_or(PLAIN_WIDTH, |columns| columns.clamp(LEAST_WIDTH, MOST_WIDTH));
        // https://no-color.org: any non-empty value switches colour off.
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { json, width, color: terminal && !unwanted && !dumb(), terminal }
    }

    /// A heading within a table.
    pub(crate) fn bold(&self, text: &str) -> String {
        if self.color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// The one document of `--json`.
    pub(crate) fn document<T: Serialize>(&self, document: &T) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(document)
            .map_err(|error| Problem::new(Exit::Failed, "internal", format!("the reply cannot be printed: {error}")))?;
        text.push(b'\n');
        stdout(&text)
    }

    /// A result for people.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        stdout(text.as_bytes())
    }

    /// Sentences for people, broken at spaces where a terminal would break inside a word.
    pub(crate) fn sentences(&self, text: &str) -> String {
        if self.terminal { format!("{}\n", filled(text, self.width)) } else { text.to_owned() }
    }

    /// The document with `--json`, else the text, which is made only then.
    pub(crate) fn result<T: Serialize>(&self, document: &T, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json { self.document(document) } else { self.text(&text()) }
    }

    /// A hint or progress for people.
    pub(crate) fn note(&self, text: &str) {
        if !self.json {
            stderr(&fitted(text));
        }
    }

    /// What fits next.
    pub(crate) fn hints(&self, hints: &Hints) {
        let text = hints.text(live_width().into());
        if !text.is_empty() {
            self.note(&text);
        }
    }

    /// Something that went wrong and does not change the outcome.
    pub(crate) fn warn(&self, text: &str) {
        stderr(&format!("warning: {text}"));
    }

    /// The last word of a command that failed.
    pub(crate) fn problem(&self, problem: &Problem) {
        // A document has the rest.
        let told = if self.json { problem.told() } else { problem.text(live_width().into()) };
        stderr(&fitted(told.trim_end()));
        if self.json {
            // There is no other way left to tell that this failed too.
            drop(self.document(&problem.document()));
        }
    }
}

/// Whether a line on standard error can be written over: a terminal reads it, and one that knows how.
pub(crate) fn writes_over() -> bool {
    io::stderr().is_terminal() && !dumb()
}

/// Columns of the terminal that standard error is.
pub(crate) fn live_width() -> u16 {
    columns(io::stderr()).unwrap_or(PLAIN_WIDTH)
}

/// Broken at spaces where a terminal would break inside a word.
fn fitted(text: &str) -> String {
    columns(io::stderr()).map_or_else(|| text.to_owned(), |columns| filled(text, columns))
}

/// Lines that begin with a space are aligned already, and a command to copy has to stay in one piece.
fn filled(text: &str, columns: u16) -> String {
    let whole = |line: &str| line.starts_with(' ') || line.starts_with(hints::MARK);
    let lines =
        text.lines().flat_map(|line| if whole(line) { vec![line.to_owned()] } else { fit::wrap(line, columns.into()) });
    lines.collect::<Vec<_>>().join("\n")
}

fn dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|value| value == "dumb")
}

/// `None` for what is no terminal, or for one that does not say.
fn columns(stream: impl AsFd) -> Option<u16> {
    rustix::termios::tcgetwinsize(stream).ok().map(|size| size.ws_col).filter(|columns| *columns > 0)
}

fn stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::PipeClosed),
        Err(error) => {
            Err(Problem::new(Exit::Failed, "output", format!("standard output cannot be written: {error}")).into())
        }
    }
}

/// Standard error may be closed or full; nothing is left to report that to.
pub(crate) fn stderr(line: &str) {
    // In one piece, so that lines of several programs do not mix.
    drop(io::stderr().write_all(format!("{line}\n").as_bytes()));
}
