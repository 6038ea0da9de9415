//! A child without a model. It speaks the RPC dialect of pi on standard input and output, searches the current directory for what a
//! task names and answers with ranked findings. With a script it plays a fixed course instead, well or badly behaved.
//!
//! # Search
//!
//! The default. See [`run`]; the answer always says that no model was used.
//!
//! # Script
//!
//! `--script FILE`, or the variable `SUBAGENTD_OFFLINE_SCRIPT`, names a file with one step a line, each a JSON object whose key names the
//! step. Blank lines are skipped. A step that needs one value takes it directly, the object form takes all of them.
//!
//! ```text
//! {"before": {"touch": {"path": "$WORK/stamps", "label": "start $ATTEMPT"}}}
//! {"tool": {"name": "bash", "args": {"command": "false"}, "result": "no", "exitCode": 1}}
//! {"sleep": 20}
//! {"sleep": {"ms": 60000, "ignoreEnd": true}}
//! {"say": "first part "}
//! {"say": "second part", "stop": "error", "error": "the provider is overloaded"}
//! {"after": {"exit": 3}}
//! ```
//!
//! | step | values | what it does |
//! |---|---|---|
//! | `say` | `text`, `stop`, `error` | adds to the one final message; `stop` is stop (default), length, error, aborted or toolUse |
//! | `tool` | `name`, `args`, `result`, `exitCode`, `isError`, `durationMs` | one turn with a tool call; a text result becomes the content, an object is used as it is |
//! | `sleep` | `ms`, `ignoreEnd` | an abort or the end of the input cuts it short, unless `ignoreEnd`: then both take effect afterwards |
//! | `touch` | `path`, `label` | appends the line `<unix nanoseconds> <label>`; the label is `-` when none is given |
//! | `exit` | `code` | ends the process at once |
//! | `die` | `signal` | ends the process by that signal: a name or a number |
//!
//! Steps run when the first prompt arrives, the final message follows the last one. `{"before": STEP}` runs before the first output,
//! `{"after": STEP}` when the first prompt has settled; neither can be `say` or `tool`. A prompt after the first is answered in one
//! sentence. In paths and labels `$WORK` is the current directory, `$SESSION` the session id and `$ATTEMPT` the attempt's mark.

mod options;
mod play;
mod record;
mod script;
mod search;
mod session;
mod turn;
mod wire;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};

use crate::options::{Asked, Options};
use crate::script::Script;
use crate::session::Session;
use crate::wire::{Leave, Wire};

/// Names a script; `--script` wins over it.
const SCRIPT_VARIABLE: &str = "SUBAGENTD_OFFLINE_SCRIPT";

/// Serves one client on standard input and output until it leaves, and gives the exit code: 0 when the input ended, 1 when the start
/// failed or the output was closed, 128 and the signal's number after TERM or HUP.
///
/// `args` come without the program's name. It blocks TERM, HUP and PIPE for its thread, so call it from a program's main thread before
/// any other is started.
#[must_use]
pub fn run(args: impl Iterator<Item = OsString>) -> i32 {
    let asked = match options::read(args, std::env::var_os(SCRIPT_VARIABLE)) {
        Ok(asked) => asked,
        Err(error) => return refuse(&error),
    };
    match asked {
        Asked::Serve(options) => serve(options),
        Asked::Help => show(options::HELP),
        Asked::Version => show(concat!(env!("CARGO_PKG_VERSION"), "\n")),
    }
}

fn serve(options: Options) -> i32 {
    let script = match options.script.as_deref().map(Script::read).transpose() {
        Ok(script) => script,
        Err(error) => return refuse(&error),
    };
    let wire = match Wire::open() {
        Ok(wire) => wire,
        Err(error) => return refuse(&format_args!("cannot watch for signals: {error}")),
    };
    let Leave(code) = Session::new(wire, options, script).serve();
    code
}

fn refuse(error: &dyn Display) -> i32 {
    complain(error);
    1
}

/// Tells a person on standard error; nobody is left to tell when that fails.
fn complain(what: &dyn Display) {
    writeln!(io::stderr(), "subagentd-offline: {what}").ok();
}

fn show(text: &str) -> i32 {
    i32::from(io::stdout().write_all(text.as_bytes()).is_err())
}
