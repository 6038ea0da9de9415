//! The first and the last screen of a run: that it was accepted, and where it ended.

use subagentd_proto::run::{ChildView, Decision, LaunchResponse, ResumeResponse, RunView, State};

use super::fields::Fields;
use super::time::Clock;
use super::{codes, fit, words};
use crate::output::Screen;

/// The first line about a launch.
pub(crate) fn accepted(reply: &LaunchResponse, agent: &str) -> String {
    let name = words::ending(&reply.run);
    if reply.repeated {
        format!("Run {name} was there already: the key names it ({}).", words::state(reply.state))
    } else {
        format!("Run {name} accepted: {}.", words::line(agent))
    }
}

/// What `run --detach` prints.
pub(crate) fn detached(reply: &LaunchResponse, agent: &str, screen: &Screen, clock: &Clock) -> String {
    let mut fields = Fields::default();
    let decisions = &reply.decisions;
    let workspace = Some(decisions.workspace.as_str());
    fields.add_some("queue", reply.waits.as_ref().map(|waits| words::waits(waits, workspace, clock)));
    fields.add("runtime", short(&decisions.runtime));
    fields.add("model", model(&decisions.model.value, &decisions.thinking.value));
    fields.add_some("remarks", codes::remarks(&reply.remarks));
    format!("{}\n{}", accepted(reply, agent), fields.text(2, screen))
}

/// The first line about a resume.
pub(crate) fn goes_on(reply: &ResumeResponse) -> String {
    format!("Run {} goes on: attempt {}.", words::ending(&reply.run), reply.attempt)
}

/// What `resume --detach` prints.
pub(crate) fn resumed(reply: &ResumeResponse, screen: &Screen, clock: &Clock) -> String {
    let mut fields = Fields::default();
    fields.add_some("queue", reply.waits.as_ref().map(|waits| words::waits(waits, None, clock)));
    fields.add_some("remarks", codes::remarks(&reply.remarks));
    format!("{}\n{}", goes_on(reply), fields.text(2, screen))
}

/// The block that a waiting `run` or `wait` ends with.
pub(crate) fn outcome(run: &RunView, screen: &Screen, clock: &Clock) -> String {
    let mut text = headline(run, clock);
    for child in &run.children {
        if run.children.len() > 1 {
            text.push_str(&child_line(child, clock));
        }
        let mut fields = Fields::default();
        cause(child, &mut fields, clock);
        fields.add("runtime", short(&child.decisions.runtime));
        fields.add("model", used_model(child));
        fields.add("tools", used_tools(child));
        missing(child, &mut fields);
        if child.state.is_end() && !matches!(child.state, State::Succeeded | State::Cancelled) {
            logs(child, &mut fields);
        }
        text.push_str(&fields.text(2, screen));
        text.push_str(&answer(child, screen));
    }
    text
}

/// `Run 1a2b3c4d succeeded: explore, 2m 3s`.
pub(super) fn headline(run: &RunView, clock: &Clock) -> String {
    let agent = run.children.first().map_or("", |child| child.agent.as_str());
    let others = match run.children.len() {
        0 | 1 => String::new(),
        several => format!(" and {} more", several - 1),
    };
    let time = match run.started_at_ms {
        Some(start) => clock.between(start, run.ended_at_ms.or_else(|| paused_at(run))),
        None if run.state.is_end() => "it never started".to_owned(),
        None => format!("for {}", clock.between(run.created_at_ms, None)),
    };
    let intent = run.children.iter().find_map(|child| child.intent.as_deref());
    let state = words::standing(run.state, intent);
    format!("Run {} {state}: {}{others}, {time}\n", words::ending(&run.run), words::line(agent))
}

/// When a paused run settled: it takes no more time.
fn paused_at(run: &RunView) -> Option<u64> {
    run.children.iter().filter_map(|child| child.ended_at_ms).max().filter(|_| run.state == State::Paused)
}

pub(super) fn child_line(child: &ChildView, clock: &Clock) -> String {
    let time =
        child.started_at_ms.map(|start| format!(", {}", clock.between(start, child.ended_at_ms))).unwrap_or_default();
    let state = words::standing(child.state, child.intent.as_deref());
    format!("Child {}: {} {state}{time}\n", child.index, words::line(&child.agent))
}

/// Why it stands where it stands.
pub(super) fn cause(child: &ChildView, fields: &mut Fields, clock: &Clock) {
    if child.state != State::Succeeded {
        fields.add_some("reason", codes::reason(child));
    }
    fields.add_some("error", child.error.as_deref().map(words::line));
    fields.add_some("asked", child.intent.as_deref().map(asked));
    let workspace = Some(child.decisions.workspace.as_str());
    fields.add_some("queue", child.waits.as_ref().map(|waits| words::waits(waits, workspace, clock)));
    fields.add_some("remarks", codes::remarks(&child.remarks));
}

/// What it does not do yet.
fn asked(intent: &str) -> String {
    format!("to {}; it has not happened yet", words::line(intent))
}

/// The reference line, marked when the answer is not whole.
pub(super) fn answer(child: &ChildView, screen: &Screen) -> String {
    let wrapped = |told: &str| fit::wrap(told, screen.width.into()).join("\n") + "\n";
    let nothing_done = words::nothing_done(child).map(wrapped).unwrap_or_default();
    let Some(reference) = &child.reference else {
        let none = if child.state.is_end() { "No answer was stored.\n" } else { "" };
        return format!("{nothing_done}{none}");
    };
    let mark = if child.answer_complete == Some(false) { "Not finished. " } else { "" };
    format!("{nothing_done}{mark}{}\n", words::reference(reference))
}

