//! A settings file as it is written: its values untouched, and where each stands.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use serde_json::{Map, Value};
use subagentd_core::route::Segment;
use subagentd_runtime::files;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A settings file, in bytes. A longer one is a fault.
const SETTINGS_BYTES: usize = 1024 * 1024;

/// The text of a settings file; `None` if there is none.
///
/// # Errors
/// As the system says; anything but a regular file of UTF-8 within bounds is one.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let bytes = files::read_limited(file, SETTINGS_BYTES)?;
    String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// What makes a text no settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unparsed {
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) message: String,
}

/// One file.
#[derive(Debug)]
pub(super) struct Document {
    text: String,
    /// Its tables, without a word changed.
    pub(super) values: Map<String, Value>,
}

impl Document {
    pub(super) fn parse(text: &str) -> Result<Self, Unparsed> {
        match toml::from_str(text) {
            Ok(values) => Ok(Self { text: text.to_owned(), values }),
            Err(error) => {
                let (line, column) = position(text, error.span().map_or(0, |span| span.start));
                Err(Unparsed { line, column, message: error.message().trim().replace('\n', "; ") })
            }
        }
    }

    /// Line and column of a key; of what is missing, those of the nearest table around it.
    pub(super) fn place(&self, path: &[Segment]) -> (u64, u64) {
        let found = DeTable::parse(&self.text).ok().and_then(|table| span(table.get_ref(), path));
        position(&self.text, found.map_or(0, |span| span.start))
    }
}

fn span(table: &DeTable<'_>, path: &[Segment]) -> Option<Range<usize>> {
    let (Segment::Key(wanted), below) = path.split_first()? else {
        return None;
    };
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == wanted.as_str())?;
    Some(within(value, below).unwrap_or_else(|| key.span()))
}

fn within(value: &Spanned<DeValue<'_>>, path: &[Segment]) -> Option<Range<usize>> {
    match (path.split_first()?, value.get_ref()) {
        ((Segment::Key(_), _), DeValue::Table(table)) => span(table, path),
        ((Segment::Index(index), below), DeValue::Array(array)) => {
            let element = array.get(*index)?;
            Some(within(element, below).unwrap_or_else(|| element.span()))
        }
        _ => None,
    }
}

fn position(text: &str, at: usize) -> (u64, u64) {
    let before = text.get(..text.floor_char_boundary(at)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line as u64, column as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_place() {
        let text = "a = 1\n[profiles.gpt]\ntiers = [\n  { name = \"x\", size = \"Q\" },\n  { name = \"ä\", sice = \"M\" },\n]\n[owners.\"pi:*\"]\nb = 2\n";
        let document = Document::parse(text).unwrap();
        let key = |word: &str| Segment::Key(word.to_owned());
        let table: [(&[Segment], (u64, u64)); 7] = [
            (&[key("a")], (1, 1)),
            (&[key("profiles"), key("gpt")], (2, 11)),
            (&[key("profiles"), key("gpt"), key("group")], (2, 11)),
            (&[key("profiles"), key("gpt"), key("tiers"), Segment::Index(0)], (4, 3)),
            (&[key("profiles"), key("gpt"), key("tiers"), Segment::Index(1), key("sice")], (5, 17)),
            (&[key("owners"), key("pi:*"), key("b")], (8, 1)),
            (&[key("none")], (1, 1)),
        ];
        for (path, place) in table {
            assert_eq!(document.place(path), place, "{path:?}");
        }
        let fault = Document::parse("a = 1\nb = [1,\n").unwrap_err();
        assert!(fault.line >= 2, "{fault:?}");
    }
}
