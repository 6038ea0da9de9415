//! What an order is about.

use super::lexicon;
use super::token::Token;

/// What a verb of making makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    /// Nothing is named.
    Nothing,
    /// Something to read.
    Document,
    /// Something to read, in a named file.
    StoredDocument,
    /// Anything else.
    Thing,
}

/// Words of the noun phrase behind the verb, determiners and all, and the word that ends it.
pub(super) fn phrase(clause: &[Token]) -> (Vec<&str>, &str) {
    let mut words = Vec::new();
    for token in clause {
        let word = token.word();
        let ends = matches!(token, Token::Comma)
            || lexicon::relates(word)
            || lexicon::subordinates(word)
            || lexicon::coordinates(word)
            || lexicon::finite(word) && !words.is_empty();
        if ends {
            return (words, word);
        }
        words.push(word);
    }
    (words, "")
}

pub(super) fn made(clause: &[Token]) -> Made {
    let (words, end) = phrase(clause);
    let named: Vec<_> =
        words.iter().filter(|word| !matches!(**word, "me" | "us" | "only" | "please" | "again")).collect();
    let Some(head) = named.last() else {
        return Made::Nothing;
    };
    let reads = lexicon::document(head) || lexicon::document_of(head) && end == "of";
    if !reads {
        return Made::Thing;
    }
    let into = clause.windows(2).any(|pair| match pair {
        [relation, Token::Opaque] => matches!(relation.word(), "to" | "into" | "in" | "under" | "at" | "as"),
        _ => false,
    });
    if into { Made::StoredDocument } else { Made::Document }
}

/// Whether the object is an activity that looks, or a document.
pub(super) fn is_looking(clause: &[Token]) -> bool {
    let (words, _) = phrase(clause);
    words.last().is_some_and(|head| lexicon::looking_noun(head) || lexicon::document(head))
}

/// Whether the object is something in the answer and not in the workspace.
pub(super) fn is_in_answer(clause: &[Token]) -> bool {
    clause.iter().any(|token| lexicon::answer_noun(token.word()))
}

/// Whether nothing is to be done to the object: `change nothing`, `edit no files`.
pub(super) fn is_nothing(clause: &[Token]) -> bool {
    match clause {
        [first, ..] if matches!(first.word(), "nothing" | "none") => true,
        [first, second, ..] if first.word() == "no" => {
            lexicon::everything(second.word()) || lexicon::edit_noun(second.word())
        }
        _ => false,
    }
}

/// Whether the words behind a forbidden verb leave nothing that may be changed.
pub(super) fn is_everything(verb: &str, clause: &[Token]) -> bool {
    let ends = |token: &Token| matches!(token, Token::Comma) || lexicon::coordinates(token.word());
    let object = clause.split(ends).next().unwrap_or_default();
    let mut words: Vec<&str> = object.iter().map(Token::word).collect();
    if matches!(verb, "make" | "making" | "apply" | "applying" | "write" | "writing") {
        let Some(at) = words.iter().position(|word| lexicon::edit_noun(word) || matches!(*word, "code" | "anything"))
        else {
            return words.is_empty() && !verb.starts_with("mak");
        };
        words.drain(..=at);
    }
    let plain = |word: &&str| {
        lexicon::everything(word)
            || lexicon::filler(word)
            || matches!(*word, "any" | "the" | "our" | "my" | "your" | "single" | "line" | "a" | "of" | "at" | "here")
    };
    // `of` and `at` are let through only in `a line of code` and `at all`.
    let narrowed = words.windows(2).any(|pair| match pair {
        ["of", "code"] | ["at", "all"] => false,
        [word, _] => lexicon::narrows(word) || matches!(*word, "of" | "at"),
        _ => false,
    });
    let open_end = words.last().is_some_and(|word| lexicon::narrows(word));
    !narrowed && !open_end && words.iter().all(plain)
}
