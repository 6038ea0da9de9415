//! The screen of `show`: everything there is to know of a run.

use subagentd_proto::run::{ChildProgress, ChildView, Decision, Decisions, NoticeRef, RunProgress, RunView, Usage};

use super::fields::Fields;
use super::time::{Clock, limit};
use super::{history, progress, run as parts, words};
use crate::output::Screen;

/// Lines of a task that are printed.
const TASK_LINES: usize = 5;
/// Bytes of a task that are printed.
const TASK_BYTES: usize = 400;
/// A task that is so long may be longer: views hold no more of it.
const VIEW_BYTES: usize = 4 * 1024 - 3;

/// Everything there is to know of a run, and what it does now if that is known.
pub(crate) fn whole(run: &RunView, now: Option<&RunProgress>, screen: &Screen, clock: &Clock) -> String {
    let mut text = parts::headline(run, clock);
    let doing = |child: &ChildView| now.and_then(|now| now.children.iter().find(|one| one.index == child.index));
    let mut fields = run_fields(run, clock);
    if let [child] = run.children.as_slice() {
        // One block: what is true of the run is true of its only child.
        child_fields(child, doing(child), &mut fields, run, clock);
        text.push_str(&fields.text(2, screen));
        text.push_str(&parts::answer(child, screen));
        return text;
    }
    text.push_str(&fields.text(2, screen));
    for child in &run.children {
        text.push('\n');
        text.push_str(&parts::child_line(child, clock));
        let mut fields = Fields::default();
        child_fields(child, doing(child), &mut fields, run, clock);
        text.push_str(&fields.text(2, screen));
        text.push_str(&parts::answer(child, screen));
    }
    text
}

fn run_fields(run: &RunView, clock: &Clock) -> Fields {
    let mut fields = Fields::default();
    fields.add("id", run.run.clone());
    fields.add_some("title", run.title.as_deref().map(words::line));
    fields.add("owner", words::line(&run.owner));
    let moments = [("started", run.started_at_ms), ("ended", run.ended_at_ms)];
    let moments = moments.into_iter().filter_map(|(what, at)| Some((what, at?)));
    let moments: Vec<(&str, u64)> = std::iter::once(("accepted", run.created_at_ms)).chain(moments).collect();
    fields.add("times", clock.moments(&moments));
    fields.add_some("notice", run.notice.map(notice));
    fields
}

fn child_fields(child: &ChildView, now: Option<&ChildProgress>, fields: &mut Fields, run: &RunView, clock: &Clock) {
    let decided = &child.decisions;
    parts::cause(child, fields, clock);
    fields.add_some("doing", now.and_then(|now| progress::doing(now, clock)));
    fields.add("task", task(&child.task, words::ending(&run.run)));
    fields.add("directory", words::line(&decided.directory));
    if decided.workspace != decided.directory {
        fields.add("workspace", words::line(&decided.workspace));
    }
    fields.add("agent", format!("{} ({})", words::line(&child.agent), words::line(&decided.agent_source)));
    fields.add("runtime", explained(&decided.runtime));
    fields.add("model", explained(&decided.model));
    if decided.thinking.value != words::NO_THINKING {
        fields.add("thinking", explained(&decided.thinking));
    }
    fields.add("tools", format!("{} ({})", words::list(&decided.tools.value), words::line(&decided.tools.reason)));
    reported(child, fields);
    parts::missing(child, fields);
    fields.add("access", access(&decided.class));
    fields.add("context", context(&decided.context));
    fields.add("limits", limits(decided));
    history::add(child, fields, clock);
    fields.add_some("tool calls", child.tool_calls.map(|calls| calls.to_string()));
    fields.add_some("tokens", child.usage.filter(|usage| *usage != Usage::default()).map(tokens));
    parts::logs(child, fields);
}

/// A value, and why it holds unless somebody asked for just that.
fn explained(decision: &Decision<String>) -> String {
    let value = words::line(&decision.value);
    match decision.source.as_str() {
        "call" => value,
        _ if decision.reason.is_empty() => value,
        "default" => format!("{value} (by default: {})", words::line(&decision.reason)),
        _ => format!("{value} ({})", words::line(&decision.reason)),
    }
}

