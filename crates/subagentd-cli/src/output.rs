//! What goes to standard output and standard error.
//!
//! Standard output carries results only: one JSON document with `--json`, text for people otherwise. Standard error
//! carries hints, progress and errors.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::exit::Exit;
use crate::failure::{Failure, Problem};

/// Columns when standard output is no terminal.
const PLAIN_WIDTH: u16 = 80;
/// Lines longer than this are hard to read, however wide the terminal is.
const MOST_WIDTH: u16 = 120;
/// Narrower tables would hold nothing but ellipses; the terminal wraps them instead.
const LEAST_WIDTH: u16 = 60;

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
        let width = if terminal {
            comfy_table::Table::new().width().map_or(PLAIN_WIDTH, |width| width.clamp(LEAST_WIDTH, MOST_WIDTH))
        } else {
            PLAIN_WIDTH
        };
        // https://no-color.org: any non-empty value switches colour off.
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self { json, width, color: terminal && !unwanted && !dumb, terminal }
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

    /// The document with `--json`, else the text, which is made only then.
    pub(crate) fn result<T: Serialize>(&self, document: &T, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json { self.document(document) } else { self.text(&text()) }
    }

    /// A hint or progress for people.
    pub(crate) fn note(&self, text: &str) {
        if !self.json {
            stderr(text);
        }
    }

    /// Something that went wrong and does not change the outcome.
    pub(crate) fn warn(&self, text: &str) {
        stderr(&format!("warning: {text}"));
    }

    /// The last word of a command that failed.
    pub(crate) fn problem(&self, problem: &Problem) {
        stderr(problem.text().trim_end());
        if self.json {
            // There is no other way left to tell that this failed too.
            drop(self.document(&problem.document()));
        }
    }
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
fn stderr(line: &str) {
    // In one piece, so that lines of several programs do not mix.
    drop(io::stderr().write_all(format!("{line}\n").as_bytes()));
}
