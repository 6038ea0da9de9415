//! Opening what a child could have made: no links, no waiting on pipes, regular files only, beneath a directory
//! descriptor (design 7).

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, RenameFlags};

const PRIVATE_FILE: Mode = Mode::from_raw_mode(0o600);
const PRIVATE_FOLDER: Mode = Mode::from_raw_mode(0o700);

/// Opens a directory itself, never through a link at its last component.
///
/// # Errors
/// As the system says.
pub fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a folder inside another one.
///
/// # Errors
/// As the system says; a link is an error.
pub fn open_folder_in(folder: impl AsFd, name: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?)
}

/// Makes a private folder; one that is there already must be a real folder.
///
/// # Errors
/// As the system says.
pub fn make_folder_in(folder: impl AsFd, name: &Path) -> io::Result<OwnedFd> {
    match rustix::fs::mkdirat(folder.as_fd(), name, PRIVATE_FOLDER) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => open_folder_in(folder, name),
        Err(error) => Err(error.into()),
    }
}

/// Opens a regular file for reading.
///
/// # Errors
/// As the system says; anything but a regular file is refused.
pub fn open_file_in(folder: impl AsFd, name: impl AsRef<Path>) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    regular(rustix::fs::openat(folder, name.as_ref(), flags, Mode::empty())?)
}

/// Makes a new private file; an existing one is an error.
///
/// # Errors
/// As the system says.
pub fn create_file_in(folder: impl AsFd, name: impl AsRef<Path>) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(folder, name.as_ref(), flags, PRIVATE_FILE)?))
}

/// Opens a private file for appending, making it when it is missing.
///
/// # Errors
/// As the system says; anything but a regular file is refused.
pub fn append_file_in(folder: impl AsFd, name: impl AsRef<Path>) -> io::Result<File> {
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    regular(rustix::fs::openat(folder, name.as_ref(), flags, PRIVATE_FILE)?)
}

fn regular(descriptor: OwnedFd) -> io::Result<File> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&descriptor)?.st_mode);
    if kind == FileType::RegularFile {
        Ok(File::from(descriptor))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, format!("not a regular file but {kind:?}")))
    }
}

/// Reads a file whole, but no more than `limit` bytes: a longer one is an error.
///
/// # Errors
/// As the system says, or when the file is longer.
pub fn read_in(folder: impl AsFd, name: impl AsRef<Path>, limit: usize) -> io::Result<Vec<u8>> {
    read_limited(open_file_in(folder, name)?, limit)
}

/// See [`read_in`].
///
/// # Errors
/// As the system says, or when the file is longer.
pub fn read_limited(file: File, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("longer than {limit} bytes")));
    }
    Ok(bytes)
}

/// Writes a file beside its place, syncs it, renames it there and syncs the folder.
///
/// # Errors
/// As the system says; the old file, if any, is then still in place and nothing is left beside it.
pub fn write_synced_in(folder: impl AsFd, name: &Path, bytes: &[u8]) -> io::Result<()> {
    write_synced_keeping(folder, name, bytes, None)
}

/// As [`write_synced_in`], but the old file gets the name `kept` right before. A file that has that name is left as it
/// is: then the old one was kept before, and what stands at `name` now came later.
///
/// # Errors
/// As the system says; nothing is left beside it.
pub fn write_synced_keeping(folder: impl AsFd, name: &Path, bytes: &[u8], kept: Option<&Path>) -> io::Result<()> {
    let mut beside = name.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    // A writer that was killed here before may have left it.
    match rustix::fs::unlinkat(folder.as_fd(), &beside, rustix::fs::AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let written = create_file_in(folder.as_fd(), &beside).and_then(|mut file| {
        file.write_all(bytes)?;
        rustix::fs::fdatasync(&file)?;
        if let Some(kept) = kept {
            move_away(folder.as_fd(), name, kept)?;
        }
        rustix::fs::renameat(folder.as_fd(), &beside, folder.as_fd(), name)?;
        Ok(rustix::fs::fsync(folder.as_fd())?)
    });
    if written.is_err() {
        // The error that counts is the first one; a leftover is removed by the next writer.
        rustix::fs::unlinkat(folder.as_fd(), &beside, rustix::fs::AtFlags::empty()).ok();
    }
    written
}

fn move_away(folder: BorrowedFd<'_>, name: &Path, kept: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(folder, name, folder, kept, RenameFlags::NOREPLACE) {
        Ok(()) | Err(rustix::io::Errno::NOENT | rustix::io::Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a path is made of plain names only: relative, without `..`, so that it stays beneath its folder.
#[must_use]
pub fn is_plain(path: &Path) -> bool {
    path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn links_pipes_and_folders_are_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("real"), "text").unwrap();
        std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, folder.path().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .unwrap();
        let open = open_folder(folder.path()).unwrap();
        assert_eq!(read_in(&open, "real", 10).unwrap(), b"text");
        for name in ["link", "folder", "pipe", "missing"] {
            assert!(open_file_in(&open, name).is_err(), "{name} was opened");
            // Appending would make a missing one.
            if name != "missing" {
                assert!(append_file_in(&open, name).is_err(), "{name} was opened");
            }
        }
    }

    #[test]
    fn a_longer_file_is_an_error_not_a_part() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), "12345").unwrap();
        let open = open_folder(folder.path()).unwrap();
        assert_eq!(read_in(&open, "f", 5).unwrap().len(), 5);
        assert!(read_in(&open, "f", 4).is_err());
    }

    #[test]
    fn written_files_are_private_whole_and_alone() {
        let folder = tempfile::tempdir().unwrap();
        let open = open_folder(folder.path()).unwrap();
        std::fs::write(folder.path().join("a.md.new"), "left by a killed writer").unwrap();
        write_synced_in(&open, Path::new("a.md"), b"one").unwrap();
        write_synced_in(&open, Path::new("a.md"), b"two").unwrap();
        assert_eq!(std::fs::read(folder.path().join("a.md")).unwrap(), b"two");
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a.md"]);
        let mode = std::fs::metadata(folder.path().join("a.md")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn an_old_file_is_kept_under_its_other_name_once() {
        let folder = tempfile::tempdir().unwrap();
        let open = open_folder(folder.path()).unwrap();
        let (name, kept) = (Path::new("a.md"), Path::new("a.1.md"));
        let read = |name: &Path| std::fs::read_to_string(folder.path().join(name)).ok();
        write_synced_keeping(&open, name, b"one", Some(kept)).unwrap();
        assert_eq!((read(name).as_deref(), read(kept)), (Some("one"), None), "there was none");
        write_synced_keeping(&open, name, b"two", Some(kept)).unwrap();
        assert_eq!((read(name).as_deref(), read(kept).as_deref()), (Some("two"), Some("one")));
        write_synced_keeping(&open, name, b"three", Some(kept)).unwrap();
        assert_eq!((read(name).as_deref(), read(kept).as_deref()), (Some("three"), Some("one")));
    }

    #[test]
    fn a_place_that_is_a_folder_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let open = open_folder(folder.path()).unwrap();
        std::fs::create_dir(folder.path().join("a.md")).unwrap();
        assert!(write_synced_in(&open, Path::new("a.md"), b"one").is_err());
        assert!(!folder.path().join("a.md.new").exists());
    }

    #[test]
    fn plain_paths_stay_beneath() {
        for (path, plain) in
            [("a", true), ("a/b", true), ("", false), ("/a", false), ("../a", false), ("a/../b", false)]
        {
            assert_eq!(is_plain(Path::new(path)), plain, "{path}");
        }
    }
}
