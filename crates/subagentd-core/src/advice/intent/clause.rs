//! What one sentence says about changing things.

use super::head::{Head, Mode, head, opening};
use super::lexicon::{self, Verb};
use super::object::{Made, is_everything, is_in_answer, is_looking, is_nothing, made, phrase};
use super::standing::{Standing, inherited, stands};
use super::token::Token;

/// What has been said so far. More than one may hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Something is to be changed.
    pub(super) change: bool,
    /// Something is wished for that may change something.
    pub(super) mild: bool,
    /// Something is to have another form: the answer, if one is asked for.
    pub(super) form: bool,
    /// Somebody is to look and tell.
    pub(super) look: bool,
    /// Nothing may be changed.
    pub(super) forbidden: bool,
    /// There are two readings, and one of them changes something.
    pub(super) doubt: bool,
}

impl Said {
    pub(super) const CHANGE: Self = Self { change: true, ..Self::NOTHING };
    pub(super) const MILD: Self = Self { mild: true, ..Self::NOTHING };
    pub(super) const LOOK: Self = Self { look: true, ..Self::NOTHING };
    pub(super) const FORBIDDEN: Self = Self { forbidden: true, ..Self::NOTHING };
    pub(super) const DOUBT: Self = Self { doubt: true, ..Self::NOTHING };
    pub(super) const FORM: Self = Self { form: true, ..Self::NOTHING };
    pub(super) const NOTHING: Self =
        Self { change: false, mild: false, form: false, look: false, forbidden: false, doubt: false };

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            change: self.change || other.change,
            mild: self.mild || other.mild,
            form: self.form || other.form,
            look: self.look || other.look,
            forbidden: self.forbidden || other.forbidden,
            doubt: self.doubt || other.doubt,
        }
    }

    /// The same with each certain change turned into a possible one.
    pub(super) fn doubted(self) -> Self {
        Self { change: false, mild: false, doubt: self.doubt || self.change || self.mild, ..self }
    }

    /// The same with each order turned into a wish.
    pub(super) fn wished(self) -> Self {
        Self { change: false, mild: self.mild || self.change, ..self }
    }

    /// The same without any change: it is told about and not ordered.
    pub(super) fn told(self) -> Self {
        Self { change: false, mild: false, form: false, doubt: false, ..self }
    }
}

/// Reads the orders of a sentence that is no question. `None` if there are none.
pub(super) fn orders(tokens: &[Token]) -> Option<Said> {
    let mut open = head(tokens, 0);
    if open.is_none() && is_description(tokens) {
        return None;
    }
    let mut said = None;
    let mut standing = Standing::Own;
    let mut begin = 0;
    for at in 0..tokens.len() {
        if at < begin || !separates(tokens, at) {
            continue;
        }
        let Some(next) = head(tokens, at + 1) else { continue };
        let new = inherited(standing, stands(tokens, open, at, next), next);
        if new == Standing::None {
            continue;
        }
        said = close(said, tokens, open, at, standing);
        (open, standing, begin) = (Some(next), new, next.at);
    }
    close(said, tokens, open, tokens.len(), standing)
}

/// `When users add rows, delete them or move them, the log grows`: after the condition comes no order.
fn is_description(tokens: &[Token]) -> bool {
    let begins = tokens.first().is_some_and(|token| lexicon::subordinates(token.word()));
    let last = tokens.iter().rposition(|token| matches!(token, Token::Comma));
    begins && last.is_some_and(|last| tokens.len() > last + 3 && head(tokens, last + 1).is_none())
}

fn separates(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| matches!(token, Token::Comma) || lexicon::coordinates(token.word()))
}

fn close(said: Option<Said>, tokens: &[Token], open: Option<Head>, end: usize, standing: Standing) -> Option<Said> {
    let Some(open) = open else { return said };
    let clause = tokens.get(open.at + 1..end).unwrap_or_default();
    let word = tokens.get(open.at).map_or("", Token::word);
    let new = if open.mode == Mode::Forbidden || standing == Standing::Forbidden {
        if lexicon::edits(word) && is_everything(word, clause) { Said::FORBIDDEN } else { Said::NOTHING }
    } else {
        let order = order(word, open, clause);
        match standing {
            Standing::Own | Standing::None | Standing::Forbidden => order,
            Standing::Told => order.told(),
            Standing::Unclear => order.doubted(),
        }
    };
    Some(said.unwrap_or_default().and(new))
}

