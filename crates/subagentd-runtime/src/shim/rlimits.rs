//! The client's resource limits for its child.

use std::collections::BTreeMap;

use rustix::process::{Resource, getrlimit, setrlimit};

/// The limits that are passed on, by their names in a request; others are ignored.
const NAMES: [(&str, Resource); 9] = [
    ("nofile", Resource::Nofile),
    ("core", Resource::Core),
    ("stack", Resource::Stack),
    ("fsize", Resource::Fsize),
    ("nproc", Resource::Nproc),
    ("as", Resource::As),
    ("data", Resource::Data),
    ("cpu", Resource::Cpu),
    ("memlock", Resource::Memlock),
];

/// Soft limits to be set.
#[derive(Clone, Copy)]
pub(super) struct SoftLimits([Option<u64>; NAMES.len()]);

impl SoftLimits {
    /// Those of the client; where it states none for open files, those that the daemon was started with.
    pub(super) fn of(asked: &BTreeMap<String, u64>, open_files: Option<u64>) -> Self {
        Self(NAMES.map(|(name, resource)| {
            let usual = open_files.filter(|_| resource == Resource::Nofile);
            asked.get(name).copied().or(usual)
        }))
    }

    /// Sets them, as far as the hard limits allow. Allocates nothing: it runs between fork and exec.
    pub(super) fn apply(&self) -> rustix::io::Result<()> {
        for ((_, resource), soft) in NAMES.into_iter().zip(self.0) {
            let Some(soft) = soft else { continue };
            let mut limit = getrlimit(resource);
            // Every number beyond it means as much as there may be; none means no limit.
            limit.current = limit.maximum.map_or((soft != u64::MAX).then_some(soft), |hard| Some(soft.min(hard)));
            setrlimit(resource, limit)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_number_replaces_the_daemons_and_unknown_names_are_ignored() {
        let asked = |list: &[(&str, u64)]| list.iter().map(|(name, soft)| ((*name).to_owned(), *soft)).collect();
        let at = |limits: SoftLimits, name| limits.0[NAMES.iter().position(|(known, _)| *known == name).unwrap()];
        let limits = SoftLimits::of(&asked(&[("nofile", 77), ("core", 0), ("nice", 3)]), Some(1024));
        assert_eq!((at(limits, "nofile"), at(limits, "core"), at(limits, "cpu")), (Some(77), Some(0), None));
        let limits = SoftLimits::of(&asked(&[]), Some(1024));
        assert_eq!((at(limits, "nofile"), at(limits, "core")), (Some(1024), None));
        assert_eq!(at(SoftLimits::of(&asked(&[]), None), "nofile"), None);
    }
}
