//! What a task names: phrases, names and paths weigh most, then its remaining words.

use super::term::Term;

/// Bytes of a task that are read; the rest is not looked at.
const TASK_BYTES: usize = 64 * 1024;

/// Terms looked for, the heaviest and then the first ones; the answer names the others.
const TERMS: usize = 24;

/// Longest single term; longer ones are not looked for.
const TERM_BYTES: usize = 120;

const PHRASE: f64 = 3.0;
const NAME: f64 = 3.0;
const ACRONYM: f64 = 1.6;
const WORD: f64 = 1.0;
/// A word out of a name, for places that write it otherwise.
const NAME_PART: f64 = 0.4;
/// A word that tells little about the place meant.
const WEAK: f64 = 0.3;

/// Words that carry no meaning for a search.
const STOP_WORDS: &str = " a about above across after again against all already also although always am among an and another any \
    anything are aren't around as at away be became because become been before behind being below beneath beside best better \
    between beyond both but by can cannot come comes contain contains could decide decides describe details did different do does doesn't \
    doing don't done down each either else enough etc even ever every everything exactly explain few find finds first for from \
    further gets give given gives go goes going good had has have having he hence her here his how however i if in inside \
    instead into is isn't it its itself just know known last later least less let like list little located location locate \
    look looked looking made main mainly many may me mean means might more most much must my name named near need needed needs \
    never next no none nor not nothing now of off often on once one only onto or other others our out over own part per perhaps \
    place places please possible put quite rather really report right same say says see seem seems shall she should show shows \
    side since so some somewhere something still such sure take taken takes tell than that the their them then there these they \
    thing things this those though through throughout thus to together too toward towards two under until up upon us use used \
    uses using usually very via want was way ways we well went were what whatever when where wherever whether which while who \
    whole whom whose why will with within without would yes yet you your \
    answer codebase code defined definition defines example implemented implementation implements implement happen happens \
    happening occur occurs project question repo repository search source task work works working ";

/// Words that stand in many questions for the thing asked after.
const WEAK_WORDS: &str = " call called calls change changes check checked checks class detect detected directory ensure file \
    files folder function functions handle handled handles handling keep kept line lines logic make makes manage managed manages \
    method methods module modules path paths process processed purpose run runs running set sets support supported supports \
    system test tests type types update updated value values variable ";

/// What to look for.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) terms: Vec<Term>,
    /// Terms above the bound, not looked for.
    pub(crate) left_out: Vec<String>,
    /// The task's words with single blanks between them.
    words: String,
    /// The task is about tests, so they are not moved back.
    pub(crate) wants_tests: bool,
    /// The task is about documents, so they are not moved back.
    pub(crate) wants_documents: bool,
}

impl Query {
    pub(crate) fn of(task: &str) -> Self {
        let task = head(task, TASK_BYTES);
        let mut terms = Vec::new();
        let rest = take_phrases(task, &mut terms);
        for token in rest.split_whitespace() {
            add_token(token, &mut terms);
        }
        let mentions = |words: &[&str]| {
            task.split(|letter: char| !letter.is_alphanumeric())
                .any(|word| words.iter().any(|wanted| word.eq_ignore_ascii_case(wanted)))
        };
        let mut query = Self {
            terms: Vec::new(),
            left_out: Vec::new(),
            words: words(task),
            wants_tests: mentions(&["test", "tests", "tested", "testing", "fixture", "fixtures"]),
            wants_documents: mentions(&[
                "doc",
                "docs",
                "document",
                "documents",
                "documentation",
                "documented",
                "readme",
                "changelog",
                "guide",
                "design",
            ]),
        };
        query.keep(terms);
        query
    }

    /// One pattern for all terms, as a person would type it.
    pub(crate) fn pattern(&self) -> String {
        let shown: Vec<&str> = self.terms.iter().map(|term| term.shown.as_str()).collect();
        shown.join("|")
    }

    /// Whether a line repeats the whole task.
    pub(crate) fn is_quoted_by(&self, line: &str) -> bool {
        self.words.matches(' ').count() > 1 && line.len() >= self.words.len() && words(line).contains(&self.words)
    }

    fn keep(&mut self, terms: Vec<Term>) {
        let mut distinct: Vec<Term> = Vec::new();
        for term in terms {
            match distinct.iter_mut().find(|known| known.key() == term.key()) {
                Some(known) if known.weight < term.weight => *known = term,
                Some(_) => {}
                None => distinct.push(term),
            }
        }
        // Stable, so equal weights stay in the task's order.
        distinct.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let rest = distinct.split_off(distinct.len().min(TERMS));
        self.left_out = rest.into_iter().map(|term| term.shown).collect();
        self.terms = distinct;
    }
}

/// Takes quoted and backticked texts out of the task and gives back what is left.
fn take_phrases(task: &str, terms: &mut Vec<Term>) -> String {
    let mut rest = String::with_capacity(task.len());
    let mut before = ' ';
    let mut text = task;
    while let Some(open) = text.chars().next() {
        let inner = text.get(open.len_utf8()..).unwrap_or_default();
        let close = match open {
            '`' | '"' => Some(open),
            '“' => Some('”'),
            // An apostrophe inside a word opens nothing.
            '\'' if !before.is_alphanumeric() => Some('\''),
            _ => None,
        };
        let phrase = close.and_then(|close| inner.split_once(close)).map(|(phrase, after)| (phrase.trim(), after));
        match phrase {
            Some((phrase, after)) if (2..=TERM_BYTES).contains(&phrase.len()) && !phrase.contains('\n') => {
                add_phrase(phrase, terms);
                rest.push(' ');
                before = ' ';
                text = after;
            }
            _ => {
                rest.push(open);
                before = open;
                text = inner;
            }
        }
    }
    rest
}

