//! The probe process: `subagentd probe`, started by the daemon through `/proc/self/exe`.
//!
//! Programs are asked from a process of their own, never from the daemon: it is their sub-reaper and waits for nobody
//! else, so that it can end a whole tree; and their records, which hold secrets, are never in the daemon's memory. It
//! reads from and writes to one socket, and ends when the other end is closed.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use subagentd_core::outcome::error_line;
use subagentd_core::plan::Environment;

use super::dialogue::{Dialogue, Step};
use super::form::{Ask, Begin, LINE_BYTES, NAME_BYTES, Offer, Reply, What};
use super::program::{Output, Program, Stop};

/// Answers until the daemon closes the socket. Gives the exit code.
pub(crate) fn main() -> i32 {
    // Its own session: no terminal, and no signals that are meant for the daemon's group. A leader has one already.
    rustix::process::setsid().ok();
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        crate::boot::say(&format!("subagentd probe: the kernel does not let it take in orphans: {error}"));
        return 1;
    }
    match answer_all(&mut BufReader::new(io::stdin().lock())) {
        Ok(()) => 0,
        // The daemon wants to know no more.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            crate::boot::say(&format!("subagentd probe: {error}; the daemon starts probes, people do not"));
            1
        }
    }
}

fn answer_all(input: &mut impl BufRead) -> io::Result<()> {
    let Some(begin) = line(input)? else { return Ok(()) };
    let Begin { environment } = serde_json::from_slice(&begin)?;
    while let Some(ask) = line(input)? {
        let ask: Ask = serde_json::from_slice(&ask)?;
        answer(&ask, &environment)?;
    }
    Ok(())
}

/// `None` at the end of the input.
fn line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    input.take(LINE_BYTES).read_until(b'\n', &mut line)?;
    Ok((!line.is_empty()).then_some(line))
}

fn answer(ask: &Ask, environment: &Environment) -> io::Result<()> {
    let started = Program::start(&ask.command, environment);
    let (reply, program) = match started {
        Ok(mut program) => (find_out(ask, &mut program), Some(program)),
        Err(error) => (Reply::Failed(format!("cannot be started: {error}")), None),
    };
    // Told before the program is ended: nobody needs to wait for that.
    let mut bytes = serde_json::to_vec(&reply)?;
    bytes.push(b'\n');
    let mut out = io::stdout().lock();
    let told = out.write_all(&bytes).and_then(|()| out.flush());
    if let Some(program) = program {
        program.end();
    }
    told
}

fn find_out(ask: &Ask, program: &mut Program) -> Reply {
    let deadline = Instant::now() + Duration::from_millis(ask.within_ms);
    let found = match ask.what {
        What::Line => first_line(program, deadline).map(Reply::Line),
        What::Models => models(program, deadline).map(Reply::Models),
    };
    found.unwrap_or_else(|reason| {
        Reply::Failed(match reason {
            Reason::Words(words) => words,
            Reason::Stop(Stop::Late) => format!("did not answer within {} ms", ask.within_ms),
            Reason::Stop(Stop::TooMuch) => "wrote more than an answer can be long".to_owned(),
            Reason::Stop(Stop::NobodyAsks) => "was not waited for".to_owned(),
            Reason::Stop(Stop::System(error)) => format!("could not be read: {error}"),
        })
    })
}

enum Reason {
    Words(String),
    Stop(Stop),
}

fn first_line(program: &mut Program, deadline: Instant) -> Result<String, Reason> {
    program.say_no_more();
    let mut text = Vec::new();
    let mut buffer = [0; NAME_BYTES];
    while text.len() < NAME_BYTES && !text.contains(&b'\n') {
        match program.read(&mut buffer, deadline, io::stdin().as_fd()).map_err(Reason::Stop)? {
            Output::Some(bytes) => text.extend_from_slice(bytes),
            Output::End => break,
        }
    }
    match String::from_utf8_lossy(&text).lines().next().map(error_line).filter(|line| !line.is_empty()) {
        Some(line) => Ok(line),
        None => Err(Reason::Words(format!("{} and said nothing", program.end_in_words()))),
    }
}

fn models(program: &mut Program, deadline: Instant) -> Result<Offer, Reason> {
    let mut dialogue = Dialogue::default();
    program.say(&Dialogue::opening());
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match program.read(&mut buffer, deadline, io::stdin().as_fd()).map_err(Reason::Stop)? {
            Output::Some(bytes) => match dialogue.feed(bytes) {
                Step::More => {}
                Step::Say(bytes) => program.say(&bytes),
                Step::Done(offer) => return Ok(offer),
                Step::Failed(words) => return Err(Reason::Words(words)),
            },
            Output::End => {
                return Err(Reason::Words(format!("{} before it told its models", program.end_in_words())));
            }
        }
    }
}
