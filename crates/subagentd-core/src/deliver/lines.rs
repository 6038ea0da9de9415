//! How large a text is: lines and sizes as references tell them (G11).

/// Counts lines of a text that comes in pieces: those ended by LF, CRLF or CR, and an unfinished last one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCounter {
    ended: u64,
    unfinished: bool,
    after_return: bool,
}

impl LineCounter {
    /// Takes the next piece. Pieces may end anywhere, also between CR and LF.
    pub fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.ended += 1;
                    self.unfinished = false;
                    self.after_return = *byte == b'\r';
                }
                _ => {
                    self.unfinished = true;
                    self.after_return = false;
                }
            }
        }
    }

    /// Lines of everything taken so far.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.ended + self.unfinished as u64
    }
}

/// Lines of a whole text, as [`LineCounter`] counts them.
#[must_use]
pub fn count_lines(bytes: &[u8]) -> u64 {
    let mut counter = LineCounter::default();
    counter.push(bytes);
    counter.lines()
}

const UNIT: u128 = 1_024;

/// A size for people: bytes under 1024, else KB or MB of 1024 with one decimal.
#[must_use]
pub fn size_text(bytes: u64) -> String {
    let bytes = u128::from(bytes);
    if bytes < UNIT {
        return format!("{bytes} B");
    }
    let (unit, name) = if bytes < UNIT * UNIT { (UNIT, "KB") } else { (UNIT * UNIT, "MB") };
    // Halves go up; a float would send some of them to the even neighbour.
    let tenths = (bytes * 10 + unit / 2) / unit;
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_ended_by_any_of_three_and_the_last_needs_no_end() {
        for (text, lines) in [
            ("", 0),
            ("a", 1),
            ("a\n", 1),
            ("a\nb", 2),
            ("a\r\nb\r\n", 2),
            ("a\rb", 2),
            ("\r", 1),
            ("\r\r\n\n", 3),
            ("\n\r", 2),
            ("ä\u{2028}ö", 1),
        ] {
            assert_eq!(count_lines(text.as_bytes()), lines, "{text:?}");
        }
    }

    #[test]
    fn sizes_have_one_decimal_from_a_kilobyte_on() {
        for (bytes, text) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.0 KB"),
            (1_280, "1.3 KB"),
            (1_586, "1.5 KB"),
            (1_048_575, "1024.0 KB"),
            (1_048_576, "1.0 MB"),
            (5_767_168, "5.5 MB"),
            (3 * 1_024 * 1_048_576, "3072.0 MB"),
            (u64::MAX, "17592186044416.0 MB"),
        ] {
            assert_eq!(size_text(bytes), text, "{bytes}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pieces_count_as_the_whole(text in "[a\r\n]{0,40}", cuts in proptest::collection::vec(0_usize..41, 0..6)) {
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            cuts.push(text.len());
            let mut counter = LineCounter::default();
            let mut from = 0;
            for cut in cuts {
                counter.push(&text.as_bytes()[from..cut]);
                from = cut;
            }
            let plain = text.replace("\r\n", "\n").replace('\r', "\n");
            let expected = plain.split_inclusive('\n').count() as u64;
            prop_assert_eq!((counter.lines(), count_lines(text.as_bytes())), (expected, expected));
        }
    }
}
