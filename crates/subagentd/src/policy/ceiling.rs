//! Whom a ceiling binds.

use subagentd_core::resolve::Ceiling;

use super::Problem;

/// A ceiling with those it binds.
#[derive(Debug)]
pub(super) struct Bound {
    /// A pattern for owners; `None` binds everybody.
    pub(super) owners: Option<String>,
    /// The ceiling; what is wrong with it, if it cannot be understood: then those it would bind launch nothing, since
    /// without it they could do more than its writer allows.
    pub(super) ceiling: Result<Ceiling, Problem>,
}

impl Bound {
    pub(super) fn binds(&self, owner: &str) -> bool {
        self.owners.as_ref().is_none_or(|pattern| covers(pattern, owner))
    }
}

/// Whether a pattern covers a name; `*` stands for any characters, also none.
fn covers(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_whole_names() {
        let table = [
            ("pi:42", "pi:42", true),
            ("pi:42", "pi:421", false),
            ("pi:*", "pi:", true),
            ("pi:*", "pi:42", true),
            ("pi:*", "xpi:42", false),
            ("*", "", true),
            ("*:42", "pi:42", true),
            ("*:42", "pi:42:1", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c2b", false),
            ("a*a", "a", false),
            ("a**a", "aa", true),
            ("*b*", "abc", true),
            ("", "x", false),
        ];
        for (pattern, name, wanted) in table {
            assert_eq!(covers(pattern, name), wanted, "{pattern} {name}");
        }
    }
}
