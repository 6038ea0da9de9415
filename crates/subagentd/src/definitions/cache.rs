//! What was read before, for as long as it all looks the same.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use subagentd_core::definition::{AgentScope, Catalog};

use super::place::Place;

/// Catalogues that are kept: one for each project and scope in use. The oldest makes room.
const ENTRIES: usize = 8;
/// Bytes of definitions that one of them may be made of. A larger one is read each time.
const KEPT_BYTES: usize = 1024 * 1024;

/// How a file or directory looks: any write changes it, unless it follows at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    /// Cannot be set back, unlike the time of the last write.
    changed: (i64, i64),
}

impl From<&Metadata> for Stamp {
    fn from(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

impl Stamp {
    /// How it looks now; `None` if it is not there.
    pub(super) fn of(path: &Path) -> Option<Self> {
        path.metadata().ok().as_ref().map(Self::from)
    }

    /// Whether its last change came so long before this moment that the next one will show.
    pub(super) fn is_older(&self, than: SystemTime, by: Duration) -> bool {
        let (seconds, nanos) = self.changed;
        let changed = u64::try_from(seconds).ok().zip(u32::try_from(nanos).ok());
        let changed = changed.and_then(|(seconds, nanos)| UNIX_EPOCH.checked_add(Duration::new(seconds, nanos)));
        changed.and_then(|changed| than.duration_since(changed).ok()).is_some_and(|age| age >= by)
    }
}

/// What a catalogue is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) places: Vec<Place>,
    pub(super) scope: AgentScope,
}

/// A catalogue with everything that it rests on.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    /// Directories and files as they looked before they were read.
    pub(super) seen: Vec<(PathBuf, Option<Stamp>)>,
    pub(super) catalog: Arc<Catalog>,
    /// Bytes of its definitions; `None` if it holds for this request only.
    pub(super) bytes: Option<usize>,
}

impl Entry {
    /// Whether it may be kept.
    pub(super) fn lasts(&self) -> bool {
        self.bytes.is_some_and(|bytes| bytes <= KEPT_BYTES)
    }

    /// Whether everything still looks as it did.
    pub(super) fn holds(&self) -> bool {
        self.seen.iter().all(|(path, stamp)| Stamp::of(path) == *stamp)
    }
}

/// Catalogues, oldest first.
#[derive(Debug, Default)]
pub(super) struct Cache(Vec<Arc<Entry>>);

impl Cache {
    pub(super) fn get(&self, key: &Key) -> Option<Arc<Entry>> {
        self.0.iter().find(|entry| entry.key == *key).map(Arc::clone)
    }

    pub(super) fn keep(&mut self, entry: Entry) {
        self.0.retain(|kept| kept.key != entry.key);
        self.0.push(Arc::new(entry));
        let spare = self.0.len().saturating_sub(ENTRIES);
        self.0.drain(..spare);
    }
}