/// What its class means: writers wait for each other.
fn access(class: &Decision<String>) -> String {
    let told = match class.value.as_str() {
        "shared" => "reads only, beside others",
        "exclusive" => "may write, alone in its workspace",
        other => other,
    };
    format!("{} ({})", words::line(told), words::line(&class.reason))
}

fn context(context: &Decision<String>) -> String {
    let told = match context.value.as_str() {
        "fresh" => "nothing but its task",
        "parent" => "a copy of its launcher's conversation",
        other => other,
    };
    format!("{} ({})", words::line(told), words::line(&context.reason))
}

/// Those that hold.
fn limits(decided: &Decisions) -> String {
    let all = [
        (Some(decided.timeout_ms), "in all"),
        (Some(decided.idle_timeout_ms), "without an event"),
        (decided.first_event_timeout_ms, "to its first event"),
        (decided.tool_call_timeout_ms, "for one tool call"),
    ];
    let held =
        all.into_iter().filter_map(|(ms, what)| ms.filter(|ms| *ms > 0).map(|ms| format!("{} {what}", limit(ms))));
    let held: Vec<String> = held.collect();
    if held.is_empty() { "none".to_owned() } else { held.join(", ") }
}

/// What the child reported, where it differs from what was decided.
fn reported(child: &ChildView, fields: &mut Fields) {
    let Some(reported) = &child.reported else { return };
    let decided = &child.decisions;
    let mut differs = Vec::new();
    for (word, said, wanted) in
        [("model", &reported.model, &decided.model.value), ("thinking", &reported.thinking, &decided.thinking.value)]
    {
        // A child whose model cannot think calls that `off`.
        let same = |said: &str| said == wanted || (said == "off" && wanted == words::NO_THINKING);
        if let Some(said) = said.as_ref().filter(|said| !same(said)) {
            differs.push(format!("{word} {}", words::line(said)));
        }
    }
    if let Some(tools) = reported.tools.as_ref().filter(|tools| **tools != decided.tools.value) {
        differs.push(format!("tools {}", words::list(tools)));
    }
    fields.add_some("reported", (!differs.is_empty()).then(|| differs.join("; ")));
}

/// The task's beginning, and how much more there is.
fn task(task: &str, run: &str) -> String {
    let told = task.trim();
    let mut left = TASK_BYTES;
    let mut lines = Vec::new();
    let mut kept = 0;
    for line in told.split_inclusive('\n').take(TASK_LINES) {
        let part = line.get(..line.floor_char_boundary(left)).unwrap_or_default();
        lines.push(words::line(part.trim_end()));
        kept += part.len();
        left -= part.len();
        if left == 0 || part.len() < line.len() {
            break;
        }
    }
    let more = told.len() - kept;
    if more > 0 {
        let least = if task.len() >= VIEW_BYTES { "at least " } else { "" };
        lines.push(format!("… {least}{} more: subagentd-cli show {run} --json", words::size(more as u64)));
    }
    lines.join("\n")
}

fn notice(notice: NoticeRef) -> String {
    let seen = if notice.acknowledged { "seen" } else { "not seen yet" };
    format!("{} ({seen})", notice.seq)
}

