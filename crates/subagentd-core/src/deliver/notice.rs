//! The notice of a run's end, kept within its bound.

use std::path::Path;

use crate::life::{Reason, State};

use super::{NOTICE_BYTES, NOTICE_PATH_BYTES, Notice, NoticeKind, NoticeReference, Reference};

/// A title in a notice, in bytes (N4); the rest is cut off.
pub const NOTICE_TITLE_BYTES: usize = 120;
/// An agent's name in a notice, in bytes (N4); the rest is cut off.
pub const NOTICE_AGENT_BYTES: usize = 64;

/// What the store and the wire put around a notice: its number of up to 20 digits and the run's id.
const AROUND_BYTES: usize = r#""seq":18446744073709551615,"run":"01890a5d-ac96-774b-bcce-b302099a8057","#.len();

/// How a run ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// State of the run.
    pub state: State,
    /// Why.
    pub reason: Reason,
    /// The agent of the first child.
    pub agent: &'a str,
    /// The caller's title.
    pub title: Option<&'a str>,
    /// How many children it has.
    pub children: u32,
    /// Where the answer is.
    pub reference: Option<&'a Reference>,
    /// When it ended.
    pub at_ms: u64,
}

impl Notice {
    /// The notice of a run's end. With any number and run id, on the wire or stored, it has at most [`NOTICE_BYTES`]
    /// as JSON: a path above [`NOTICE_PATH_BYTES`] is left out; if the rest is still too large, the title is shortened,
    /// and if that is not enough the path is left out instead.
    #[must_use]
    pub fn ended(end: &Ended<'_>) -> Self {
        let mut notice = Self {
            kind: NoticeKind::Ended,
            state: end.state,
            reason: end.reason,
            agent: one_line(end.agent, NOTICE_AGENT_BYTES),
            title: None,
            children: (end.children > 1).then_some(end.children),
            reference: end.reference.map(within_bounds),
            at_ms: end.at_ms,
        };
        if !notice.fits() {
            notice.leave_path_out();
        }
        notice.title = end.title.map(|title| one_line(title, NOTICE_TITLE_BYTES)).filter(|title| !title.is_empty());
        while !notice.fits() && notice.shorten_title() {}
        notice
    }

    fn fits(&self) -> bool {
        // A path that is no text cannot be written at all.
        serde_json::to_string(self).is_ok_and(|text| text.len() + AROUND_BYTES <= NOTICE_BYTES)
    }

    fn leave_path_out(&mut self) {
        if let Some(reference) = &mut self.reference {
            reference.path = None;
        }
    }

    fn shorten_title(&mut self) -> bool {
        let cut = self.title.as_mut().is_some_and(|title| title.pop().is_some());
        self.title = self.title.take().filter(|title| !title.trim().is_empty());
        cut
    }
}

fn within_bounds(reference: &Reference) -> NoticeReference {
    let short = |path: &&Path| path.as_os_str().len() <= NOTICE_PATH_BYTES;
    NoticeReference {
        path: Some(reference.path.as_path()).filter(short).map(Path::to_path_buf),
        bytes: reference.bytes,
        lines: reference.lines,
        sha256: reference.sha256.clone(),
    }
}

