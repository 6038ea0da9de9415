//! A place where a child stands still until the test lets it go on.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::site::Site;
use crate::wait::until;

/// A pipe that a shell reads from: it stands there until [`Gate::open`].
#[derive(Debug)]
pub struct Gate {
    pipe: PathBuf,
}

impl Gate {
    /// A new one.
    #[must_use]
    pub fn new(site: &Site) -> Self {
        Self::at(site.path(format!("parts/gate-{}", site.number())))
    }

    /// At this place.
    pub(crate) fn at(pipe: PathBuf) -> Self {
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::from_raw_mode(0o600)).unwrap();
        Self { pipe }
    }

    /// The shell command that stands at it.
    #[must_use]
    pub fn command(&self) -> String {
        format!("cat '{}' >/dev/null", self.path().display())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.pipe
    }

    /// Waits until somebody stands there, and keeps them until the result is dropped.
    pub async fn reached(&self) -> File {
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
        let open = || OpenOptions::new().write(true).custom_flags(flags).open(&self.pipe);
        // Nobody stands there yet: the open fails.
        until("somebody at the gate", async || open().ok()).await
    }

    /// Lets one through, once it stands there.
    pub async fn open(&self) {
        drop(self.reached().await);
    }
}
