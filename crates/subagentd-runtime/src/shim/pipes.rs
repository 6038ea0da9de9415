//! The child's three pipes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::Instant;

use super::session::Session;

/// Rounds of one pipe before the others get their turn.
const ROUNDS: usize = 16;

impl Session<'_> {
    pub(super) fn read_output(&mut self) {
        let Some(mut pipe) = self.child.output.take() else {
            return;
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        let ended = take(&mut pipe, &mut buffer, |bytes| {
            self.driver.feed(bytes);
            self.take_events();
        });
        self.buffer = buffer;
        self.child.output = (!ended).then_some(pipe);
        if ended {
            self.driver.end_of_output();
            self.take_events();
            // Nothing more can settle it: a child that closed its output and stays is asked to leave.
            if self.settlement.is_none() && self.cause.is_none() && self.gone_at.is_none() {
                self.ending.asked(Instant::now());
            }
        }
    }

    pub(super) fn read_errors(&mut self) {
        let Some(pipe) = &mut self.child.errors else { return };
        if take(pipe, &mut self.buffer, |bytes| self.sinks.stderr(bytes)) {
            self.child.errors = None;
        }
    }

    pub(super) fn write_input(&mut self) {
        let Some(input) = &mut self.child.input else { return };
        while !self.driver.output().is_empty() {
            match input.write(self.driver.output()) {
                Ok(size) => self.driver.wrote(size),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // It closed its input; its end will tell why.
                Err(_) => {
                    self.child.input = None;
                    break;
                }
            }
        }
    }
}

/// Takes what a pipe has, in turns; `true` at its end.
fn take(pipe: &mut File, buffer: &mut [u8], mut each: impl FnMut(&[u8])) -> bool {
    for _ in 0..ROUNDS {
        match pipe.read(buffer) {
            Ok(0) => return true,
            Ok(size) => each(buffer.get(..size).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(_) => return true,
        }
    }
    false
}
