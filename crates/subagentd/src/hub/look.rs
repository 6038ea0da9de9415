//! What lock, spool and folder say of an attempt (design 2, free lock).

use std::io;
use std::path::Path;

use subagentd_core::deliver::Reference;
use subagentd_core::outcome::Answer;
use subagentd_runtime::folder::{self, Lock};
use subagentd_runtime::format::Record;
use subagentd_runtime::{files, leftovers, process};

use super::Context;
use super::link::Subject;

/// What was seen.
pub(super) enum Look {
    /// Its shim lives.
    Alive,
    /// Its record, and the name it has in the spool.
    Record(Box<Record>, String),
    /// Its child had started, and there is no record.
    Lost(Lost),
    /// Its child never started.
    NeverStarted(String),
}

/// What remains of an attempt whose shim is gone.
#[derive(Debug)]
pub(super) struct Lost {
    /// Processes that could not be ended, as far as they could be found.
    pub(super) leftovers: Option<Vec<u32>>,
    /// An answer that had been stored before.
    pub(super) answer: Option<Answer>,
}

/// An answer is read whole for its digest up to here; a longer one is left alone.
const ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// Looks, and ends what a lost shim left behind. Blocks, up to [`leftovers::PATIENCE`].
///
/// The lock first, the spool second: a free lock and then no record proves that none will come. After another boot an
/// attempt counts as started, since nobody can tell what the disk forgot.
pub(super) fn look(context: &Context, subject: &Subject) -> Look {
    match look_closely(context, subject) {
        Ok(seen) => seen,
        Err(error) => {
            // Never read as death or as "never started": it may be another time.
            tracing::error!(attempt = %subject.attempt, %error, "an attempt cannot be looked at; it is looked at again");
            Look::Alive
        }
    }
}

fn look_closely(context: &Context, subject: &Subject) -> io::Result<Look> {
    let attempt = subject.attempt;
    let place = context.places.attempt(attempt);
    let lock = folder::look_at_lock(&place)?;
    match lock {
        Lock::Held => return Ok(Look::Alive),
        // Not a free lock: its process decides.
        Lock::Missing if lives(subject) => return Ok(Look::Alive),
        Lock::Free | Lock::Missing => {}
    }
    if let Some((record, name)) = record(context, subject, &place)? {
        return Ok(Look::Record(Box::new(record), name));
    }
    // Without its lock nothing in the folder proves that it never started.
    let may_have_started = subject.other_boot || lock == Lock::Missing || folder::has_started(&place)?;
    if may_have_started {
        return Ok(Look::Lost(lost(subject, &place)));
    }
    Ok(Look::NeverStarted(folder::last_log_line(&place).unwrap_or_else(|| "the shim never started".to_owned())))
}

/// The record in the spool, or else the one that the shim left in its folder.
fn record(context: &Context, subject: &Subject, place: &Path) -> io::Result<Option<(Record, String)>> {
    let name = subject.attempt.record();
    let spool = files::open_folder(&context.places.spool())?;
    let published = match folder::read_record(&spool, &name) {
        Ok(record) => Some(record),
        Err(fault) if fault.is_final() => None,
        Err(fault) => return Err(io::Error::other(fault.to_string())),
    };
    let found = match published {
        Some(record) => Some(record),
        None => folder::unpublished_record(place)?,
    };
    Ok(found.filter(|record| record.attempt == subject.attempt).map(|record| (record, name)))
}

fn lives(subject: &Subject) -> bool {
    let found = subject.process.filter(|_| !subject.other_boot);
    found.is_some_and(|(pid, start)| matches!(process::watch(pid, start), Ok(Some(_))) && !process::is_gone(pid))
}

/// Ends what a lost shim left behind, and finds the answer that it had stored. Blocks, up to [`leftovers::PATIENCE`].
pub(super) fn lost(subject: &Subject, place: &Path) -> Lost {
    // Nothing outlives a boot.
    let leftovers = if subject.other_boot { None } else { leftovers::end(subject.attempt, place) };
    Lost { leftovers, answer: kept_answer(place) }
}

/// The answer that the shim had stored before it was lost. Answers are renamed into place whole, so the file is a whole
/// text; whether the child had settled with it nobody can tell any more.
fn kept_answer(place: &Path) -> Option<Answer> {
    let request = folder::read_request(&files::open_folder(place).ok()?).ok()?;
    let run = place.parent()?;
    let path = run.join(&request.answer);
    let folder = files::open_folder(path.parent()?).ok()?;
    let text = files::read_in(&folder, path.file_name()?, ANSWER_BYTES).ok()?;
    Some(Answer { reference: Reference::of(path, &text), complete: false })
}