/// Files that tell more, where there are some.
pub(super) fn logs(child: &ChildView, fields: &mut Fields) {
    let folder = child.folder.as_deref().filter(|_| child.started_at_ms.is_some()).map(words::line);
    fields.add_some("logs", folder.map(|folder| format!("{folder}/stderr.log\nand events.jsonl beside it")));
}

/// A value alone; that nobody asked for it is said, since it may surprise.
fn short(decision: &Decision<String>) -> String {
    let by = match decision.source.as_str() {
        "call" => "",
        "definition" => " (by its agent)",
        _ => " (by default)",
    };
    format!("{}{by}", words::line(&decision.value))
}

fn model(model: &str, thinking: &str) -> String {
    match thinking {
        words::NO_THINKING => words::line(model),
        level => format!("{}, thinking {}", words::line(model), words::line(level)),
    }
}

/// What the child said it runs on; what was decided, when it did not say.
fn used_model(child: &ChildView) -> String {
    let reported = child.reported.as_ref();
    model(
        reported.and_then(|reported| reported.model.as_deref()).unwrap_or(&child.decisions.model.value),
        reported.and_then(|reported| reported.thinking.as_deref()).unwrap_or(&child.decisions.thinking.value),
    )
}

fn used_tools(child: &ChildView) -> String {
    let reported = child.reported.as_ref().and_then(|reported| reported.tools.as_ref());
    words::list(reported.unwrap_or(&child.decisions.tools.value))
}

pub(super) fn missing(child: &ChildView, fields: &mut Fields) {
    let tools = Some(&child.tools_missing).filter(|tools| !tools.is_empty());
    fields.add_some("missing", tools.map(|tools| format!("tools {}", words::list(tools))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    fn launched() -> LaunchResponse {
        LaunchResponse {
            run: samples::RUN.to_owned(),
            state: State::Queued,
            repeated: false,
            waits: None,
            decisions: samples::decisions(),
            digest: None,
            remarks: Vec::new(),
        }
    }

    #[test]
    fn a_success_ends_with_its_reference() {
        assert_eq!(
            outcome(&samples::ended(), &samples::screen(), &samples::clock()),
            "\
Run 1a2b3c4d succeeded: explore, 2m 3s
  runtime  offline (by default)
  model    offline/search, thinking off
  tools    read, grep
Output saved to: /home/ada/.local/state/subagentd/runs/01998c1e/result.md (2.1 KB, 41 lines)
"
        );
    }

    #[test]
    fn a_failure_tells_reason_and_error() {
        assert_eq!(
            outcome(&samples::failed(), &samples::screen(), &samples::clock()),
            "\
Run 1a2b3c4d failed: explore, 2m 3s
  reason   its program ended before it was done (child.exited)
  error    pi: cannot open settings.json
  runtime  offline (by default)
  model    offline/search, thinking off
  tools    read, grep, find, ls
  logs     /home/ada/.local/state/subagentd/runs/01998c1e/0.1/stderr.log
           and events.jsonl beside it
No answer was stored.
"
        );
    }

    #[test]
    fn an_unfinished_answer_is_marked() {
        let mut run = samples::failed();
        run.children[0].reference = Some(samples::reference());
        run.children[0].answer_complete = Some(false);
        let text = outcome(&run, &samples::screen(), &samples::clock());
        assert!(text.contains("\nNot finished. Output saved to: /home/"), "{text}");
    }

    #[test]
    fn a_queued_run_tells_on_whom_it_waits() {
        let text = outcome(&samples::queued(), &samples::screen(), &samples::clock());
        assert_eq!(
            text,
            "\
Run 1a2b3c4d queued: explore, for 10m
  queue    waits for run 9f8e7d6c to finish in /home/ada/project, there since
           22:13; place 1 in the queue
  runtime  offline (by default)
  model    offline/search, thinking off
  tools    read, grep, find, ls
"
        );
    }

    #[test]
    fn a_model_without_levels_has_none_told() {
        assert_eq!(model("offline/search", "not-applicable"), "offline/search");
        assert_eq!(model("a/b", "off"), "a/b, thinking off");
    }

    #[test]
    fn acceptance_tells_repetition() {
        let mut reply = launched();
        assert_eq!(accepted(&reply, "explore"), "Run 1a2b3c4d accepted: explore.");
        reply.repeated = true;
        reply.state = State::Running;
        assert_eq!(accepted(&reply, "explore"), "Run 1a2b3c4d was there already: the key names it (running).");
    }

    #[test]
    fn a_detached_launch_tells_on_whom_it_waits() {
        let mut reply = launched();
        reply.waits = Some(samples::waits_on_scope());
        let text = detached(&reply, "worker", &samples::screen(), &samples::clock());
        assert!(text.contains("\n  queue    waits for run 9f8e7d6c to finish"), "{text}");
    }

    #[test]
    fn a_detached_launch_names_runtime_and_model() {
        assert_eq!(
            detached(&launched(), "explore", &samples::screen(), &samples::clock()),
            "\
Run 1a2b3c4d accepted: explore.
  runtime  offline (by default)
  model    offline/search, thinking off
"
        );
    }
}
