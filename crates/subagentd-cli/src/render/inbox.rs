//! The screen of `inbox`.

use subagentd_proto::inbox::{ListResponse, Notice};
use subagentd_proto::run::State;

use super::table::{Columns, plain, state};
use super::time::Clock;
use super::words;
use crate::output::Screen;

/// Notices, oldest first, one a line.
pub(crate) fn inbox(response: &ListResponse, screen: &Screen, clock: &Clock) -> String {
    let mut columns = Columns::new(screen, &["NO", "RUN", "STATE", "AGENT", "AT", "ANSWER", "WHAT"], &[3, 4, 5]);
    for notice in &response.notices {
        columns.row(vec![
            plain(&notice.seq.to_string()),
            plain(words::ending(&notice.run)),
            state(notice.state, None),
            plain(&notice.agent),
            plain(&clock.at_short(notice.at_ms)),
            plain(&answer(notice)),
            plain(&what(notice)),
        ]);
    }
    columns.text()
}

fn answer(notice: &Notice) -> String {
    notice.reference.as_ref().map_or_else(|| "none".to_owned(), |reference| words::size(reference.bytes))
}

fn what(notice: &Notice) -> String {
    let mut parts = Vec::new();
    // Daemons may add kinds; the word is the best that an older client can show.
    if notice.kind != "ended" {
        parts.push(notice.kind.clone());
    }
    if notice.state != State::Succeeded && notice.reason != words::state(notice.state) {
        parts.push(notice.reason.clone());
    }
    if let Some(children) = notice.children {
        parts.push(words::count(u64::from(children), "child", "children"));
    }
    if let Some(title) = &notice.title {
        parts.push(title.clone());
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    #[test]
    fn notices_stand_one_a_line() {
        let response = ListResponse {
            notices: vec![samples::notice(9, State::Succeeded), samples::notice(12, State::TimedOut)],
            next_after: None,
        };
        assert_eq!(
            inbox(&response, &samples::screen(), &samples::clock()),
            "\
NO  RUN       STATE      AGENT    AT     ANSWER  WHAT
9   1a2b3c4d  succeeded  explore  22:15  2.1 KB  stale sockets
12  1a2b3c4d  timed_out  explore  22:15  none    timeout.idle: stale sockets
"
        );
    }
}