fn add_phrase(phrase: &str, terms: &mut Vec<Term>) {
    let phrase = phrase.trim_end_matches("()");
    if phrase.contains(char::is_alphanumeric) {
        terms.push(Term::exact(phrase, PHRASE));
        add_parts(phrase, terms);
    }
}

fn add_token(token: &str, terms: &mut Vec<Term>) {
    let token = token.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let token = token.strip_suffix("'s").or_else(|| token.strip_suffix("’s")).unwrap_or(token);
    if token.len() > TERM_BYTES || !token.contains(char::is_alphabetic) || is_word_of(STOP_WORDS, token) {
        return;
    }
    if is_name(token) {
        terms.push(Term::exact(token, NAME));
        if let Some((_, last)) = token.rsplit_once("::").or_else(|| token.rsplit_once('/')) {
            terms.push(Term::exact(last, ACRONYM));
        }
        add_parts(token, terms);
    } else if is_acronym(token) {
        terms.push(Term::exact(token, ACRONYM));
    } else if token.contains(|letter: char| !letter.is_alphanumeric()) {
        if token.contains('-') {
            terms.push(Term::exact(token, ACRONYM));
        }
        for word in token.split(|letter: char| !letter.is_alphanumeric()) {
            add_word(word, WORD, terms);
        }
    } else {
        add_word(token, WORD, terms);
    }
}

fn add_word(word: &str, weight: f64, terms: &mut Vec<Term>) {
    if word.chars().count() < 3 || !word.contains(char::is_alphabetic) || is_word_of(STOP_WORDS, word) {
        return;
    }
    let weight = if is_word_of(WEAK_WORDS, word) { weight * WEAK } else { weight };
    terms.push(Term::word(word, weight));
}

/// The words a name is made of.
fn add_parts(name: &str, terms: &mut Vec<Term>) {
    let mut part = String::new();
    let mut parts = Vec::new();
    let mut before = ' ';
    for letter in name.chars() {
        let border = !letter.is_alphanumeric() || (letter.is_uppercase() && before.is_lowercase());
        if border && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        if letter.is_alphanumeric() {
            part.push(letter);
        }
        before = letter;
    }
    parts.push(part);
    if parts.len() > 1 {
        for part in parts {
            add_word(&part, NAME_PART, terms);
        }
    }
}

/// `snake_case`, `camelCase`, `a::b`, `a.b`, `dir/file.rs`; not `and/or`, not `1.5`.
fn is_name(token: &str) -> bool {
    let camel = token.chars().zip(token.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let dotted = token
        .split('.')
        .zip(token.split('.').skip(1))
        .any(|(a, b)| a.ends_with(char::is_alphanumeric) && b.starts_with(char::is_alphabetic));
    let path = token.matches('/').count() > 1 || (token.contains('/') && (token.contains('.') || token.contains('-')));
    token.contains('_') || token.contains("::") || camel || dotted || path
}

fn is_acronym(token: &str) -> bool {
    token.len() > 2 && token.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit())
}

fn is_word_of(list: &str, word: &str) -> bool {
    list.contains(&format!(" {} ", word.to_lowercase()))
}

fn words(text: &str) -> String {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}

fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(task: &str) -> Vec<String> {
        Query::of(task).terms.into_iter().map(|term| term.shown).collect()
    }

    #[test]
    fn takes_out_what_a_task_names() {
        for (task, expected) in [
            ("Where are old wheels handled?", &["old", "wheels", "handled"][..]),
            ("What does `bind()` do?", &["bind"]),
            ("Explain hub::step and daemon.json.", &["hub::step", "daemon.json", "step", "hub", "daemon", "json"]),
            ("who calls takeLease()?", &["takeLease", "lease", "calls"]),
            ("the \"no such run\" error", &["no such run", "run", "error"]),
            ("Does it ignore SIGTERM and/or EPIPE?", &["SIGTERM", "EPIPE", "ignore"]),
            ("read-only children don't write", &["read-only", "read", "children", "write"]),
            ("where is it?", &[]),
        ] {
            let found = shown(task);
            for term in expected {
                assert!(found.iter().any(|shown| shown == term), "{task}: {found:?} lacks {term}");
            }
            if expected.is_empty() {
                assert!(found.is_empty(), "{task}: {found:?}");
            }
        }
    }

    #[test]
    fn names_come_before_words_and_the_number_is_bounded() {
        assert_eq!(shown("sockets of open_socket").first().map(String::as_str), Some("open_socket"));
        let many: String = (0..60).map(|at| format!("word{} ", "x".repeat(at))).collect();
        let query = Query::of(&many);
        assert_eq!(query.terms.len(), TERMS);
        assert_eq!(query.left_out.len(), 60 - TERMS);
    }
}
