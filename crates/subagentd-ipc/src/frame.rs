//! Where one document ends and the next begins.
//!
//! The first byte of a connection decides: `C` means `Content-Length` headers as in the language server protocol,
//! anything else means one document per line.

use std::io;
use std::ops::Range;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The head of a header frame, in bytes; a longer one closes the connection.
const HEAD_BYTES: usize = 4_096;
/// Room made for each read, in bytes.
const READ_BYTES: usize = 8_192;
/// An empty buffer larger than this, in bytes, is given back: most connections are idle after a large request.
const KEEP_BYTES: usize = 64 * 1024;

/// How documents are told apart on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One document per line, `\n` or `\r\n`.
    Lines,
    /// `Content-Length: N`, a blank line, N bytes.
    Headers,
}

impl Framing {
    /// Appends one document, framed, to what will be written.
    pub fn append(self, document: &str, out: &mut Vec<u8>) {
        match self {
            Self::Lines => {
                out.extend_from_slice(document.as_bytes());
                out.push(b'\n');
            }
            Self::Headers => {
                out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", document.len()).as_bytes());
                out.extend_from_slice(document.as_bytes());
            }
        }
    }
}

/// What the reader found.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A document, not yet looked at.
    Document(&'a [u8]),
    /// A line beyond the limit; it was read to its end and thrown away.
    Oversize,
}

/// Why a connection cannot be read any further.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The socket failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The input ended inside a header frame.
    #[error("the connection ended inside a frame")]
    Truncated,
    /// The head of a frame cannot be understood.
    #[error("the head of a frame has no usable Content-Length; send `Content-Length: N`, an empty line, N bytes")]
    Head,
    /// A header frame beyond the limit.
    #[error("a frame of {length} bytes is larger than the {limit} that are allowed")]
    TooLong {
        /// What its head announced.
        length: usize,
        /// What is allowed.
        limit: usize,
    },
}

/// Reads documents. Cancel-safe: everything read so far lives in the struct, so a `select!` may drop
/// [`FrameReader::next`] at any moment and call it again.
#[derive(Debug)]
pub struct FrameReader<R> {
    source: R,
    limit: usize,
    framing: Option<Framing>,
    buffer: Vec<u8>,
    /// Everything before this place was handed out.
    start: usize,
    /// Bytes after `start` that are known to hold no line end.
    scanned: usize,
    /// Inside a line that is too long.
    skipping: bool,
    /// Length of the frame whose head was read.
    body: Option<usize>,
    ended: bool,
}

enum Step {
    Document(Range<usize>),
    Oversize,
    Again,
    More,
    End,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// A reader that takes documents of up to `limit` bytes.
    pub const fn new(source: R, limit: usize) -> Self {
        Self {
            source,
            limit,
            framing: None,
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            skipping: false,
            body: None,
            ended: false,
        }
    }

    /// The framing of the connection, known from its first byte on.
    #[must_use]
    pub const fn framing(&self) -> Option<Framing> {
        self.framing
    }

    /// What it reads from.
    #[must_use]
    pub const fn source(&self) -> &R {
        &self.source
    }

    /// The next document; `None` at the end of the input.
    ///
    /// # Errors
    /// When the socket fails, or a header frame is cut short, too long or not understood. Nothing can be read after that.
    pub async fn next(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        loop {
            match self.step()? {
                Step::Document(range) => {
                    return Ok(Some(Frame::Document(self.buffer.get(range).unwrap_or_default())));
                }
                Step::Oversize => return Ok(Some(Frame::Oversize)),
                Step::Again => {}
                Step::More => self.fill().await?,
                Step::End => return Ok(None),
            }
        }
    }

