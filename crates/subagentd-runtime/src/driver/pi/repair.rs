//! Makes text that a strict JSON reader takes out of a child's line.

use std::borrow::Cow;

const ESCAPE_BYTES: usize = 6;

/// The line as text: broken UTF-8 becomes U+FFFD, and so does every `\uD800`–`\uDFFF` escape without its partner, which
/// JavaScript writes and strict readers refuse.
pub(super) fn text(line: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(line) {
        Cow::Borrowed(text) => pair_surrogates(text),
        Cow::Owned(text) => Cow::Owned(pair_surrogates(&text).into_owned()),
    }
}

fn pair_surrogates(text: &str) -> Cow<'_, str> {
    // Most lines have none, and escaped line ends in plenty.
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    // A backslash occurs in strings only, so the search needs no idea of where strings begin. No tail means that an
    // escape ran over the end or into a wide character: not JSON, and left as it is.
    while let Some(found) = text.get(at..).and_then(|tail| tail.find('\\')) {
        let escape = at + found;
        at = escape
            + match escaped_unit(text, escape) {
                Some(0xD800..=0xDBFF) if is_low(escaped_unit(text, escape + ESCAPE_BYTES)) => 2 * ESCAPE_BYTES,
                Some(0xD800..=0xDFFF) => {
                    repaired.push_str(text.get(copied..escape).unwrap_or_default());
                    repaired.push_str("\\uFFFD");
                    copied = escape + ESCAPE_BYTES;
                    ESCAPE_BYTES
                }
                Some(_) => ESCAPE_BYTES,
                // `\\` goes as a pair: what follows it is no escape.
                None => 2,
            };
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    repaired.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(repaired)
}

/// The UTF-16 unit that a `\uXXXX` at this place stands for.
fn escaped_unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + ESCAPE_BYTES)?.strip_prefix("\\u")?;
    // The number parser would take a sign as well.
    let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

const fn is_low(unit: Option<u16>) -> bool {
    matches!(unit, Some(0xDC00..=0xDFFF))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_without_a_partner_are_replaced_and_nothing_else() {
        let rows = [
            (r#""plain""#, r#""plain""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\uD83D\uDE00 \n \u00e4""#, r#""\uD83D\uDE00 \n \u00e4""#),
            (r#""\ud83d""#, r#""\uFFFD""#),
            (r#""\ude00""#, r#""\uFFFD""#),
            (r#""a\ud83d\n\ude00z""#, r#""a\uFFFD\n\uFFFDz""#),
            (r#""\ude00\ud83d""#, r#""\uFFFD\uFFFD""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\uFFFD\ud83d\ude00""#),
            (r#""\ud83d\u0041""#, r#""\uFFFD\u0041""#),
            // A backslash that is itself escaped begins no escape …
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\\ud800""#, r#""\\\\ud800""#),
            // … and one after it does.
            (r#""\\\ud800""#, r#""\\\uFFFD""#),
            (r#""\ud83d\\ude00""#, r#""\uFFFD\\ude00""#),
            (r#""\u+800 \uD8 \u""#, r#""\u+800 \uD8 \u""#),
            (r#""\ud83dä\é\"#, r#""\uFFFDä\é\"#),
        ];
        for (line, expected) in rows {
            assert_eq!(text(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn a_line_in_order_is_not_copied() {
        assert!(matches!(text(br#"{"a":"\n\ud83d\ude00"}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn broken_utf8_becomes_a_replacement_character() {
        assert_eq!(text(b"\"\xff \\ud800\""), "\"\u{fffd} \\uFFFD\"");
    }
}
