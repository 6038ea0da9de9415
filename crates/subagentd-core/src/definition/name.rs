//! What an agent may be called.

use std::fmt;

/// Bytes of a name at most; a longer one is refused before anything is looked up.
pub const NAME_BYTES: usize = 64;

/// Why a text cannot be the name of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BadName {
    /// There is nothing.
    Empty,
    /// It is longer than [`NAME_BYTES`].
    TooLong,
    /// It begins with a dot.
    Hidden,
    /// It has a slash or a backslash in it.
    Path,
    /// It has a control character in it.
    Control,
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a name is not empty"),
            Self::TooLong => write!(f, "a name has at most {NAME_BYTES} bytes"),
            Self::Hidden => f.write_str("a name does not begin with a dot"),
            Self::Path => f.write_str("a name is no path and has no slash or backslash in it"),
            Self::Control => f.write_str("a name has no control characters in it"),
        }
    }
}

/// The form in which names are compared: lower case.
pub(super) fn normalised(name: &str) -> Result<String, BadName> {
    let lower = name.to_lowercase();
    let fault = if name.is_empty() {
        BadName::Empty
    } else if name.len() > NAME_BYTES || lower.len() > NAME_BYTES {
        BadName::TooLong
    } else if name.starts_with('.') {
        BadName::Hidden
    } else if name.contains(['/', '\\']) {
        BadName::Path
    } else if name.chars().any(char::is_control) {
        BadName::Control
    } else {
        return Ok(lower);
    };
    Err(fault)
}

/// The name that a path gives its agent: `None` unless it is a Markdown file in plain sight.
pub(super) fn of_file(path: &str) -> Option<&str> {
    let file = path.rsplit('/').next()?;
    file.strip_suffix(".md").filter(|_| !file.starts_with('.'))
}
