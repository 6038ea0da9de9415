//! What a role aims at on a ladder, and the rungs from there downward. Fixed policy, no setting.

use super::profile::{Group, Label, ModelRole, Profile, Size};

/// Where the walk of a role starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    /// What the role aims at.
    pub(super) label: Label,
    /// Whether the parent's own rung is the highest: an equal's judgement is asked for, no greater one's.
    from_own: bool,
    /// Whether nothing below the parent's rung will do.
    to_own: bool,
}

/// `own` is the parent's place on the ladder. The judgement of a parent that carries a date is not handed to a lesser
/// model as long as the parent itself runs.
pub(super) fn target(role: &str, profile: &Profile, own: usize, dated: bool) -> Option<Target> {
    let parent = profile.tiers.get(own)?.label;
    let reviews = role == "reviewer";
    let label = match (parent, role) {
        (Label::Size(_), "reviewer") => parent,
        (Label::Size(_), "debug") => Label::Size(Size::Medium),
        (Label::Size(_), "researcher" | "explore") => Label::Size(Size::Small),
        (Label::Size(size), _) => Label::Size(size.below()),
        (Label::Role(_), "reviewer") => Label::Role(ModelRole::Planner),
        (Label::Role(_), _) => Label::Role(ModelRole::Worker),
    };
    Some(Target { label, from_own: reviews && profile.group == Group::Size, to_own: reviews && dated })
}

impl Target {
    /// The rungs to look at, in their order.
    pub(super) fn rungs(self, profile: &Profile, own: usize) -> impl Iterator<Item = &str> {
        let rungs = profile.tiers.iter().enumerate();
        let rungs = rungs.filter(move |(place, tier)| {
            tier.label <= self.label && (!self.from_own || *place >= own) && (!self.to_own || *place <= own)
        });
        rungs.map(|(_, tier)| tier.name.as_str())
    }
}
