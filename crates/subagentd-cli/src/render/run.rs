//! The screens of one run: the end of `run` and `wait`, and `show`.

use subagentd_proto::run::{ChildView, Decision, LaunchResponse, NoticeRef, ResumeResponse, RunView, State, Usage};

use super::fields::Fields;
use super::history;
use super::time::{Clock, span};
use super::words;
use crate::output::Screen;

/// Lines of a task that `show` prints.
const TASK_LINES: usize = 10;

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
    fields.add_some("queue", reply.waits.as_ref().map(|waits| words::waits(waits, clock)));
    fields.add("runtime", explained(&decisions.runtime));
    fields.add("model", model(&decisions.model.value, &decisions.thinking.value));
    fields.add_some("remarks", some_words(&reply.remarks));
    format!("{}\n{}", accepted(reply, agent), fields.text(2, screen))
}

/// The first line about a resume.
pub(crate) fn goes_on(reply: &ResumeResponse) -> String {
    format!("Run {} goes on: attempt {}.", words::ending(&reply.run), reply.attempt)
}

/// What `resume --detach` prints.
pub(crate) fn resumed(reply: &ResumeResponse, screen: &Screen, clock: &Clock) -> String {
    let mut fields = Fields::default();
    fields.add_some("queue", reply.waits.as_ref().map(|waits| words::waits(waits, clock)));
    fields.add_some("remarks", some_words(&reply.remarks));
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
        fields.add("runtime", explained(&child.decisions.runtime));
        fields.add("model", used_model(child));
        fields.add("tools", used_tools(child));
        missing(child, &mut fields);
        text.push_str(&fields.text(2, screen));
        text.push_str(&answer(child));
    }
    text
}

/// Everything there is to know of a run.
pub(crate) fn whole(run: &RunView, screen: &Screen, clock: &Clock) -> String {
    let mut text = headline(run, clock);
    let mut fields = Fields::default();
    fields.add("id", run.run.clone());
    fields.add_some("title", run.title.as_deref().map(words::line));
    fields.add("owner", words::line(&run.owner));
    fields.add("accepted", clock.at(run.created_at_ms));
    fields.add_some("started", run.started_at_ms.map(|at| clock.at(at)));
    fields.add_some("ended", run.ended_at_ms.map(|at| clock.at(at)));
    fields.add_some("notice", run.notice.map(notice));
    text.push_str(&fields.text(2, screen));
    for child in &run.children {
        text.push('\n');
        text.push_str(&child_line(child, clock));
        text.push_str(&child_fields(child, clock).text(2, screen));
        text.push_str(&answer(child));
    }
    text
}

fn child_fields(child: &ChildView, clock: &Clock) -> Fields {
    let decided = &child.decisions;
    let mut fields = Fields::default();
    cause(child, &mut fields, clock);
    fields.add("task", task(&child.task));
    fields.add("directory", words::line(&decided.directory));
    if decided.workspace != decided.directory {
        fields.add("workspace", words::line(&decided.workspace));
    }
    fields.add("definition", words::line(&decided.agent_source));
    fields.add("runtime", explained(&decided.runtime));
    fields.add("model", explained(&decided.model));
    fields.add("thinking", explained(&decided.thinking));
    fields.add("tools", format!("{} ({})", list(&decided.tools.value), words::line(&decided.tools.reason)));
    reported(child, &mut fields);
    missing(child, &mut fields);
    fields.add("class", explained(&decided.class));
    fields.add("context", explained(&decided.context));
    fields.add(
        "limits",
        format!("{} in all, {} without an event", limit(decided.timeout_ms), limit(decided.idle_timeout_ms)),
    );
    history::add(child, &mut fields, clock);
    fields.add_some("tool calls", child.tool_calls.map(|calls| calls.to_string()));
    fields.add_some("tokens", child.usage.filter(|usage| *usage != Usage::default()).map(tokens));
    fields.add_some("folder", child.folder.as_deref().map(words::line));
    fields
}

/// `Run 1a2b3c4d succeeded: explore, 2m 3s`.
fn headline(run: &RunView, clock: &Clock) -> String {
    let agent = run.children.first().map_or("", |child| child.agent.as_str());
    let others = match run.children.len() {
        0 | 1 => String::new(),
        several => format!(" and {} more", several - 1),
    };
    let time = match run.started_at_ms {
        Some(start) => clock.between(start, run.ended_at_ms),
        None if run.state.is_end() => "it never started".to_owned(),
        None => format!("for {}", clock.between(run.created_at_ms, None)),
    };
    format!("Run {} {}: {}{others}, {time}\n", words::ending(&run.run), words::state(run.state), words::line(agent))
}

fn child_line(child: &ChildView, clock: &Clock) -> String {
    let time =
        child.started_at_ms.map(|start| format!(", {}", clock.between(start, child.ended_at_ms))).unwrap_or_default();
    format!("Child {}: {} {}{time}\n", child.index, words::line(&child.agent), words::state(child.state))
}

/// Why it stands where it stands.
fn cause(child: &ChildView, fields: &mut Fields, clock: &Clock) {
    if child.state != State::Succeeded {
        fields.add_some("reason", child.reason.as_deref().map(words::line));
    }
    fields.add_some("error", child.error.as_deref().map(words::line));
    fields.add_some("asked", child.intent.as_deref().map(asked));
    fields.add_some("queue", child.waits.as_ref().map(|waits| words::waits(waits, clock)));
    fields.add_some("remarks", some_words(&child.remarks));
}

/// What it does not do yet.
fn asked(intent: &str) -> String {
    format!("to {}; it has not happened yet", words::line(intent))
}

