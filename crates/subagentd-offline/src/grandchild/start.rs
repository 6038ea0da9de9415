//! Starting grandchildren by plain spawning: a copy of a process that has threads is no sound process.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{OPTION, Plan, Role};
use crate::complain;
use crate::life;
use crate::script::{Fork, ForkLoop, Manner};
use crate::stage::{MARK_VARIABLE, Stage};
use crate::wire::Leave;

/// Most processes of one chain of a fork loop, should its time not end it; then the chain is over.
const CHAIN: u32 = 20_000;

impl Stage {
    /// Starts a grandchild; with `double` what it gives back is the one in between, which has ended.
    pub(crate) fn fork(&self, fork: &Fork) -> Result<Child, Leave> {
        let steps = Role::Steps(fork.steps.clone());
        let role = if fork.double { Role::Between(Box::new(steps)) } else { steps };
        self.plan(fork.manner, role, life::LIFE)
            .and_then(|plan| start(&plan, &self.prefix))
            .and_then(|mut child| {
                if fork.double {
                    passed(&mut child)?;
                }
                Ok(child)
            })
            .map_err(|error| failed("fork", &error))
    }

    /// Starts chains of orphans.
    pub(crate) fn fork_loop(&self, looped: &ForkLoop) -> Result<(), Leave> {
        let each_ms = u64::try_from(looped.each.as_millis()).unwrap_or(u64::MAX);
        let role = Role::Between(Box::new(Role::Link { left: CHAIN, each_ms, stamp: looped.stamp.clone() }));
        let begin = || {
            let plan = self.plan(looped.manner, role, looped.total)?;
            let chains: Vec<Child> =
                (0..looped.width).map(|_| start(&plan, &self.prefix)).collect::<io::Result<_>>()?;
            chains.into_iter().try_for_each(|mut between| passed(&mut between))
        };
        begin().map_err(|error| failed("forkLoop", &error))
    }

    fn plan(&self, manner: Manner, role: Role, life: Duration) -> io::Result<Plan> {
        let now =
            life::since_boot().ok_or_else(|| io::Error::other("the time since the machine started cannot be read"))?;
        let own = now.saturating_add(u64::try_from(life.as_millis()).unwrap_or(u64::MAX));
        let until = self.until.map_or(own, |until| until.min(own));
        Ok(Plan { until, session: self.session.clone(), mark: self.mark.clone(), manner, role })
    }
}

/// Starts this very program again. It inherits the signal mask and clears it itself.
pub(super) fn start(plan: &Plan, prefix: &[OsString]) -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    if let Some(name) = std::env::args_os().next() {
        command.arg0(name);
    }
    command.args(prefix).arg(OPTION).arg(serde_json::to_string(plan)?);
    let Manner { setsid, group, hold_pipes, clear_mark, close_tree: _ } = plan.manner;
    if !hold_pipes {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    }
    if clear_mark {
        command.env_remove(MARK_VARIABLE);
    }
    // The leader of a group cannot begin a session, and who begins a session has its own group.
    if group && !setsid {
        command.process_group(0);
    }
    command.spawn()
}

/// Waits for a process that only starts another one.
fn passed(child: &mut Child) -> io::Result<()> {
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("it could not start another: {status}"))) }
}

fn failed(step: &str, error: &io::Error) -> Leave {
    complain(&format_args!("{step}: {error}"));
    Leave::FAILED
}
