//! What a misspelled name was meant to be.

/// A wrong name further away than so many edits is not taken for a slip.
const NEAR_EDITS: usize = 2;

pub(super) fn nearest(asked: &str, names: &[String]) -> Option<String> {
    let asked = asked.to_lowercase();
    let measured = names.iter().map(|name| (edits(&asked, name), name));
    // Two edits turn any word of two letters into any other.
    let near = measured.filter(|(edits, name)| *edits <= NEAR_EDITS && *edits * 2 < name.len());
    near.min().map(|(_, name)| name.clone())
}

/// Letters to insert, remove or replace to get from one word to the other.
pub(crate) fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (done, left) in from.chars().enumerate() {
        let mut diagonal = done;
        let mut last = done + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(to.chars()) {
            let replaced = diagonal + usize::from(left != right);
            diagonal = *cell;
            last = replaced.min(diagonal + 1).min(last + 1);
            *cell = last;
        }
        if let Some(cell) = row.first_mut() {
            *cell = done + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (from, to, count) in [("", "abc", 3), ("kitten", "sitting", 3), ("abc", "abc", 0), ("ab", "ba", 2)] {
            assert_eq!(edits(from, to), count, "{from} → {to}");
            assert_eq!(edits(to, from), count, "{to} → {from}");
        }
    }
}