fn tokens(usage: Usage) -> String {
    let mut text = format!("{} in, {} out", usage.input, usage.output);
    if usage.cache_read > 0 || usage.cache_write > 0 {
        text.push_str(&format!(", cache {} read, {} written", usage.cache_read, usage.cache_write));
    }
    if usage.cost > 0.0 {
        text.push_str(&format!(", ${:.4}", usage.cost));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::samples;

    #[test]
    fn show_tells_every_decision_with_its_reason() {
        let mut run = samples::ended();
        run.title = Some("stale sockets".to_owned());
        run.children[0].remarks = vec!["tools.missing".to_owned()];
        run.children[0].tools_missing = vec!["web".to_owned()];
        assert_eq!(
            whole(&run, None, &samples::screen(), &samples::clock()),
            "\
Run 1a2b3c4d succeeded: explore, 2m 3s
  id          01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d
  title       stale sockets
  owner       cli:ada
  times       accepted 22:13:20, started 22:13:21, ended 22:15:24
  notice      12 (not seen yet)
  remarks     it lacks tools that its agent lists
  task        where are stale sockets handled?
  directory   /home/ada/project
  agent       explore (builtin)
  runtime     offline (by default: no pi was found in PATH)
  model       offline/search (the only model of offline)
  thinking    off (offline has no thinking levels)
  tools       read, grep, find, ls (listed by explore)
  reported    tools read, grep
  missing     tools web
  access      reads only, beside others (none of its tools can write)
  context     nothing but its task (nobody asked for the parent's)
  limits      4h in all, 10m without an event, 2m to its first event, 1h for one
              tool call
  tool calls  7
  tokens      1200 in, 340 out
  logs        /home/ada/.local/state/subagentd/runs/01998c1e/0.1/stderr.log
              and events.jsonl beside it
Output saved to: /home/ada/.local/state/subagentd/runs/01998c1e/result.md (2.1 KB, 41 lines)
"
        );
    }

    #[test]
    fn a_long_task_is_cut_and_tells_how_much_more_there_is() {
        let long = (0..20).map(|n| format!("line {n}\u{7}.")).collect::<Vec<_>>().join("\n");
        let shown = task(&long, "1a2b3c4d");
        assert!(shown.starts_with("line 0 .\nline 1 .\n") && !shown.contains('\u{7}'), "{shown:?}");
        assert!(shown.ends_with("line 4 .\n… 144 B more: subagentd-cli show 1a2b3c4d --json"), "{shown:?}");
        let wide = task(&"ä".repeat(300), "1a2b3c4d");
        assert_eq!(wide, format!("{}\n… 200 B more: subagentd-cli show 1a2b3c4d --json", "ä".repeat(200)));
        let huge = task(&"x".repeat(4_096), "1a2b3c4d");
        assert!(huge.contains("\n… at least 3.6 KB more: "), "{huge}");
        assert_eq!(task(" short \n", "1a2b3c4d"), "short");
    }

    #[test]
    fn show_tells_what_a_run_at_work_does() {
        let mut run = samples::failed();
        run.state = subagentd_proto::run::State::Running;
        let child = &mut run.children[0];
        (child.state, child.reason, child.error) = (run.state, None, None);
        let doing = ChildProgress {
            index: 0,
            agent: "explore".to_owned(),
            state: run.state,
            tool_calls: 3,
            turns: 1,
            tokens: 0,
            tool: Some("bash".to_owned()),
            last_event_at_ms: Some(samples::CREATED + 570_000),
            waits: None,
        };
        let now = RunProgress { run: run.run.clone(), state: run.state, children: vec![doing] };
        let text = whole(&run, Some(&now), &samples::screen(), &samples::clock());
        assert!(text.contains("\n  doing       in bash, silent for 30s, 3 tool calls\n"), "{text}");
        assert!(text.contains("/0.1/stderr.log\n              and events.jsonl beside it\n"), "{text}");
    }

    #[test]
    fn what_never_started_has_no_logs() {
        let text = whole(&samples::queued(), None, &samples::screen(), &samples::clock());
        assert!(!text.contains("logs") && text.contains("to finish in /home/ada/project, there"), "{text}");
    }

    #[test]
    fn who_should_write_and_could_only_search_is_told() {
        let mut run = samples::ended();
        run.children[0].decisions.class.value = "exclusive".to_owned();
        let told = "\nNo model was used: `offline` only searches, nothing was changed.\nOutput saved to: ";
        for text in [
            whole(&run, None, &samples::screen(), &samples::clock()),
            parts::outcome(&run, &samples::screen(), &samples::clock()),
        ] {
            assert!(text.contains(told), "{text}");
        }
        run.children[0].started_at_ms = None;
        let text = whole(&run, None, &samples::screen(), &samples::clock());
        assert!(!text.contains("No model"), "it never ran: {text}");
    }

    #[test]
    fn limits_that_do_not_hold_are_not_told() {
        let mut decided = samples::decisions();
        assert_eq!(limits(&decided), "4h in all, 10m without an event, 2m to its first event, 1h for one tool call");
        (decided.timeout_ms, decided.idle_timeout_ms) = (0, 0);
        (decided.first_event_timeout_ms, decided.tool_call_timeout_ms) = (Some(0), None);
        assert_eq!(limits(&decided), "none");
    }
}
