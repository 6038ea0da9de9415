//! Text in the columns there are: wide characters count as two.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What stands for the rest.
const REST: char = '…';
/// A narrower place is not filled line by line: nearly every word would stand alone.
const LEAST_COLUMNS: usize = 20;

/// Columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// At most so many columns; what is cut off shows as `…`.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let mut kept = String::new();
    for character in text.chars() {
        let Some(rest) = left.checked_sub(character.width().unwrap_or(0)) else { break };
        left = rest;
        kept.push(character);
    }
    kept.push(REST);
    kept
}

/// The same, but the beginning is cut off.
pub(crate) fn cut_front(text: &str, columns: usize) -> String {
    let reversed: String = text.chars().rev().collect();
    cut(&reversed, columns).chars().rev().collect()
}

/// Lines of at most so many columns, broken at spaces. A longer word stays whole, so that a path can still be copied.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    if columns < LEAST_COLUMNS || width(text) <= columns {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !line.is_empty() && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_fits_and_says_so() {
        let table = [
            ("short", 5, "short"),
            ("shorter", 5, "shor…"),
            ("日本語の題", 6, "日本…"),
            ("e\u{301}e\u{301}e", 2, "e\u{301}…"),
            ("ab", 0, "…"),
        ];
        for (text, columns, wanted) in table {
            assert_eq!(cut(text, columns), wanted, "{text} in {columns}");
        }
    }

    #[test]
    fn a_beginning_that_is_cut_off_says_so() {
        assert_eq!(cut_front("/home/ada", 9), "/home/ada");
        assert_eq!(cut_front("/home/ada", 5), "…/ada");
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_stay_whole() {
        let text = "the way to /a/very/long/path/that/does/not/fit and back";
        assert_eq!(wrap(text, 24), ["the way to", "/a/very/long/path/that/does/not/fit", "and back"]);
        assert_eq!(wrap("日本 日本 日本 日本 日本 日本", 20), ["日本 日本 日本 日本", "日本 日本"]);
        assert_eq!(wrap(text, 5), [text], "too narrow to fill");
        assert_eq!(wrap("", 40), [""]);
    }
}
