//! How an order behind a comma or an `and` stands to the one before it.

use super::head::{Head, Mode};
use super::lexicon::{self, Verb};
use super::token::Token;

/// How an order behind a comma or an `and` stands to what comes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// An order of its own.
    Own,
    /// It goes on with what is only told: `explain how to stop and start it`.
    Told,
    /// One or the other.
    Unclear,
    /// No order at all: `the create and delete calls`.
    None,
    /// It goes on with what is forbidden.
    Forbidden,
}

/// An order goes on with what the one before it went on with, unless it says otherwise.
pub(super) fn inherited(standing: Standing, new: Standing, next: Head) -> Standing {
    match (standing, new) {
        (Standing::Told | Standing::Unclear | Standing::Forbidden, Standing::Own) if next.mode == Mode::Order => {
            standing
        }
        _ => new,
    }
}

/// Judges an order that begins behind `at`.
pub(super) fn stands(tokens: &[Token], open: Option<Head>, at: usize, next: Head) -> Standing {
    if next.mode == Mode::Forbidden {
        return Standing::Own;
    }
    let joint = tokens.get(at).map_or("", Token::word);
    let left = at.checked_sub(1).and_then(|left| tokens.get(left));
    let is_verb = left.is_some_and(|token| lexicon::verb(token.word()).is_some());
    let is_head = open.is_some_and(|open| open.at + 1 == at);
    if is_verb && !is_head && next.mode == Mode::Order && names_nothing(left, tokens.get(next.at + 1)) {
        return Standing::None;
    }
    let Some(open) = open else {
        let before = tokens.get(..at).unwrap_or_default();
        let parallel =
            before.iter().any(|token| matches!(lexicon::verb(token.word()), Some(Verb::Change | Verb::Mild)));
        let plain = matches!(tokens.get(at), Some(Token::Comma)) || matches!(joint, "then" | "but");
        let own = plain && !parallel && tokens.get(at + 1).is_none_or(|token| token.word() != "or");
        return if own || next.mode == Mode::Request { Standing::Own } else { Standing::Unclear };
    };
    if open.mode == Mode::Forbidden {
        return after_prohibition(tokens, open, at, next);
    }
    if matches!(tokens.get(open.at).map_or("", Token::word), "assume" | "suppose" | "imagine" | "pretend") {
        return Standing::Told;
    }
    if next.mode == Mode::Request {
        return Standing::Own;
    }
    let between = tokens.get(open.at + 1..at).unwrap_or_default();
    let said = parallel(between, tokens, at, next);
    if said == Standing::Own && names_a_thing(tokens, next) { Standing::Unclear } else { said }
}

/// Whether what joins two verbs joins two names: nothing on either side takes an object.
fn names_nothing(left: Option<&Token>, right: Option<&Token>) -> bool {
    let thing = left.is_some_and(|token| {
        lexicon::looking_noun(token.word()) || lexicon::document(token.word()) || token.word() == "diff"
    });
    let object = right.is_some_and(|token| *token == Token::Opaque || lexicon::determines(token.word()));
    !thing && !object
}

fn after_prohibition(tokens: &[Token], open: Head, at: usize, next: Head) -> Standing {
    let joint = tokens.get(at).map_or("", Token::word);
    let after = tokens.get(at + 1).map_or("", Token::word);
    let changes = matches!(next.verb, Verb::Change | Verb::Make | Verb::Mild);
    let without_object = open.at + 1 == at;
    match joint {
        "or" => Standing::Forbidden,
        "" if after == "or" || without_object && changes && !matches!(after, "but" | "just" | "only" | "instead") => {
            Standing::Forbidden
        }
        "and" if changes && next.mode == Mode::Order => Standing::Unclear,
        _ => Standing::Own,
    }
}

/// Verbs on both sides of an `and` have the same form. A verb in base form goes on with a subordinate clause only if
/// the verb of that clause could have that form, too.
fn parallel(between: &[Token], tokens: &[Token], at: usize, next: Head) -> Standing {
    let words: Vec<&str> = between.iter().map(Token::word).collect();
    let opens = words.iter().rposition(|word| lexicon::subordinates(word));
    let infinitive = words.windows(2).any(|pair| match pair {
        ["to", verb] => lexicon::verb(verb).is_some(),
        _ => false,
    });
    let told = opens.and_then(|opens| words.get(opens..)).unwrap_or_default();
    let people = told.windows(3).any(|three| match three {
        [who, verb, _] if plural(who) && lexicon::verb(verb).is_some() => true,
        [who, between, verb] => {
            plural(who) && (lexicon::filler(between) || *between == "never") && lexicon::verb(verb).is_some()
        }
        _ => false,
    });
    let verb = tokens.get(next.at).map_or("", Token::word);
    let object = tokens.get(next.at + 1).map_or("", Token::word);
    let repairs = lexicon::repairs(verb) && matches!(object, "it" | "them" | "that" | "this");
    if infinitive || people && !repairs {
        return Standing::Told;
    }
    if words.iter().any(|word| lexicon::modal(word)) {
        return if repairs { Standing::Unclear } else { Standing::Told };
    }
    let Some(opening) = told.first() else {
        return Standing::Own;
    };
    let relative = matches!(*opening, "that" | "which" | "who");
    let singular =
        told.get(1).is_some_and(|word| relative && word.len() > 2 && word.ends_with('s') && !word.ends_with("ss"));
    let then = tokens.get(at..next.at).unwrap_or_default().iter().any(|token| token.word() == "then");
    if singular || repairs || then || told.iter().any(|word| lexicon::finite(word)) {
        return Standing::Own;
    }
    Standing::Unclear
}

/// Subjects whose verb has the form of an order.
fn plural(word: &str) -> bool {
    matches!(word, "we" | "i" | "you" | "they")
}

/// Whether a word that is a verb and a noun has nothing behind it that only a verb can have.
fn names_a_thing(tokens: &[Token], head: Head) -> bool {
    let word = tokens.get(head.at).map_or("", Token::word);
    let plain = tokens.get(head.at + 1).is_some_and(|token| match token {
        Token::Word(next) => !lexicon::determines(next) && !lexicon::relates(next),
        Token::Opaque | Token::Comma => false,
    });
    lexicon::also_noun(word) && plain && head.mode == Mode::Order
}
