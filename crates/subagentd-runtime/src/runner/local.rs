//! Shims on this machine.

use std::io::{self, BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::process::Signal;
use serde::Deserialize;
use serde_json::value::RawValue;
use subagentd_core::deliver::Reference;
use subagentd_core::id::AttemptId;
use subagentd_core::outcome::Answer;

use super::{Capabilities, Collected, HEARD, Handle, LaunchFault, Lost, Runner};
use crate::folder::{self, Lock, Places};
use crate::format::{Record, Request};
use crate::spawn::{self, Shim};
use crate::{driver, files, leftovers, process};

/// An answer is read whole for its digest up to here; a longer one is left alone.
const ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// Starts shims as children of this process, in folders below a state directory.
#[derive(Debug, Clone)]
pub struct Local {
    places: Places,
    boot: String,
}

impl Local {
    /// Shims in these places, in this boot of the machine.
    #[must_use]
    pub fn new(places: Places, boot: String) -> Self {
        Self { places, boot }
    }

    fn is_of_this_boot(&self, handle: &Handle) -> bool {
        handle.boot == self.boot
    }

    fn lives(&self, handle: &Handle) -> bool {
        let found = handle.process.filter(|_| self.is_of_this_boot(handle));
        found.is_some_and(|(pid, start)| matches!(process::watch(pid, start), Ok(Some(_))) && !process::is_gone(pid))
    }

    /// The record in the spool, or else the one that the shim left in its folder.
    fn record(&self, attempt: AttemptId, place: &Path) -> io::Result<Option<(Record, String)>> {
        let name = attempt.record();
        let spool = files::open_folder(&self.places.spool())?;
        let published = match folder::read_record(&spool, &name) {
            Ok(record) => Some(record),
            Err(fault) if fault.is_final() => None,
            Err(fault) => return Err(io::Error::other(fault.to_string())),
        };
        let found = match published {
            Some(record) => Some(record),
            None => folder::unpublished_record(place)?,
        };
        Ok(found.filter(|record| record.attempt == attempt).map(|record| (record, name)))
    }
}

impl Runner for Local {
    fn capabilities(&self) -> Capabilities {
        Capabilities { adoption: true, whole_trees: true, shared_locks: true }
    }

    fn prepare(&self, request: &Request, instructions: &str) -> io::Result<()> {
        self.places.prepare(request, instructions).map(drop)
    }

    fn launch(&self, attempt: AttemptId) -> Result<Shim, LaunchFault> {
        spawn::spawn(&self.places.attempt(attempt)).map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy => LaunchFault::Held,
            _ => LaunchFault::Failed(error),
        })
    }

    /// By its process id, if the start time is the same; one whose id was not stored is asked for it: the kernel tells
    /// who listens on its control socket.
    fn watch(&self, handle: &Handle) -> io::Result<Option<OwnedFd>> {
        match handle.process {
            _ if !self.is_of_this_boot(handle) => Ok(None),
            Some((pid, start)) => process::watch(pid, start),
            None => Ok(spawn::listener(&self.places.attempt(handle.attempt)).ok()),
        }
    }

    fn attach(&self, attempt: AttemptId) -> io::Result<UnixStream> {
        spawn::connect(&self.places.attempt(attempt))
    }

    fn kill(&self, handle: &Handle) {
        if let Ok(Some(shim)) = self.watch(handle) {
            // One that is gone by now needs no signal.
            rustix::process::pidfd_send_signal(&shim, Signal::KILL).ok();
        }
    }

    /// The lock first, the spool second: a free lock and then no record proves that none will come. After another boot
    /// an attempt counts as started, since nobody can tell what the disk forgot.
    fn collect(&self, handle: &Handle) -> io::Result<Collected> {
        let place = self.places.attempt(handle.attempt);
        let lock = folder::look_at_lock(&place)?;
        match lock {
            Lock::Held => return Ok(Collected::Alive),
            // Not a free lock: its process decides.
            Lock::Missing if self.lives(handle) => return Ok(Collected::Alive),
            Lock::Free | Lock::Missing => {}
        }
        if let Some((record, name)) = self.record(handle.attempt, &place)? {
            return Ok(Collected::Record(Box::new(record), name));
        }
        // Without its lock nothing in the folder proves that it never started.
        let may_have_started = !self.is_of_this_boot(handle) || lock == Lock::Missing || folder::has_started(&place)?;
        if may_have_started {
            return Ok(Collected::Unexplained);
        }
        let words = folder::last_log_line(&place).unwrap_or_else(|| "the shim never started".to_owned());
        Ok(Collected::NeverStarted(words))
    }

    fn clear(&self, handle: &Handle) -> Lost {
        let place = self.places.attempt(handle.attempt);
        // Nothing outlives a boot.
        let leftovers = if self.is_of_this_boot(handle) { leftovers::end(handle.attempt, &place) } else { None };
        Lost { leftovers, answer: kept_answer(&place), heard: heard(&place) }
    }

    fn discard(&self, attempt: AttemptId) -> io::Result<()> {
        std::fs::remove_dir_all(self.places.attempt(attempt))
    }
}

/// What the records of the attempt say that the child heard. They are written as they come, so that the last ones may be
/// missing.
fn heard(place: &Path) -> Vec<String> {
    let events = files::open_folder(place).and_then(|folder| files::open_file_in(&folder, folder::EVENTS));
    let lines = events.map(BufReader::new).into_iter().flat_map(|events| events.split(b'\n'));
    lines.map_while(Result::ok).filter_map(|line| said(&line)).take(HEARD).collect()
}

fn said(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct EventLine<'a> {
        #[serde(borrow)]
        record: &'a RawValue,
    }
    let line: EventLine<'_> = serde_json::from_slice(line).ok()?;
    driver::said(line.record.get().as_bytes())
}

/// The answer that the shim had stored before it was lost. Answers are renamed into place whole, so the file is a whole
/// text.
fn kept_answer(place: &Path) -> Option<Answer> {
    let request = folder::read_request(&files::open_folder(place).ok()?).ok()?;
    let run = place.parent()?;
    let path = run.join(&request.answer);
    // Until that one was put aside, what is there is the earlier answer.
    let kept = request.earlier_answer.map(|attempt| folder::earlier_answer(&path, attempt));
    if kept.is_some_and(|kept| kept.symlink_metadata().is_err()) {
        return None;
    }
    let folder = files::open_folder(path.parent()?).ok()?;
    let text = files::read_in(&folder, path.file_name()?, ANSWER_BYTES).ok()?;
    Some(Answer { reference: Reference::of(path, &text), complete: false })
}
