//! One directory of definition files. Nothing below it is looked at, nothing that is no file is opened, and what cannot
//! be read is told in the place of its text.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags};
use subagentd_core::definition::{Content, FILE_BYTES, SourceFile};
use subagentd_runtime::files;

use super::cache::Stamp;
use super::place::Place;

/// Entries of a directory that are looked at. With more of them it counts as one that cannot be read.
const ENTRIES: usize = 10_000;
/// Definitions of a directory that are read, by name. Further ones are there as agents that cannot be launched.
const FILES: usize = 500;
/// Bytes of a directory's definitions in all. Further ones are there as agents that cannot be launched.
const DIRECTORY_BYTES: usize = 16 * 1024 * 1024;
/// How often a file is read that is written meanwhile; then it counts as one that cannot be read.
const TRIES: usize = 3;

/// What a directory has.
pub(super) enum Listing {
    /// It is not there.
    Absent,
    /// It is there and cannot be listed, for this reason.
    Unread(String),
    /// Its definitions by name, each with its looks before it was read.
    Files(Vec<(SourceFile, Option<Stamp>)>),
}

/// Looks through a directory.
pub(super) fn list(place: &Place) -> Listing {
    if !place.path.is_absolute() {
        return Listing::Unread("it is not an absolute path".to_owned());
    }
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let folder = match rustix::fs::open(&place.path, flags, Mode::empty()) {
        Ok(folder) => folder,
        Err(error) => return absent_or_unread(&place.path, error),
    };
    if let Err(reason) = stays_within(folder.as_fd(), place.within.as_deref()) {
        return Listing::Unread(reason);
    }
    match names(folder.as_fd()) {
        Ok(Some(names)) => Listing::Files(read_all(place, folder.as_fd(), names)),
        Ok(None) => Listing::Unread(format!("it has more than {ENTRIES} entries; move what is no agent elsewhere")),
        Err(error) => Listing::Unread(error.to_string()),
    }
}

fn absent_or_unread(path: &Path, error: rustix::io::Errno) -> Listing {
    use rustix::io::Errno;
    let nothing_there = matches!(error, Errno::NOENT | Errno::NOTDIR) && path.symlink_metadata().is_err();
    if nothing_there { Listing::Absent } else { Listing::Unread(io::Error::from(error).to_string()) }
}

/// The names of definitions, in order; `None` beyond the bound.
fn names(folder: BorrowedFd<'_>) -> io::Result<Option<Vec<CString>>> {
    let mut names = Vec::new();
    for (count, entry) in Dir::read_from(folder)?.enumerate() {
        if count >= ENTRIES {
            return Ok(None);
        }
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name.ends_with(b".md") && !name.starts_with(b".") {
            names.push(entry.file_name().to_owned());
        }
    }
    names.sort_unstable();
    Ok(Some(names))
}

fn read_all(place: &Place, folder: BorrowedFd<'_>, names: Vec<CString>) -> Vec<(SourceFile, Option<Stamp>)> {
    let mut left = DIRECTORY_BYTES;
    let mut files = Vec::with_capacity(names.len());
    for (count, name) in names.into_iter().enumerate() {
        let read = match name.to_str() {
            Err(_) => Err("its name is not UTF-8; rename it".to_owned()),
            Ok(_) if count >= FILES => {
                Err(format!("more than {FILES} files are in its directory; move some elsewhere"))
            }
            Ok(_) => read(folder, &name, place.within.as_deref(), left),
        };
        let path = place.path.join(PathBuf::from(name.to_string_lossy().into_owned())).display().to_string();
        let (content, stamp) = match read {
            Ok((bytes, stamp)) => {
                left = left.saturating_sub(bytes.len());
                (Content::Bytes(bytes), Some(stamp))
            }
            Err(reason) => (Content::Unreadable(reason), None),
        };
        files.push((SourceFile { layer: place.layer, package: place.package.clone(), path, content }, stamp));
    }
    files
}

/// The bytes of a file, or why there are none. It is opened for reading only once it is known to be a file, and one that
/// may be read: the open of anything else could wait, or do something.
fn read(folder: BorrowedFd<'_>, name: &CStr, within: Option<&Path>, left: usize) -> Result<(Vec<u8>, Stamp), String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let found = rustix::fs::openat(folder, name, flags, Mode::empty());
    let found = File::from(found.map_err(|error| told(&io::Error::from(error)))?);
    stays_within(found.as_fd(), within)?;
    for _ in 0..TRIES {
        let before = found.metadata().map_err(|error| told(&error))?;
        if !before.is_file() {
            return Err("it is no file".to_owned());
        }
        if before.len() > FILE_BYTES as u64 {
            return Err(format!("it has {} bytes; at most {FILE_BYTES} are taken", before.len()));
        }
        if before.len() > left as u64 {
            return Err(format!(
                "the files in its directory have more than {DIRECTORY_BYTES} bytes; move some elsewhere"
            ));
        }
        // Without waiting for somebody who holds a lease on it.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(reopened(found.as_fd()), flags, Mode::empty());
        let file = File::from(file.map_err(|error| told(&io::Error::from(error)))?);
        let bytes = files::read_limited(file, FILE_BYTES).map_err(|error| told(&error))?;
        let after = found.metadata().map_err(|error| told(&error))?;
        let stamp = Stamp::from(&before);
        if stamp == Stamp::from(&after) && before.len() == bytes.len() as u64 {
            return Ok((bytes, stamp));
        }
    }
    Err("it changes while it is read; try again when it is written".to_owned())
}

/// What a project brings may be a link, but not one that leads out of it: somebody else may write there.
fn stays_within(found: BorrowedFd<'_>, within: Option<&Path>) -> Result<(), String> {
    let Some(root) = within else { return Ok(()) };
    let real = std::fs::read_link(reopened(found)).map_err(|error| error.to_string())?;
    if real.starts_with(root) {
        return Ok(());
    }
    Err(format!("it is a link that leads out of the project {}; put a copy in its place", root.display()))
}

/// The name of what is open, whatever its path means by now.
fn reopened(found: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", found.as_raw_fd()))
}
