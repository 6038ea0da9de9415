//! `run/result`: the reference of an answer, or a bounded slice of its text.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use subagentd_core::deliver::{CHARACTER_BYTES, Reference, character_start, whole_characters};
use subagentd_core::life::State;
use subagentd_ipc::connection::Connection;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::limits::TEXT_SLICE_BYTES;
use subagentd_proto::run::{ResultParams, ResultResponse, TextSlice};
use subagentd_runtime::files;

use super::{Api, convert, fault, run};

pub(super) async fn result(
    api: Arc<Api>,
    _connection: Arc<Connection>,
    params: ResultParams,
) -> Result<ResultResponse, Fault> {
    let id = run::find(&api, &params.run).await?;
    let row = run::row(&api, id).await?;
    let index = params.child.unwrap_or(0);
    let child = row.children.iter().find(|child| child.index == index);
    let child = child.ok_or_else(|| {
        Fault::new(Kind::NotFound, format!("run {id} has no child {index}; it has {}", row.children.len()))
    })?;
    let outcome = child.attempt.as_ref().and_then(|attempt| attempt.outcome.as_ref());
    let Some(answer) = outcome.and_then(|outcome| outcome.answer.clone()) else {
        let text = match child.reason {
            Some(_) if child.state == State::Paused => {
                format!("run {id} is paused and has no answer yet; `run/resume` lets it go on")
            }
            Some(reason) => format!("run {id} ended as {} ({reason}) without an answer", child.state),
            None => {
                format!("run {id} is {}; its answer is there once it has ended, `run/wait` waits for it", child.state)
            }
        };
        return Err(Fault::new(Kind::NoResult, text));
    };
    let text = match (params.offset, params.limit) {
        (None, None) => None,
        (offset, limit) => {
            let reference = answer.reference.clone();
            let limit = limit.unwrap_or(TEXT_SLICE_BYTES);
            let read = tokio::task::spawn_blocking(move || slice(&reference, offset.unwrap_or(0), limit));
            Some(read.await.map_err(|error| fault::internal(&error))??)
        }
    };
    Ok(ResultResponse {
        run: id.to_string(),
        child: index,
        state: convert::state(child.state),
        complete: answer.complete,
        reference: convert::reference(&answer.reference),
        text,
        notice: row.notice.map(convert::notice_ref),
    })
}

/// A slice of whole characters from the answer's file.
fn slice(reference: &Reference, offset: u64, limit: u32) -> Result<TextSlice, Fault> {
    let file = open(&reference.path).map_err(|error| {
        let path = reference.path.display();
        Fault::new(Kind::ResultGone, format!("the answer {path} cannot be read: {error}; it may have been removed"))
    })?;
    let limit = limit.clamp(CHARACTER_BYTES as u32, TEXT_SLICE_BYTES) as usize;
    let gone = |error: &io::Error| Fault::new(Kind::ResultGone, format!("the answer cannot be read: {error}"));
    let start = beginning(&file, offset.min(reference.bytes)).map_err(|error| gone(&error))?;
    let mut window = vec![0; limit];
    let read = read_at(&file, &mut window, start).map_err(|error| gone(&error))?;
    window.truncate(read);
    let (skip, length) = whole_characters(&window);
    let text = window.get(skip..skip + length).map(String::from_utf8_lossy).unwrap_or_default().into_owned();
    let end = start + (skip + length) as u64;
    Ok(TextSlice { offset: start, text, next_offset: (end < reference.bytes && length > 0).then_some(end) })
}

/// Where the character begins that `offset` lies in.
fn beginning(file: &File, offset: u64) -> io::Result<u64> {
    let from = offset.saturating_sub(CHARACTER_BYTES as u64 - 1);
    let mut window = [0; CHARACTER_BYTES];
    let read = read_at(file, &mut window, from)?;
    let at = usize::try_from(offset - from).unwrap_or_default();
    let window = window.get(..read).unwrap_or_default();
    Ok(from + character_start(window, at) as u64)
}

fn read_at(file: &File, window: &mut [u8], from: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = window.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, from + filled as u64) {
            Ok(0) => break,
            Ok(size) => filled += size,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The child may have replaced its own answer by anything: no links, regular files only.
fn open(path: &Path) -> io::Result<File> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("not a path of an answer"));
    };
    files::open_file_in(files::open_folder(folder)?, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(folder: &Path, text: &str) -> Reference {
        let path = folder.join("result.md");
        std::fs::write(&path, text).unwrap();
        Reference { path, bytes: text.len() as u64, lines: 1, sha256: String::new() }
    }

    #[test]
    fn slices_of_any_size_make_up_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let text = "aäß€😀z".repeat(9);
        let reference = reference(folder.path(), &text);
        for limit in 0..12 {
            let mut whole = String::new();
            let mut next = Some(0);
            while let Some(offset) = next {
                let part = slice(&reference, offset, limit).unwrap();
                assert_eq!(part.offset, offset, "limit {limit}");
                whole.push_str(&part.text);
                next = part.next_offset;
            }
            assert_eq!(whole, text, "limit {limit}");
        }
    }

    #[test]
    fn a_place_inside_a_character_is_moved_to_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let reference = reference(folder.path(), "a😀b");
        for offset in 1..5 {
            let part = slice(&reference, offset, 100).unwrap();
            assert_eq!((part.offset, part.text.as_str()), (1, "😀b"), "{offset}");
        }
        assert_eq!(slice(&reference, 99, 100).unwrap().text, "");
    }

    #[test]
    fn a_replaced_answer_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let reference = reference(folder.path(), "x");
        std::fs::write(folder.path().join("secret"), "secret").unwrap();
        std::fs::remove_file(&reference.path).unwrap();
        std::os::unix::fs::symlink("secret", &reference.path).unwrap();
        assert_eq!(slice(&reference, 0, 100).unwrap_err().kind, Kind::ResultGone);
    }
}
