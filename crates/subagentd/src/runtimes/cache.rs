//! What programs answered, in memory and in a file, so that a daemon that starts anew asks nobody again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use subagentd_runtime::files;

use super::Findings;
use crate::clock::now_ms;

/// Number of the file's form, raised also when programs are asked in another way. Another one is not read.
const FORMAT: u32 = 1;
/// Name of the file, in the state directory.
const NAME: &str = "runtimes.json";
/// A larger file is not read, and not written.
const FILE_BYTES: usize = 8 * 1024 * 1024;
/// Answers that are kept: clients with different keys have different ones. The oldest makes room.
const ENTRIES: usize = 16;
/// A good answer holds so long, although nothing that it rests on has changed.
const LASTING_MS: u64 = 24 * 60 * 60 * 1_000;
/// What cannot be used is asked again after this: not everything that mends it can be seen from here.
const PASSING_MS: u64 = 30 * 1_000;

/// Answers by key, oldest first.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Cache {
    format: u32,
    entries: Vec<Entry>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Entry {
    key: String,
    at_ms: u64,
    findings: Arc<Findings>,
}

impl Entry {
    fn holds(&self, now_ms: u64) -> bool {
        let most = if self.findings.usable { LASTING_MS } else { PASSING_MS };
        // One from the future was kept by a clock that was wrong.
        now_ms.checked_sub(self.at_ms).is_some_and(|age| age <= most)
    }
}

impl Cache {
    /// What an earlier daemon kept; nothing when that cannot be read.
    pub(super) fn read(state: &Path) -> Self {
        let read = files::open_folder(state).and_then(|folder| files::read_in(folder, NAME, FILE_BYTES));
        let cache = read.ok().and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        let mut cache = cache.filter(|cache| cache.format == FORMAT).unwrap_or_default();
        cache.trim();
        cache
    }

    pub(super) fn get(&self, key: &str) -> Option<Arc<Findings>> {
        let now = now_ms();
        let entry = self.entries.iter().find(|entry| entry.key == key && entry.holds(now))?;
        Some(Arc::clone(&entry.findings))
    }

    pub(super) fn keep(&mut self, key: &str, findings: Arc<Findings>) {
        self.entries.retain(|entry| entry.key != key);
        self.entries.push(Entry { key: key.to_owned(), at_ms: now_ms(), findings });
        self.trim();
    }

    fn trim(&mut self) {
        let spare = self.entries.len().saturating_sub(ENTRIES);
        self.entries.drain(..spare);
    }

    /// What goes into the file: good answers only.
    pub(super) fn lasting(&self) -> Self {
        let entries = self.entries.iter().filter(|entry| entry.findings.usable).cloned();
        Self { format: FORMAT, entries: entries.collect() }
    }

    /// Replaces the file. A failure costs the next daemon a question, nothing else.
    pub(super) fn write(&self, state: &Path) -> std::io::Result<()> {
        let bytes = serde_json::to_vec(self)?;
        if bytes.len() > FILE_BYTES {
            return Err(std::io::Error::other(format!("more than {FILE_BYTES} bytes")));
        }
        files::write_synced_in(files::open_folder(state)?, &PathBuf::from(NAME), &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn good(reason: &str) -> Arc<Findings> {
        Arc::new(Findings::usable(reason))
    }

    #[test]
    fn answers_hold_for_their_time() {
        let now = now_ms();
        let aged = |findings, age: i64| Entry { key: "k".to_owned(), at_ms: now.saturating_add_signed(-age), findings };
        let bad = || Arc::new(Findings::unusable("b".to_owned()));
        let table = [
            (aged(good("g"), 0), true),
            (aged(good("g"), 86_000_000), true),
            (aged(good("g"), 87_000_000), false),
            (aged(bad(), 29_000), true),
            (aged(bad(), 31_000), false),
            (aged(good("g"), -1_000), false),
        ];
        for (entry, wanted) in table {
            assert_eq!(entry.holds(now), wanted, "{} ms", i128::from(now) - i128::from(entry.at_ms));
        }
    }

    #[test]
    fn a_later_daemon_has_the_good_answers_and_the_newest() {
        let state = tempfile::tempdir().unwrap();
        let mut cache = Cache::read(state.path());
        assert!(cache.get("0").is_none());
        for number in 0..ENTRIES + 2 {
            cache.keep(&number.to_string(), good(&number.to_string()));
        }
        cache.keep("bad", Arc::new(Findings::unusable("no".to_owned())));
        assert!(cache.get("bad").is_some() && cache.get("2").is_none() && cache.get("3").is_some());
        cache.lasting().write(state.path()).unwrap();
        let file = state.path().join(NAME);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let later = Cache::read(state.path());
        assert_eq!(later.get("17").unwrap().reason, "17");
        assert!(later.get("bad").is_none());
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        let state = tempfile::tempdir().unwrap();
        let mut cache = Cache::default();
        cache.keep("k", good("g"));
        let text = serde_json::to_string(&cache.lasting()).unwrap();
        let other = text.replace("\"format\":1", "\"format\":2");
        assert_ne!(text, other);
        for (text, wanted) in [(text.as_str(), true), (other.as_str(), false), ("{\"format\":1", false), ("", false)] {
            std::fs::write(state.path().join(NAME), text).unwrap();
            assert_eq!(Cache::read(state.path()).get("k").is_some(), wanted, "{text}");
        }
    }
}
