//! Sentences one after the other: what introduces a list says what its items are.

use super::clause::{Said, orders, prohibitions};
use super::foreign::{self, Foreign};
use super::head::{Head, Mode, head};
use super::lexicon::{self, Verb};
use super::object::phrase;
use super::token::{End, Sentence, Token};

/// What the last sentence that ended in a colon makes of those behind it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Frame {
    /// Nothing.
    #[default]
    Open,
    /// They are what is looked at or told about.
    Told,
    /// They may be what is looked at, or what is to be done then.
    Unclear,
    /// They are wished for, and something else may be asked about them.
    Wished,
    /// They are forbidden.
    Forbidden,
}

/// Reads a task sentence by sentence.
#[derive(Debug, Default)]
pub(super) struct Reader {
    said: Said,
    frame: Frame,
    unread: bool,
}

impl Reader {
    /// Whether some of the task was left out, which may take back what was read.
    pub(super) const fn left_out(&self) -> bool {
        self.unread
    }

    pub(super) const fn said(&self) -> Said {
        self.said
    }

    pub(super) fn read(&mut self, sentence: &Sentence) {
        if sentence.first && !sentence.item {
            self.frame = Frame::Open;
        }
        self.unread |= sentence.cut;
        let tokens = sentence.tokens.as_slice();
        let said = match self.frame {
            Frame::Open if sentence.aside => said(sentence).told(),
            Frame::Open => said(sentence),
            Frame::Told => said(sentence).told(),
            Frame::Unclear if sentence.item => said(sentence).told(),
            Frame::Unclear => said(sentence).doubted(),
            Frame::Wished => said(sentence).wished(),
            Frame::Forbidden => forbidden(tokens),
        };
        self.said = self.said.and(said);
        if sentence.end == End::Colon && !sentence.item {
            self.frame = frame(tokens, said);
        }
    }
}

fn frame(tokens: &[Token], said: Said) -> Frame {
    let words: Vec<&str> = tokens.iter().map(Token::word).collect();
    let forbids = matches!(words.as_slice(), [.., "do", "not"] | [.., "don't" | "dont" | "never" | "avoid"])
        || words.windows(3).any(|three| matches!(three, ["out", "of", "scope"] | ["not", "in", "scope"]))
        || matches!(words.as_slice(), ["non-goals" | "don'ts" | "forbidden"] | ["not", "allowed"]);
    let described = |word: &&str| {
        matches!(
            *word,
            "context"
                | "background"
                | "reproduce"
                | "reproduction"
                | "repro"
                | "example"
                | "examples"
                | "expected"
                | "actual"
                | "observed"
                | "behaviour"
                | "behavior"
                | "error"
                | "output"
                | "log"
                | "logs"
                | "criteria"
                | "checklist"
                | "hint"
                | "hints"
                | "history"
                | "tried"
                | "options"
                | "ideas"
                | "quote"
                | "happened"
                | "idea"
                | "proposal"
                | "proposals"
                | "suggestion"
                | "suggestions"
                | "claim"
                | "objection"
                | "following"
                | "said"
                | "says"
                | "suggested"
                | "suggests"
                | "proposed"
                | "proposes"
                | "claimed"
                | "claims"
                | "wrote"
                | "writes"
                | "asked"
                | "asks"
        )
    };
    let orders = |word: &&str| {
        matches!(
            *word,
            "task"
                | "tasks"
                | "todo"
                | "todos"
                | "step"
                | "steps"
                | "goal"
                | "job"
                | "instructions"
                | "request"
                | "do"
                | "please"
                | "then"
                | "now"
                | "hi"
                | "hello"
                | "also"
                | "action"
                | "actions"
                | "work"
                | "following"
        )
    };
    if forbids {
        Frame::Forbidden
    } else if said.change {
        Frame::Open
    } else if words.iter().any(described) && (said.look || !words.contains(&"following")) {
        Frame::Told
    } else if said.look {
        Frame::Unclear
    } else if said == Said::NOTHING && !words.iter().any(orders) {
        Frame::Wished
    } else {
        Frame::Open
    }
}

fn forbidden(tokens: &[Token]) -> Said {
    let mut words = vec![Token::Word("never".to_owned())];
    words.extend_from_slice(tokens);
    prohibitions(&words)
}

fn said(sentence: &Sentence) -> Said {
    let tokens = sentence.tokens.as_slice();
    let said = if sentence.end == End::Question { question(tokens) } else { statement(tokens) };
    said.and(prohibitions(tokens))
}

fn question(tokens: &[Token]) -> Said {
    if let Some(first) = head(tokens, 0) {
        return match first.mode {
            Mode::Request => orders(tokens).unwrap_or_default(),
            Mode::Order if is_polite(tokens, first) => orders(tokens).unwrap_or_default(),
            Mode::Order | Mode::Wish | Mode::Forbidden if !opens_question(tokens) && !may_open_question(tokens) => {
                orders(tokens).unwrap_or_default().doubted()
            }
            Mode::Order | Mode::Wish | Mode::Forbidden => Said::LOOK,
        };
    }
    if is_suggestion(tokens) {
        return Said::DOUBT;
    }
    let request = requests(tokens);
    if asks(tokens) || tokens.len() >= 3 { Said::LOOK.and(request) } else { request }
}

