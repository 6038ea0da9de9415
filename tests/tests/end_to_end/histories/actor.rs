//! Somebody who does anything to any run.

use std::rc::Rc;
use std::time::Duration;

use rustix::process::Signal;
use subagentd_ipc::client::CallError;
use subagentd_proto::method::RunCancel;
use subagentd_proto::run::{CancelParams, Delivery};
use subagentd_tests::{Ask, Owner};

use super::{Answer, Course, STEERS, connect};

pub(super) struct Actor {
    course: Rc<Course>,
    owner: Owner,
}

impl Actor {
    pub(super) async fn new(course: Rc<Course>) -> Self {
        let owner = connect(&course.site).await;
        Self { course, owner }
    }

    pub(super) async fn act(mut self, steps: u32) {
        for _ in 0..steps {
            let course = Rc::clone(&self.course);
            let index = usize::try_from(course.dice.below(course.runs.len() as u64)).unwrap();
            let (run, ask) = &course.runs[index];
            let done = match course.dice.below(100) {
                0..45 => self.steer(run).await,
                45..62 => self.pause(run).await,
                62..88 => self.resume(run, ask).await,
                88..91 => self.cancel(run).await,
                91..93 => {
                    self.kill_shim(run);
                    Ok(())
                }
                _ => {
                    tokio::time::sleep(Duration::from_millis(course.dice.below(40))).await;
                    Ok(())
                }
            };
            match done {
                Ok(()) => {}
                Err(CallError::Fault(refusal)) => course.note(Some(run), format!("refused: {}", refusal.message)),
                // The daemon was killed.
                Err(_) => self.owner = connect(&course.site).await,
            }
        }
    }

    fn note(&self, run: &str, what: String) {
        self.course.note(Some(run), what);
    }

    /// Makes a text that no other one is a part of.
    fn text(&self, kind: &str) -> String {
        let serial = &self.course.serial;
        serial.set(serial.get() + 1);
        format!("{kind}-{}-end", serial.get())
    }

    async fn steer(&self, run: &str) -> Result<(), CallError> {
        let text = self.text("steer");
        let delivery = if self.course.dice.below(4) == 0 { Delivery::FollowUp } else { Delivery::Steer };
        // Counted before it is sent: others do the same meanwhile.
        let place = self.course.tell(run, |told| {
            let free = told.steers.len() < STEERS;
            free.then(|| told.steers.push((text.clone(), Answer::None)))?;
            Some(told.steers.len() - 1)
        });
        let Some(place) = place else { return Ok(()) };
        let answered = self.owner.steer(run, &text, delivery).await;
        let known = match &answered {
            Ok(answer) => Answer::Yes(answer.number),
            Err(CallError::Fault(_)) => Answer::Refused,
            Err(_) => Answer::None,
        };
        self.course.tell(run, |told| told.steers[place].1 = known);
        let answer = answered?;
        self.note(
            run,
            format!("{text} {delivery:?}: number {}, {:?}, {:?}", answer.number, answer.receipt, answer.state),
        );
        Ok(())
    }

    async fn pause(&self, run: &str) -> Result<(), CallError> {
        let answer = self.owner.pause(run).await?;
        self.note(run, format!("pause: {} {:?}", answer.outcome, answer.state));
        Ok(())
    }

    async fn resume(&self, run: &str, ask: &Ask) -> Result<(), CallError> {
        let text = (self.course.dice.below(3) > 0).then(|| self.text("resume"));
        let answered = self.owner.resume(run, ask, text.as_deref()).await;
        if !matches!(answered, Err(CallError::Fault(_))) {
            self.course.tell(run, |told| told.resumes.extend(text.clone()));
        }
        let answer = answered?;
        self.note(run, format!("resume with {text:?}: attempt {}", answer.attempt));
        Ok(())
    }

    async fn cancel(&self, run: &str) -> Result<(), CallError> {
        let answer = self.owner.call::<RunCancel>(CancelParams { run: run.to_owned() }).await?;
        self.note(run, format!("cancel: {} {:?}", answer.outcome, answer.state));
        Ok(())
    }

    fn kill_shim(&self, run: &str) {
        if let Some(shim) = self.course.site.processes().into_iter().find(|process| process.is_shim_of(run)) {
            self.course.tell(run, |told| told.shim_kills += 1);
            self.note(run, "its shim is killed".to_owned());
            shim.signal(Signal::KILL);
        }
    }
}
