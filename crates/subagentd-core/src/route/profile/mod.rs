//! Ladders: which tiers a family has, from the most capable down, and what each is good for. Data only: no version, no
//! id, no provider.

mod check;
mod fault;
mod layers;
#[cfg(test)]
mod tests;

pub use check::TIERS;
pub use fault::{Fault, PROFILE_FAULTS, Segment};
pub use layers::{Ladder, LadderLayer, Profiles};

/// The ladder of one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// What its labels mean.
    pub group: Group,
    /// Its tiers, most capable first.
    pub tiers: Vec<Tier>,
}

/// One rung.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tier {
    /// Its name in ids, in lower case; empty for the line without a tier.
    pub name: String,
    /// What it is good for.
    pub label: Label,
}

/// What the labels of a ladder mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Sizes.
    Size,
    /// Planners and workers.
    PlannerWorker,
}

/// What a rung is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// How big it is.
    Size(Size),
    /// What it does.
    Role(ModelRole),
}

/// How big a model is, from the smallest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// S.
    Small,
    /// M.
    Medium,
    /// L.
    Large,
    /// XL.
    ExtraLarge,
}

/// What a model does, from the lesser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModelRole {
    /// It carries out.
    Worker,
    /// It plans and judges.
    Planner,
}

impl Group {
    /// Both groups.
    pub const ALL: [Self; 2] = [Self::Size, Self::PlannerWorker];

    /// The word in profiles.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::PlannerWorker => "planner-worker",
        }
    }

    /// The key of its labels.
    const fn key(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::PlannerWorker => "role",
        }
    }

    /// Its labels, the greatest first.
    fn labels(self) -> impl Iterator<Item = Label> {
        let all = Label::ALL.into_iter();
        all.filter(move |label| matches!(label, Label::Size(_)) == (self == Self::Size))
    }
}

impl Size {
    /// One size smaller; the smallest stays.
    #[must_use]
    pub const fn below(self) -> Self {
        match self {
            Self::ExtraLarge => Self::Large,
            Self::Large => Self::Medium,
            Self::Medium | Self::Small => Self::Small,
        }
    }
}

impl Label {
    /// All labels, in each group the greatest first.
    const ALL: [Self; 6] = [
        Self::Size(Size::ExtraLarge),
        Self::Size(Size::Large),
        Self::Size(Size::Medium),
        Self::Size(Size::Small),
        Self::Role(ModelRole::Planner),
        Self::Role(ModelRole::Worker),
    ];

    /// The word in profiles.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Size(Size::Small) => "S",
            Self::Size(Size::Medium) => "M",
            Self::Size(Size::Large) => "L",
            Self::Size(Size::ExtraLarge) => "XL",
            Self::Role(ModelRole::Worker) => "worker",
            Self::Role(ModelRole::Planner) => "planner",
        }
    }
}
