//! What the real pi's scripted provider answers: the format of `clients/pi/test/faux.ts`.

use serde_json::{Value, json};

use crate::gate::Gate;

/// Responses, each taken by the first request that it fits. Every process of pi begins at the first one.
#[derive(Debug, Clone)]
pub struct Faux {
    script: Value,
}

impl Faux {
    /// Without any response.
    #[must_use]
    pub fn new() -> Self {
        // Large deltas: their number is not what these tests are about.
        Self { script: json!({ "responses": [], "tokenSize": { "min": 16_384, "max": 16_384 } }) }
    }

    /// Any response.
    #[must_use]
    pub fn step(mut self, response: Value) -> Self {
        self.script["responses"].as_array_mut().unwrap().push(response);
        self
    }

    /// Any other member of a script.
    #[must_use]
    pub fn member(mut self, name: &str, value: Value) -> Self {
        self.script[name] = value;
        self
    }

    /// Answers.
    #[must_use]
    pub fn say(self, text: &str) -> Self {
        self.step(json!({ "text": text }))
    }

    /// Answers with all that the user said so far, each between bars.
    #[must_use]
    pub fn say_what_was_heard(self) -> Self {
        self.say("{{users}}")
    }

    /// Runs a command.
    #[must_use]
    pub fn bash(self, command: &str) -> Self {
        self.step(json!({ "tools": [{ "name": "bash", "arguments": { "command": command } }] }))
    }

    /// Runs a command that stands at a gate.
    #[must_use]
    pub fn wait_at(self, gate: &Gate) -> Self {
        self.bash(&gate.command())
    }

    pub(crate) fn text(&self) -> String {
        self.script.to_string()
    }
}

impl Default for Faux {
    fn default() -> Self {
        Self::new()
    }
}
