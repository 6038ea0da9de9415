//! Facts of the machine that a figure means nothing without.

use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

/// The load averages.
pub(crate) fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// Processor, kernel, disk and load, in lines.
pub(crate) fn facts(disk: &Path, load_before: &str) -> String {
    let cores = available_parallelism().map_or(0, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{cores} cores, {}; Linux {}; {} at {}\nload average {load_before} before, {} after\n",
        processor(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
        kernel.trim(),
        file_system(&fs::read_to_string("/proc/self/mounts").unwrap_or_default(), disk),
        disk.parent().unwrap_or(disk).display(),
        load()
    )
}

fn processor(cpuinfo: &str) -> &str {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split_once(": ")).map_or("unknown processor", |(_, name)| name)
}

/// The type of the file system whose mount point is nearest.
fn file_system<'a>(mounts: &'a str, path: &Path) -> &'a str {
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    let around = mounts.filter(|(point, _)| path.starts_with(point));
    // Of mounts at one point the last one counts.
    around.max_by_key(|(point, _)| point.len()).map_or("unknown file system", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_counts() {
        let mounts = "/dev/a / ext4 rw 0 0\nx /tmp tmpfs rw 0 0\n/dev/b /tmp/disk xfs rw 0 0\n";
        for (path, kind) in [("/home/x", "ext4"), ("/tmp/x", "tmpfs"), ("/tmp/disk/x", "xfs"), ("/tmp/disks", "tmpfs")]
        {
            assert_eq!(file_system(mounts, Path::new(path)), kind, "{path}");
        }
    }

    #[test]
    fn the_processor_has_a_name() {
        assert_eq!(processor("processor\t: 0\nmodel name\t: Fast 9\n"), "Fast 9");
        assert_eq!(processor(""), "unknown processor");
    }
}
