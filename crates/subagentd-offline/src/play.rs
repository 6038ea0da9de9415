//! Scripts, performed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::act::Player;
use crate::complain;
use crate::record::{self, Stop};
use crate::script::{Act, Say, Script, Step, Tool};
use crate::search::Pulse;
use crate::session::Session;
use crate::turn::Returned;
use crate::wire::{Leave, Wait};

const NO_STEPS: &str = "The script has no steps for this prompt.";

/// How often the queue is looked at while nothing else happens.
const LOOK: Duration = Duration::from_millis(5);

/// The final message as far as it has been said.
pub(crate) struct Speech {
    text: String,
    pub(crate) stop: Stop,
    error: Option<String>,
}

impl Speech {
    pub(crate) fn silent() -> Self {
        Self { text: String::new(), stop: Stop::Done, error: None }
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.text.is_empty() && self.error.is_none()
    }

    pub(crate) fn add(&mut self, say: Say) {
        self.text.push_str(&say.text);
        self.stop = say.stop.unwrap_or(self.stop);
        self.error = say.error.or(self.error.take());
    }

    pub(crate) fn deliver(&self, session: &mut Session) -> Result<(), Leave> {
        session.answer(&self.text, self.stop, self.error.as_deref())
    }
}

impl Session {
    pub(crate) fn play_before(&mut self) -> Result<(), Leave> {
        let acts = self.take_steps(|script| &mut script.before);
        self.play_all(acts)
    }

    pub(crate) fn play_after(&mut self) -> Result<(), Leave> {
        let acts = self.take_steps(|script| &mut script.after);
        self.play_all(acts)
    }

    /// Plays the steps of the first prompt, answers every other one; true when aborted.
    pub(crate) fn play(&mut self) -> Result<bool, Leave> {
        let steps = self.next_steps();
        let mut speech = Speech::silent();
        if steps.is_empty() {
            speech.text = self.going_on(NO_STEPS);
        }
        for step in steps {
            if self.perform(step, &mut speech)? == Pulse::Stop {
                return self.answer_aborted(&speech.text);
            }
        }
        self.deliver_steering()?;
        speech.deliver(self)?;
        while self.next_follow_up()?.is_some() {
            self.answer(NO_STEPS, Stop::Done, None)?;
        }
        Ok(speech.stop == Stop::Aborted)
    }

    fn perform(&mut self, step: Step, speech: &mut Speech) -> Result<Pulse, Leave> {
        match step {
            Step::Say(say) => speech.add(say),
            Step::Tool(tool) => self.use_tool(&tool)?,
            Step::Listen(time) => return self.listen(time),
            Step::Act(act) => {
                if self.act(act)? == Pulse::Stop {
                    return Ok(Pulse::Stop);
                }
            }
        }
        self.pulse(Wait::Now)
    }

    /// The first prompt's steps, or those for a conversation that goes on.
    fn next_steps(&mut self) -> Vec<Step> {
        let first = self.take_steps(|script| &mut script.steps);
        let resumed = self.take_steps(|script| &mut script.resumed);
        if self.earlier > 0 && !resumed.is_empty() { resumed } else { first }
    }

    /// Waits until the client has queued something, and hears what is for now.
    fn listen(&mut self, time: Duration) -> Result<Pulse, Leave> {
        let until = Instant::now().checked_add(time).unwrap_or_else(Instant::now);
        while self.steering.is_empty() && self.follow_up.is_empty() {
            if Instant::now() >= until {
                complain(&format_args!("listen: nothing was said within {time:?}"));
                return Err(Leave::FAILED);
            }
            let look = Instant::now().checked_add(LOOK).unwrap_or(until).min(until);
            if self.pulse(Wait::Until(look))? == Pulse::Stop {
                return Ok(Pulse::Stop);
            }
        }
        self.deliver_steering()?;
        self.pulse(Wait::Now)
    }

    fn play_all(&mut self, acts: Vec<Act>) -> Result<(), Leave> {
        acts.into_iter().try_for_each(|act| self.act(act).map(drop))
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

    /// Steps are played once.
    fn take_steps<T>(&mut self, list: impl FnOnce(&mut Script) -> &mut Vec<T>) -> Vec<T> {
        self.script.as_mut().map(|script| std::mem::take(list(script))).unwrap_or_default()
    }
}
