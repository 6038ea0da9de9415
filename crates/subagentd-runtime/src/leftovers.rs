//! Ending what a killed shim left behind (design 2, life and death).
//!
//! Nobody is asked politely here: the parent that could have judged an answer is gone. A process belongs to the attempt
//! if it carries the mark in its environment, holds the open `tree` file, descends from one that does, or was handed to
//! this daemon when its shim died. `tree` is a witness for life and not for death, since some programs close what they
//! inherit: the search is made even when nobody holds it.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal};
use subagentd_core::id::AttemptId;

use crate::shim::MARK;
use crate::{folder, process, spawn};

/// After this the scope is kept and a person is told (design 2).
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Between two passes; a fork loop is chased within a pass, not by the number of passes.
const PASS: Duration = Duration::from_millis(5);
/// Nobody may be found for so long. A chain of processes that each start the next and go can slip through any single
/// look, however quick it is.
const QUIET: Duration = Duration::from_millis(50);
/// Bytes of an environment that are searched; a mark stands near its beginning or end, and the kernel gives it whole.
const ENVIRONMENT: u64 = 8 * 1024 * 1024;

/// Ends everything that an attempt left; gives the processes that were still found when [`PATIENCE`] was over, or nothing
/// when nobody is left. An empty list means that somebody holds `tree` whom nobody can find.
///
/// Blocks. The attempt's shim must be gone.
#[must_use]
pub fn end(attempt: AttemptId, place: &Path) -> Option<Vec<u32>> {
    let search = Search::new(attempt, place);
    let deadline = Instant::now() + PATIENCE;
    let mut quiet_since = None;
    loop {
        let looked = Instant::now();
        let found = search.pass();
        // Whoever inherited `tree` inherited its lock, and the kernel cannot overlook anybody.
        let quiet = found.is_empty() && !folder::is_tree_held(place);
        quiet_since = quiet_since.filter(|_| quiet).or(quiet.then_some(looked));
        if quiet_since.is_some_and(|since| looked >= since + QUIET) {
            return None;
        }
        if looked >= deadline {
            return Some(found);
        }
        std::thread::sleep(PASS);
    }
}

/// Generations below a found process that are followed at once; deeper ones are handed over and found by a later pass.
const DEPTH: u32 = 256;

/// How the kernel names an open `tree`, and what it adds once the file is gone.
const TREE_NAME: &str = "/tree";
const DELETED: &str = " (deleted)";

struct Search {
    mark: Vec<u8>,
    tree: Option<(u64, u64)>,
}

impl Search {
    fn new(attempt: AttemptId, place: &Path) -> Self {
        let tree = fs::symlink_metadata(place.join(folder::TREE)).ok();
        Self { mark: format!("{MARK}={attempt}").into_bytes(), tree: tree.map(|file| (file.dev(), file.ino())) }
    }

    /// Kills on sight everything that belongs; gives what was found alive.
    fn pass(&self) -> Vec<u32> {
        let mut found: Vec<u32> = spawn::kill_adopted();
        let Ok(entries) = fs::read_dir("/proc") else { return found };
        // In the order of the kernel, which shows a process started meanwhile later in the same pass: that catches a
        // chain of processes that each start the next and go.
        for entry in entries.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            if pid != std::process::id() && self.belongs(pid) {
                kill_family(pid, &|| self.belongs(pid), &mut found, 0);
            }
        }
        found
    }

    fn belongs(&self, pid: u32) -> bool {
        !process::is_gone(pid) && (self.is_marked(pid) || self.holds_tree(pid))
    }

    fn is_marked(&self, pid: u32) -> bool {
        let mut environment = Vec::new();
        let read = fs::File::open(format!("/proc/{pid}/environ"))
            .and_then(|file| file.take(ENVIRONMENT).read_to_end(&mut environment));
        read.is_ok() && environment.split(|byte| *byte == 0).any(|variable| variable == self.mark)
    }

    fn holds_tree(&self, pid: u32) -> bool {
        let Some(tree) = self.tree else { return false };
        let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        descriptors.flatten().any(|entry| {
            // By name first: asking about a file on a dead network file system would wait for ever.
            let name = fs::read_link(entry.path()).unwrap_or_default();
            let name = name.to_string_lossy();
            let may_be = name.trim_end_matches(DELETED).ends_with(TREE_NAME);
            may_be && held_file(&entry.path()).is_ok_and(|held| held == tree)
        })
    }
}

