//! The answer, in Markdown.

use std::fmt::Write;

use super::block::{Block, Text};
use super::rank::Place;
use super::walk::Looked;
use super::{Bounds, Query, file};

/// Lines of one excerpt.
const EXCERPT_LINES: usize = 5;

/// Characters of a line shown; the rest becomes an ellipsis.
const SHOWN_CHARS: usize = 160;

/// Characters of an enclosing definition shown.
const NAME_CHARS: usize = 100;

/// Lighter terms that are nowhere are not worth a word: parts of names, words that tell little.
const MISSED: f64 = 1.0;

/// Equal places named beside the first.
const TWINS: usize = 3;

/// Terms and bounds listed by name.
const LISTED: usize = 24;

/// What the search found, as text.
#[derive(Debug)]
pub(crate) struct Findings {
    answer: String,
    summary: String,
}

impl Findings {
    pub(crate) fn new(query: &Query, bounds: &Bounds, looked: &Looked, places: &[Place]) -> Self {
        let matches =
            format!("{} matching lines in {} files of {} looked at", looked.lines, looked.found.len(), looked.files);
        let mut summary = matches;
        for place in places {
            write!(summary, "\n{}:{}", place.shown, place.line).ok();
        }
        Self { answer: answer(query, bounds, looked, places), summary }
    }

    /// For the tool call's result: how much matched, and the chosen places.
    pub(crate) fn summary(&self) -> String {
        self.summary.clone()
    }

    pub(crate) fn answer(&self) -> String {
        self.answer.clone()
    }
}

fn answer(query: &Query, bounds: &Bounds, looked: &Looked, places: &[Place]) -> String {
    let counts = counts(query, looked);
    let footer = footer(query, looked, &counts);
    let mut text = String::from(
        "No model was used: this is a text search for what the task names, ranked by a fixed rule. Nobody has judged the findings.\n",
    );
    if query.terms.is_empty() {
        text.push_str("\nThe task names nothing that can be searched for. Name a function, a file or a few words of the subject.\n");
        return text;
    }
    text.push_str(&missing(query, &counts));
    if places.is_empty() {
        text.push_str("\nNothing was found.\n");
    }
    let mut left_out = 0_usize;
    for (at, place) in places.iter().enumerate() {
        let entry = entry(at.saturating_add(1), place);
        if text.len().saturating_add(entry.len()).saturating_add(footer.len()) > bounds.answer_bytes {
            left_out = places.len().saturating_sub(at);
            break;
        }
        text.push_str(&entry);
    }
    if left_out > 0 {
        writeln!(
            text,
            "\n{left_out} more places were left out to keep this answer below {} bytes.",
            bounds.answer_bytes
        )
        .ok();
    }
    text.push_str(&footer);
    text
}

fn entry(number: usize, place: &Place) -> String {
    let mut text = format!("\n{number}. `{}:{}`", place.shown, place.line);
    if let Some((name, outer)) = place.block.names.split_last() {
        let relation = if place.block.heads { "" } else { "in " };
        write!(text, " {relation}`{}`", code(name)).ok();
        for outer in outer {
            write!(text, " of `{}`", code(outer)).ok();
        }
    }
    if !place.also.is_empty() {
        let named: Vec<String> = place.also.iter().take(TWINS).map(|other| format!("`{other}`")).collect();
        write!(text, ", also {}", named.join(", ")).ok();
    }
    if place.also.len() > TWINS {
        write!(text, " and {} more", place.also.len().saturating_sub(TWINS)).ok();
    }
    text.push('\n');
    if place.excerpt.is_empty() {
        return text;
    }
    let fence = fence(place);
    let width = place.excerpt.last().map_or(1, |(line, _)| line.to_string().len());
    writeln!(text, "   {fence}{}", language(&place.shown)).ok();
    for (line, shown) in &place.excerpt {
        let entry = format!("   {line:>width$} {shown}");
        writeln!(text, "{}", entry.trim_end()).ok();
    }
    writeln!(text, "   {fence}").ok();
    text
}

/// How many lines and files each term is in, in the order of the terms.
fn counts(query: &Query, looked: &Looked) -> Vec<(usize, usize)> {
    let mut counts = vec![(0_usize, 0_usize); query.terms.len()];
    for file in &looked.found {
        let mut lines = vec![0_usize; query.terms.len()];
        for mark in file.hits.iter().flat_map(|hit| &hit.marks).filter(|mark| !mark.kin) {
            if let Some(count) = lines.get_mut(mark.term) {
                *count = count.saturating_add(1);
            }
        }
        for ((total, files), lines) in counts.iter_mut().zip(lines) {
            *total = total.saturating_add(lines);
            *files = files.saturating_add(usize::from(lines > 0));
        }
    }
    counts
}

