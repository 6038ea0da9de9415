//! From the text of a task to sentences of words.

/// A piece of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, in lower case.
    Word(String),
    /// Something that is named and not said: code, a path, a quotation, a number, a flag. No word of it counts.
    Opaque,
    /// A comma or a dash.
    Comma,
}

impl Token {
    /// The word; empty for everything else.
    pub(super) fn word(&self) -> &str {
        match self {
            Self::Word(word) => word,
            Self::Opaque | Self::Comma => "",
        }
    }
}

/// Words up to a mark that ends them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) tokens: Vec<Token>,
    pub(super) end: End,
    /// Whether it stands in an item of a list.
    pub(super) item: bool,
    /// Whether it stands in brackets.
    pub(super) aside: bool,
    /// Whether it begins a line.
    pub(super) first: bool,
    /// Whether it is longer than what is read of it.
    pub(super) cut: bool,
}

/// What ends a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// A full stop, an exclamation mark, a semicolon, a bracket, the end of a line.
    Stop,
    Question,
    Colon,
}

/// Words of a sentence that are read; what is behind them is left out, and the sentence says so.
const SENTENCE_WORDS: usize = 256;

/// Takes a text apart.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    for line in joined_lines(text) {
        let (line, item) = without_marker(&line);
        split(&mask(line), item, &mut found);
    }
    found
}

/// Lines without fenced code. A line that goes on in lower case belongs to the one before it: seen alone, its first
/// word would look like an order.
fn joined_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut in_code = false;
    let mut may_go_on = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
            may_go_on = false;
            continue;
        }
        if in_code || line.is_empty() || line.starts_with('>') {
            may_go_on = false;
            continue;
        }
        let goes_on = may_go_on && line.starts_with(char::is_lowercase) && !without_marker(line).1;
        may_go_on = !line.ends_with(['.', '!', '?', ';', ':']);
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.push(' ');
                last.push_str(line);
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines
}

/// A line without the mark of a list item or a heading, and whether it was an item.
fn without_marker(line: &str) -> (&str, bool) {
    let line = line.trim_start_matches('#').trim_start();
    let bullets = ["- [ ] ", "- [x] ", "* [ ] ", "- ", "* ", "+ ", "• ", "– "];
    if let Some(rest) = bullets.iter().find_map(|bullet| line.strip_prefix(bullet)) {
        return (rest.trim_start(), true);
    }
    let digits = line.trim_start_matches(|character: char| character.is_ascii_digit());
    if digits.len() < line.len()
        && let Some(rest) = digits.strip_prefix(['.', ')']).filter(|rest| rest.starts_with(' '))
    {
        return (rest.trim_start(), true);
    }
    (line, false)
}

/// Stands for a masked span; no word of a task is a control character.
const MASK: char = '\u{1}';

/// Replaces code and quotations. A mark that does not close on its line is left as it is.
fn mask(line: &str) -> String {
    let line = line.replace(['’', '‘'], "'").replace(MASK, " ");
    let mut masked = String::new();
    let mut rest = line.as_str();
    while let Some(at) = rest.find(['`', '"', '“', '«', '„']) {
        let (before, from) = rest.split_at(at);
        masked.push_str(before);
        let mut inner = from.chars();
        let closing: &[char] = match inner.next() {
            Some('`') => &['`'],
            Some('"') => &['"'],
            Some('«') => &['»'],
            _ => &['”', '“', '"'],
        };
        let inner = inner.as_str().trim_start_matches('`');
        match inner.find(closing) {
            Some(end) => {
                masked.push(' ');
                masked.push(MASK);
                rest = inner.get(end..).unwrap_or_default().trim_start_matches(closing);
                if !rest.starts_with(char::is_alphanumeric) {
                    continue;
                }
                masked.push(' ');
            }
            None => rest = inner,
        }
    }
    masked.push_str(rest);
    masked
}

