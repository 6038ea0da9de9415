//! What the daemon orders, and how an end begins.

use std::time::Instant;

use subagentd_core::life::Reason;

use super::session::Session;
use super::setup::Setup;
use crate::driver::Dialect;
use crate::format::{CONTROL_FORMAT, Order, Phase, Word};

impl Session<'_> {
    pub(super) fn take_orders(&mut self) {
        let (setup, phase, driver) = (self.setup, self.phase, &*self.driver);
        let orders = self.control.turn(|| greeting(setup, phase, driver));
        for order in orders {
            match order {
                Order::Cancel { intent } => {
                    self.end(Reason::Cancelled);
                    self.control.say(&Word::Confirmed { intent });
                }
                Order::Pause { intent } => {
                    self.end(Reason::Paused);
                    self.control.say(&Word::Confirmed { intent });
                }
                Order::Steer { intent, text, delivery } => self.steer(intent, text, delivery),
            }
        }
    }

    /// Greets the connection that came with the start.
    pub(super) fn greet(&mut self) {
        for word in greeting(self.setup, self.phase, &*self.driver) {
            self.control.say(&word);
        }
    }

    /// Begins to end the child; the first cause stays, but a cancel beats a pause.
    pub(super) fn end(&mut self, cause: Reason) {
        let beats = self.cause.is_none() || (self.cause == Some(Reason::Paused) && cause == Reason::Cancelled);
        if beats && self.settlement.is_none() {
            self.cause = Some(cause);
            self.commit();
            match cause {
                Reason::Paused => self.driver.pause(),
                _ => self.driver.cancel(),
            }
            self.ending.asked(Instant::now());
            self.take_events();
        }
        if cause == Reason::ShimTerminated {
            self.ending.hurry(Instant::now());
        }
    }
}

/// What every connection hears first: where the attempt stands, and how far each steer came.
fn greeting(setup: &Setup, phase: Phase, driver: &dyn Dialect) -> Vec<Word> {
    let hello = Word::Hello { format: CONTROL_FORMAT, attempt: setup.request.attempt, phase };
    let receipts = driver.receipts().into_iter().map(|(intent, receipt)| Word::Steered { intent, receipt });
    std::iter::once(hello).chain(receipts).collect()
}