/// Said first, because it changes what the findings are worth.
fn missing(query: &Query, counts: &[(usize, usize)]) -> String {
    let nowhere: Vec<String> = query
        .terms
        .iter()
        .zip(counts)
        .filter(|(term, (lines, _))| *lines == 0 && term.weight >= MISSED)
        .map(|(term, _)| format!("`{}`", code(&term.shown)))
        .collect();
    if nowhere.is_empty() { String::new() } else { format!("In no file: {}.\n", nowhere.join(", ")) }
}

fn footer(query: &Query, looked: &Looked, counts: &[(usize, usize)]) -> String {
    let terms: Vec<String> = query
        .terms
        .iter()
        .zip(counts)
        .map(|(term, (lines, files))| {
            format!("`{}` ({}, {})", code(&term.shown), count(*lines, "line"), count(*files, "file"))
        })
        .collect();
    let mut text = format!("\nSearched for: {}.\n", terms.join(", "));
    text.push_str("Words count in all their forms, and words of about the same meaning a little.\n");
    writeln!(
        text,
        "Looked at {} ({}); hidden and ignored ones were not.",
        count(looked.files, "file"),
        size(looked.bytes)
    )
    .ok();
    let cut = cut(query, looked);
    if !cut.is_empty() {
        writeln!(text, "Left out: {}.", cut.join("; ")).ok();
    }
    text
}

/// Everything that was not looked at although it is there.
fn cut(query: &Query, looked: &Looked) -> Vec<String> {
    let mut cut: Vec<String> = looked.cut.iter().take(LISTED).cloned().collect();
    if looked.cut.len() > LISTED {
        cut.push(format!("{} more such bounds", looked.cut.len().saturating_sub(LISTED)));
    }
    for (number, what) in [(looked.binary, "binary"), (looked.large, "too large"), (looked.unreadable, "not readable")]
    {
        if number > 0 {
            cut.push(format!("{} {what}", count(number, "file")));
        }
    }
    if !query.left_out.is_empty() {
        let named: Vec<String> = query.left_out.iter().take(LISTED).map(|term| format!("`{}`", code(term))).collect();
        cut.push(format!("{} beyond the first ones, {}", count(query.left_out.len(), "term"), named.join(", ")));
    }
    cut
}

/// Lines to show around a place: for a definition or its comment what follows, else what surrounds it.
pub(crate) fn excerpt(text: &Text, at: usize, block: &Block) -> Vec<(u64, String)> {
    let before = if block.heads { 1 } else { 2 };
    let mut lines: Vec<(u64, &str)> = Vec::new();
    for line in at.saturating_sub(before)..at.saturating_sub(before).saturating_add(EXCERPT_LINES) {
        if let Some(shown) = text.line(line) {
            lines.push((u64::try_from(line).unwrap_or(u64::MAX).saturating_add(1), shown));
        }
    }
    let place = u64::try_from(at).unwrap_or(u64::MAX).saturating_add(1);
    let idle = |line: &str| matches!(line.trim(), "" | "}" | "{" | "});" | ")" | "*/" | "/**");
    while lines.first().is_some_and(|(number, line)| *number < place && idle(line)) {
        lines.remove(0);
    }
    while lines.last().is_some_and(|(number, line)| *number > place && idle(line)) {
        lines.pop();
    }
    let margin =
        lines.iter().filter(|(_, line)| !line.trim().is_empty()).map(|(_, line)| blank(line)).min().unwrap_or(0);
    lines
        .into_iter()
        .map(|(number, line)| (number, clip(line.get(margin..).unwrap_or_default(), SHOWN_CHARS)))
        .collect()
}

/// Bytes of blanks and tabs at the beginning.
fn blank(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

fn clip(line: &str, chars: usize) -> String {
    let line = line.trim_end();
    let mut shown: String = line
        .chars()
        .take(chars)
        .map(|letter| if letter.is_control() && letter != '\t' { '\u{fffd}' } else { letter })
        .collect();
    if line.chars().nth(chars).is_some() {
        shown.push('…');
    }
    shown
}

/// A text that fits between backticks.
fn code(text: &str) -> String {
    clip(text, NAME_CHARS).replace('`', "'")
}

/// Longer than any run of backticks inside.
fn fence(place: &Place) -> String {
    let longest =
        place.excerpt.iter().flat_map(|(_, line)| line.split(|letter| letter != '`').map(str::len)).max().unwrap_or(0);
    "`".repeat(longest.saturating_add(1).max(3))
}

fn language(shown: &str) -> String {
    let extension = file::extension(shown);
    if extension.len() <= 8 && extension.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        extension
    } else {
        String::new()
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
