//! Which places come first.
//!
//! A place is a matching line with its neighbourhood. It is worth the sum over the terms of weight × rarity × the best fit nearby, times a
//! factor that grows with the share of the terms that are there: several different terms close together beat one term often. Definitions
//! and the comments above them count more, tests, documents and records less.

use std::collections::HashSet;

use super::block::{Block, Text};
use super::file::FileKind;
use super::walk::{self, FileHits, Hit, Looked, Mark};
use super::{Bounds, Query};

/// Lines around a place that belong to its neighbourhood.
const REACH: u64 = 6;

/// What a line of distance takes away from a fit.
const FADE: f64 = 0.08;

/// A term in a definition's own line, outside of the name.
const DEFINED: f64 = 1.1;
/// A term in the defined name, and what is added when it is the whole name.
const NAMED: f64 = 1.5;
const NAMED_WHOLE: f64 = 0.8;
/// A term in a comment.
const COMMENTED: f64 = 1.1;
/// A term in an import.
const IMPORTED: f64 = 0.35;
/// A term in the path, or elsewhere in the file.
const IN_PATH: f64 = 0.6;
const ELSEWHERE: f64 = 0.12;
/// A term in the name or description of the enclosing definition.
const IN_HEAD: f64 = 0.75;

/// Two terms side by side.
const CLOSE: f64 = 1.3;
/// A definition or its description, rather than a use.
const HEADS: f64 = 1.2;
const IN_TESTS: f64 = 0.3;

/// Share of the best place's score below which a place would only distract.
const WEAKEST: f64 = 0.33;

/// Places shown however weak they are.
const ALWAYS: usize = 3;

/// Best places of one file, and of all files, that are looked at again with their surroundings.
const FILE_PLACES: usize = 12;
const PLACES: usize = 120;

/// One place, ready to be shown.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) shown: String,
    /// From 1.
    pub(crate) line: u64,
    pub(crate) block: Block,
    pub(crate) excerpt: Vec<(u64, String)>,
    /// The same line under the same name in other files.
    pub(crate) also: Vec<String>,
    score: f64,
}

impl Place {
    fn is_twin_of(&self, other: &Self) -> bool {
        self.shown != other.shown && self.block.names == other.block.names && self.own_line() == other.own_line()
    }

    fn own_line(&self) -> Option<&str> {
        self.excerpt.iter().find(|(line, _)| *line == self.line).map(|(_, text)| text.as_str())
    }
}

#[derive(Debug, Clone, Copy)]
struct Candidate<'a> {
    file: &'a FileHits,
    hit: &'a Hit,
    score: f64,
}

/// What each term is worth, 0 for what occurs nowhere.
struct Worth {
    /// Weight times rarity.
    of: Vec<f64>,
    total: f64,
    /// Weight alone: a rare word must not stand for the whole task.
    weights: Vec<f64>,
    weight: f64,
}

/// The best places, best first.
pub(crate) fn places(query: &Query, bounds: &Bounds, looked: &Looked) -> Vec<Place> {
    let worth = worth(query, looked);
    let mut candidates: Vec<Candidate<'_>> =
        looked.found.iter().flat_map(|file| best_of_file(query, file, &worth)).collect();
    sort(&mut candidates, |candidate| (candidate.score, candidate.file.shown.clone(), candidate.hit.line));
    candidates.truncate(PLACES);
    let mut places = look_closer(query, bounds, &worth, &candidates);
    sort(&mut places, |place| (place.score, place.shown.clone(), place.line));
    choose(places, bounds)
}

/// Highest score first; equal ones by path and line, so that the order is always the same.
fn sort<T>(items: &mut [T], key: impl Fn(&T) -> (f64, String, u64)) {
    items.sort_by(|a, b| {
        let ((a_score, a_path, a_line), (b_score, b_path, b_line)) = (key(a), key(b));
        b_score.total_cmp(&a_score).then_with(|| a_path.cmp(&b_path)).then_with(|| a_line.cmp(&b_line))
    });
}

