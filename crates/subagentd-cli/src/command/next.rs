//! What fits next for a run as it stands: the same after `show`, `wait` and a refusal.

use subagentd_proto::method::RunGet;
use subagentd_proto::run::{ChildView, GetParams, RunView, State};

use crate::connection::Daemon;
use crate::failure::{Failure, Problem};
use crate::hints::Hints;
use crate::interrupt;
use crate::render::words;

/// After everything was shown. Only the run's own owner is led to `resume`: others would take it away.
pub(super) fn steps(run: &RunView, owner: &str) -> Hints {
    let name = words::ending(&run.run);
    match run.state {
        state if state.is_end() => resuming(reading(run), run, owner, |_| true),
        State::Paused => resuming(Hints::default(), run, owner, |_| true).and(format_args!("cancel {name}"), "end it"),
        // It hears nothing more.
        _ if run.children.iter().any(|child| child.intent.as_deref() == Some("cancel")) => waiting(name),
        _ => waiting(name)
            .and(format_args!("steer {name} \"TEXT\""), "tell it something")
            .and(format_args!("cancel {name}"), "end it"),
    }
}

/// After a wait, which shows little. What ended well or on purpose is not asked to go on. `read`: the answer was shown.
pub(super) fn after_wait(run: &RunView, owner: &str, read: bool) -> Hints {
    let name = words::ending(&run.run);
    match run.state {
        State::Paused => steps(run, owner),
        state if state.is_end() => {
            let hints = if read { Hints::default() } else { reading(run) };
            let hints = hints.and(format_args!("show {name}"), "what was decided and why");
            resuming(hints, run, owner, |state| !matches!(state, State::Succeeded | State::Cancelled))
        }
        _ => interrupt::hints(name),
    }
}

/// While it works.
pub(super) fn waiting(name: &str) -> Hints {
    Hints::default().and(format_args!("wait {name}"), "wait for its end")
}

fn reading(run: &RunView) -> Hints {
    let answered = run.children.iter().any(|child| child.reference.is_some());
    let hints = Hints::default();
    if answered { hints.and(format_args!("result {}", words::ending(&run.run)), "read the answer") } else { hints }
}

/// The first child that can go on and stands where it `fits`.
fn resuming(hints: Hints, run: &RunView, owner: &str, fits: impl Fn(State) -> bool) -> Hints {
    let settled = |child: &&ChildView| child.state == State::Paused || child.state.is_end();
    let mut children = run.children.iter().filter(settled);
    match children.find(|child| child.resume_refusal.is_none() && fits(child.state)) {
        Some(child) if run.owner == owner => {
            let (text, what) = going_on(child.state);
            hints.and(format_args!("resume {}{text}", named(run, child)), what)
        }
        _ => hints,
    }
}

fn going_on(state: State) -> (&'static str, &'static str) {
    match state {
        State::Paused => ("", "let it go on"),
        State::Interrupted => ("", "let it go on where it was"),
        State::Succeeded => (" \"TEXT\"", "ask more of it"),
        _ => (" \"TEXT\"", "tell it how to go on"),
    }
}

/// The run, and the child where there are several.
fn named(run: &RunView, child: &ChildView) -> String {
    let name = words::ending(&run.run);
    if run.children.len() > 1 { format!("{name} --child {}", child.index) } else { name.to_owned() }
}

/// A refusal of the daemon, with commands that fit the run as it stands now, if `hints` knows some.
pub(super) async fn refused(
    failure: Failure,
    daemon: &Daemon<'_>,
    run: &str,
    hints: impl Fn(&Problem, &RunView) -> Option<Hints>,
) -> Failure {
    let Failure::Problem(problem) = failure else { return failure };
    if !["wrongState", "invalidParams", "refused"].contains(&problem.kind.as_str()) {
        return Failure::Problem(problem);
    }
    // Without it the refusal is told as it is.
    let Ok(view) = daemon.call::<RunGet>(GetParams { run: run.to_owned() }).await else {
        return Failure::Problem(problem);
    };
    match hints(&problem, &view) {
        Some(hints) => problem.next(hints).run(view.run).into(),
        None => problem.run(view.run).into(),
    }
}

