//! Storing the answer, and publishing the exit record.

use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use subagentd_core::deliver::Reference;

use super::setup::Setup;
use crate::format::{End, RECORD_FORMAT, Record};
use crate::{files, folder};

/// Writes the record into the space that was kept for it and renames it into the spool. The lock is still held.
pub(super) fn publish(setup: &Setup, end: End) -> io::Result<()> {
    let attempt = setup.request.attempt;
    let bytes = Record { format: RECORD_FORMAT, attempt, end }.to_bytes()?;
    let record = open_space(setup)?;
    record.write_all_at(&bytes, 0)?;
    record.set_len(bytes.len() as u64)?;
    Ok(rustix::fs::renameat(&setup.folder, folder::RECORD, &setup.spool, attempt.record())?)
}

fn open_space(setup: &Setup) -> io::Result<std::fs::File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(&setup.folder, folder::RECORD, flags, Mode::empty()) {
        Ok(space) => Ok(space.into()),
        // The disk was full when the space was to be made: no child ran, so there is little to lose.
        Err(rustix::io::Errno::NOENT) => files::create_file_in(&setup.folder, folder::RECORD),
        Err(error) => Err(error.into()),
    }
}

/// Stores an answer, synced, beside its place and renamed there. An earlier attempt's answer is moved away right before.
pub(super) fn store_answer(setup: &Setup, text: &str) -> io::Result<Reference> {
    let name = &setup.request.answer;
    if !files::is_plain(name) {
        return Err(io::Error::other(format!("the answer's name {} leaves the run's folder", name.display())));
    }
    let file = name.file_name().map(Path::new).unwrap_or(name);
    let earlier = setup.request.earlier_answer.map(|attempt| folder::earlier_answer(file, attempt));
    let earlier = earlier.as_deref();
    match name.parent().filter(|parent| *parent != Path::new("")) {
        Some(parent) => {
            let inner = files::make_folder_in(&setup.run, parent)?;
            files::write_synced_keeping(&inner, file, text.as_bytes(), earlier)?;
            // The folder's own entry, too.
            rustix::fs::fsync(&setup.run)?;
        }
        None => files::write_synced_keeping(&setup.run, file, text.as_bytes(), earlier)?,
    }
    Ok(Reference::of(run_path(setup).join(name), text.as_bytes()))
}

fn run_path(setup: &Setup) -> PathBuf {
    setup.path.parent().map(Path::to_owned).unwrap_or_default()
}
