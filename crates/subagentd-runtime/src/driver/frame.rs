//! Lines out of bytes. Records end at LF only: U+2028 and its like are ordinary text inside them.

use std::io::BufRead as _;

/// Bytes of one line. A longer line is not kept: it is drained to its end and counted as noise.
pub const LINE_BYTES: usize = 64 * 1024 * 1024;
/// Room kept for the next line that arrives in pieces; more is given back, so that one big line does not stay in memory.
const KEPT_BYTES: usize = 256 * 1024;

/// What lies between two line ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    /// A line without LF and CR.
    Line(&'a [u8]),
    /// A line of so many bytes, more than the limit.
    TooLong(usize),
}

pub(super) struct Framer {
    partial: Vec<u8>,
    /// Bytes already thrown away of a line that is too long; 0 while the line may still fit.
    drained: usize,
    limit: usize,
}

impl Framer {
    pub(super) const fn new(limit: usize) -> Self {
        Self { partial: Vec::new(), drained: 0, limit }
    }

    /// Cuts `bytes`, which may begin and end anywhere, and hands every finished line to `each`.
    pub(super) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Frame<'_>)) {
        while let Some((piece, rest)) = split_line(bytes) {
            self.finish(piece, &mut each);
            bytes = rest;
        }
        self.keep(bytes);
    }

    /// Hands over what stands after the last line end. A record cut in the middle cannot be mistaken for a whole one,
    /// because it lacks its closing brace.
    pub(super) fn end(&mut self, mut each: impl FnMut(Frame<'_>)) {
        if self.drained > 0 || !self.partial.is_empty() {
            self.finish(&[], &mut each);
        }
    }

    fn finish(&mut self, piece: &[u8], each: &mut impl FnMut(Frame<'_>)) {
        let length = self.drained + self.partial.len() + piece.len();
        if length > self.limit {
            each(Frame::TooLong(length));
        } else if self.partial.is_empty() {
            each(Frame::Line(without_cr(piece)));
        } else {
            self.partial.extend_from_slice(piece);
            each(Frame::Line(without_cr(&self.partial)));
        }
        self.drained = 0;
        self.partial.clear();
        self.partial.shrink_to(KEPT_BYTES);
    }

    fn keep(&mut self, piece: &[u8]) {
        let length = self.drained + self.partial.len() + piece.len();
        if length > self.limit {
            self.drained = length;
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(piece);
        }
    }
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = bytes;
    // The standard library's fast search for a byte, reached through the reader that every slice is.
    let taken = rest.skip_until(b'\n').ok()?;
    Some((bytes.get(..taken)?.strip_suffix(b"\n")?, rest))
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(limit: usize, pieces: &[&[u8]]) -> Vec<String> {
        let mut framer = Framer::new(limit);
        let mut seen = Vec::new();
        let mut each = |frame: Frame<'_>| {
            seen.push(match frame {
                Frame::Line(line) => String::from_utf8_lossy(line).into_owned(),
                Frame::TooLong(bytes) => format!("too long: {bytes}"),
            });
        };
        for piece in pieces {
            framer.feed(piece, &mut each);
        }
        framer.end(&mut each);
        seen
    }

    #[test]
    fn only_lf_ends_a_line() {
        let text = "a\u{2028}b\u{2029}c\u{85}d\r\ne\rf\n\ng";
        assert_eq!(cut(100, &[text.as_bytes()]), ["a\u{2028}b\u{2029}c\u{85}d", "e\rf", "", "g"]);
        let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(cut(100, &single), cut(100, &[text.as_bytes()]));
    }

    #[test]
    fn a_line_beyond_the_limit_is_drained_and_the_next_one_is_whole() {
        let text = b"12345\n123456\n12\n1234567890";
        let expected = ["12345", "too long: 6", "12", "too long: 10"];
        assert_eq!(cut(5, &[text]), expected);
        for at in 0..=text.len() {
            let (head, tail) = text.split_at(at);
            assert_eq!(cut(5, &[head, tail]), expected, "split at {at}");
        }
        let single: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(cut(5, &single), expected);
    }

    #[test]
    fn a_big_line_does_not_stay_in_memory() {
        let mut framer = Framer::new(LINE_BYTES);
        framer.feed(&vec![b'x'; 8 * KEPT_BYTES], |_| {});
        framer.feed(b"\n", |_| {});
        assert!(framer.partial.capacity() <= KEPT_BYTES, "{}", framer.partial.capacity());
    }
}
