//! The spool: exit records as they are published (design 2, watcher).
//!
//! inotify is only the faster messenger: the end of every shim is told by its descriptor, too, and without inotify the
//! folder is swept every second.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use subagentd_core::id::AttemptId;
use subagentd_runtime::files;
use subagentd_runtime::folder::{Places, ReadFault, read_record};
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;

use super::Event;
use crate::descriptors::readable;

/// Between two sweeps when inotify is not to be had, or a record could not be read.
const SWEEP: Duration = Duration::from_secs(1);

/// The watched spool.
pub(super) struct Spool {
    places: Places,
    folder: OwnedFd,
    inotify: Option<AsyncFd<OwnedFd>>,
    /// Something was left to be read later.
    again: AtomicBool,
}

impl Spool {
    /// Begins to watch; records that are there already are found by the sweep of [`Self::run`].
    pub(super) fn watch(places: &Places) -> io::Result<Self> {
        let folder = files::open_folder(&places.spool())?;
        let inotify = match watch(places) {
            Ok(inotify) => Some(inotify),
            Err(error) => {
                tracing::warn!(%error, "inotify is not to be had; the spool is swept every second instead");
                None
            }
        };
        Ok(Self { places: places.clone(), folder, inotify, again: AtomicBool::new(false) })
    }

    /// Reports records until the hub is gone.
    pub(super) async fn run(self, report: mpsc::Sender<Event>) {
        self.sweep(&report).await;
        while !report.is_closed() {
            let Some(inotify) = &self.inotify else {
                tokio::time::sleep(SWEEP).await;
                self.sweep(&report).await;
                continue;
            };
            tokio::select! {
                () = report.closed() => return,
                () = tokio::time::sleep(SWEEP), if self.again.load(Ordering::Relaxed) => self.sweep(&report).await,
                ready = inotify.readable() => {
                    let Ok(mut ready) = ready else { return };
                    let (names, overflow) = read_names(inotify.get_ref());
                    ready.clear_ready();
                    if overflow {
                        self.sweep(&report).await;
                    }
                    for name in names {
                        self.take(&name, &report).await;
                    }
                }
            }
        }
    }

    async fn sweep(&self, report: &mpsc::Sender<Event>) {
        self.again.store(false, Ordering::Relaxed);
        let names = std::fs::read_dir(self.places.spool()).map(|entries| {
            entries
                .flatten()
                .filter(|entry| !entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.file_name())
        });
        match names {
            Ok(names) => {
                for name in names {
                    self.take(&name.to_string_lossy(), report).await;
                }
            }
            Err(error) => tracing::error!(%error, "the spool cannot be read"),
        }
    }

    async fn take(&self, name: &str, report: &mpsc::Sender<Event>) {
        match read_record(&self.folder, name) {
            Ok(record) if AttemptId::from_record(name) == Some(record.attempt) => {
                // A hub that is gone has stopped; the record stays for the next start.
                report.send(Event::Record(Box::new(record), name.to_owned())).await.ok();
            }
            Ok(_) => set_aside(&self.places, name, "its name and its content differ"),
            // Taken by somebody quicker.
            Err(ReadFault::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err(fault) if fault.is_final() => set_aside(&self.places, name, &fault.to_string()),
            Err(fault) => {
                tracing::warn!(name, %fault, "a record cannot be read now; it is tried again");
                self.again.store(true, Ordering::Relaxed);
            }
        }
    }
}

fn watch(places: &Places) -> io::Result<AsyncFd<OwnedFd>> {
    let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    inotify::add_watch(&inotify, places.spool(), WatchFlags::MOVED_TO | WatchFlags::ONLYDIR)?;
    readable(inotify)
}

/// Everything that is to be read now: names, and whether some were lost.
fn read_names(inotify: &OwnedFd) -> (Vec<String>, bool) {
    let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
    let mut reader = Reader::new(inotify, &mut buffer);
    let mut names = Vec::new();
    let mut overflow = false;
    loop {
        match reader.next() {
            Ok(event) => {
                overflow |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                names.extend(event.file_name().map(|name| name.to_string_lossy().into_owned()));
            }
            Err(rustix::io::Errno::AGAIN) => return (names, overflow),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                tracing::warn!(%error, "inotify could not be read; the spool is swept");
                return (names, true);
            }
        }
    }
}

/// Removes a record whose end is stored.
pub(super) fn forget(places: &Places, name: &str) {
    match std::fs::remove_file(places.spool().join(name)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => {
            tracing::warn!(name, %error, "a stored record could not be removed; it is dropped at the next start");
        }
    }
}

/// Moves what is no record of ours out of the way, keeping it for a person to look at.
pub(super) fn set_aside(places: &Places, name: &str, why: &str) {
    tracing::warn!(name, why, "moved a file of the spool to spool/bad");
    if let Err(error) = std::fs::rename(places.spool().join(name), places.bad().join(name)) {
        tracing::warn!(name, %error, "it could not be moved");
    }
}