fn worth(query: &Query, looked: &Looked) -> Worth {
    let mut files_with = vec![0_u32; query.terms.len()];
    for file in &looked.found {
        let terms: HashSet<usize> = marks_of(file).filter(|mark| !mark.kin).map(|mark| mark.term).collect();
        for term in terms {
            if let Some(count) = files_with.get_mut(term) {
                *count = count.saturating_add(1);
            }
        }
    }
    // A term that only its kin stands for is as rare as a term can be.
    for mark in looked.found.iter().flat_map(marks_of) {
        if let Some(count) = files_with.get_mut(mark.term) {
            *count = (*count).max(1);
        }
    }
    let files = f64::from(u32::try_from(looked.files).unwrap_or(u32::MAX));
    let of: Vec<f64> = query
        .terms
        .iter()
        .zip(files_with)
        .map(
            |(term, count)| {
                if count == 0 { 0.0 } else { term.weight * (1.0 + files / f64::from(count)).ln().max(0.3) }
            },
        )
        .collect();
    let weights: Vec<f64> =
        query.terms.iter().zip(&of).map(|(term, worth)| if *worth > 0.0 { term.weight } else { 0.0 }).collect();
    Worth { total: of.iter().sum(), weight: weights.iter().sum(), of, weights }
}

fn marks_of(file: &FileHits) -> impl Iterator<Item = &Mark> {
    file.hits.iter().flat_map(|hit| &hit.marks)
}

impl Worth {
    /// The value of a place where each term fits this well.
    fn value(&self, fits: &[f64]) -> f64 {
        let sum: f64 = self.of.iter().zip(fits).map(|(worth, fit)| worth * fit).sum();
        let covered: f64 = self.of.iter().zip(fits).map(|(worth, fit)| worth * fit.min(1.0)).sum();
        let present: f64 = self.weights.iter().zip(fits).map(|(weight, fit)| weight * (fit * 1.5).min(1.0)).sum();
        if self.total <= 0.0 || self.weight <= 0.0 {
            return 0.0;
        }
        sum * (0.2 + 0.5 * covered / self.total + 0.7 * present / self.weight)
    }
}

fn best_of_file<'a>(query: &Query, file: &'a FileHits, worth: &Worth) -> Vec<Candidate<'a>> {
    let mut base = vec![0.0; query.terms.len()];
    for mark in marks_of(file) {
        raise(&mut base, *mark, ELSEWHERE);
    }
    for mark in &file.path_marks {
        let named = query.terms.get(mark.term).is_some_and(super::term::Term::is_path);
        raise(&mut base, *mark, if named { 1.0 } else { IN_PATH });
    }
    let factor = kind_factor(query, file.kind);
    let mut candidates: Vec<Candidate<'a>> = Vec::new();
    for (at, hit) in file.hits.iter().enumerate() {
        let mut fits = base.clone();
        let near_above =
            file.hits.iter().take(at).rev().take_while(|other| hit.line.saturating_sub(other.line) <= REACH);
        let near_below = file.hits.iter().skip(at).take_while(|other| other.line.saturating_sub(hit.line) <= REACH);
        for other in near_above.chain(near_below) {
            let distance = f64::from(u32::try_from(other.line.abs_diff(hit.line)).unwrap_or(u32::MAX));
            for mark in &other.marks {
                raise(&mut fits, *mark, line_factor(other, *mark) * (1.0 - FADE * distance));
            }
        }
        let close = if hit.close { CLOSE } else { 1.0 };
        candidates.push(Candidate { file, hit, score: worth.value(&fits) * close * factor });
    }
    sort(&mut candidates, |candidate| (candidate.score, String::new(), candidate.hit.line));
    candidates.truncate(FILE_PLACES);
    candidates
}

fn raise(fits: &mut [f64], mark: Mark, factor: f64) {
    if let Some(fit) = fits.get_mut(mark.term) {
        *fit = fit.max(f64::from(mark.strength) * factor);
    }
}

