//! The seam between shim and child programs.

use std::ffi::OsString;
use std::path::PathBuf;

use subagentd_core::outcome::Reported;

use super::event::{Event, Totals};
use super::pi;
use crate::format::{Delivery, Receipt};

/// What a child is asked to be and to do. Has no `Debug`: a prompt is never logged.
#[derive(Clone)]
pub struct Asked {
    /// Provider, compared exactly with what the child reports.
    pub provider: String,
    /// Model id of that provider, compared exactly.
    pub model: String,
    /// Thinking level, compared exactly.
    pub thinking: String,
    /// The tools it may have, and no others.
    pub tools: Vec<String>,
    /// Further tools of its extensions, which have to be out of reach.
    pub excluded_tools: Vec<String>,
    /// The whole first prompt. It is sent once, over standard input, and never an argument.
    pub prompt: String,
}

/// Paths and names that the command line refers to.
#[derive(Debug, Clone)]
pub struct Files {
    /// Where the child keeps its conversation.
    pub session_dir: PathBuf,
    /// Name of the conversation. One that is there is gone on with, one that is not is begun.
    pub session_id: String,
    /// The conversation that a new one begins as. Only to be given while none of that name is there: a child of pi's
    /// dialect ends at once otherwise.
    pub fork: Option<PathBuf>,
    /// Standing instructions. It must exist: the child takes a path that does not for literal text.
    pub instructions: Option<PathBuf>,
    /// Where [`Dialect::extension`] stands. pi's publishes the active tools; without it such a child is refused.
    pub extension: Option<PathBuf>,
    /// Further extensions, as the child takes them. Files among them must exist: pi's child does not start otherwise.
    pub extensions: Vec<OsString>,
}

/// Something that a child is to load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Supply {
    /// Part of the child program.
    Own,
    /// At the first of these places that is there; none means that it cannot be loaded.
    At(Vec<PathBuf>),
}

/// A file of ours that goes into a child.
#[derive(Debug, Clone, Copy)]
pub struct Extension {
    /// Its name in the attempt's folder.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// How far a child has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Model, thinking level and tools are being checked; nothing was asked of the child yet.
    Verifying,
    /// The prompt was handed over, its acceptance has not come.
    Prompting,
    /// The child works.
    Working,
    /// The settlement was given. Further bytes are still read, further dialogs still cancelled.
    Settled,
}

/// Why a child is to stop before it is done. A cancel beats a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// It is to be gone on with.
    Pause,
    /// It is to end.
    Cancel,
}

/// Drives one child from its first byte to its settlement.
///
/// One call of [`Dialect::feed`] queues at most three events for each line in it and one for each open steer, and nothing
/// leaves the queue but through [`Dialect::next_event`]: whoever empties it after each call bounds it by the size of one
/// read.
pub trait Dialect {
    /// A file that the child program has to be given.
    fn extension(&self) -> Option<Extension>;

    /// Where an extension of [`crate::format::Request::extensions`] is, for a child with this environment.
    fn supply(&self, extension: &str, environment: &[(String, String)]) -> Supply;

    /// Whether a file of this name in the folder of conversations is the conversation of this name.
    fn is_conversation(&self, file: &str, id: &str) -> bool;

    /// Whether a line of a conversation's file says this task to the child.
    fn is_told(&self, entry: &[u8], task: &str) -> bool;

    /// What the child writes to standard error, before its first record, when others were in its way at its start.
    fn contention(&self) -> Option<&'static str>;

    /// The arguments of the child program. The prompt is never among them.
    fn argv(&self, files: &Files) -> Vec<OsString>;

    /// Takes bytes of the child's standard output, cut anywhere.
    fn feed(&mut self, bytes: &[u8]);

    /// Says that standard output ended.
    fn end_of_output(&mut self);

    /// Bytes that wait for the child's standard input.
    fn output(&self) -> &[u8];

    /// Says that so many bytes of [`Dialect::output`] were written.
    fn wrote(&mut self, bytes: usize);

    /// The next thing that happened.
    fn next_event(&mut self) -> Option<Event>;

    /// Ends the child's work politely. It settles as [`subagentd_core::life::Reason::Cancelled`]; how long that may take
    /// is the owner's to limit.
    fn cancel(&mut self);

    /// Stops the child's work politely, so that it can be gone on with. It settles as
    /// [`subagentd_core::life::Reason::Paused`], unless it was done already. What it was told and has not heard stays
    /// open: no [`Receipt::Undelivered`] follows, and the owner tells it to whoever goes on.
    fn pause(&mut self);

    /// Says something to the working child, with [`Event::Steered`] for every step that it makes. A number that is known
    /// says nothing again and is answered with its newest receipt, if it has one. Beyond [`super::OPEN_STEERS`] that are
    /// under way, or [`super::STEERS`] in all, it is undelivered at once.
    fn steer(&mut self, intent: u32, text: &str, delivery: Delivery);

    /// The newest receipt of each steer that has one.
    fn receipts(&self) -> Vec<(u32, Receipt)>;

    /// How far the child has come.
    fn phase(&self) -> Phase;

    /// What the child said of itself so far.
    fn reported(&self) -> &Reported;

    /// Sums so far.
    fn totals(&self) -> Totals;

    /// Text of the last message while no settlement has taken it: what is left of a child that ended too early, never a
    /// complete answer.
    fn last_text(&self) -> Option<&str>;

    /// Stable codes of what was odd on the way.
    fn remarks(&self) -> Vec<String>;
}

/// A driver for a child of this request, before its first byte.
#[must_use]
pub fn begin(asked: Asked) -> Box<dyn Dialect> {
    Box::new(pi::Driver::new(asked))
}
