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
//! | `beat` | `path`, `label`, `ms` | appends `<unix nanoseconds> <label> <pid>` now and every `ms` (50) until the process ends |
//! | `exit` | `code` | ends the process at once |
//! | `die` | `signal` | ends the process by that signal: a name or a number |
//! | `fork` | `steps`, `double`, `wait`, and a manner | starts a grandchild that plays the steps and then ends |
//! | `background` | as `fork` | the same in a process group of its own, like a job of a shell |
//! | `forkLoop` | `ms`, `width`, `eachMs`, `stamp`, and a manner | starts `width` (1) chains of processes, each an orphan that lives `eachMs` (0), starts the next and ends, for `ms`; each can leave a `stamp`, with the values of `touch` |
//! | `ignore` | `signals`, `ignoreInput` | these signals have no effect any more; with `ignoreInput` neither have closed pipes |
//! | `onTerm` | `steps` | when TERM comes these are played, then the process ends with exit code 143 |
//! | `raw` | `bytes`, `times` | writes bytes as they are to standard output; `\xNN` (in JSON `"\\xNN"`) is a byte, two backslashes are one |
//! | `stderr` | `text` | writes the text as it is to standard error |
//! | `listen` | `ms` | waits until the client has queued something, and hears what it is to hear at once; an abort cuts it short; after `ms` (120,000, the most) it ends the process with exit code 1 |
//! | `hang` | `ms` | reads and answers nothing any more, not even the end of the input, until killed; after `ms` (120,000, the most) it ends with exit code 1 |
//!
//! Steps run when the first prompt arrives, the final message follows the last one. `{"before": STEP}` runs before the first output,
//! `{"after": STEP}` when the first prompt has settled; neither can be `say`, `tool` or `listen`. `{"resumed": STEP}` runs in place of
//! the others when the first prompt goes on with a conversation that an earlier process began. A prompt after the first is answered in
//! one sentence. In paths and labels `$WORK` is the current directory, `$SESSION` the session id, `$ATTEMPT` the attempt's mark, `$PID`
//! the process that plays the step and `$EARLIER` how much the user said before the prompt at hand.
//!
//! # Conversation
//!
//! With `--session-dir` the messages are kept in a file there, one for each `--session-id`, and a process that finds one goes on with
//! it. An answer that is not the first in its conversation says so. `--fork FILE` begins one as a copy; it ends the start when one of
//! that name is there.
//!
//! # Grandchildren
//!
//! ```text
//! {"fork": [{"ignore": ["TERM"]}, {"beat": "$WORK/stamps", "label": "stray $ATTEMPT"}, {"sleep": 60000}], "setsid": true, "clearMark": true}
//! {"onTerm": [{"touch": {"path": "$WORK/stamps", "label": "bye"}}, {"say": "as far as I came"}]}
//! {"forkLoop": {"ms": 2000, "width": 4, "stamp": {"path": "$WORK/stamps", "label": "link $PID"}}}
//! ```
//!
//! A grandchild is this program again, with the steps in an argument (64 KiB at most) and no dialect: every step but `say` and `tool`
//! can stand among them. Signals end it as they end any program, and it looks at no pipe. With `double` another process stands in
//! between that has ended when the step is over: the grandchild is an orphan. With `wait` the step is over when the grandchild is; an
//! abort cuts it short as it does a sleep. Nobody takes away the others when they end: they stay behind as zombies of their parent.
//!
//! The manner of a start is any of: `setsid` (a session of its own), `group` (a process group of its own), `holdPipes` (keeps the
//! standard descriptors of its parent, which are /dev/null otherwise), `clearMark` (not the attempt's mark in its environment),
//! `closeTree` (closes the descriptors from 3 up: before its first step, but after its start).
//!
//! A good-bye is disturbed neither by a second TERM nor by HUP or closed pipes. `say` among its steps ends the run at hand with that
//! message; nothing is said when there is none, or when the signal came in the middle of a record. `onTerm` and `ignore` of TERM
//! replace each other.
//!
//! Nothing stays: a grandchild and all that it starts have 120 s together, a fork loop 30 s and 20,000 processes a chain, a process
//! 120 s from the moment it plays `ignore` or a good-bye; ALRM ends what is still there.

mod act;
mod conversation;
mod farewell;
mod grandchild;
mod life;
mod options;
mod play;
mod record;
mod script;
mod search;
mod session;
mod signals;
mod stage;
mod turn;
mod wire;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};

use crate::conversation::Conversation;
use crate::options::{Asked, Options};
use crate::script::Script;
use crate::session::Session;
use crate::stage::Stage;
use crate::wire::Wire;

/// Names a script; `--script` wins over it.
const SCRIPT_VARIABLE: &str = "SUBAGENTD_OFFLINE_SCRIPT";

/// Serves one client on standard input and output until it leaves, and gives the exit code: 0 when the input ended, 1 when the start
/// failed or the output was closed, 128 and the signal's number after TERM or HUP.
///
/// `args` come without the program's name. It blocks TERM, HUP and PIPE for its thread, so call it from a program's main thread before
/// any other is started.
///
/// A script can start this very program again. What stands before `args` in the program's own arguments then stands there again, so a
/// program that has this one as a subcommand has to pass all that follows the subcommand.
#[must_use]
pub fn run(args: impl Iterator<Item = OsString>) -> i32 {
    let args: Vec<OsString> = args.collect();
    let prefix = prefix(&args);
    let asked = match options::read(args.into_iter(), std::env::var_os(SCRIPT_VARIABLE)) {
        Ok(asked) => asked,
        Err(error) => return refuse(&error),
    };
    match asked {
        Asked::Serve(options) => serve(options, prefix),
        Asked::Grandchild(plan) => grandchild::run(&plan, prefix),
        Asked::Help => show(options::HELP),
        Asked::Version => show(concat!(env!("CARGO_PKG_VERSION"), "\n")),
    }
}

/// The program's own arguments without these, which are their end.
fn prefix(args: &[OsString]) -> Vec<OsString> {
    let mut prefix: Vec<OsString> = std::env::args_os().skip(1).collect();
    prefix.truncate(prefix.len().saturating_sub(args.len()));
    prefix
}

fn serve(options: Options, prefix: Vec<OsString>) -> i32 {
    let script = match options.script.as_deref().map(Script::read).transpose() {
        Ok(script) => script,
        Err(error) => return refuse(&error),
    };
    let wire = match Wire::open() {
        Ok(wire) => wire,
        Err(error) => return refuse(&format_args!("cannot watch for signals: {error}")),
    };
    let conversation =
        match Conversation::open(options.folder.clone(), options.session.clone(), options.fork.as_deref()) {
            Ok(conversation) => conversation,
            Err(error) => return refuse(&error),
        };
    let stage = Stage::of_child(options.session.clone(), prefix);
    Session::new(wire, options, conversation, script, stage).serve().code()
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