fn order(word: &str, head: Head, clause: &[Token]) -> Said {
    let said = match head.verb {
        Verb::Change => change(word, clause),
        Verb::Mild => mild(word, clause),
        Verb::Make => make(word, clause),
        Verb::Look => look(word, clause),
        Verb::Vague => vague(word, clause),
        Verb::Perform if is_looking(clause) => Said::LOOK,
        Verb::Perform => Said::DOUBT,
        Verb::Manner => manner(word, clause),
    };
    let said = match head.mode {
        Mode::Wish => said.wished(),
        Mode::Order | Mode::Request | Mode::Forbidden => said,
    };
    let only = head.only || clause.last().is_some_and(|token| token.word() == "only");
    if only && said.look && !said.change { said.and(Said::FORBIDDEN) } else { said }
}

fn change(word: &str, clause: &[Token]) -> Said {
    let next = clause.first().map_or("", Token::word);
    if is_nothing(clause) {
        return Said::FORBIDDEN;
    }
    match (word, next) {
        // `Update me`, `drop us a line`: what is changed is what somebody knows.
        (_, "me" | "us") => return Said::LOOK,
        ("move", "on") => return Said::NOTHING,
        // Two words that together are another verb.
        ("pin", "down")
        | ("set", "out" | "forth" | "aside")
        | ("wrap", "up")
        | ("push", "back")
        | ("expand", "on")
        | ("put", "forward" | "together" | "differently") => {
            return if is_looking(clause) { Said::LOOK } else { Said::DOUBT };
        }
        ("extract", _) if is_looking(clause) => return Said::LOOK,
        ("document", _) if clause.first().is_some_and(|token| lexicon::asks(token.word())) => return Said::DOUBT,
        _ => {}
    }
    if is_in_answer(clause) {
        return if lexicon::repairs(word) || word == "implement" { Said::MILD } else { Said::FORM };
    }
    let (words, _) = phrase(clause);
    let is_name = words.last().is_some_and(|head| lexicon::looking_noun(head));
    if lexicon::also_noun(word) && is_name && !lexicon::determines(next) {
        return Said::DOUBT;
    }
    Said::CHANGE
}

fn mild(word: &str, clause: &[Token]) -> Said {
    let has = |wanted: &[&str]| clause.iter().any(|token| wanted.contains(&token.word()));
    match word {
        "use" if !has(&["instead"]) => Said::NOTHING,
        "apply" if has(&["fix", "fixes", "patch", "change", "changes", "diff", "suggestion", "suggestions"]) => {
            Said::CHANGE
        }
        "finish" | "complete" if is_looking(clause) => Said::LOOK,
        "address" if has(&["comments", "feedback", "issue", "issues", "problem", "problems"]) => Said::CHANGE,
        "finish" | "complete" | "round" | "clear" | "use" | "order" | "group" | "send" | "post"
            if clause.is_empty() =>
        {
            Said::NOTHING
        }
        "group" | "order" | "sort" | "mark" | "round" | "limit" => Said::FORM,
        _ if is_in_answer(clause) => Said::FORM,
        _ => Said::MILD,
    }
}

fn make(word: &str, clause: &[Token]) -> Said {
    let next = clause.first().map_or("", Token::word);
    match (word, next) {
        ("write", "up" | "down" | "out" | "back" | "that" | "what") => return Said::LOOK,
        ("make", "sure" | "certain") => return Said::NOTHING,
        ("make", "it" | "them" | "this" | "that" | "these") => return made_so(clause),
        ("build" | "compile", _) if builds_all(clause) => return Said::NOTHING,
        _ => {}
    }
    match made(clause) {
        Made::Nothing => Said::NOTHING,
        Made::Document => Said::LOOK,
        Made::StoredDocument => Said::DOUBT,
        Made::Thing if matches!(word, "draft" | "prepare" | "provide" | "compose" | "compile" | "assemble") => {
            Said::DOUBT
        }
        Made::Thing => change(word, clause),
    }
}

/// `Make it short` is about words, `make it faster` is not.
fn made_so(clause: &[Token]) -> Said {
    let about_words = ["short", "brief", "concise", "clear", "readable", "complete", "detailed", "precise", "compact"];
    if clause.iter().any(|token| about_words.contains(&token.word())) { Said::FORM } else { Said::MILD }
}

