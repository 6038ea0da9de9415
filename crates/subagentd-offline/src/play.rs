//! Scripts, performed.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{SigSet, Signal, raise};
use serde_json::{Value, json};

use crate::complain;
use crate::record::{self, Stop};
use crate::script::{Say, Script, Sleep, Step, Tool, Touch};
use crate::search::Pulse;
use crate::session::Session;
use crate::turn::Returned;
use crate::wire::Leave;

/// Carries the attempt's mark into every process below it.
const MARK_VARIABLE: &str = "SUBAGENTD_ATTEMPT";

/// The final message as far as it has been said.
struct Speech {
    text: String,
    stop: Stop,
    error: Option<String>,
}

impl Session {
    pub(crate) fn play_before(&mut self) -> Result<(), Leave> {
        for step in self.take_steps(|script| &mut script.before) {
            match step {
                Step::Sleep(sleep) => self.rest(deadline(&sleep), sleep.ignore_end)?,
                other => self.act(&other)?,
            }
        }
        Ok(())
    }

    pub(crate) fn play_after(&mut self) -> Result<(), Leave> {
        for step in self.take_steps(|script| &mut script.after) {
            match step {
                Step::Sleep(sleep) => drop(self.sleep(deadline(&sleep), sleep.ignore_end)?),
                other => self.act(&other)?,
            }
        }
        Ok(())
    }

    /// Plays the steps of the first prompt, answers every other one; true when aborted.
    pub(crate) fn play(&mut self) -> Result<bool, Leave> {
        let steps = self.take_steps(|script| &mut script.steps);
        let mut speech = Speech { text: String::new(), stop: Stop::Done, error: None };
        if steps.is_empty() {
            "The script has no steps for this prompt.".clone_into(&mut speech.text);
        }
        for step in steps {
            if self.perform(step, &mut speech)? == Pulse::Stop {
                return self.answer_aborted(&speech.text);
            }
        }
        self.deliver_steering()?;
        self.answer(&speech.text, speech.stop, speech.error.as_deref())?;
        while self.next_follow_up()?.is_some() {
            self.answer("The script has no steps for this prompt.", Stop::Done, None)?;
        }
        Ok(speech.stop == Stop::Aborted)
    }

    fn perform(&mut self, step: Step, speech: &mut Speech) -> Result<Pulse, Leave> {
        match step {
            Step::Say(Say { text, stop, error }) => {
                speech.text.push_str(&text);
                speech.stop = stop.unwrap_or(speech.stop);
                speech.error = error.or(speech.error.take());
            }
            Step::Tool(tool) => self.use_tool(&tool)?,
            Step::Sleep(sleep) => return self.sleep(deadline(&sleep), sleep.ignore_end),
            other @ (Step::Touch(_) | Step::Exit(_) | Step::Die(_)) => self.act(&other)?,
        }
        self.pulse(crate::wire::Wait::Now)
    }

    /// Steps that need no turn.
    fn act(&self, step: &Step) -> Result<(), Leave> {
        match step {
            Step::Touch(touch) => self.touch(touch),
            Step::Exit(exit) => Err(Leave(i32::from(exit.code))),
            Step::Die(signal) => Err(die(*signal)),
            Step::Say(_) | Step::Tool(_) | Step::Sleep(_) => Ok(()),
        }
    }

    fn use_tool(&mut self, tool: &Tool) -> Result<(), Leave> {
        let call = self.call(&tool.name, &tool.args)?;
        let mut result = match &tool.result {
            Value::Object(_) => tool.result.clone(),
            Value::Null => json!({ "content": [], "details": {} }),
            Value::String(text) => json!({ "content": record::text_content(text), "details": {} }),
            other => json!({ "content": record::text_content(&other.to_string()), "details": {} }),
        };
        if let (Some(code), Some(fields)) = (tool.exit_code, result.as_object_mut()) {
            fields.insert("structuredContent".to_owned(), json!({ "exit_code": code }));
        }
        let is_error = tool.is_error.unwrap_or_else(|| tool.exit_code.is_some_and(|code| code != 0));
        let duration = tool.duration_ms.map(Duration::from_millis);
        self.returned(call, &Returned { result, is_error, duration })?;
        self.turn_start()?;
        self.deliver_steering().map(drop)
    }

    fn touch(&self, touch: &Touch) -> Result<(), Leave> {
        let path = self.expand(&touch.path);
        let label = touch.label.as_deref().map_or_else(|| "-".to_owned(), |label| self.expand(label));
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let line = format!("{since} {label}\n");
        // One write to a file opened for appending: lines of several children do not mix.
        let written = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(line.as_bytes()));
        written.map_err(|error| {
            complain(&format_args!("touch {path}: {error}"));
            Leave(1)
        })
    }

    fn expand(&self, text: &str) -> String {
        let work = std::env::current_dir().unwrap_or_default();
        let mark = std::env::var(MARK_VARIABLE).unwrap_or_default();
        text.replace("$WORK", &work.to_string_lossy())
            .replace("$SESSION", &self.options.session)
            .replace("$ATTEMPT", &mark)
    }

    /// Steps are played once.
    fn take_steps(&mut self, list: impl FnOnce(&mut Script) -> &mut Vec<Step>) -> Vec<Step> {
        self.script.as_mut().map(|script| std::mem::take(list(script))).unwrap_or_default()
    }
}

fn deadline(sleep: &Sleep) -> Instant {
    let now = Instant::now();
    now.checked_add(Duration::from_millis(sleep.ms)).unwrap_or(now)
}

/// Ends this process by a signal. What it gives back is for the case that the signal was ignored from the start.
fn die(signal: Signal) -> Leave {
    let mut set = SigSet::empty();
    set.add(signal);
    set.thread_unblock().ok();
    // The first SEGV or BUS only removes the handler that the standard library sets up against stack overflow.
    for _ in 0..2 {
        raise(signal).ok();
    }
    complain(&format_args!("die {signal}: the signal is ignored here"));
    Leave(1)
}
