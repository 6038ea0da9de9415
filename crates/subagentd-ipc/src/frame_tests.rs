use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use super::*;

/// Hands out the given pieces, one per read.
struct Pieces(VecDeque<Vec<u8>>);

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Some(mut piece) = self.0.pop_front() {
            let rest = piece.split_off(piece.len().min(out.remaining()));
            out.put_slice(&piece);
            if !rest.is_empty() {
                self.0.push_front(rest);
            }
        }
        Poll::Ready(Ok(()))
    }
}

async fn read_all(pieces: &[&[u8]], limit: usize) -> Vec<String> {
    let pieces = pieces.iter().filter(|p| !p.is_empty()).map(|p| p.to_vec()).collect();
    let mut reader = FrameReader::new(Pieces(pieces), limit);
    let mut seen = Vec::new();
    loop {
        seen.push(match reader.next().await {
            Ok(None) => return seen,
            Ok(Some(Frame::Oversize)) => "<oversize>".to_owned(),
            Ok(Some(Frame::Document(bytes))) => String::from_utf8(bytes.to_vec()).unwrap(),
            Err(error) => {
                seen.push(format!("<{error}>"));
                return seen;
            }
        });
    }
}

#[tokio::test]
async fn a_split_at_any_byte_changes_nothing() {
    let inputs: [(&[u8], &[&str]); 6] = [
        (b"{\"a\":1}\n{\"b\":2}\n", &["{\"a\":1}", "{\"b\":2}"]),
        (b"{\"a\":1}\r\n\r\n  \n{\"b\":2}", &["{\"a\":1}", "{\"b\":2}"]),
        (b"12345678\n123456789\nx\n", &["12345678", "<oversize>", "x"]),
        (b"12345678\r\n123456789\r\nx\r\n", &["12345678", "<oversize>", "x"]),
        (b"12345678901234567890", &["<oversize>"]),
        (
            b"Content-Length: 3\r\n\r\n{\n}content-type: x\ncontent-length:2\n\n[]Content-Length: 0\r\n\r\n",
            &["{\n}", "[]"],
        ),
    ];
    for (input, expected) in inputs {
        for cut in 0..=input.len() {
            let (head, tail) = input.split_at(cut);
            assert_eq!(read_all(&[head, tail], 8).await, expected, "{input:?} cut at {cut}");
        }
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(read_all(&bytes, 8).await, expected, "{input:?} byte by byte");
    }
}

#[tokio::test]
async fn a_bad_header_frame_ends_the_connection() {
    let long_head = [b"C: ".as_slice(), &[b'x'; HEAD_BYTES]].concat();
    let inputs: [(&[u8], &str); 6] = [
        (b"Content-Length: 9\r\n\r\n123456789", "<a frame of 9 bytes is larger"),
        (b"Content-Length: -1\r\n\r\n", "<the head of a frame"),
        (b"Content-Type: json\r\n\r\n{}", "<the head of a frame"),
        (b"Content-Length: 4\r\n\r\n{}", "<the connection ended inside"),
        (b"Content-Len", "<the connection ended inside"),
        (&long_head, "<the head of a frame"),
    ];
    for (input, expected) in inputs {
        let seen = read_all(&[input], 8).await;
        assert!(seen.len() == 1 && seen[0].starts_with(expected), "{input:?}: {seen:?}");
    }
}

#[tokio::test]
async fn a_dropped_read_loses_nothing() {
    let (mut near, far) = tokio::io::duplex(64);
    let mut reader = FrameReader::new(far, 64);
    tokio::io::AsyncWriteExt::write_all(&mut near, b"{\"half\":").await.unwrap();
    tokio::select! {
        biased;
        frame = reader.next() => panic!("half a document came out: {frame:?}"),
        () = std::future::ready(()) => {}
    }
    tokio::io::AsyncWriteExt::write_all(&mut near, b"1}\n").await.unwrap();
    assert_eq!(reader.next().await.unwrap(), Some(Frame::Document(b"{\"half\":1}")));
}

#[tokio::test]
async fn a_long_line_is_not_kept_in_memory() {
    let piece = vec![b'x'; 4_096];
    let pieces = std::iter::repeat_n(piece, 1_000).chain([b"\nok\n".to_vec()]).collect();
    let mut reader = FrameReader::new(Pieces(pieces), 10_000);
    assert_eq!(reader.next().await.unwrap(), Some(Frame::Oversize));
    assert!(reader.buffer.capacity() <= KEEP_BYTES, "{}", reader.buffer.capacity());
    assert_eq!(reader.next().await.unwrap(), Some(Frame::Document(b"ok")));
}

#[test]
fn answers_are_framed_like_requests() {
    let mut out = Vec::new();
    Framing::Lines.append("{}", &mut out);
    Framing::Headers.append("{\"ä\":1}", &mut out);
    assert_eq!(out, "{}\nContent-Length: 8\r\n\r\n{\"ä\":1}".as_bytes());
}
