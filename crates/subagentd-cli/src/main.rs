//! `subagentd-cli`: what a person, a script or a program without a client of its own types.
//!
//! It sees only what any client of the socket sees. Results go to standard output, hints and errors to standard error.

mod args;
mod command;
mod connection;
mod duration;
mod environment;
mod exit;
mod failure;
mod help;
mod hints;
mod ids;
mod input;
mod interrupt;
mod leftovers;
mod names;
mod output;
mod program;
mod render;
mod slip;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::exit::Exit;
use crate::failure::{Failure, Problem};
use crate::output::Screen;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return slip::tell(&error).into(),
    };
    let screen = Screen::new(cli.json);
    // One thread: a submit lasts about a millisecond, and starting threads would be much of it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime
        .map_err(|error| Problem::new(Exit::Failed, "internal", format!("the program cannot start: {error}")).into())
        .and_then(|runtime| runtime.block_on(command::perform(cli, &screen)));
    match ended {
        Ok(exit) => exit,
        Err(Failure::PipeClosed) => Exit::Succeeded,
        Err(Failure::Problem(problem)) => {
            screen.problem(&problem);
            problem.exit
        }
    }
    .into()
}
