//! Processes that a script starts: this very program again, with a list of steps and no dialect.

mod orphan;
mod start;

use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::time::Duration;

use nix::sys::signal::SigSet;
use nix::unistd::{close, setsid};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::orphan::Orphan;
use self::start::start;
use crate::complain;
use crate::life;
use crate::script::{Manner, Touch, acts};
use crate::stage::Stage;

/// The argument that makes this program a grandchild; its plan follows as JSON.
pub(crate) const OPTION: &str = "--grandchild";

/// What a grandchild is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Plan {
    /// When it has to be gone, in milliseconds since the machine started: processes it starts inherit it.
    until: u64,
    session: String,
    mark: String,
    manner: Manner,
    role: Role,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Role {
    /// Plays steps.
    Steps(Vec<Value>),
    /// Starts another, which so becomes an orphan, and ends.
    Between(Box<Role>),
    /// Starts the next of its kind and ends.
    #[serde(rename_all = "camelCase")]
    Link { left: u32, each_ms: u64, stamp: Option<Touch> },
}

/// Lives as the plan says and gives the exit code.
pub(crate) fn run(plan: &str, prefix: Vec<OsString>) -> i32 {
    match live(plan, prefix) {
        Ok(code) => code,
        Err(why) => {
            complain(&format_args!("{OPTION}: {why}"));
            1
        }
    }
}

fn live(plan: &str, prefix: Vec<OsString>) -> Result<i32, String> {
    let plan: Plan = serde_json::from_str(plan).map_err(text)?;
    let now = life::since_boot().ok_or("the time since the machine started cannot be read")?;
    let Some(left) = plan.until.checked_sub(now) else { return Ok(0) };
    // Spawning hands on the mask of the parent, which blocks what it watches and ignores. The parent cannot clear it around the
    // spawning: an ignored signal that is pending there would end it.
    SigSet::empty().thread_set_mask().map_err(text)?;
    life::limit(Duration::from_millis(left));
    if plan.manner.close_tree {
        close_inherited().map_err(text)?;
    }
    if plan.manner.setsid && !matches!(plan.role, Role::Between(_)) {
        setsid().map_err(text)?;
    }
    let stage = Stage::new(plan.session.clone(), plan.mark.clone(), prefix, Some(plan.until));
    match plan.role.clone() {
        Role::Steps(steps) => Ok(Orphan::new(stage).map_err(text)?.play(acts(&steps)?)),
        Role::Between(next) => {
            start(&Plan { role: *next, ..plan }, &stage.prefix).map_err(text)?;
            Ok(0)
        }
        Role::Link { left, each_ms, stamp } => {
            if let Some(stamp) = &stamp {
                stage.touch(stamp).map_err(|_| "the chain ends here")?;
            }
            std::thread::sleep(Duration::from_millis(each_ms));
            if let Some(left) = left.checked_sub(1) {
                start(&Plan { role: Role::Link { left, each_ms, stamp }, ..plan }, &stage.prefix).map_err(text)?;
            }
            Ok(0)
        }
    }
}

/// Closes all but the standard descriptors, as some programs do with what they start.
fn close_inherited() -> std::io::Result<()> {
    let names: Vec<_> = fs::read_dir("/proc/self/fd")?.map(|entry| entry.map(|entry| entry.file_name())).collect();
    for name in names {
        let number = name?.to_str().and_then(|name| name.parse::<i32>().ok());
        if let Some(descriptor) = number.filter(|number| *number > 2) {
            // The one of the listing itself is closed already.
            close(descriptor).ok();
        }
    }
    Ok(())
}

fn text(error: impl Display) -> String {
    error.to_string()
}
