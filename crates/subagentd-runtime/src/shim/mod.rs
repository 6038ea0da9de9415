//! The shim: the only parent of a child program (design 2).
//!
//! A process of its own, single-threaded around one `poll`, because it must own `waitpid`. It outlives the daemon: time
//! limits, the answer and the exit record do not need one. Order of a start: control socket, record space, `tree`,
//! scope, `started`, all synced before the child runs. Order of an end: answer synced at settlement, child and tree
//! gone, record renamed into the spool, and only then the lock let go by exiting.

mod child;
mod control;
mod conversation;
mod ending;
mod extension;
mod judge;
mod limits;
mod orders;
mod pipes;
mod publish;
mod rlimits;
mod session;
mod setup;
mod sinks;
mod start;

use std::fmt::Display;
use std::io::Write as _;
use std::path::Path;

use subagentd_core::life::Reason;
use subagentd_core::outcome::Outcome;

use crate::clock::now_ms;
use crate::format::End;
use setup::{Ready, Setup};

pub(crate) use child::MARK;

/// Runs the attempt whose folder is given; the lock is standard input, the first control connection standard output.
/// Gives the exit code, which nobody judges: the record does.
#[must_use]
pub fn main(folder: &Path) -> i32 {
    let mut setup = match Setup::new(folder) {
        Ok(setup) => setup,
        // Without a folder or a request there is nobody to report to but the log; the daemon sees a free lock.
        Err(error) => {
            log(format_args!("cannot set up {}: {error}", folder.display()));
            return 1;
        }
    };
    let end = match setup.make_ready() {
        Ok(Ready::Go(prepared)) => start::run(&setup, *prepared),
        Ok(Ready::BusyElsewhere) => End::BusyElsewhere,
        Ok(Ready::Refused(reason, error)) => refused(reason, error),
        // Nothing was started, and what is short now (space, descriptors) may be there later: no record, so that the
        // daemon sees a start that never was.
        Err(error) => {
            log(format_args!("the shim could not prepare the start: {error}"));
            return 1;
        }
    };
    match setup.release_scope().and_then(|()| publish::publish(&setup, end)) {
        Ok(()) => 0,
        Err(error) => {
            log(format_args!("cannot publish the exit record: {error}"));
            1
        }
    }
}

fn refused(reason: Reason, error: String) -> End {
    End::Ended(Box::new(Outcome::bare(reason, Some(error), now_ms())))
}

/// Writes a line to `shim.log`. Never a task, an answer or an environment value.
fn log(line: impl Display) {
    // A full disk must not end the child: the line is lost.
    writeln!(std::io::stderr(), "{} {line}", now_ms()).ok();
}
