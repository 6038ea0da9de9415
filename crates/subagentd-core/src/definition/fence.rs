//! The fence between front matter and body.

/// A file taken apart. Line ends are LF in both parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// What stands between the fences; `None` if the file has none.
    pub(super) front: Option<String>,
    /// The rest, trimmed.
    pub(super) body: String,
}

/// Lines before the front matter's first one: its opening fence.
pub(super) const LINES_BEFORE: u64 = 1;

/// Takes a file apart. Only a first line that is the fence opens front matter, and without a second fence everything
/// is body.
pub(super) fn take_apart(text: &str) -> Parts {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut lines = text.split_inclusive('\n');
    let opened = lines.next().filter(|line| is_fence(line));
    let closed = opened.and_then(|opening| {
        let mut at = opening.len();
        for line in lines {
            if is_fence(line) {
                return Some((opening.len()..at, at + line.len()));
            }
            at += line.len();
        }
        None
    });
    let (front, body) = match closed {
        Some((front, body)) => (text.get(front), text.get(body..).unwrap_or_default()),
        None => (None, text.as_str()),
    };
    Parts { front: front.map(str::to_owned), body: body.trim().to_owned() }
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_taken_apart_at_their_fences() {
        let front = |text: &str| Some(text.to_owned());
        for (text, expected_front, body) in [
            ("", None, ""),
            ("Body only.\n", None, "Body only."),
            ("---\na: 1\n---\n\n Body. \n\n", front("a: 1\n"), "Body."),
            ("\u{feff}---\r\na: 1\r\n---\r\nOne\r\nTwo\r\n", front("a: 1\n"), "One\nTwo"),
            ("---\n---\n", front(""), ""),
            ("---\n---", front(""), ""),
            ("---  \na: 1\n---\t\nBody", front("a: 1\n"), "Body"),
            ("---\na: 1\nBody", None, "---\na: 1\nBody"),
            ("---", None, "---"),
            ("----\na: 1\n---\n", None, "----\na: 1\n---"),
            ("\n---\na: 1\n---\n", None, "---\na: 1\n---"),
            ("---\na: 1\n----\nb: 2\n---\nBody", front("a: 1\n----\nb: 2\n"), "Body"),
            ("---\na: 1\n---\nBody\n---\nmore", front("a: 1\n"), "Body\n---\nmore"),
        ] {
            let parts = take_apart(text);
            assert_eq!((parts.front, parts.body.as_str()), (expected_front, body), "{text:?}");
        }
    }
}
