//! What a player works with: names for paths and labels, stamps, beats, and what starts a grandchild.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, raise};

use crate::complain;
use crate::script::{Beat, Touch};
use crate::wire::Leave;

/// Carries the attempt's mark into every process below it.
pub(crate) const MARK_VARIABLE: &str = "SUBAGENTD_ATTEMPT";

/// Most beats of one process, each a thread; a further one ends it with exit code 1.
const BEATS: usize = 16;

pub(crate) struct Stage {
    pub(crate) session: String,
    pub(crate) mark: String,
    /// Arguments that make this program play, before any of its own.
    pub(crate) prefix: Vec<OsString>,
    /// When what it starts has to be gone, in milliseconds since the machine started; nothing for a child.
    pub(crate) until: Option<u64>,
    /// What the user had said before the prompt at hand.
    pub(crate) earlier: usize,
    beats: usize,
}

impl Stage {
    pub(crate) fn new(session: String, mark: String, prefix: Vec<OsString>, until: Option<u64>) -> Self {
        Self { session, mark, prefix, until, earlier: 0, beats: 0 }
    }

    /// The stage of a child, whose mark is in its environment.
    pub(crate) fn of_child(session: String, prefix: Vec<OsString>) -> Self {
        Self::new(session, std::env::var(MARK_VARIABLE).unwrap_or_default(), prefix, None)
    }

    pub(crate) fn touch(&self, touch: &Touch) -> Result<(), Leave> {
        let (path, label) = self.place(touch);
        stamp(&path, &label).map_err(|error| {
            complain(&format_args!("touch {}: {error}", path.display()));
            Leave::FAILED
        })
    }

    /// Writes the first stamp at once and the others from a thread of their own, until the process ends.
    pub(crate) fn beat(&mut self, beat: &Beat) -> Result<(), Leave> {
        let (path, label) = self.place(&beat.stamp);
        let label = format!("{label} {}", std::process::id());
        let every = beat.every;
        self.beats = self.beats.saturating_add(1);
        let started = if self.beats > BEATS {
            Err(io::Error::other(format!("one process has at most {BEATS} beats")))
        } else {
            stamp(&path, &label).and_then(|()| {
                // Signals for the process have to find the player: it alone knows what to do about them.
                let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
                let beating = path.clone();
                let thread = std::thread::Builder::new().spawn(move || keep_beating(&beating, &label, every));
                before.thread_set_mask()?;
                thread.map(drop)
            })
        };
        started.map_err(|error| {
            complain(&format_args!("beat {}: {error}", path.display()));
            Leave::FAILED
        })
    }

    pub(crate) fn mutter(text: &str) {
        io::stderr().write_all(text.as_bytes()).ok();
    }

    fn place(&self, touch: &Touch) -> (PathBuf, String) {
        let label = touch.label.as_deref().map_or_else(|| "-".to_owned(), |label| self.expand(label));
        (PathBuf::from(self.expand(&touch.path)), label)
    }

    fn expand(&self, text: &str) -> String {
        let work = std::env::current_dir().unwrap_or_default();
        text.replace("$WORK", &work.to_string_lossy())
            .replace("$SESSION", &self.session)
            .replace("$ATTEMPT", &self.mark)
            .replace("$EARLIER", &self.earlier.to_string())
            .replace("$PID", &std::process::id().to_string())
    }
}

fn keep_beating(path: &PathBuf, label: &str, every: Duration) {
    loop {
        std::thread::sleep(every);
        if let Err(error) = stamp(path, label) {
            complain(&format_args!("beat {}: {error}", path.display()));
            return;
        }
    }
}

/// One write to a file opened for appending: lines of several processes do not mix.
fn stamp(path: &PathBuf, label: &str) -> io::Result<()> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let line = format!("{since} {label}\n");
    OpenOptions::new().create(true).append(true).open(path)?.write_all(line.as_bytes())
}

/// Ends this process by a signal. What it gives back is for the case that the signal was ignored from the start.
pub(crate) fn die(signal: Signal) -> Leave {
    let mut set = SigSet::empty();
    set.add(signal);
    set.thread_unblock().ok();
    // The first SEGV or BUS only removes the handler that the standard library sets up against stack overflow.
    for _ in 0..2 {
        raise(signal).ok();
    }
    complain(&format_args!("die {signal}: the signal is ignored here"));
    Leave::FAILED
}
