//! Between our types and the columns.

use subagentd_core::id::RunId;

/// Hex digits of an id.
pub(crate) const DIGITS: usize = 32;

/// The column `tail`: the id's hex digits from last to first.
pub(crate) fn tail(run: RunId) -> String {
    reversed(&run.to_string()).unwrap_or_default()
}

/// Hex digits, hyphens left out, from last to first; `None` for anything else.
pub(crate) fn reversed(text: &str) -> Option<String> {
    let digits: String = text.chars().rev().filter(|c| *c != '-').collect();
    let digits = digits.to_ascii_lowercase();
    (digits.len() <= DIGITS && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())).then_some(digits)
}

/// A number to compare with: one beyond every stored number stays beyond them.
pub(crate) fn cursor(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A closed set of stored words, written once.
macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// The stored word.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            pub(crate) fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use words;

/// The same for a type of another crate: a module with the two directions.
macro_rules! foreign_words {
    ($type:ident as $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        pub(crate) mod $name {
            use super::$type;

            pub(crate) const fn word(value: $type) -> &'static str {
                match value {
                    $($type::$variant => $word,)+
                }
            }

            pub(crate) fn from_word(word: &str) -> Option<$type> {
                match word {
                    $($word => Some($type::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use foreign_words;
