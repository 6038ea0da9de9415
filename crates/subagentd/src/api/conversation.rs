//! The copy of a host's conversation, made before the reply: what the host adds later does not reach the child (G13).

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use serde::Deserialize;
use subagentd_core::deliver;
use subagentd_core::id::ChildId;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::limits::CONVERSATION_BYTES;
use subagentd_proto::run::CapturedConversation;
use subagentd_runtime::files;
use subagentd_runtime::folder::Places;

/// Where the copy of a child's parent conversation is.
#[must_use]
pub(crate) fn file(places: &Places, child: ChildId) -> PathBuf {
    places.run(child.run).join(format!("conversation-{}.jsonl", child.index))
}

/// A host's conversation as of the request. Has no `Debug`: it is the host's.
pub(super) struct Copy {
    text: Vec<u8>,
    /// Its digest, hex.
    pub(super) sha256: String,
}

/// Copies a conversation up to its leaf.
///
/// # Errors
/// When it cannot be read, has no such leaf or is too large; the launch is refused.
pub(super) fn take(stated: &CapturedConversation) -> Result<Copy, Fault> {
    let path = Path::new(&stated.path);
    if !path.is_absolute() {
        let text = format!("`capture.conversation.path` is {}; it must be absolute", path.display());
        return Err(Fault::new(Kind::InvalidParams, text));
    }
    let unreadable = |error: &dyn std::fmt::Display| {
        Fault::new(Kind::Refused, format!("the conversation {} cannot be read: {error}", path.display()))
    };
    let file = open(path).map_err(|error| unreadable(&error))?;
    let copy = up_to(file, stated.leaf.as_deref()).map_err(|error| unreadable(&error))?;
    let text = copy.ok_or_else(|| {
        let leaf = stated.leaf.as_deref().unwrap_or_default();
        Fault::new(Kind::Refused, format!("the conversation {} has no entry `{leaf}`", path.display()))
    })?;
    Ok(Copy { sha256: deliver::digest(&text), text })
}

/// Stores the copy for a child, synced.
///
/// # Errors
/// When it cannot be stored; the launch is refused.
pub(super) fn keep(places: &Places, child: ChildId, copy: &Copy) -> Result<(), Fault> {
    let place = file(places, child);
    let name = place.file_name().map(Path::new).unwrap_or(&place);
    let written = places.make_run(child.run).and_then(|folder| files::write_synced_in(folder, name, &copy.text));
    written.map_err(|error| super::launch::unstorable(&error))
}

/// It is the host's own file, so links are followed; but a pipe would be waited for without end.
pub(super) fn open(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(std::io::Error::other("it is no regular file")) }
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    id: Option<String>,
}

/// The whole lines up to the entry `leaf`; all of them without one; none if it is not there. A line without its end is
/// one that the host is writing, and left out.
fn up_to(file: File, leaf: Option<&str>) -> std::io::Result<Option<Vec<u8>>> {
    let mut lines = BufReader::new(file.take(CONVERSATION_BYTES as u64 + 1));
    let mut copy = Vec::new();
    loop {
        let start = copy.len();
        lines.read_until(b'\n', &mut copy)?;
        if copy.len() > CONVERSATION_BYTES {
            return Err(std::io::Error::other(format!("it has more than {CONVERSATION_BYTES} bytes")));
        }
        let line = copy.get(start..).unwrap_or_default();
        if !line.ends_with(b"\n") {
            copy.truncate(start);
            return Ok(leaf.is_none().then_some(copy));
        }
        if let Some(leaf) = leaf
            && serde_json::from_slice::<Entry>(line).is_ok_and(|entry| entry.id.as_deref() == Some(leaf))
        {
            return Ok(Some(copy));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(text: &str, leaf: Option<&str>) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.jsonl");
        std::fs::write(&path, text).unwrap();
        up_to(open(&path).unwrap(), leaf).unwrap().map(|copy| String::from_utf8(copy).unwrap())
    }

    #[test]
    fn a_copy_ends_at_its_leaf_and_never_inside_a_line() {
        let text = "{\"type\":\"session\",\"id\":\"s\"}\n{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"c";
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        assert_eq!(copied(text, None), Some(lines[..3].concat()));
        assert_eq!(copied(text, Some("a")), Some(lines[..2].concat()));
        assert_eq!(copied(text, Some("b")), Some(lines[..3].concat()));
        for missing in ["c", "d", ""] {
            assert_eq!(copied(text, Some(missing)), None, "{missing}");
        }
    }

    #[test]
    fn only_regular_files_are_conversations() {
        let folder = tempfile::tempdir().unwrap();
        assert!(open(folder.path()).is_err());
        assert!(open(&folder.path().join("none")).is_err());
        assert!(open(Path::new("/dev/null")).is_err());
    }
}
