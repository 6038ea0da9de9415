//! What happened to a child since its launch: attempts, what it was told, whether it can go on.

use subagentd_proto::run::{ChildView, Delivery, State, SteerView};

use super::fields::Fields;
use super::time::Clock;
use super::words;
use crate::failure::for_people;

/// Texts that a run was told which `show` prints, the newest; before them stands `…`.
const TOLD_LINES: usize = 10;

/// Nothing for a child that was launched once and left alone.
pub(super) fn add(child: &ChildView, fields: &mut Fields, clock: &Clock) {
    fields.add_some("attempt", (child.attempt > 1).then(|| attempt(child, clock)));
    fields.add_some("told", told(&child.steers, clock));
    fields.add_some("resume", no_resume(child));
}

/// The newest one; there are as many as its number says.
fn attempt(child: &ChildView, clock: &Clock) -> String {
    let begun = child.started_at_ms.map(|at| format!(", begun {}", clock.at(at))).unwrap_or_default();
    format!("{}{begun}", child.attempt)
}

/// What it was told, one text a line: number, when, and how far that came.
fn told(steers: &[SteerView], clock: &Clock) -> Option<String> {
    let first = steers.len().saturating_sub(TOLD_LINES);
    let line = |steer: &SteerView| {
        let when = if steer.delivery == Delivery::FollowUp { ", for its end" } else { "" };
        format!("{} at {}{when}: {}", steer.number, clock.at(steer.at_ms), words::receipt(steer.receipt))
    };
    let earlier = (first > 0).then(|| "…".to_owned());
    let lines: Vec<String> = earlier.into_iter().chain(steers.iter().skip(first).map(line)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Why it cannot go on, once it has settled: what works or waits does go on.
fn no_resume(child: &ChildView) -> Option<String> {
    let refusal = child.resume_refusal.as_deref().filter(|_| child.state.is_end() || child.state == State::Paused)?;
    Some(format!("refused: {}", words::line(&for_people(refusal))))
}

#[cfg(test)]
mod tests {
    use subagentd_proto::run::{Receipt, RunView};

    use super::*;
    use crate::render::samples;
    use crate::render::show::whole;

    fn with_history() -> RunView {
        let mut run = samples::failed();
        let child = &mut run.children[0];
        child.attempt = 2;
        child.resume_refusal = Some("it is at work; tell it what to do with `run/steer`".to_owned());
        let told = [
            (1, Delivery::Steer, Receipt::Delivered),
            (2, Delivery::FollowUp, Receipt::Undelivered),
            (4, Delivery::Steer, Receipt::Stored),
        ];
        child.steers = told
            .map(|(number, delivery, receipt)| SteerView { number, at_ms: samples::CREATED, delivery, receipt })
            .to_vec();
        run
    }

    #[test]
    fn show_tells_what_a_run_was_told_and_whether_it_can_go_on() {
        let text = whole(&with_history(), None, &samples::screen(), &samples::clock());
        assert!(
            text.contains(
                "
  attempt     2, begun 22:13
  told        1 at 22:13: heard
              2 at 22:13, for its end: it settled without hearing it
              4 at 22:13: stored, not heard yet
  resume      refused: it is at work; tell it what to do with `subagentd-cli
              steer RUN`
"
            ),
            "{text}"
        );
        let mut narrow = samples::screen();
        narrow.width = 40;
        let text = whole(&with_history(), None, &narrow, &samples::clock());
        assert!(
            text.contains(
                "
  told        1 at 22:13: heard
              2 at 22:13, for its end:
              it settled without hearing
              it
              4 at 22:13: stored, not
              heard yet
  resume      refused: it is at work;
              tell it what to do with
              `subagentd-cli steer RUN`
"
            ),
            "{text}"
        );
        let mut working = with_history();
        working.children[0].state = State::Running;
        working.children[0].intent = Some("pause".to_owned());
        let text = whole(&working, None, &samples::screen(), &samples::clock());
        assert!(!text.contains("refused"), "{text}");
        assert!(text.contains("\n  asked       to pause; it has not happened yet\n"), "{text}");
    }

    #[test]
    fn many_texts_are_cut_to_the_newest() {
        let steer = |number| SteerView { number, ..with_history().children[0].steers[0].clone() };
        let text = told(&(1..=32).map(steer).collect::<Vec<_>>(), &samples::clock()).unwrap();
        assert_eq!(text.lines().count(), TOLD_LINES + 1, "{text}");
        assert!(text.starts_with("…\n23 at") && text.contains("\n32 at"), "{text}");
        assert_eq!(told(&[], &samples::clock()), None);
    }
}
