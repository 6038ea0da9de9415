//! What a word does in a request.

use super::words::{Class, is};

/// What a verb at the head of an order asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// Changes what is in the workspace.
    Change,
    /// May change it or may say how an answer should be.
    Mild,
    /// Makes something new: a document, or a part of the program.
    Make,
    /// Looks and tells.
    Look,
    /// Asks for attention without saying for what.
    Vague,
    /// Carries out an activity that its object names.
    Perform,
    /// Says how, not what.
    Manner,
}

/// The class of a word in base form; `None` if it is no verb that heads orders.
pub(super) fn verb(word: &str) -> Option<Verb> {
    let classes = [
        (Class::Make, Verb::Make),
        (Class::Change, Verb::Change),
        (Class::Mild, Verb::Mild),
        (Class::Look, Verb::Look),
        (Class::Vague, Verb::Vague),
        (Class::Perform, Verb::Perform),
        (Class::Manner, Verb::Manner),
    ];
    classes.into_iter().find(|(class, _)| is(*class, word)).map(|(_, verb)| verb)
}

pub(super) fn performs(word: &str) -> bool {
    is(Class::Perform, word)
}

pub(super) fn also_noun(word: &str) -> bool {
    is(Class::AlsoNoun, word)
}

pub(super) fn document(word: &str) -> bool {
    is(Class::Document, word)
}

pub(super) fn document_of(word: &str) -> bool {
    is(Class::DocumentOf, word)
}

pub(super) fn looking_noun(word: &str) -> bool {
    is(Class::LookingNoun, word)
}

pub(super) fn answer_noun(word: &str) -> bool {
    is(Class::AnswerNoun, word)
}

pub(super) fn edits(word: &str) -> bool {
    is(Class::Edits, word)
}

pub(super) fn editing(word: &str) -> bool {
    is(Class::Editing, word)
}

pub(super) fn repairs(word: &str) -> bool {
    is(Class::Repairs, word)
}

pub(super) fn edit_noun(word: &str) -> bool {
    is(Class::EditNoun, word)
}

pub(super) fn everything(word: &str) -> bool {
    is(Class::Everything, word)
}

pub(super) fn narrows(word: &str) -> bool {
    is(Class::Narrows, word)
}

pub(super) fn coordinates(word: &str) -> bool {
    is(Class::Coordinates, word)
}

pub(super) fn determines(word: &str) -> bool {
    is(Class::Determines, word)
}

pub(super) fn relates(word: &str) -> bool {
    is(Class::Relates, word)
}

pub(super) fn subordinates(word: &str) -> bool {
    is(Class::Subordinates, word)
}

pub(super) fn asks(word: &str) -> bool {
    is(Class::Asks, word)
}

pub(super) fn modal(word: &str) -> bool {
    is(Class::Modal, word)
}

pub(super) fn opens_question(word: &str) -> bool {
    is(Class::OpensQuestion, word)
}

/// Adverbs of manner are among them.
pub(super) fn filler(word: &str) -> bool {
    let verb = matches!(word, "apply" | "reply" | "supply" | "rely" | "comply" | "multiply");
    is(Class::Filler, word) || (word.len() > 4 && word.ends_with("ly") && !verb)
}

/// Regular past forms are among them.
pub(super) fn finite(word: &str) -> bool {
    is(Class::Finite, word) || (word.len() > 4 && word.ends_with("ed"))
}
