//! The head of an order: the verb, what stands before it, and whose wish it is.

use super::lexicon::{self, Verb};
use super::token::Token;

/// The verb of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Where the verb stands.
    pub(super) at: usize,
    pub(super) verb: Verb,
    pub(super) mode: Mode,
    /// Whether `only` stands before it.
    pub(super) only: bool,
}

/// In which form the order comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// `Fix it`, `you should fix it`.
    Order,
    /// `Can you fix it?`
    Request,
    /// `We need to fix it`: what somebody wishes, not yet what somebody is told.
    Wish,
    /// `Do not fix it`.
    Forbidden,
}

/// Beginnings of orders, longest first. What follows is a verb in base form.
const OPENINGS: &[(&[&str], Mode)] = &[
    (&["i", "would", "like", "you", "to"], Mode::Order),
    (&["i'd", "like", "you", "to"], Mode::Order),
    (&["i", "want", "you", "to"], Mode::Order),
    (&["i", "need", "you", "to"], Mode::Order),
    (&["i", "would", "like", "to"], Mode::Wish),
    (&["we", "would", "like", "to"], Mode::Wish),
    (&["we'd", "like", "to"], Mode::Wish),
    (&["i'd", "like", "to"], Mode::Wish),
    (&["i", "want", "to"], Mode::Wish),
    (&["i", "need", "to"], Mode::Wish),
    (&["we", "want", "to"], Mode::Wish),
    (&["we", "need", "to"], Mode::Wish),
    (&["we", "have", "to"], Mode::Wish),
    (&["we", "should"], Mode::Wish),
    (&["we", "must"], Mode::Wish),
    (&["you", "need", "to"], Mode::Order),
    (&["you", "have", "to"], Mode::Order),
    (&["you", "are", "to"], Mode::Order),
    (&["you", "should"], Mode::Order),
    (&["you", "must"], Mode::Order),
    (&["you", "will"], Mode::Order),
    (&["your", "task", "is", "to"], Mode::Order),
    (&["your", "job", "is", "to"], Mode::Order),
    (&["your", "goal", "is", "to"], Mode::Order),
    (&["the", "task", "is", "to"], Mode::Order),
    (&["the", "goal", "is", "to"], Mode::Order),
    (&["the", "aim", "is", "to"], Mode::Order),
    (&["go", "ahead", "and"], Mode::Order),
    (&["go", "and"], Mode::Order),
    (&["try", "to"], Mode::Order),
    (&["try", "and"], Mode::Order),
    (&["help", "me", "to"], Mode::Order),
    (&["help", "me"], Mode::Order),
    (&["help", "us", "to"], Mode::Order),
    (&["help", "us"], Mode::Order),
    (&["let's"], Mode::Order),
    (&["lets"], Mode::Order),
    (&["be", "so", "kind", "as", "to"], Mode::Order),
    (&["would", "you", "be", "able", "to"], Mode::Request),
    (&["are", "you", "able", "to"], Mode::Request),
    (&["can", "you"], Mode::Request),
    (&["could", "you"], Mode::Request),
    (&["would", "you"], Mode::Request),
    (&["will", "you"], Mode::Request),
    (&["can", "u"], Mode::Request),
    (&["do", "not"], Mode::Forbidden),
    (&["don't"], Mode::Forbidden),
    (&["dont"], Mode::Forbidden),
    (&["never"], Mode::Forbidden),
    (&["must", "not"], Mode::Forbidden),
    (&["mustn't"], Mode::Forbidden),
    (&["should", "not"], Mode::Forbidden),
    (&["shouldn't"], Mode::Forbidden),
    (&["may", "not"], Mode::Forbidden),
    (&["not", "allowed", "to"], Mode::Forbidden),
    (&["not", "supposed", "to"], Mode::Forbidden),
    (&["no", "need", "to"], Mode::Forbidden),
    (&["not", "to"], Mode::Forbidden),
];

/// The head of an order that begins here, if one does.
pub(super) fn head(tokens: &[Token], from: usize) -> Option<Head> {
    let mut at = from;
    let mut mode = None;
    let mut only = false;
    loop {
        let word = tokens.get(at)?.word();
        if let Some((words, opening)) = opening(tokens, at) {
            at += words;
            mode = Some(stronger(mode, opening));
        } else if word == "only" {
            only = true;
            at += 1;
        } else if lexicon::filler(word) {
            at += 1;
        } else if let Some(skipped) = place(tokens, at) {
            at += skipped;
        } else {
            break;
        }
    }
    let word = tokens.get(at)?.word();
    let next = tokens.get(at + 1).map_or("", Token::word);
    let verb = match word {
        "let" if matches!(next, "me" | "us") => Verb::Look,
        "let" => Verb::Change,
        _ => lexicon::verb(word)?,
    };
    Some(Head { at, verb, mode: mode.unwrap_or(Mode::Order), only })
}

/// A prohibition or a wish is not undone by what stands around it.
fn stronger(known: Option<Mode>, new: Mode) -> Mode {
    match (known, new) {
        (Some(Mode::Forbidden), _) | (_, Mode::Forbidden) => Mode::Forbidden,
        (Some(Mode::Wish), _) | (_, Mode::Wish) => Mode::Wish,
        (Some(known), _) => known,
        (None, new) => new,
    }
}

pub(super) fn opening(tokens: &[Token], at: usize) -> Option<(usize, Mode)> {
    let begins = |words: &[&str]| {
        words.iter().enumerate().all(|(n, word)| tokens.get(at + n).is_some_and(|t| t.word() == *word))
    };
    OPENINGS.iter().find(|(words, _)| begins(words)).map(|(words, mode)| (words.len(), *mode))
}

/// `In the file X` before an order.
fn place(tokens: &[Token], at: usize) -> Option<usize> {
    if !matches!(tokens.get(at)?.word(), "in" | "inside" | "within" | "under") {
        return None;
    }
    let is_named = |at: usize| matches!(tokens.get(at), Some(Token::Opaque));
    let ahead = (1..=3).find(|ahead| is_named(at + ahead))?;
    let comma = usize::from(matches!(tokens.get(at + ahead + 1), Some(Token::Comma)));
    Some(ahead + 1 + comma)
}
