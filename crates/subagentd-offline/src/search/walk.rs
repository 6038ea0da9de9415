//! From a directory to matching lines.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use ignore::{DirEntry, Walk, WalkBuilder};

use super::file::{self, FileKind};
use super::line;
use super::{Bounds, Pulse, Query};
use crate::wire::Leave;

/// Bytes of a line that are looked at; generated code has lines of megabytes.
const LINE_BYTES: usize = 1_000;

/// Two terms this near to each other in a line are taken for one expression.
const CLOSE_BYTES: usize = 24;

/// A line that only repeats the task, as samples and documents do, answers nothing.
const QUESTION: f32 = 0.2;

/// A term in a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) term: usize,
    pub(crate) strength: f32,
    /// The term itself is not there, a word of about the same meaning is.
    pub(crate) kin: bool,
    /// Share of the name that the line defines, 0 outside of it.
    pub(crate) named: f32,
}

/// A line that at least one term fits.
#[derive(Debug)]
pub(crate) struct Hit {
    /// From 1.
    pub(crate) line: u64,
    pub(crate) marks: Vec<Mark>,
    pub(crate) definition: bool,
    pub(crate) comment: bool,
    pub(crate) import: bool,
    /// Two terms stand next to each other.
    pub(crate) close: bool,
}

#[derive(Debug)]
pub(crate) struct FileHits {
    /// Below the searched directory, as shown.
    pub(crate) shown: String,
    pub(crate) path: PathBuf,
    pub(crate) kind: FileKind,
    /// Terms that the path itself fits.
    pub(crate) path_marks: Vec<Mark>,
    pub(crate) hits: Vec<Hit>,
}

/// What was looked at and found, in the order of the paths.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    pub(crate) found: Vec<FileHits>,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    pub(crate) lines: usize,
    pub(crate) binary: usize,
    pub(crate) large: usize,
    pub(crate) unreadable: usize,
    /// Bounds that were reached, in words.
    pub(crate) cut: Vec<String>,
}

/// Collects matching lines below the current directory; nothing when stopped.
pub(crate) fn collect(
    query: &Query,
    bounds: &Bounds,
    pulse: &mut dyn FnMut() -> Result<Pulse, Leave>,
) -> Result<Option<Looked>, Leave> {
    let mut looked = Looked::default();
    let Some(matcher) = matcher(query) else {
        return Ok(Some(looked));
    };
    let mut searcher = SearcherBuilder::new().binary_detection(BinaryDetection::quit(0)).line_number(true).build();
    let deadline = Instant::now().checked_add(bounds.time);
    // Sorted, so that a bound cuts at the same place every time.
    for entry in walk() {
        if pulse()? == Pulse::Stop {
            return Ok(None);
        }
        let Ok(entry) = entry else {
            looked.unreadable = looked.unreadable.saturating_add(1);
            continue;
        };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        if let Some(reached) = reached(bounds, &looked, deadline) {
            looked.cut.push(reached);
            break;
        }
        look_into(&entry, query, bounds, &matcher, &mut searcher, &mut looked);
    }
    Ok(Some(looked))
}

fn walk() -> Walk {
    let mut walk = WalkBuilder::new(".");
    // Outside a repository ignore files count as well, but not those above: a home directory may hold one that ignores everything.
    if !in_repository() {
        walk.require_git(false).parents(false);
    }
    walk.follow_links(false).sort_by_file_name(Ord::cmp).build()
}

fn in_repository() -> bool {
    std::env::current_dir().is_ok_and(|here| here.ancestors().any(|folder| folder.join(".git").exists()))
}

fn reached(bounds: &Bounds, looked: &Looked, deadline: Option<Instant>) -> Option<String> {
    if looked.files >= bounds.files {
        return Some(format!("stopped after {} files", bounds.files));
    }
    if looked.lines >= bounds.lines {
        return Some(format!("stopped after {} matching lines", bounds.lines));
    }
    let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
    late.then(|| format!("stopped after {} s", bounds.time.as_secs_f32()))
}

fn matcher(query: &Query) -> Option<RegexMatcher> {
    let literals: Vec<&str> = query.terms.iter().flat_map(super::term::Term::literals).collect();
    if literals.is_empty() {
        return None;
    }
    RegexMatcherBuilder::new()
        .case_insensitive(true)
        .unicode(!literals.iter().all(|literal| literal.is_ascii()))
        .fixed_strings(true)
        .line_terminator(Some(b'\n'))
        .build_many(&literals)
        .ok()
}