/// Control characters grow sixfold in JSON and have no place in a line.
fn one_line(text: &str, most_bytes: usize) -> String {
    let line: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    let line = line.trim();
    let cut = line.floor_char_boundary(most_bytes);
    line.get(..cut).unwrap_or(line).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    const DIGEST: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn reference(path: &str) -> Reference {
        Reference { path: PathBuf::from(path), bytes: u64::MAX, lines: u64::MAX, sha256: DIGEST.to_owned() }
    }

    fn ended<'a>(agent: &'a str, title: Option<&'a str>, reference: Option<&'a Reference>) -> Ended<'a> {
        Ended {
            state: State::BudgetExhausted,
            reason: Reason::TimeoutFirstEvent,
            agent,
            title,
            children: 1,
            reference,
            at_ms: u64::MAX,
        }
    }

    /// The notice with the largest number, as the store writes it.
    fn written(notice: &Notice) -> String {
        let mut value = serde_json::to_value(notice).unwrap();
        let members = value.as_object_mut().unwrap();
        members.insert("seq".to_owned(), u64::MAX.into());
        members.insert("run".to_owned(), "01890a5d-ac96-774b-bcce-b302099a8057".into());
        value.to_string()
    }

    #[test]
    fn an_ordinary_notice_says_everything() {
        let reference = reference("/home/a/.local/state/subagentd/runs/r/result.md");
        let notice = Notice::ended(&ended("explore", Some("Find\nstale sockets "), Some(&reference)));
        assert_eq!(notice.title.as_deref(), Some("Find stale sockets"));
        assert_eq!(notice.children, None);
        assert_eq!(notice.reference.unwrap().path, Some(reference.path));
    }

    #[test]
    fn a_title_gives_way_before_a_path_does() {
        let path = format!("/{}", "p".repeat(NOTICE_PATH_BYTES - 1));
        let reference = reference(&path);
        let quotes = "\"".repeat(NOTICE_TITLE_BYTES);
        let agent = "\"".repeat(NOTICE_AGENT_BYTES);
        let notice = Notice::ended(&ended(&agent, Some(&quotes), Some(&reference)));
        let title = notice.title.clone().unwrap();
        assert!(title.len() < NOTICE_TITLE_BYTES && title.len() > 20, "{}", title.len());
        assert!(written(&notice).len() > NOTICE_BYTES - 3, "it is shortened no more than it must be");
        assert_eq!(notice.reference.unwrap().path, Some(reference.path));
    }

    #[test]
    fn a_path_that_cannot_fit_is_left_out_and_the_title_stays() {
        let path = format!("/{}", "\"".repeat(NOTICE_PATH_BYTES - 1));
        let reference = reference(&path);
        let notice = Notice::ended(&ended("explore", Some("Find it"), Some(&reference)));
        assert_eq!(notice.title.as_deref(), Some("Find it"));
        let told = notice.reference.unwrap();
        assert_eq!((told.path, told.bytes), (None, u64::MAX));
    }

    #[test]
    fn cuts_are_at_characters() {
        let title = format!("a{}", "ä".repeat(NOTICE_TITLE_BYTES));
        let notice = Notice::ended(&ended("explore", Some(&title), None));
        assert_eq!(notice.title.unwrap().len(), NOTICE_TITLE_BYTES - 1);
        let blank = Notice::ended(&ended("explore", Some(" \u{1b}\n"), None));
        assert_eq!(blank.title, None);
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_is_left_out() {
        use std::os::unix::ffi::OsStringExt;
        let mut reference = reference("");
        reference.path = PathBuf::from(std::ffi::OsString::from_vec(vec![b'/', 0xff]));
        let notice = Notice::ended(&ended("explore", Some("Find it"), Some(&reference)));
        assert_eq!(notice.reference.unwrap().path, None);
    }

    fn awkward(most: usize) -> impl Strategy<Value = String> {
        let character = prop_oneof![
            Just('"'),
            Just('\\'),
            Just('\u{1}'),
            Just('\u{7f}'),
            Just('a'),
            Just('ä'),
            Just('😀'),
            any::<char>()
        ];
        proptest::collection::vec(character, 0..most).prop_map(|characters| characters.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_notice_is_larger_than_its_bound(
            agent in awkward(100),
            title in proptest::option::of(awkward(200)),
            path in proptest::option::of(awkward(450)),
            reason in proptest::sample::select(Reason::ALL.to_vec()),
            state in proptest::sample::select(State::ALL.to_vec()),
            children in any::<u32>(),
            at_ms in any::<u64>(),
        ) {
            let reference = path.map(|path| reference(&path));
            let end = Ended { state, reason, agent: &agent, title: title.as_deref(), children, reference: reference.as_ref(), at_ms };
            let notice = Notice::ended(&end);
            let text = written(&notice);
            prop_assert!(text.len() <= NOTICE_BYTES, "{} bytes: {}", text.len(), text);
            prop_assert!(notice.agent.len() <= NOTICE_AGENT_BYTES);
            prop_assert!(notice.title.as_deref().is_none_or(|title| title.len() <= NOTICE_TITLE_BYTES));
            prop_assert!(!notice.agent.chars().chain(notice.title.iter().flat_map(|title| title.chars())).any(char::is_control));
        }
    }
}
