//! The conversation as a file, so that a later process can go on with it. pi's form, as far as it is needed here: a header,
//! then one message a line, in a file named `<time>_<id>.jsonl` that is made with the first message.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use thiserror::Error;

use crate::complain;
use crate::record::now_ms;

#[derive(Debug, Error)]
pub(crate) enum ConversationError {
    #[error("the conversation {id} is there already and cannot be begun as a copy")]
    Exists { id: String },
    #[error("the conversation to copy, {}, cannot be read: {error}", .path.display())]
    Parent { path: PathBuf, error: io::Error },
    #[error("conversations cannot be kept in {}: {error}", .folder.display())]
    Folder { folder: PathBuf, error: io::Error },
}

/// One conversation, kept in a file or in none.
#[derive(Debug)]
pub(crate) struct Conversation {
    id: String,
    folder: Option<PathBuf>,
    file: Option<File>,
    entries: usize,
    /// What the user said so far.
    asked: usize,
}

impl Conversation {
    /// Goes on with the conversation of this name, or begins one when the first message comes.
    pub(crate) fn open(folder: Option<PathBuf>, id: String, fork: Option<&Path>) -> Result<Self, ConversationError> {
        let mut conversation = Self { id, folder, file: None, entries: 0, asked: 0 };
        let fault = |folder: &Path, error| ConversationError::Folder { folder: folder.to_owned(), error };
        if let Some(folder) = conversation.folder.clone()
            && let Some(path) = conversation.find(&folder).map_err(|error| fault(&folder, error))?
        {
            if fork.is_some() {
                return Err(ConversationError::Exists { id: conversation.id });
            }
            for entry in entries(&path).map_err(|error| fault(&folder, error))? {
                conversation.count(&entry.map_err(|error| fault(&folder, error))?);
            }
            let file = OpenOptions::new().append(true).open(&path).map_err(|error| fault(&folder, error))?;
            conversation.file = Some(file);
        }
        if let Some(path) = fork {
            let parent = |error| ConversationError::Parent { path: path.to_owned(), error };
            for entry in entries(path).map_err(parent)? {
                let entry = entry.map_err(parent)?;
                conversation.count(&entry);
                conversation.write(&entry, Some(path));
            }
        }
        Ok(conversation)
    }

    /// How many messages it has.
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// How much the user said before now.
    pub(crate) fn asked(&self) -> usize {
        self.asked
    }

    /// Keeps a message. One that cannot be kept is told on standard error and otherwise lost.
    pub(crate) fn add(&mut self, message: &Value) {
        let id = format!("{:08x}", self.entries);
        let entry = json!({ "type": "message", "id": id, "timestamp": now_ms(), "message": message });
        self.count(&entry);
        self.write(&entry, None);
    }

    fn count(&mut self, entry: &Value) {
        self.entries = self.entries.saturating_add(1);
        let is_users = entry.pointer("/message/role").is_some_and(|role| role == "user");
        self.asked = self.asked.saturating_add(usize::from(is_users));
    }

    fn find(&self, folder: &Path) -> io::Result<Option<PathBuf>> {
        let end = format!("_{}.jsonl", self.id);
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let path = entry?.path();
            if path.to_string_lossy().ends_with(&end) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    fn write(&mut self, entry: &Value, parent: Option<&Path>) {
        let Some(folder) = self.folder.clone() else { return };
        let written = self.begin(&folder, parent).and_then(|mut file| file.write_all(format!("{entry}\n").as_bytes()));
        if let Err(error) = written {
            complain(&format_args!("a message cannot be kept in {}: {error}", folder.display()));
        }
    }

    fn begin(&mut self, folder: &Path, parent: Option<&Path>) -> io::Result<&File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                std::fs::create_dir_all(folder)?;
                let path = folder.join(format!("{}_{}.jsonl", now_ms(), self.id));
                let mut file = OpenOptions::new().append(true).create_new(true).open(path)?;
                let header = json!({
                    "type": "session", "version": 3, "id": self.id, "timestamp": now_ms(),
                    "cwd": std::env::current_dir().unwrap_or_default(), "parentSession": parent,
                });
                file.write_all(format!("{header}\n").as_bytes())?;
                file
            }
        };
        Ok(self.file.insert(file))
    }
}

/// What a file holds, without its header. A line that was cut off by a kill is skipped.
fn entries(path: &Path) -> io::Result<impl Iterator<Item = io::Result<Value>>> {
    let lines = BufReader::new(File::open(path)?).split(b'\n');
    let entry = |line: io::Result<Vec<u8>>| match line {
        Ok(line) => serde_json::from_slice(&line).ok().filter(is_message).map(Ok),
        Err(error) => Some(Err(error)),
    };
    Ok(lines.filter_map(entry))
}

fn is_message(entry: &Value) -> bool {
    entry.get("type").is_none_or(|kind| kind != "session")
}
