//! Cutting a window of bytes at whole characters.

/// The longest character, in bytes: a window of so many, begun at a character, holds a whole one.
pub const CHARACTER_BYTES: usize = 4;

/// The whole characters in a window of a valid UTF-8 text: how many bytes to skip at the front, and how many to keep
/// from there. What is cut off in front and behind belongs to the neighbouring windows. In bytes that are no UTF-8 it
/// cuts at most three bytes on each side.
#[must_use]
pub fn whole_characters(window: &[u8]) -> (usize, usize) {
    let skip = window.iter().take(CHARACTER_BYTES - 1).take_while(|byte| continues(**byte)).count();
    let kept = window.get(skip..).unwrap_or_default();
    let tail = kept.iter().rev().take(CHARACTER_BYTES).position(|byte| !continues(*byte));
    let unfinished = tail.map(|back| back + 1).filter(|have| {
        let lead = kept.get(kept.len() - have).copied();
        lead.is_some_and(|lead| character_bytes(lead) > *have)
    });
    (skip, kept.len() - unfinished.unwrap_or(0))
}

/// Where in a window the character begins that the byte `at` belongs to; `at` itself if it is outside. The window has
/// to reach three bytes back from it, or to the beginning of the text.
#[must_use]
pub fn character_start(window: &[u8], at: usize) -> usize {
    let upto = window.get(..=at).unwrap_or_default();
    let back = upto.iter().rev().take(CHARACTER_BYTES).position(|byte| !continues(*byte));
    at - back.unwrap_or(0)
}

const fn continues(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

const fn character_bytes(lead: u8) -> usize {
    match lead {
        0b1100_0000..=0b1101_1111 => 2,
        0b1110_0000..=0b1110_1111 => 3,
        0b1111_0000..=0b1111_0111 => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn windows_are_cut_at_whole_characters() {
        let text = "aä€😀".as_bytes();
        for (from, to, expected) in [
            (0, 10, (0, 10)),
            (0, 2, (0, 1)),
            (2, 3, (1, 0)),
            (2, 6, (1, 3)),
            (7, 10, (3, 0)),
            (6, 9, (0, 0)),
            (6, 10, (0, 4)),
            (5, 5, (0, 0)),
        ] {
            assert_eq!(whole_characters(&text[from..to]), expected, "{from}..{to}");
        }
    }

    #[test]
    fn a_place_inside_a_character_goes_to_its_start() {
        let text = "aä€😀".as_bytes();
        let starts: Vec<_> = (0..=text.len()).map(|at| character_start(text, at)).collect();
        assert_eq!(starts, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_window_is_text_and_loses_no_whole_character(text in "[a-cäß€😀\\n]{0,20}", from in 0_usize..80, len in 0_usize..80) {
            let bytes = text.as_bytes();
            let from = from.min(bytes.len());
            let to = (from + len).min(bytes.len());
            let (skip, kept) = whole_characters(&bytes[from..to]);
            let first = (from..=to).find(|at| text.is_char_boundary(*at)).unwrap_or(to);
            let last = (first..=to).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(first);
            prop_assert_eq!((from + skip, kept), (first, last - first));
        }

        #[test]
        fn bytes_that_are_no_text_lose_three_at_most(bytes in proptest::collection::vec(any::<u8>(), 0..12), at in 0_usize..14) {
            let (skip, kept) = whole_characters(&bytes);
            prop_assert!(skip < CHARACTER_BYTES && skip + kept <= bytes.len());
            prop_assert!(bytes.len() - skip - kept < CHARACTER_BYTES);
            prop_assert!(character_start(&bytes, at) <= at);
        }
    }
}
