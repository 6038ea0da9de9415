//! Choices from a seed: the same seed makes the same choices, whatever the machine does in between.

/// A small generator (SplitMix64). Each actor has one of its own, so that their speeds do not mix their choices.
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The generator of one actor.
    pub(super) fn of(seed: u64, actor: u64) -> Self {
        let mut dice = Self(seed ^ actor.wrapping_mul(0xA24B_AED4_963E_E407));
        dice.next();
        dice
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `bound`, without it; 0 for an empty range.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next() % bound }
    }

    /// From `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A place in a list of that length.
    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself_and_actors_differ() {
        let roll = |seed, actor| {
            let mut dice = Dice::of(seed, actor);
            (0..8).map(|_| dice.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(roll(7, 1), roll(7, 1));
        assert_ne!(roll(7, 1), roll(7, 2));
        assert_ne!(roll(7, 1), roll(8, 1));
    }

    #[test]
    fn bounds_are_kept() {
        let mut dice = Dice::new(1);
        for _ in 0..1000 {
            assert!((3..=5).contains(&dice.between(3, 5)));
            assert!(dice.below(4) < 4);
        }
        assert_eq!(dice.below(0), 0);
        assert!(!dice.chance(0) && dice.chance(100));
    }
}
