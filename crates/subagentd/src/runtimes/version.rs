//! Versions of other programs.

/// Major, minor and patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u64, pub(crate) u64, pub(crate) u64);

impl Version {
    /// The first number with a dot in it, as programs print it: `v22.19.0`, `fd 10.5.0`, `ripgrep 14.1.1 (rev …)`. What
    /// follows the numbers, such as `-rc.1`, is not looked at.
    pub(crate) fn read(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let numbers = word.trim_start_matches('v').split(['-', '+']).next()?;
            let mut parts = numbers.split('.').map(str::parse);
            let (major, minor) = (parts.next()?.ok()?, parts.next()?.ok()?);
            Some(Self(major, minor, parts.next().and_then(Result::ok).unwrap_or(0)))
        })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_programs_print_them() {
        let table = [
            ("v22.19.0", Some(Version(22, 19, 0))),
            ("fd 8.6.0", Some(Version(8, 6, 0))),
            ("fdfind 10.5", Some(Version(10, 5, 0))),
            ("ripgrep 14.1.1 (rev 4649aa9700)", Some(Version(14, 1, 1))),
            ("1.6.0-rc.1", Some(Version(1, 6, 0))),
            ("1.10.2+build", Some(Version(1, 10, 2))),
            ("v23", None),
            ("no numbers", None),
            ("", None),
            ("99999999999999999999.1", None),
        ];
        for (text, wanted) in table {
            assert_eq!(Version::read(text), wanted, "{text}");
        }
        assert!(Version(1, 10, 0) > Version(1, 9, 9));
    }
}
