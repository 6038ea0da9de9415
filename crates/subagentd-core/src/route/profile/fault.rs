//! What is wrong with a profile, and where.

use std::fmt;

use crate::outcome::error_line;

use super::super::Family;
use super::LadderLayer;

/// Faults kept of one layer. Later ones are not listed; a family with a fault among them is out of order all the same.
pub const PROFILE_FAULTS: usize = 50;

/// Something that is wrong with a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The layer it stands in.
    pub layer: LadderLayer,
    /// Where it stands, from the family on; of what is missing, where it should stand.
    pub path: Vec<Segment>,
    /// What is wrong and what to write.
    pub message: String,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// Into a table.
    Key(String),
    /// Into an array, from 0.
    Index(usize),
}

impl Fault {
    /// Whether it is about this family.
    #[must_use]
    pub fn is_of(&self, family: Family) -> bool {
        matches!(self.path.first(), Some(Segment::Key(name)) if name == family.word())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("profiles")?;
        for segment in &self.path {
            match segment {
                Segment::Key(key) if is_bare(key) => write!(f, ".{key}")?,
                Segment::Key(key) => write!(f, ".{:?}", error_line(key))?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        write!(f, " ({}): {}", self.layer.word(), self.message)
    }
}

fn is_bare(key: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !key.is_empty() && key.len() <= 64 && key.bytes().all(plain)
}
