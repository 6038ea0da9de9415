//! Where a child keeps its conversation, and whether there is one already.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::setup::Setup;
use crate::driver::Dialect;
use crate::{files, folder};

/// Names in the folder of conversations that are looked at. With more than that the rest counts as not there.
const LOOKED_AT: usize = 10_000;

/// Bytes of a conversation that are searched for the task, which stands near its beginning or behind its parent's.
const CONVERSATION: u64 = 256 * 1024 * 1024;

/// Folder and name, and what a new one begins as.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    pub(super) id: String,
    pub(super) fork: Option<PathBuf>,
}

fn folder_of(setup: &Setup) -> PathBuf {
    setup.path.parent().map(|run| run.join(folder::SESSION)).unwrap_or_default()
}

/// Says where it is.
///
/// # Errors
/// When nobody can tell whether it was begun: beginning it again would give a second one of the same name.
pub(super) fn place(setup: &Setup, dialect: &dyn Dialect) -> Result<Place, String> {
    let folder = folder_of(setup);
    // By the shim: the child's own mask may let everybody in.
    files::make_folder_in(&setup.run, Path::new(folder::SESSION))
        .map_err(|error| format!("the folder of the conversation cannot be made: {error}"))?;
    let id = setup.request.conversation_id();
    let begun = is_begun(&folder, |file| dialect.is_conversation(file, &id))
        .map_err(|error| format!("the conversation cannot be looked for: {error}"))?;
    let fork = setup.request.conversation.fork.clone().filter(|_| !begun);
    Ok(Place { folder, id, fork })
}

/// Whether the child's conversation has its task: a child that was killed early was told it and never wrote it down, and a
/// copy of a parent's conversation begins without it.
///
/// # Errors
/// When nobody can tell.
pub(super) fn has_task(setup: &Setup, dialect: &dyn Dialect, task: &str) -> io::Result<bool> {
    let id = setup.request.conversation_id();
    let folder = match files::open_folder_in(&setup.run, Path::new(folder::SESSION)) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    for entry in std::fs::read_dir(folder_of(setup))?.take(LOOKED_AT) {
        let name = entry?.file_name();
        if dialect.is_conversation(&name.to_string_lossy(), &id)
            && has_entry(files::open_file_in(&folder, &name)?, |line| dialect.is_told(line, task))?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Looks at each line of a file that the child wrote, up to [`CONVERSATION`] bytes.
fn has_entry(file: File, is_it: impl Fn(&[u8]) -> bool) -> io::Result<bool> {
    let mut lines = BufReader::new(file.take(CONVERSATION));
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return Ok(false);
        }
        if is_it(&line) {
            return Ok(true);
        }
    }
}

fn is_begun(folder: &Path, is_it: impl Fn(&str) -> bool) -> io::Result<bool> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    for entry in entries.take(LOOKED_AT) {
        if is_it(&entry?.file_name().to_string_lossy()) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_looked_for_and_errors_are_not_read_as_no() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("session");
        let is_it = |file: &str| file == "it";
        assert!(!is_begun(&inner, is_it).unwrap());
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("other"), "").unwrap();
        assert!(!is_begun(&inner, is_it).unwrap());
        std::fs::write(inner.join("it"), "").unwrap();
        assert!(is_begun(&inner, is_it).unwrap());
        assert!(is_begun(&inner.join("it"), is_it).is_err());
    }
}