fn split(line: &str, item: bool, found: &mut Vec<Sentence>) {
    let mut open = Open { tokens: Vec::new(), first: true, item, aside: false, cut: false };
    for raw in line.split_whitespace() {
        if matches!(raw, "—" | "–" | "-" | "--" | "→" | "=>") {
            open.push(Token::Comma);
            continue;
        }
        if raw.starts_with(['(', '[']) {
            open.close(End::Stop, found);
            open.aside = true;
        }
        let core = raw.trim_start_matches(['(', '[', '{', '*', '_', '¿', '¡', '\'']);
        let bare = core.trim_end_matches(['.', ',', ';', ':', '!', '?', ']', '}', '*', '\'', '"', '…']);
        let tail = core.get(bare.len()..).unwrap_or_default();
        let calls = bare.ends_with("()") || !bare.ends_with(')');
        let (bare, closes) = if calls { (bare, false) } else { (bare.trim_end_matches(')'), true) };
        if !bare.is_empty() {
            open.push(token(bare));
        }
        if tail.contains('?') {
            open.close(End::Question, found);
        } else if tail.contains(['.', ';', '!', '…', ']']) || closes {
            open.close(End::Stop, found);
        } else if tail.contains(':') {
            open.close(End::Colon, found);
        } else if tail.contains(',') {
            open.push(Token::Comma);
        }
        if closes || tail.contains(']') {
            open.aside = false;
        }
    }
    open.close(End::Stop, found);
}

struct Open {
    tokens: Vec<Token>,
    first: bool,
    item: bool,
    aside: bool,
    cut: bool,
}

impl Open {
    fn push(&mut self, token: Token) {
        if self.tokens.len() < SENTENCE_WORDS {
            self.tokens.push(token);
        } else {
            self.cut = true;
        }
    }

    fn close(&mut self, end: End, found: &mut Vec<Sentence>) {
        let tokens = std::mem::take(&mut self.tokens);
        if tokens.is_empty() {
            return;
        }
        let cut = std::mem::take(&mut self.cut);
        found.push(Sentence { tokens, end, item: self.item, aside: self.aside, first: self.first, cut });
        self.first = false;
    }
}

fn token(bare: &str) -> Token {
    if bare == "&" {
        return Token::Word("and".to_owned());
    }
    let plain = |character: char| character.is_alphabetic() || matches!(character, '-' | '\'');
    if bare.starts_with('-') || !bare.chars().all(plain) {
        return Token::Opaque;
    }
    Token::Word(bare.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |sentence: &Sentence| {
            let words: Vec<_> = sentence
                .tokens
                .iter()
                .map(|token| match token {
                    Token::Word(word) => word.as_str(),
                    Token::Opaque => "#",
                    Token::Comma => ",",
                })
                .collect();
            format!("{}{:?} {}", if sentence.item { "- " } else { "" }, sentence.end, words.join(" "))
        };
        sentences(text).iter().map(show).collect()
    }

    #[test]
    fn texts_are_taken_apart() {
        for (text, expected) in [
            ("", vec![]),
            ("Fix it, please. Why?", vec!["Stop fix it , please", "Question why"]),
            ("Describe src/delete/create.rs.", vec!["Stop describe #"]),
            ("Run `rm -rf x` and \"add it\" now", vec!["Stop run # and # now"]),
            ("Find unwrap() (do not edit) here", vec!["Stop find #", "Stop do not edit", "Stop here"]),
            ("Rules:\n- add it\n2. Don’t", vec!["Colon rules", "- Stop add it", "- Stop don't"]),
            ("Explain how to\nremove it.\nFix", vec!["Stop explain how to remove it", "Stop fix"]),
            ("Look:\n```\nfix me\n```\nDone", vec!["Colon look", "Stop done"]),
            ("Plan — then go", vec!["Stop plan , then go"]),
            ("it's \"open", vec!["Stop it's open"]),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }
}