/// Requests behind a question: `where is it, and can you mend it?`
fn requests(tokens: &[Token]) -> Said {
    let is_request = |at: &usize| {
        let begins = tokens.get(*at).is_some_and(|token| lexicon::modal(token.word()));
        begins && head(tokens, *at).is_some_and(|head| head.mode == Mode::Request)
    };
    let begin = (1..tokens.len()).find(is_request);
    begin.and_then(|at| orders(tokens.get(at..).unwrap_or_default())).unwrap_or_default()
}

fn is_polite(tokens: &[Token], head: Head) -> bool {
    tokens.get(..head.at).unwrap_or_default().iter().any(|token| matches!(token.word(), "please" | "pls"))
}

/// `How about adding …`, `why not add …`.
fn is_suggestion(tokens: &[Token]) -> bool {
    let words: Vec<&str> = tokens.iter().take(3).map(Token::word).collect();
    matches!(words.as_slice(), ["how" | "what", "about", ..] | ["why", "not", ..] | ["why", "don't", "you" | "we"])
}

fn asks(tokens: &[Token]) -> bool {
    first_word(tokens).is_some_and(lexicon::asks)
}

fn opens_question(tokens: &[Token]) -> bool {
    first_word(tokens).is_some_and(lexicon::opens_question)
}

/// Words that open a question only with the mark at its end.
fn may_open_question(tokens: &[Token]) -> bool {
    first_word(tokens).is_some_and(|word| matches!(word, "do" | "don't" | "have" | "will" | "had"))
}

fn first_word(tokens: &[Token]) -> Option<&str> {
    tokens.iter().map(Token::word).find(|word| !lexicon::filler(word))
}

fn statement(tokens: &[Token]) -> Said {
    if asks(tokens) && !is_condition(tokens) {
        return Said::LOOK;
    }
    if opens_question(tokens) && tokens.len() >= 3 && head(tokens, 0).is_none() {
        return Said::LOOK;
    }
    if wants_document(tokens) {
        return Said::LOOK;
    }
    let ordered = orders(tokens);
    if head(tokens, 0).is_none() {
        let fragment = fragment(tokens).and(other_language(tokens));
        return ordered.unwrap_or_default().and(fragment);
    }
    ordered.unwrap_or_default()
}

/// `Where two calls clash, keep the first`: no question, the order follows.
fn is_condition(tokens: &[Token]) -> bool {
    let comma = tokens.iter().position(|token| matches!(token, Token::Comma));
    first_word(tokens) == Some("where") && comma.is_some_and(|comma| head(tokens, comma + 1).is_some())
}

/// `I need a list of …`.
fn wants_document(tokens: &[Token]) -> bool {
    let words: Vec<&str> = tokens.iter().map(Token::word).collect();
    let skipped = match words.as_slice() {
        ["i" | "we", "want" | "need", ..] | ["i'd" | "we'd", "like", ..] => 2,
        ["i" | "we", "would", "like", ..] => 3,
        _ => return false,
    };
    let (phrase, _) = phrase(tokens.get(skipped..).unwrap_or_default());
    phrase.last().is_some_and(|head| lexicon::document(head) || lexicon::looking_noun(head))
}

/// A sentence without an order: a title, a label, a rule.
fn fragment(tokens: &[Token]) -> Said {
    let words: Vec<&str> = tokens.iter().map(Token::word).collect();
    let (name, end) = phrase(tokens);
    let names_looking = name.last().is_some_and(|head| lexicon::looking_noun(head)) && end != "and";
    let looking =
        |word: &&str| lexicon::looking_noun(word) || lexicon::document(word) || lexicon::verb(word) == Some(Verb::Look);
    let only = words.last() == Some(&"only") && words.len() <= 5 && words.iter().any(looking);
    let nothing = words.first() == Some(&"nothing")
        && words.iter().any(|word| matches!(*word, "changed" | "modified" | "edited" | "touched" | "written"));
    if is_read_only(&words) || only || nothing {
        return Said::LOOK.and(Said::FORBIDDEN);
    }
    if names_looking { Said::LOOK } else { Said::NOTHING }
}

fn is_read_only(words: &[&str]) -> bool {
    let says = words.iter().any(|word| matches!(*word, "read-only" | "readonly"))
        || words.windows(2).any(|pair| pair == ["read", "only"]);
    let task = words.iter().any(|word| {
        matches!(
            *word,
            "task" | "review" | "mode" | "job" | "pass" | "analysis" | "audit" | "request" | "please" | "strictly"
        )
    });
    let about_a_thing =
        words.first().is_some_and(|first| matches!(*first, "the" | "a" | "an" | "our" | "its" | "these"));
    says && (task || words.len() <= 6 && !about_a_thing)
}

fn other_language(tokens: &[Token]) -> Said {
    match foreign::read(tokens) {
        None => Said::NOTHING,
        Some(Foreign::Change) => Said::CHANGE,
        Some(Foreign::Look) => Said::LOOK,
        Some(Foreign::Forbids) => Said::FORBIDDEN.and(Said::LOOK),
        Some(Foreign::Doubt) => Said::DOUBT,
    }
}