fn line_factor(hit: &Hit, mark: Mark) -> f64 {
    if mark.named > 0.0 && !hit.import {
        return NAMED + NAMED_WHOLE * f64::from(mark.named);
    }
    match (hit.import, hit.definition, hit.comment) {
        (true, _, _) => IMPORTED,
        (_, true, _) => DEFINED,
        (_, _, true) => COMMENTED,
        _ => 1.0,
    }
}

fn kind_factor(query: &Query, kind: FileKind) -> f64 {
    match kind {
        FileKind::Test if query.wants_tests => 1.0,
        FileKind::Document if query.wants_documents => 1.0,
        FileKind::Code => 1.0,
        FileKind::Test => IN_TESTS,
        FileKind::Document => 0.6,
        FileKind::Data => 0.45,
        FileKind::Vendored => 0.35,
        FileKind::Record => 0.12,
    }
}

/// Scores anew with what encloses each place.
fn look_closer(query: &Query, bounds: &Bounds, worth: &Worth, candidates: &[Candidate<'_>]) -> Vec<Place> {
    let mut by_file: Vec<&Candidate<'_>> = candidates.iter().collect();
    by_file.sort_by(|a, b| a.file.shown.cmp(&b.file.shown).then_with(|| a.hit.line.cmp(&b.hit.line)));
    let mut places = Vec::new();
    for same_file in by_file.chunk_by(|a, b| a.file.shown == b.file.shown) {
        let Some(file) = same_file.first().map(|candidate| candidate.file) else {
            continue;
        };
        let text = Text::read(&file.path, &file.shown, bounds.file_bytes);
        for candidate in same_file {
            places.push(place(query, worth, &text, candidate));
        }
    }
    places
}

fn place(query: &Query, worth: &Worth, text: &Text, candidate: &Candidate<'_>) -> Place {
    let at = usize::try_from(candidate.hit.line.saturating_sub(1)).unwrap_or(usize::MAX);
    let block = text.block(at);
    let mut score = candidate.score;
    if let Some(defined_at) = block.defined_at {
        let mut fits = vec![0.0; query.terms.len()];
        for mark in walk::marks(query, &text.head(defined_at)).0 {
            raise(&mut fits, mark, IN_HEAD);
        }
        score += worth.value(&fits) * 0.5 * kind_factor(query, candidate.file.kind);
    }
    if block.heads && !candidate.hit.import {
        score *= HEADS;
    }
    if block.in_tests && !query.wants_tests && candidate.file.kind == FileKind::Code {
        score *= IN_TESTS;
    }
    let excerpt = super::report::excerpt(text, at, &block);
    Place { shown: candidate.file.shown.clone(), line: candidate.hit.line, block, excerpt, also: Vec::new(), score }
}

/// Leaves out what says the same again: another line of one definition, a line that an excerpt already shows, too many of one file.
fn choose(places: Vec<Place>, bounds: &Bounds) -> Vec<Place> {
    let mut chosen: Vec<Place> = Vec::new();
    for place in places {
        if let Some(twin) = chosen.iter_mut().find(|other| other.is_twin_of(&place)) {
            twin.also.push(format!("{}:{}", place.shown, place.line));
            continue;
        }
        if chosen.len() >= bounds.findings {
            break;
        }
        let of_file: Vec<&Place> = chosen.iter().filter(|other| other.shown == place.shown).collect();
        let known = of_file.iter().any(|other| {
            let same_block = place.block.defined_at.is_some() && other.block.defined_at == place.block.defined_at;
            let near = place.line.abs_diff(other.line) <= REACH && place.block.defined_at == other.block.defined_at;
            same_block || near || other.excerpt.iter().any(|(line, _)| *line == place.line)
        });
        if !known && of_file.len() < bounds.file_findings {
            chosen.push(place);
        }
    }
    let best = chosen.first().map_or(0.0, |place| place.score);
    let strong = chosen.iter().filter(|place| place.score >= best * WEAKEST).count();
    chosen.truncate(strong.max(ALWAYS));
    chosen
}
