//! Facts about processes. A process id alone proves nothing: it is compared with start time and boot.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags};

/// Identity of this boot of the machine.
///
/// # Errors
/// When the kernel does not tell.
pub fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// When a process started, in clock ticks since boot; `None` when there is no such process.
#[must_use]
pub fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat_fields(&stat)?.nth(FIELD_START)?.parse().ok()
}

/// Fields of `/proc/<pid>/stat` after the name, which may itself hold blanks and brackets.
fn stat_fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_ascii_whitespace())
}

// Numbered from 0 after the name: state is 0, the parent 1, the start time field 22 of the manual.
const FIELD_STATE: usize = 0;
const FIELD_PARENT: usize = 1;
const FIELD_START: usize = 19;

/// The parent of a process.
#[must_use]
pub fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat_fields(&stat)?.nth(FIELD_PARENT)?.parse().ok()
}

/// Whether there is no such process, or only what is left of one until it is reaped.
#[must_use]
pub fn is_gone(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    stat_fields(&stat).and_then(|mut fields| fields.nth(FIELD_STATE)).is_none_or(|state| matches!(state, "Z" | "X"))
}

/// A descriptor that becomes readable when the process ends; `None` when it is gone or another one took its id.
///
/// # Errors
/// When the kernel refuses for another reason than the process's absence.
pub fn watch(pid: u32, started: u64) -> io::Result<Option<OwnedFd>> {
    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Ok(None);
    };
    match rustix::process::pidfd_open(id, PidfdFlags::empty()) {
        // Opened first, compared second: the id cannot change hands in between.
        Ok(descriptor) => Ok((start_time(pid) == Some(started)).then_some(descriptor)),
        Err(rustix::io::Errno::SRCH) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Direct children of a process, zombies included; none where the kernel does not list them (CONFIG_PROC_CHILDREN).
#[must_use]
pub fn children_of(pid: u32) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.flatten().filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// Direct children of a process with one thread, zombies included.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn direct_children() -> io::Result<Vec<Pid>> {
    let own = std::process::id();
    // Present with CONFIG_PROC_CHILDREN; complete only while nobody is reaped in between, which is ours to do.
    if let Ok(list) = fs::read_to_string(format!("/proc/self/task/{own}/children")) {
        return Ok(list.split_ascii_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect());
    }
    children_of_all_threads()
}

/// Direct children of the calling process, whichever thread started them, zombies included.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn children_of_all_threads() -> io::Result<Vec<Pid>> {
    let own = std::process::id();
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Ok(pid) = entry?.file_name().to_string_lossy().parse::<i32>() else {
            continue;
        };
        if u32::try_from(pid).ok().and_then(parent) == Some(own) {
            children.extend(Pid::from_raw(pid));
        }
    }
    Ok(children)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_brackets_do_not_shift_fields() {
        let stat = "7 (a) b (c) S 42 1 1 0 -1 0 0 0 0 0 0 0 0 0 0 0 1 0 987654 0";
        assert_eq!(stat_fields(stat).unwrap().nth(FIELD_PARENT), Some("42"));
        assert_eq!(stat_fields(stat).unwrap().nth(FIELD_START), Some("987654"));
    }

    #[test]
    fn a_recycled_id_is_nobody() {
        let own = std::process::id();
        let started = start_time(own).unwrap();
        assert!(watch(own, started).unwrap().is_some());
        assert!(watch(own, started + 1).unwrap().is_none());
    }

    #[test]
    fn a_gone_process_is_nobody() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(watch(pid, 1).unwrap().is_none());
    }

    #[test]
    fn children_are_listed() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let listed = children_of_all_threads().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        assert!(listed.contains(&pid), "{listed:?} lacks {pid:?}");
    }
}
