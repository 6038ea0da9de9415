//! `show`: one run, whole.

use subagentd_proto::method::RunGet;
use subagentd_proto::run::GetParams;

use crate::args::Named;
use crate::connection::{Caller, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hints::Hints;
use crate::interrupt;
use crate::output::Screen;
use crate::render::time::Clock;
use crate::render::{run as render, words};

pub(crate) async fn show(args: Named, caller: &Caller, screen: &Screen) -> Result<Exit, Failure> {
    let daemon = Daemon::reach_run(caller, &args.run).await?;
    let run = daemon.call::<RunGet>(GetParams { run: args.run }).await?;
    screen.result(&run, || render::whole(&run, screen, &Clock::local()))?;
    let name = words::ending(&run.run);
    if !run.state.is_end() {
        screen.hints(&interrupt::hints(name));
    } else if run.children.iter().any(|child| child.reference.is_some()) {
        screen.hints(&Hints::default().and(format_args!("result {name}"), "read the answer"));
    }
    daemon.acknowledge_run(&run, screen).await;
    Ok(Exit::Succeeded)
}
