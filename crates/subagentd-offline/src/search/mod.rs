//! Text search without a model: what a task names, looked up below the current directory and ranked by a fixed rule.
//!
//! `query` reads the task, `walk` collects matching lines, `rank` orders places, `block` looks at what encloses them, `report` writes.

mod block;
mod file;
mod form;
mod kin;
mod line;
mod query;
mod rank;
mod report;
mod term;
mod walk;

use std::time::Duration;

pub(crate) use query::Query;
pub(crate) use report::Findings;

use crate::wire::Leave;

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pulse {
    Go,
    Stop,
}

/// What a search may cost. Reaching a bound never fails it: the search ends there or leaves the thing out, and the answer says so.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    /// Files looked into, in the order of their paths.
    pub(crate) files: usize,
    /// Size of one file; larger ones are left out.
    pub(crate) file_bytes: u64,
    /// Matching lines kept, of one file.
    pub(crate) file_lines: usize,
    /// Matching lines kept, of all files.
    pub(crate) lines: usize,
    /// For the whole search.
    pub(crate) time: Duration,
    /// Places shown.
    pub(crate) findings: usize,
    /// Places shown of one file.
    pub(crate) file_findings: usize,
    /// Length of the answer.
    pub(crate) answer_bytes: usize,
}

impl Bounds {
    pub(crate) const STANDARD: Self = Self {
        files: 50_000,
        file_bytes: 1024 * 1024,
        file_lines: 4_000,
        lines: 1_000_000,
        time: Duration::from_secs(20),
        findings: 12,
        file_findings: 3,
        answer_bytes: 24 * 1024,
    };
}

/// Searches the current directory; nothing when `pulse` says stop. `pulse` is asked at every file.
pub(crate) fn search(
    query: &Query,
    bounds: &Bounds,
    pulse: &mut dyn FnMut() -> Result<Pulse, Leave>,
) -> Result<Option<Findings>, Leave> {
    let Some(looked) = walk::collect(query, bounds, pulse)? else {
        return Ok(None);
    };
    let places = rank::places(query, bounds, &looked);
    Ok(Some(Findings::new(query, bounds, &looked, &places)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches this crate's own folder, which is where its tests run.
    fn answer(task: &str, bounds: &Bounds) -> String {
        search(&Query::of(task), bounds, &mut || Ok(Pulse::Go)).unwrap().unwrap().answer()
    }

    #[test]
    fn a_bound_cuts_at_the_same_place_and_is_said() {
        for (bounds, says) in [
            (Bounds { files: 1, ..Bounds::STANDARD }, "stopped after 1 files"),
            (Bounds { lines: 1, ..Bounds::STANDARD }, "stopped after 1 matching lines"),
            (Bounds { time: Duration::ZERO, ..Bounds::STANDARD }, "stopped after 0 s"),
            (Bounds { file_lines: 1, ..Bounds::STANDARD }, "only the first 1 matching lines of src/"),
            (Bounds { file_bytes: 300, ..Bounds::STANDARD }, "files too large"),
            (Bounds { answer_bytes: 1_500, ..Bounds::STANDARD }, "more places were left out"),
        ] {
            let answer = answer("subagentd search bounds", &bounds);
            assert!(answer.contains(says), "{says}: {answer}");
        }
        let first = answer("subagentd", &Bounds { files: 1, ..Bounds::STANDARD });
        assert!(first.contains("1. `Cargo.toml:"), "the first file by name: {first}");
    }

    #[test]
    fn a_stop_gives_no_findings() {
        let stopped = search(&Query::of("bounds"), &Bounds::STANDARD, &mut || Ok(Pulse::Stop)).unwrap();
        assert!(stopped.is_none());
    }
}