/// A call whose reply got lost may have been done: `what` says so.
pub(super) fn unanswered(failure: Failure, run: &str, what: &str) -> Failure {
    match failure {
        Failure::Problem(mut problem) if problem.is_lost() => {
            problem.message.push(' ');
            problem.message.push_str(what);
            let hints = Hints::default().and(format_args!("show {}", words::ending(run)), "see how it stands");
            problem.next(hints).run(run).into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    const OWNER: &str = "cli:ada";

    fn standing(state: State, refusal: Option<&str>) -> RunView {
        let mut run = samples::failed();
        run.state = state;
        for child in &mut run.children {
            child.state = state;
            child.resume_refusal = refusal.map(str::to_owned);
        }
        run
    }

    #[test]
    fn every_state_leads_somewhere() {
        let table = [
            (State::Queued, vec!["wait", "steer", "cancel"], vec!["wait", "cancel"]),
            (State::Running, vec!["wait", "steer", "cancel"], vec!["wait", "cancel"]),
            (State::Paused, vec!["resume", "cancel"], vec!["resume", "cancel"]),
            (State::Succeeded, vec!["resume"], vec!["show"]),
            (State::Cancelled, vec!["resume"], vec!["show"]),
            (State::Failed, vec!["resume"], vec!["show", "resume"]),
            (State::TimedOut, vec!["resume"], vec!["show", "resume"]),
            (State::Interrupted, vec!["resume"], vec!["show", "resume"]),
        ];
        for (state, shown, waited) in table {
            let run = standing(state, None);
            assert_eq!(commands(&steps(&run, OWNER)), shown, "{state:?}");
            assert_eq!(commands(&after_wait(&run, OWNER, false)), waited, "{state:?}");
        }
    }

    #[test]
    fn what_cannot_go_on_or_is_another_owners_is_not_resumed() {
        let refused = standing(State::Failed, Some("it ended before it had a conversation; launch it anew"));
        assert_eq!(commands(&steps(&refused, OWNER)), [""; 0]);
        assert_eq!(commands(&after_wait(&refused, OWNER, false)), ["show"]);
        assert_eq!(commands(&steps(&standing(State::Paused, None), "pi:other")), ["cancel"]);
    }

    #[test]
    fn what_is_being_cancelled_is_only_waited_for() {
        let mut run = standing(State::Running, None);
        run.children[0].intent = Some("cancel".to_owned());
        assert_eq!(commands(&steps(&run, OWNER)), ["wait"]);
        run.children[0].intent = Some("pause".to_owned());
        assert_eq!(commands(&steps(&run, OWNER)), ["wait", "steer", "cancel"]);
    }

    #[test]
    fn what_is_explained_fits_80_columns() {
        for state in [State::Running, State::Paused, State::Succeeded, State::Failed, State::Interrupted] {
            let mut run = standing(state, None);
            run.children[0].reference = Some(samples::reference());
            for hints in [steps(&run, OWNER), after_wait(&run, OWNER, false)] {
                assert!(hints.text(80).contains("   "), "{}", hints.text(80));
            }
        }
        assert_eq!(
            after_wait(&standing(State::Failed, None), OWNER, false).text(80),
            "\
Next: subagentd-cli show 1a2b3c4d            what was decided and why
      subagentd-cli resume 1a2b3c4d \"TEXT\"   tell it how to go on"
        );
    }

    #[test]
    fn one_child_of_several_is_named() {
        let mut run = standing(State::Interrupted, None);
        let mut second = run.children[0].clone();
        run.children[0].state = State::Succeeded;
        run.children[0].resume_refusal = Some("no".to_owned());
        second.index = 1;
        run.children.push(second);
        assert_eq!(steps(&run, OWNER).text(40), "Next: subagentd-cli resume 1a2b3c4d --child 1");
    }

    /// The first word of each hint.
    fn commands(hints: &Hints) -> Vec<String> {
        let text = hints.text(40);
        let command =
            |line: &str| line.split("subagentd-cli ").nth(1).and_then(|rest| rest.split(' ').next()).map(str::to_owned);
        text.lines().filter_map(command).collect()
    }
}
