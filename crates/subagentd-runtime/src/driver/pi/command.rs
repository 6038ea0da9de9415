//! What goes to the child: commands, one at a time, and answers to its dialogs.

use serde_json::json;

use super::record::Response;
use crate::driver::event::NAME_BYTES;
use crate::format::Delivery;

/// Dialog answers that may wait for the child to read them. Further ones are dropped: a child that asks so much without
/// reading is not served by more memory, and its open dialog then meets the time limits.
pub(super) const DIALOG_ANSWERS: usize = 1024;
/// Room kept for the next output; more (a long prompt) is given back once it was written.
const KEPT_BYTES: usize = 4 * 1024;

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    GetState,
    GetAvailableModels,
    Prompt,
    /// A prompt for a child that may be at work: the steer of this number.
    Steer(u32),
    ClearQueue,
    Abort,
}

impl Command {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::GetState => "get_state",
            Self::GetAvailableModels => "get_available_models",
            Self::Prompt | Self::Steer(_) => "prompt",
            Self::ClearQueue => "clear_queue",
            Self::Abort => "abort",
        }
    }

    /// Tells responses apart. All but steers are sent at most once; one that is sent again was answered before.
    fn id(self) -> String {
        match self {
            Self::Steer(intent) => format!("steer-{intent}"),
            _ => self.word().to_owned(),
        }
    }
}

#[derive(Default)]
pub(super) struct Commands {
    output: Vec<u8>,
    written: usize,
    awaiting: Option<Command>,
    dialog_answers: usize,
}

impl Commands {
    pub(super) fn output(&self) -> &[u8] {
        self.output.get(self.written..).unwrap_or_default()
    }

    pub(super) fn wrote(&mut self, bytes: usize) {
        self.written = self.written.saturating_add(bytes).min(self.output.len());
        if self.written == self.output.len() {
            self.output.clear();
            self.output.shrink_to(KEPT_BYTES);
            self.written = 0;
            self.dialog_answers = 0;
        }
    }

    /// Sends a command without arguments.
    pub(super) fn send(&mut self, command: Command) {
        self.awaiting = Some(command);
        self.line(&json!({"id": command.id(), "type": command.word()}).to_string());
    }

    /// Sends the prompt.
    pub(super) fn prompt(&mut self, message: &str) {
        let word = Command::Prompt.word();
        self.awaiting = Some(Command::Prompt);
        self.line(&json!({"id": word, "type": word, "message": message}).to_string());
    }

    /// Sends a steer as a prompt: it starts work in an idle child and waits its turn in a busy one.
    pub(super) fn steer(&mut self, intent: u32, message: &str, delivery: Delivery) {
        let behaviour = match delivery {
            Delivery::Steer => "steer",
            Delivery::FollowUp => "followUp",
        };
        let command = Command::Steer(intent);
        self.awaiting = Some(command);
        let (id, word) = (command.id(), command.word());
        self.line(&json!({"id": id, "type": word, "message": message, "streamingBehavior": behaviour}).to_string());
    }

    /// Whether a response is awaited.
    pub(super) fn is_awaiting(&self) -> bool {
        self.awaiting.is_some()
    }

    /// Whether the response to a steer is awaited.
    pub(super) fn is_steering(&self) -> bool {
        matches!(self.awaiting, Some(Command::Steer(_)))
    }

    /// Takes the command that a response answers, if it is the awaited one.
    pub(super) fn answered(&mut self, response: &Response<'_>) -> Option<Command> {
        let awaited = self.awaiting?;
        let by_id = response.id.as_deref() == Some(awaited.id().as_str());
        // A command that the child could not read is answered without an id.
        let unread = response.id.is_none() && response.command.as_deref() == Some("parse");
        (by_id || unread).then(|| self.awaiting.take()).flatten()
    }

    /// Waits for no response any more.
    pub(super) fn forget(&mut self) {
        self.awaiting = None;
    }

    /// Cancels a dialog; `false` when the answer had to be dropped.
    pub(super) fn cancel_dialog(&mut self, id: &str) -> bool {
        if self.dialog_answers == DIALOG_ANSWERS || id.len() > NAME_BYTES {
            return false;
        }
        self.dialog_answers += 1;
        self.line(&json!({"type": "extension_ui_response", "id": id, "cancelled": true}).to_string());
        true
    }

    fn line(&mut self, line: &str) {
        self.output.extend_from_slice(line.as_bytes());
        self.output.push(b'\n');
    }
}
