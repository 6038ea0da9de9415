//! How an attempt ended: the event stream first, the exit second, and what the shim did to the child before both.

use std::io;
use std::time::Instant;

use subagentd_core::life::Reason;
use subagentd_core::outcome::{Answer, Exit, Outcome, Told, error_line};

use super::publish::store_answer;
use super::session::Session;
use crate::driver::Settlement;
use crate::format::{Phase, REMARK_LEFTOVERS};

impl Session<'_> {
    pub(super) fn settle(&mut self, mut settlement: Settlement) {
        if self.settlement.is_some() {
            return;
        }
        // Only a child that had its prompt runs, and only such a one has a conversation to go on with.
        if self.phase == Phase::Running {
            self.enter(Phase::Ending);
        }
        if let Some(text) = settlement.answer.take()
            && let Err(error) = self.keep_answer(&text, settlement.complete)
        {
            self.remark("answer.not-stored");
            if settlement.reason == Reason::Completed {
                settlement.reason = Reason::AnswerNotStored;
                settlement.error = Some(format!("the answer of {} bytes could not be stored: {error}", text.len()));
            }
        }
        self.settlement = Some(settlement);
        let means = self.ending.settled(Instant::now());
        self.apply(means);
    }

    fn keep_answer(&mut self, text: &str, complete: bool) -> io::Result<()> {
        let reference = store_answer(self.setup, text)?;
        self.answer = Some(Answer { reference, complete });
        Ok(())
    }

    pub(super) fn outcome(mut self) -> Outcome {
        let (reason, error) = self.judge();
        // A paused child goes on: what it said last is no answer yet.
        if self.answer.is_none()
            && reason != Reason::Paused
            && let Some(text) = self.driver.last_text().map(str::to_owned)
            && let Err(error) = self.keep_answer(&text, false)
        {
            super::log(format_args!("a partial answer could not be stored: {error}"));
        }
        if !self.alone {
            self.remark(REMARK_LEFTOVERS);
        }
        for remark in self.driver.remarks() {
            self.remark(&remark);
        }
        let totals = self.driver.totals();
        Outcome {
            reason,
            error: error.map(|line| error_line(&line)),
            answer: self.answer,
            exit: self.child.exit,
            reported: self.driver.reported().clone(),
            tools_missing: self.tools_missing,
            tool_calls: totals.tool_calls,
            turns: totals.turns,
            usage: totals.usage,
            told: self.driver.receipts().into_iter().map(|(number, receipt)| Told { number, receipt }).collect(),
            remarks: self.remarks,
            started_at_ms: Some(self.started_at_ms),
            ended_at_ms: super::now_ms(),
        }
    }

    fn judge(&mut self) -> (Reason, Option<String>) {
        let own_end = self.settlement.as_ref().is_some_and(|settlement| settlement.reason != Reason::Paused);
        if let Some(cause) = self.cause
            // A child that was done before it could be paused is done.
            && !(cause == Reason::Paused && own_end)
        {
            return (cause, self.workspace_fault.take());
        }
        if let Some(settlement) = &self.settlement {
            // A quick child may be done before anybody saw that its workspace was gone.
            let fault = (settlement.reason == Reason::Completed).then(|| self.setup.workspace_fault()).flatten();
            return match fault {
                Some(fault) => (Reason::WorkspaceGone, Some(fault)),
                None => (settlement.reason, settlement.error.clone()),
            };
        }
        let last_line = self.sinks.last_error_line();
        let with_line = |text: String| Some(last_line.map_or(text.clone(), |line| format!("{text}: {line}")));
        match self.child.exit {
            Some(Exit::Signal(signal)) => {
                (Reason::ChildSignalled, with_line(format!("signal {signal} ended the child before it settled")))
            }
            Some(Exit::Code(code)) => {
                (Reason::ChildExited, with_line(format!("the child exited with code {code} before it settled")))
            }
            None => (Reason::ChildExited, with_line("the child's end was not seen".to_owned())),
        }
    }
}