fn look_into(
    entry: &DirEntry,
    query: &Query,
    bounds: &Bounds,
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    looked: &mut Looked,
) {
    let size = entry.metadata().map_or(0, |metadata| metadata.len());
    if size > bounds.file_bytes {
        looked.large = looked.large.saturating_add(1);
        return;
    }
    looked.files = looked.files.saturating_add(1);
    looked.bytes = looked.bytes.saturating_add(size);
    let shown = shown(entry.path());
    let extension = file::extension(&shown);
    let mut sink =
        Lines { query, extension: &extension, bound: bounds.file_lines, hits: Vec::new(), binary: false, cut: false };
    if searcher.search_path(matcher, entry.path(), &mut sink).is_err() {
        looked.unreadable = looked.unreadable.saturating_add(1);
        return;
    }
    let Lines { mut hits, binary, cut, .. } = sink;
    if binary {
        looked.binary = looked.binary.saturating_add(1);
        return;
    }
    if cut {
        looked.cut.push(format!("only the first {} matching lines of {shown}", bounds.file_lines));
    }
    let path_marks = path_marks(query, &shown);
    // A file that the task names is an answer even if nothing in it matches.
    let named = path_marks.iter().any(|mark| query.terms.get(mark.term).is_some_and(super::term::Term::is_path));
    if hits.is_empty() && named {
        hits.push(Hit { line: 1, marks: Vec::new(), definition: false, comment: false, import: false, close: false });
    }
    if hits.is_empty() {
        return;
    }
    looked.lines = looked.lines.saturating_add(hits.len());
    let kind = file::file_kind(&shown);
    looked.found.push(FileHits { shown, path: entry.path().to_owned(), kind, path_marks, hits });
}

struct Lines<'a> {
    query: &'a Query,
    extension: &'a str,
    bound: usize,
    hits: Vec<Hit>,
    binary: bool,
    cut: bool,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.hits.len() >= self.bound {
            self.cut = true;
            return Ok(false);
        }
        let bytes = found.bytes();
        let text = String::from_utf8_lossy(bytes.get(..LINE_BYTES).unwrap_or(bytes));
        let (mut marks, close) = marks(self.query, &text);
        if self.query.is_quoted_by(&text) {
            marks.iter_mut().for_each(|mark| mark.strength *= QUESTION);
        }
        let definition = line::definition(&text, self.extension);
        if let Some(signature) = definition {
            mark_named(self.query, line::defined_name(signature, self.extension), &mut marks);
        }
        if !marks.is_empty() {
            self.hits.push(Hit {
                line: found.line_number().unwrap_or(1),
                marks,
                definition: definition.is_some(),
                comment: line::is_comment(&text, self.extension),
                import: line::is_import(&text),
                close,
            });
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// The terms that fit a text, and whether two of them stand together.
pub(crate) fn marks(query: &Query, text: &str) -> (Vec<Mark>, bool) {
    let lower = text.to_lowercase();
    let mut marks = Vec::new();
    let mut spans = Vec::new();
    for (term, wanted) in query.terms.iter().enumerate() {
        if let Some(found) = wanted.find(text, &lower) {
            #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1")]
            marks.push(Mark { term, strength: found.strength as f32, kin: found.kin, named: 0.0 });
            spans.push((found.at, found.end));
        }
    }
    spans.sort_unstable();
    let close =
        spans.iter().zip(spans.iter().skip(1)).any(|(a, b)| b.0 >= a.1 && b.0.saturating_sub(a.1) <= CLOSE_BYTES);
    (marks, close)
}

/// Notes which terms the defined name is made of.
#[expect(clippy::cast_precision_loss, reason = "lengths of names")]
fn mark_named(query: &Query, name: &str, all: &mut [Mark]) {
    let lower = name.to_lowercase();
    for mark in all {
        let found = query.terms.get(mark.term).and_then(|term| term.find(name, &lower));
        if let Some(found) = found {
            mark.named = found.end.saturating_sub(found.at) as f32 / name.len().max(1) as f32;
        }
    }
}

/// The last folder and the file count whole, folders above them less.
fn path_marks(query: &Query, shown: &str) -> Vec<Mark> {
    let file = shown.rsplit('/').next().unwrap_or(shown);
    let (mut all, _) = marks(query, shown);
    let (own, _) = marks(query, file);
    for mark in &mut all {
        let in_file = own.iter().any(|other| other.term == mark.term);
        let path = query.terms.get(mark.term).is_some_and(super::term::Term::is_path);
        mark.strength *= if path || in_file { 1.0 } else { 0.4 };
    }
    all
}

/// A path as the answer writes it: relative, with anything unprintable replaced.
fn shown(path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path).to_string_lossy();
    path.chars().map(|letter| if letter.is_control() || letter == '`' { '\u{fffd}' } else { letter }).collect()
}