    fn pending(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    fn step(&mut self) -> Result<Step, FrameError> {
        let framing = match (self.framing, self.pending().first()) {
            (Some(framing), _) => framing,
            (None, Some(b'C')) => Framing::Headers,
            (None, Some(_)) => Framing::Lines,
            (None, None) if self.ended => return Ok(Step::End),
            (None, None) => return Ok(Step::More),
        };
        self.framing = Some(framing);
        match framing {
            Framing::Lines => Ok(self.line()),
            Framing::Headers if self.body.is_some() => self.body(),
            Framing::Headers => self.head(),
        }
    }

    fn line(&mut self) -> Step {
        let unseen = self.pending().get(self.scanned..).unwrap_or_default();
        let Some(offset) = unseen.iter().position(|byte| *byte == b'\n') else {
            return self.unfinished_line();
        };
        let line = self.start..self.start + self.scanned + offset;
        self.start = line.end + 1;
        self.scanned = 0;
        if std::mem::take(&mut self.skipping) {
            return Step::Oversize;
        }
        self.finished_line(line)
    }

    fn finished_line(&self, mut line: Range<usize>) -> Step {
        let text = self.buffer.get(line.clone()).unwrap_or_default();
        if text.last() == Some(&b'\r') {
            line.end -= 1;
        }
        if line.len() > self.limit {
            Step::Oversize
        } else if text.iter().all(u8::is_ascii_whitespace) {
            Step::Again
        } else {
            Step::Document(line)
        }
    }

    fn unfinished_line(&mut self) -> Step {
        self.scanned = self.pending().len();
        // One byte more than the limit may still be the `\r` of a line that fits.
        if self.skipping || self.scanned > self.limit + 1 {
            self.skipping = true;
            self.start = self.buffer.len();
            self.scanned = 0;
        }
        if !self.ended {
            return Step::More;
        }
        if std::mem::take(&mut self.skipping) {
            return Step::Oversize;
        }
        let rest = self.start..self.buffer.len();
        self.start = rest.end;
        self.scanned = 0;
        match self.finished_line(rest) {
            Step::Again => Step::End,
            last => last,
        }
    }

    fn head(&mut self) -> Result<Step, FrameError> {
        let pending = self.pending();
        let Some(length) = head_length(pending) else {
            return match (pending.is_empty(), self.ended) {
                _ if pending.len() > HEAD_BYTES => Err(FrameError::Head),
                (true, true) => Ok(Step::End),
                (false, true) => Err(FrameError::Truncated),
                (_, false) => Ok(Step::More),
            };
        };
        let head = pending.get(..length).unwrap_or_default();
        let body = content_length(head).ok_or(FrameError::Head)?;
        if body > self.limit {
            return Err(FrameError::TooLong { length: body, limit: self.limit });
        }
        self.start += length;
        self.body = Some(body);
        Ok(Step::Again)
    }

    fn body(&mut self) -> Result<Step, FrameError> {
        let length = self.body.unwrap_or_default();
        if self.pending().len() < length {
            return if self.ended { Err(FrameError::Truncated) } else { Ok(Step::More) };
        }
        self.body = None;
        let document = self.start..self.start + length;
        self.start = document.end;
        Ok(if length == 0 { Step::Again } else { Step::Document(document) })
    }

    async fn fill(&mut self) -> io::Result<()> {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            if self.buffer.capacity() > KEEP_BYTES {
                self.buffer = Vec::new();
            }
        } else {
            self.buffer.drain(..self.start);
        }
        self.start = 0;
        self.buffer.reserve(READ_BYTES);
        // Cancel-safe because `read_buf` either puts bytes into the struct's buffer or has read none.
        if self.source.read_buf(&mut self.buffer).await? == 0 {
            self.ended = true;
        }
        Ok(())
    }
}

/// Length of the head including its empty line, once it is all there.
fn head_length(pending: &[u8]) -> Option<usize> {
    let mut line = 0;
    for (at, byte) in pending.iter().enumerate().take(HEAD_BYTES) {
        if *byte != b'\n' {
            continue;
        }
        let text = pending.get(line..at).unwrap_or_default();
        if text.is_empty() || text == b"\r" {
            return Some(at + 1);
        }
        line = at + 1;
    }
    None
}

fn content_length(head: &[u8]) -> Option<usize> {
    std::str::from_utf8(head)
        .ok()?
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
