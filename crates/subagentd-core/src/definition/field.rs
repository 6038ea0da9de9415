//! Values of a definition's fields.

/// What a file says about one field. The three differ once layers are laid over each other: an absent field lets the
/// layer below speak, null goes back to the default of the field, and an empty list is a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// The file does not mention it.
    #[default]
    Absent,
    /// It is there without a value.
    Null,
    /// It has a value.
    Set(T),
}

impl<T> Field<T> {
    /// The value, if there is one.
    #[must_use]
    pub const fn set(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}

/// Which tools a child gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tools {
    /// Those of its parent.
    Inherit,
    /// Exactly these, in this order, without repeats.
    List(Vec<String>),
}

/// Which of its parent's tools a child gets beside those that its definition lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InheritTools {
    /// None.
    None,
    /// Those that are not marked as writing or destructive.
    NonDestructive,
    /// All.
    All,
}

impl InheritTools {
    /// Every amount.
    pub const ALL: [Self; 3] = [Self::None, Self::NonDestructive, Self::All];

    /// The word in files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::NonDestructive => "non-destructive",
            Self::All => "all",
        }
    }
}

/// Where the final answer is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// In this file.
    Path(String),
    /// Nowhere: a bounded slice of it is kept and no file.
    Nowhere,
}

/// The declared role of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// It looks and reports.
    ReadOnly,
    /// It changes files.
    Writer,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 2] = [Self::ReadOnly, Self::Writer];

    /// The word in files and on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Writer => "writer",
        }
    }
}

/// What of the workspace a child may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Nothing.
    ReadOnly,
    /// Only the paths that the launch declares.
    Scoped,
}

impl Access {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::ReadOnly, Self::Scoped];

    /// The word in files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Scoped => "scoped",
        }
    }
}

/// How hard a model thinks, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thinking {
    /// Not at all.
    Off,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// Middling.
    Medium,
    /// Hard.
    High,
    /// Very hard.
    Xhigh,
    /// As hard as it can.
    Max,
}

impl Thinking {
    /// The seven levels, from least to most.
    pub const ALL: [Self; 7] = [Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The word in files, on the wire and in the child's arguments.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// Reads a word; case matters.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.word() == word)
    }
}
