//! The families whose ids can be read.

/// A family of models with one way of naming them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// `claude-TIER-VERSION`, in older ids `claude-VERSION-TIER`.
    Claude,
    /// `deepseek-vVERSION[-TIER]`.
    Deepseek,
    /// `gemini-VERSION-TIER`.
    Gemini,
    /// `glm-VERSION[-TIER]`.
    Glm,
    /// `gpt-VERSION[-TIER]`.
    Gpt,
    /// `mimo-vVERSION[-TIER]`.
    Mimo,
    /// `minimax-mVERSION[-TIER]`.
    Minimax,
    /// `qwenVERSION-TIER` or `qwen-VERSION-TIER`.
    Qwen,
}

/// How a family builds its ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct Naming {
    /// What stands between the family's word and what follows: the first that fits.
    pub(super) leads: &'static [&'static str],
    /// Where the version stands.
    pub(super) order: Order,
    /// Whether there is a line of models without a tier.
    pub(super) unnamed: bool,
    /// Whether its ids are also dated by month and day alone.
    pub(super) month_and_day: bool,
}

/// Where the version stands in an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Version, then tier.
    VersionFirst,
    /// Tier, then version, unless a digit comes first. Parts of such a version may be joined by a hyphen.
    TierFirst,
}

impl Family {
    /// All of them, by name.
    pub const ALL: [Self; 8] =
        [Self::Claude, Self::Deepseek, Self::Gemini, Self::Glm, Self::Gpt, Self::Mimo, Self::Minimax, Self::Qwen];

    /// Its name in profiles, which is also the word its ids start with.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Deepseek => "deepseek",
            Self::Gemini => "gemini",
            Self::Glm => "glm",
            Self::Gpt => "gpt",
            Self::Mimo => "mimo",
            Self::Minimax => "minimax",
            Self::Qwen => "qwen",
        }
    }

    /// The family of a name in profiles.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.word() == word)
    }

    /// Whether there is a line of models without a tier.
    #[must_use]
    pub const fn has_unnamed_line(self) -> bool {
        self.naming().unnamed
    }

    pub(super) const fn naming(self) -> Naming {
        let plain = Naming { leads: &["-"], order: Order::VersionFirst, unnamed: true, month_and_day: false };
        match self {
            Self::Gpt | Self::Glm => plain,
            Self::Gemini => Naming { unnamed: false, ..plain },
            Self::Claude => Naming { order: Order::TierFirst, unnamed: false, ..plain },
            Self::Minimax => Naming { leads: &["-m"], ..plain },
            Self::Mimo => Naming { leads: &["-v"], ..plain },
            Self::Deepseek => Naming { leads: &["-v"], month_and_day: true, ..plain },
            Self::Qwen => Naming { leads: &["-", ""], unnamed: false, month_and_day: true, ..plain },
        }
    }
}
