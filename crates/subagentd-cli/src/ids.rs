//! Runs' ids as people name them: by as many digits of their ends as it takes.

use crate::render::words;

/// Length of a whole id.
const WHOLE: usize = 36;
/// Hex digits of a whole id.
const DIGITS: usize = 32;

/// Whole ids in a text, cut to endings that tell them apart. Those in a path stay.
pub(crate) fn shortened(text: &str) -> String {
    let found = found(text);
    let digits = digits(&found);
    found.iter().fold(text.to_owned(), |text, id| replaced(&text, id, &ending(id, digits)))
}

fn replaced(text: &str, id: &str, ending: &str) -> String {
    let mut parts = text.split(id);
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let in_path = told.ends_with('/') || part.starts_with('/');
        told.push_str(if in_path { id } else { ending });
        told.push_str(part);
    }
    told
}

/// Whether a run's name may be the beginning of `id`, which is no name.
pub(crate) fn begins(id: &str, name: &str) -> bool {
    let name = bare(name);
    name.len() < DIGITS && bare(id).starts_with(&name)
}

fn found(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_hexdigit() && c != '-');
    let mut ids: Vec<String> =
        words.filter(|word| word.len() == WHOLE && bare(word).len() == DIGITS).map(str::to_owned).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// How many digits it takes to tell these apart, at least those that lists show.
fn digits(ids: &[String]) -> usize {
    let differ = |digits: &usize| {
        let mut endings: Vec<String> = ids.iter().map(|id| ending(id, *digits)).collect();
        endings.sort_unstable();
        endings.dedup();
        endings.len() == ids.len()
    };
    (words::ENDING..DIGITS).find(differ).unwrap_or(DIGITS)
}

fn ending(id: &str, digits: usize) -> String {
    let bare = bare(id);
    bare.len().checked_sub(digits).and_then(|at| bare.get(at..)).unwrap_or(&bare).to_owned()
}

fn bare(id: &str) -> String {
    id.chars().filter(|c| *c != '-').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_to_what_tells_them_apart() {
        let one = "run 01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d is at work";
        assert_eq!(shortened(one), "run 1a2b3c4d is at work");
        let two = "several: 01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d, 01998c1e-7a4b-7c3d-9e1f-00501a2b3c4d; more";
        assert_eq!(shortened(two), "several: 001a2b3c4d, 501a2b3c4d; more");
        let path = "/runs/01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d/result.md and 1a2b3c4d";
        assert_eq!(shortened(path), path);
    }

    #[test]
    fn a_beginning_is_known_with_and_without_dashes() {
        let id = "01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d";
        assert!(begins(id, "01998c1e7a") && begins(id, "01998c1e-7a"));
        assert!(!begins(id, "1a2b3c4d") && !begins(id, id));
    }
}
