//! The three times of one launch, beside the floor of this machine, measured in the same rounds. Prints a table and
//! judges nothing.
//!
//! `bench DAEMON [ROUNDS]`; `cargo xtask bench` builds both programs for release and calls it.

#[path = "../bench/daemon.rs"]
mod daemon;
#[path = "../bench/floor.rs"]
mod floor;
#[path = "../bench/machine.rs"]
mod machine;
#[path = "../bench/report.rs"]
mod report;
#[path = "../bench/rounds.rs"]
mod rounds;

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;

/// Rounds when the command line names none.
const ROUNDS: u32 = 200;
/// Rounds before those that count: caches, the first environment file, the first page of each file.
const WARM_UP: u32 = 10;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().context("usage: bench DAEMON [ROUNDS]")?;
    let rounds = match arguments.next() {
        Some(text) => text.to_str().and_then(|text| text.parse().ok()).context("ROUNDS is no number")?,
        None => ROUNDS,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let text = runtime.block_on(measure(Path::new(&program), rounds))?;
    // A closed pipe is the reader's wish.
    std::io::stdout().write_all(text.as_bytes()).ok();
    Ok(())
}

async fn measure(program: &Path, rounds: u32) -> anyhow::Result<String> {
    let load_before = machine::load();
    let mut daemon = daemon::Daemon::start(program)?;
    let samples = rounds::measure(program, &daemon, WARM_UP, rounds).await;
    let ended = daemon.stop().await;
    let samples = samples?;
    ended?;
    Ok(format!("{}\n{}", machine::facts(daemon.disk(), &load_before), report::table(&samples)))
}
