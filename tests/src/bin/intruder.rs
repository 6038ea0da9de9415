//! A child's program that attacks the shim above it: `intruder ORDER...`.
//!
//! It holds the shim still, lets a process of its own send the orders (lines of the control protocol) and end, and lets
//! the shim go on, which then finds a connection of somebody who is gone. It ends well once the shim has looked at that
//! connection, and with code 1 when the shim speaks to it.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, getppid, kill_process};

/// Before the orders: only send them, to the shim of the current directory.
const SEND: &str = "--send";
/// The shim's end of the control protocol, in the attempt's folder.
const CONTROL: &str = "ctl";
/// Far more than a shim that lives needs for a look.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((first, orders)) if first == SEND => send(orders),
        Some(_) => attack(&arguments),
        None => bail!("intruder ORDER..."),
    }
}

fn send(orders: &[String]) -> anyhow::Result<()> {
    let mut shim = UnixStream::connect(CONTROL)?;
    for order in orders {
        shim.write_all(format!("{order}\n").as_bytes())?;
    }
    Ok(())
}

fn attack(orders: &[String]) -> anyhow::Result<()> {
    let (shim, folder) = shim()?;
    // The socket's path may be too long to be connected to from elsewhere.
    std::env::set_current_dir(&folder)?;
    kill_process(shim, Signal::STOP)?;
    let sent = Command::new(std::env::current_exe()?).arg(SEND).args(orders).status();
    kill_process(shim, Signal::CONT)?;
    ensure!(sent?.success(), "the orders could not be sent");
    // They are looked at in the order they came in, and the second of these not before the orders' turn is over.
    knock()?;
    knock()
}

/// The shim above this process, and the attempt's folder.
fn shim() -> anyhow::Result<(Pid, PathBuf)> {
    let mut above = getppid();
    while let Some(pid) = above {
        let pid = pid.as_raw_nonzero();
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline"))?;
        let mut words = command.split('\0').skip(1);
        if words.next() == Some("shim") {
            let folder = words.next().context("a shim has a folder")?;
            return Ok((Pid::from_raw(pid.get()).context("a process id")?, folder.into()));
        }
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let fields = stat.rsplit_once(')').context("a process has a name")?.1;
        above = Pid::from_raw(fields.split_whitespace().nth(1).context("a process has a parent")?.parse()?);
    }
    bail!("no shim is above this process")
}

/// A connection of a living process below the shim: it is closed without a word.
fn knock() -> anyhow::Result<()> {
    let mut shim = UnixStream::connect(CONTROL)?;
    shim.set_read_timeout(Some(PATIENCE))?;
    let mut heard = String::new();
    let size = shim.read_to_string(&mut heard);
    ensure!(heard.is_empty(), "the shim spoke to its own child: {heard}");
    size.context("the shim did not close its own child's connection")?;
    Ok(())
}