fn builds_all(clause: &[Token]) -> bool {
    let (words, _) = phrase(clause);
    words.last().is_some_and(|head| {
        matches!(
            *head,
            "project" | "crate" | "code" | "workspace" | "everything" | "it" | "tree" | "repo" | "repository"
        )
    })
}

fn look(word: &str, clause: &[Token]) -> Said {
    let considers = matches!(word, "consider" | "suggest" | "propose" | "discuss" | "recommend");
    let gerund = clause.first().is_some_and(|token| token.word().len() > 4 && token.word().ends_with("ing"));
    if word == "consider" && gerund {
        return Said::DOUBT;
    }
    if considers || !is_nothing(clause) { Said::LOOK } else { Said::NOTHING }
}

fn vague(word: &str, clause: &[Token]) -> Said {
    let next = clause.first().map_or("", Token::word);
    let asks = clause.iter().any(|token| lexicon::asks(token.word()));
    let has = |wanted: &[&str]| clause.iter().any(|token| wanted.contains(&token.word()));
    match (word, next) {
        ("look", "for" | "up") | ("get", "me" | "us") | ("think" | "go", "through" | "over") => Said::LOOK,
        ("get", "rid") => Said::CHANGE,
        ("get", _) if has(&["working", "passing", "green", "pass", "work", "compile", "compiling"]) => Said::CHANGE,
        ("run", _) if has(&["test", "tests", "suite", "benchmark", "benchmarks", "linter", "checks", "clippy"]) => {
            Said::LOOK
        }
        _ if lexicon::performs(word) && is_looking(clause) => Said::LOOK,
        ("do", "it" | "that" | "so" | "this") | ("go", _) | ("handle" | "deal" | "proceed" | "continue" | "get", _) => {
            Said::DOUBT
        }
        ("do" | "have" | "take" | "run" | "execute" | "manage", _) if asks => Said::DOUBT,
        _ if asks => Said::LOOK,
        _ => Said::NOTHING,
    }
}

fn manner(word: &str, clause: &[Token]) -> Said {
    let (first, rest) = clause.split_first().map_or(("", clause), |(first, rest)| (first.word(), rest));
    let untouched = ["unchanged", "untouched", "alone", "as"];
    let stays = clause.iter().position(|token| untouched.contains(&token.word()));
    let kept = stays.and_then(|at| clause.get(..at)).unwrap_or_default();
    if matches!(word, "leave" | "keep") && !kept.is_empty() && is_everything(word, kept) {
        return Said::FORBIDDEN;
    }
    if word == "avoid" && lexicon::editing(first) && is_everything(first, rest) {
        return Said::FORBIDDEN;
    }
    Said::NOTHING
}

/// Prohibitions that stand anywhere in a sentence: `look without editing`, `no code changes`, `report, do not edit`.
pub(super) fn prohibitions(tokens: &[Token]) -> Said {
    let forbids = (0..tokens.len()).any(|at| {
        let rest = tokens.get(at + 1..).unwrap_or_default();
        match tokens.get(at).map_or("", Token::word) {
            "without" | "avoid" => rest
                .split_first()
                .is_some_and(|(verb, object)| lexicon::editing(verb.word()) && is_everything(verb.word(), object)),
            "no" => no_edits(rest),
            _ => forbidden_here(tokens, at),
        }
    });
    if forbids { Said::FORBIDDEN } else { Said::NOTHING }
}

fn forbidden_here(tokens: &[Token], at: usize) -> bool {
    let Some((words, Mode::Forbidden)) = opening(tokens, at) else {
        return false;
    };
    let rest = tokens.get(at + words..).unwrap_or_default();
    let skipped = rest.iter().position(|token| !lexicon::filler(token.word())).unwrap_or(rest.len());
    rest.get(skipped..)
        .and_then(<[Token]>::split_first)
        .is_some_and(|(verb, object)| lexicon::edits(verb.word()) && is_everything(verb.word(), object))
}

/// `no changes`, `no code changes`, and not `no changes to the API`.
fn no_edits(rest: &[Token]) -> bool {
    let noun = rest.iter().take(3).position(|token| lexicon::edit_noun(token.word()));
    noun.is_some_and(|noun| {
        let between = rest.get(..noun).unwrap_or_default();
        let plain = |word: &str| matches!(word, "code" | "file" | "source" | "more" | "further" | "actual");
        let behind = rest.get(noun + 1).map_or("", Token::word);
        between.iter().all(|token| plain(token.word()))
            && !lexicon::narrows(behind)
            && !matches!(behind, "in" | "were" | "are")
    })
}
