//! The fence between front matter and body.

use super::yaml::At;

/// Bytes of a definition file at most; a longer one is refused as a whole.
pub const FILE_BYTES: usize = 1024 * 1024;
/// Bytes of front matter at most; with more the file is refused as a whole.
pub const FRONT_BYTES: usize = 64 * 1024;

/// A file taken apart. Line ends are LF in both parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// What stands between the fences; `None` if the file has none.
    pub(super) front: Option<String>,
    /// The rest, trimmed.
    pub(super) body: String,
}

/// Why a file cannot be taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unfenced {
    pub(super) at: At,
    pub(super) message: String,
}

/// Lines before the front matter's first one: its opening fence.
pub(super) const LINES_BEFORE: u64 = 1;

/// Takes a file apart. Only a first line that is the fence opens front matter. Without a second fence everything is
/// body, but a file whose next lines are plainly keys is refused: as body they would be restrictions that nobody keeps.
pub(super) fn take_apart(text: &str) -> Result<Parts, Unfenced> {
    if text.len() > FILE_BYTES {
        return Err(beyond(text, FILE_BYTES, "the file"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut lines = text.split_inclusive('\n');
    let Some(opening) = lines.next().filter(|line| is_fence(line)) else {
        return Ok(Parts { front: None, body: text.trim().to_owned() });
    };
    let mut at = opening.len();
    for line in lines {
        let after = at + line.len();
        if is_fence(line) {
            let front = text.get(opening.len()..at).unwrap_or_default().to_owned();
            return Ok(Parts { front: Some(front), body: text.get(after..).unwrap_or_default().trim().to_owned() });
        }
        at = after;
        if at - opening.len() > FRONT_BYTES {
            return Err(beyond(&text, opening.len() + FRONT_BYTES, "the front matter"));
        }
    }
    if begins_with_key(text.get(opening.len()..).unwrap_or_default()) {
        let message = "the front matter that begins here never ends; close it with a line `---`".to_owned();
        return Err(Unfenced { at: At { line: 1, column: 1 }, message });
    }
    Ok(Parts { front: None, body: text.trim().to_owned() })
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

/// Whether the first line that says something is `key:` or `key: value`.
fn begins_with_key(text: &str) -> bool {
    let said = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let Some((key, value)) = said.and_then(|line| line.split_once(':')) else {
        return false;
    };
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    !key.is_empty() && key.chars().all(plain) && (value.is_empty() || value.starts_with([' ', '\t']))
}

fn beyond(text: &str, limit: usize, what: &str) -> Unfenced {
    let feeds = text.bytes().take(limit).filter(|byte| *byte == b'\n').count();
    let line = u64::try_from(feeds).unwrap_or(u64::MAX).saturating_add(1);
    let message = format!("{what} is longer than {} KiB, which is the most that is read", limit / 1024);
    Unfenced { at: At { line, column: 1 }, message }
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
            ("---", None, "---"),
            ("---\n\nA rule above: prose.\n", None, "---\n\nA rule above: prose."),
            ("---\nhttps://example.org is a place", None, "---\nhttps://example.org is a place"),
            ("----\na: 1\n---\n", None, "----\na: 1\n---"),
            ("\n---\na: 1\n---\n", None, "---\na: 1\n---"),
            ("---\na: 1\n----\nb: 2\n---\nBody", front("a: 1\n----\nb: 2\n"), "Body"),
            ("---\na: 1\n---\nBody\n---\nmore", front("a: 1\n"), "Body\n---\nmore"),
        ] {
            let parts = take_apart(text).unwrap();
            assert_eq!((parts.front, parts.body.as_str()), (expected_front, body), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_whole_header_is_no_body_either() {
        let long_front = format!("---\n{}---\nBody", "# remark\n".repeat(FRONT_BYTES / 9 + 1));
        let long_body = "word\n".repeat(FILE_BYTES / 5 + 1);
        for (text, line, says) in [
            ("---\na: 1\nBody", 1, "never ends"),
            ("---\n\n# remark\ntools:\n  - read\n", 1, "never ends"),
            (long_front.as_str(), 1 + (FRONT_BYTES / 9) as u64 + 1, "64 KiB"),
            (long_body.as_str(), (FILE_BYTES / 5) as u64 + 1, "1024 KiB"),
        ] {
            let fault = take_apart(text).unwrap_err();
            assert_eq!((fault.at.line, fault.at.column), (line, 1), "{fault:?}");
            assert!(fault.message.contains(says), "{fault:?}");
        }
    }
}