/// Kills a process and all below it. Each is stopped before its children are listed, so that it starts no more of them,
/// and killed after them, so that they are still found below it.
fn kill_family(pid: u32, still_it: &dyn Fn() -> bool, found: &mut Vec<u32>, depth: u32) {
    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(descriptor) = rustix::process::pidfd_open(id, PidfdFlags::empty()) else { return };
    // Opened first, looked at again: the id cannot change hands in between.
    if depth > DEPTH || found.contains(&pid) || !still_it() {
        return;
    }
    found.push(pid);
    // One that is gone by now needs no signal.
    rustix::process::pidfd_send_signal(&descriptor, Signal::STOP).ok();
    for child in process::children_of(pid) {
        kill_family(child, &|| process::parent(child) == Some(pid), found, depth + 1);
    }
    rustix::process::pidfd_send_signal(&descriptor, Signal::KILL).ok();
}

fn held_file(descriptor: &Path) -> io::Result<(u64, u64)> {
    // Follows the kernel's own link to the open file; nothing is opened.
    let file = fs::metadata(descriptor)?;
    Ok((file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Command};

    fn attempt() -> AttemptId {
        let run = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        AttemptId { child: subagentd_core::id::ChildId { run, index: 0 }, number: std::process::id() }
    }

    fn died_of_kill(mut child: Child) -> bool {
        child.wait().unwrap().signal() == Some(9)
    }

    #[test]
    fn the_marked_and_the_holders_of_tree_are_ended_and_others_are_not() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join(folder::TREE), "").unwrap();
        let sleep = || {
            let mut command = Command::new("sleep");
            command.arg("60");
            command
        };
        let marked = sleep().env(MARK, attempt().to_string()).spawn().unwrap();
        let tree = fs::File::open(place.path().join(folder::TREE)).unwrap();
        let holder = sleep().stdin(tree).spawn().unwrap();
        let other_attempt = AttemptId { number: attempt().number + 1, ..attempt() };
        let mut other = sleep().env(MARK, other_attempt.to_string()).spawn().unwrap();
        // The test runner's own children are not adopted ones: only marks and holders count here.
        let left = end(attempt(), place.path());
        assert_eq!(left, None);
        assert!(died_of_kill(marked), "the marked process");
        assert!(died_of_kill(holder), "the holder of tree");
        assert!(other.try_wait().unwrap().is_none(), "another attempt's process was ended");
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn a_chain_that_keeps_starting_the_next_is_caught() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join(folder::TREE), "").unwrap();
        let attempt = AttemptId { number: attempt().number + 3, ..attempt() };
        let tree = fs::File::open(place.path().join(folder::TREE)).unwrap();
        rustix::fs::flock(&tree, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
        // Each link starts the next and goes; the whole chain ends by itself after some seconds at the latest.
        let link = "date +%s%N >> stamps; if [ $0 -gt 0 ]; then sh -c \"$LINK\" $(($0 - 1)) & fi";
        // A job in the background gets another standard input, so `tree` goes on under a number that it keeps.
        let begin = format!("exec 9<&0; {link}");
        let mut first = Command::new("sh")
            .args(["-c", &begin, "2000"])
            .env("LINK", link)
            .env(MARK, attempt.to_string())
            .current_dir(place.path())
            .stdin(tree)
            .spawn()
            .unwrap();
        let stamps = || fs::read_to_string(place.path().join("stamps")).unwrap_or_default().lines().count();
        let deadline = Instant::now() + Duration::from_secs(20);
        while stamps() < 5 {
            assert!(Instant::now() < deadline, "the chain did not start");
            std::thread::yield_now();
        }
        assert_eq!(end(attempt, place.path()), None);
        let ended = stamps();
        first.wait().unwrap();
        // A process that another test is about to start may have inherited the lock of a look for a moment.
        let deadline = Instant::now() + Duration::from_secs(20);
        while folder::is_tree_held(place.path()) {
            assert!(Instant::now() < deadline, "tree is held");
            std::thread::yield_now();
        }
        assert_eq!(stamps(), ended, "the chain went on");
    }

    #[test]
    fn a_descendant_without_mark_and_tree_goes_with_its_parent() {
        let place = tempfile::tempdir().unwrap();
        let attempt = AttemptId { number: attempt().number + 2, ..attempt() };
        // The inner shell clears its environment and has no tree.
        let script = "env -i sh -c 'echo $$ > child; sleep 60' & wait";
        let parent = Command::new("sh")
            .args(["-c", script])
            .current_dir(place.path())
            .env(MARK, attempt.to_string())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        let pid = loop {
            let written = fs::read_to_string(place.path().join("child")).unwrap_or_default();
            if let Ok(pid) = written.trim().parse::<u32>() {
                break pid;
            }
            assert!(Instant::now() < deadline, "the inner shell did not start");
            std::thread::yield_now();
        };
        assert_eq!(end(attempt, place.path()), None);
        assert!(died_of_kill(parent));
        let deadline = Instant::now() + Duration::from_secs(20);
        while !process::is_gone(pid) {
            assert!(Instant::now() < deadline, "{pid} lives on");
            std::thread::yield_now();
        }
    }
}
