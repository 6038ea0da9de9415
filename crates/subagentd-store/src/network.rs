//! File systems on which SQLite's log cannot work: it needs memory shared by everybody who has the file open.

use std::path::Path;

/// `f_type` of statfs(2) and a name for people.
const NETWORK: [(u32, &str); 8] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB2"),
    (0x0102_1997, "9P"),
    (0x00C3_6400, "Ceph"),
    (0x5346_414F, "AFS"),
    (0x0BD0_0BD0, "Lustre"),
];

/// The kind of network file system that a directory is on; `None` for a local one.
pub(crate) fn system(directory: &Path) -> std::io::Result<Option<&'static str>> {
    let kind = rustix::fs::statfs(directory)?.f_type;
    // The field's width differs by architecture; the numbers have 32 bits.
    let kind = u64::try_from(kind).unwrap_or_default() & 0xFFFF_FFFF;
    Ok(NETWORK.into_iter().find_map(|(number, name)| (u64::from(number) == kind).then_some(name)))
}