/// The reference line, marked when the answer is not whole.
fn answer(child: &ChildView) -> String {
    let Some(reference) = &child.reference else {
        return if child.state.is_end() { "No answer was stored.\n".to_owned() } else { String::new() };
    };
    let mark = if child.answer_complete == Some(false) { "Not finished. " } else { "" };
    format!("{mark}{}\n", words::reference(reference))
}

/// A value, and why it holds unless somebody asked for just that.
fn explained(decision: &Decision<String>) -> String {
    let value = words::line(&decision.value);
    if decision.source == "call" || decision.reason.is_empty() {
        value
    } else {
        format!("{value} ({}: {})", words::line(&decision.source), words::line(&decision.reason))
    }
}

fn model(model: &str, thinking: &str) -> String {
    format!("{}, thinking {}", words::line(model), words::line(thinking))
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
    list(reported.unwrap_or(&child.decisions.tools.value))
}

/// What the child reported, where it differs from what was decided.
fn reported(child: &ChildView, fields: &mut Fields) {
    let Some(reported) = &child.reported else { return };
    let decided = &child.decisions;
    let mut differs = Vec::new();
    for (word, said, wanted) in
        [("model", &reported.model, &decided.model.value), ("thinking", &reported.thinking, &decided.thinking.value)]
    {
        if let Some(said) = said.as_ref().filter(|said| *said != wanted) {
            differs.push(format!("{word} {}", words::line(said)));
        }
    }
    if let Some(tools) = reported.tools.as_ref().filter(|tools| **tools != decided.tools.value) {
        differs.push(format!("tools {}", list(tools)));
    }
    fields.add_some("reported", (!differs.is_empty()).then(|| differs.join("; ")));
}

fn missing(child: &ChildView, fields: &mut Fields) {
    fields.add_some("missing", some_words(&child.tools_missing).map(|tools| format!("tools {tools}")));
}

fn some_words(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| list(words))
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words::line(&words.join(", ")) }
}

/// The task's first lines.
fn task(task: &str) -> String {
    let mut lines: Vec<String> = task.trim().lines().take(TASK_LINES).map(words::line).collect();
    if task.trim().lines().count() > TASK_LINES {
        lines.push("…".to_owned());
    }
    lines.join("\n")
}

fn notice(notice: NoticeRef) -> String {
    let seen = if notice.acknowledged { "seen" } else { "not seen yet" };
    format!("{} ({seen})", notice.seq)
}

fn limit(ms: u64) -> String {
    if ms == 0 { "no limit".to_owned() } else { span(ms) }
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

    fn launched() -> LaunchResponse {
        LaunchResponse {
            run: samples::RUN.to_owned(),
            state: State::Queued,
            repeated: false,
            waits: None,
            decisions: samples::decisions(),
            remarks: Vec::new(),
        }
    }

    #[test]
    fn a_success_ends_with_its_reference() {
        assert_eq!(
            outcome(&samples::ended(), &samples::screen(), &samples::clock()),
            "\
Run 1a2b3c4d succeeded: explore, 2m 3s
  runtime  offline (default: no pi was found in PATH)
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
  reason   child.exited
  error    pi: cannot open settings.json
  runtime  offline (default: no pi was found in PATH)
  model    offline/search, thinking off
  tools    read, grep, find, ls
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
  queue    waits for run 9f8e7d6c to finish in its directory, there since 22:13;
           place 1 in the queue
  runtime  offline (default: no pi was found in PATH)
  model    offline/search, thinking off
  tools    read, grep, find, ls
"
        );
    }

    #[test]
    fn show_tells_every_decision_with_its_reason() {
        let mut run = samples::ended();
        run.title = Some("stale sockets".to_owned());
        run.children[0].remarks = vec!["tools.missing".to_owned()];
        run.children[0].tools_missing = vec!["web".to_owned()];
        assert_eq!(
            whole(&run, &samples::screen(), &samples::clock()),
            "\
Run 1a2b3c4d succeeded: explore, 2m 3s
  id        01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d
  title     stale sockets
  owner     cli:ada
  accepted  22:13
  started   22:13
  ended     22:15
  notice    12 (not seen yet)

Child 0: explore succeeded, 2m 3s
  remarks     tools.missing
  task        where are stale sockets handled?
  directory   /home/ada/project
  definition  builtin
  runtime     offline (default: no pi was found in PATH)
  model       offline/search (runtime: the only model of offline)
  thinking    off (runtime: offline has no thinking levels)
  tools       read, grep, find, ls (listed by explore)
  reported    tools read, grep
  missing     tools web
  class       shared (default: none of its tools can write)
  context     fresh (default: nobody asked for the parent's)
  limits      4h in all, 10m without an event
  tool calls  7
  tokens      1200 in, 340 out
  folder      /home/ada/.local/state/subagentd/runs/01998c1e/0.1
Output saved to: /home/ada/.local/state/subagentd/runs/01998c1e/result.md (2.1 KB, 41 lines)
"
        );
    }

    #[test]
    fn a_long_task_is_cut_and_cannot_steer_the_terminal() {
        let long = (0..20).map(|n| format!("line {n}\u{7}")).collect::<Vec<_>>().join("\n");
        let shown = task(&long);
        assert_eq!(shown.lines().count(), TASK_LINES + 1, "{shown}");
        assert!(shown.starts_with("line 0\n") || shown.starts_with("line 0 \n"), "{shown:?}");
        assert!(shown.ends_with('…') && !shown.contains('\u{7}'), "{shown:?}");
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
  runtime  offline (default: no pi was found in PATH)
  model    offline/search, thinking off
"
        );
    }
}
