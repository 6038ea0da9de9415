//! The kill program: daemons, shims and children are killed at random moments under load, and an outside checker says
//! whether any promise was broken.
//!
//! Real daemons serve a private state directory. Clients launch children with scripted lives, cancel some, watch their
//! inboxes, and ask again after every lost connection. A killer ends daemons and shims with SIGKILL at moments spread
//! over their whole lives. When everything had time to end, [`check()`] looks at the [`History`]: it knows what clients
//! were told, what the children wrote down themselves, the process table, the store as the daemon shows it, and the
//! spool — nothing of what the daemon thinks.

mod board;
mod check;
mod course;
mod dice;
mod history;
mod killer;
mod life;
mod line;
mod load;
mod observe;
mod order;
mod pi;
mod report;
mod rig;
mod table;
mod watcher;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use check::{Rule, Violation, check};
pub use history::History;
pub use pi::{PiVerdict, pi_rounds};

use board::Board;
use rig::Rig;

/// What to do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The daemon's program.
    pub program: PathBuf,
    /// Decides every choice.
    pub seed: u64,
    /// How many daemons are killed.
    pub daemon_kills: u32,
    /// How many shims are killed.
    pub shim_kills: u32,
    /// At least so many launches are made.
    pub runs: u32,
    /// Kills and launches have to be done by then; otherwise that is a violation.
    pub time: Duration,
}

/// What came of it.
#[derive(Debug)]
pub struct Verdict {
    /// What was done, for people.
    pub table: String,
    /// Everything that is wrong.
    pub violations: Vec<Violation>,
    /// The state directory, the logs and the stamps, kept when something is wrong.
    pub kept: Option<PathBuf>,
}

impl Verdict {
    /// Table, violations and where to look, as text.
    #[must_use]
    pub fn text(&self) -> String {
        let violations: String = self.violations.iter().map(|violation| format!("VIOLATION {violation}\n")).collect();
        let kept = self.kept.as_deref().map(Path::display);
        let kept = kept.map(|path| format!("state, logs and stamps are kept in {path}\n")).unwrap_or_default();
        format!("{}{violations}{kept}", self.table)
    }
}

/// Carries the plan out.
///
/// # Errors
/// When the surroundings cannot be made; what the product does wrong is in the verdict.
pub fn soak(plan: &Plan) -> anyhow::Result<Verdict> {
    let rig = Arc::new(Rig::new(&plan.program)?);
    let board = Arc::new(Board::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let history = runtime.block_on(course::run(plan, &rig, &board))?;
    // A blocked look at a slow disk must not hold up the verdict.
    runtime.shutdown_timeout(Duration::from_secs(1));
    let violations = check(&history);
    let table = report::table(plan, &history, &rig);
    let kept = (!violations.is_empty()).then(|| rig.keep());
    Ok(Verdict { table, violations, kept })
}
