//! A per-user daemon that runs subagents for coding agents.
//!
//! One program with four faces: the daemon; the shim of one child (`shim`) and the asker of other programs (`probe`),
//! both started by the daemon; and the child without a model (`offline`, started by a shim).

mod api;
mod boot;
mod clock;
mod definitions;
mod descriptors;
mod environment;
mod hub;
mod log;
mod policy;
mod runtimes;
mod settings;
mod signals;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
subagentd runs subagents for coding agents.

Usage: subagentd [serve]      serve until stopped; `subagentd-cli daemon start` does this in the background
       subagentd --version
       subagentd --help

State directory: SUBAGENTD_STATE_DIR, else $XDG_STATE_HOME/subagentd, else ~/.local/state/subagentd.
Settings: $XDG_CONFIG_HOME/subagentd/config.toml, SUBAGENTD_<SECTION>__<KEY>, SUBAGENTD_DEFAULT_RUNTIME.
Exit codes: 0 stopped, 1 failed, 2 usage, 10 another daemon has the state directory.
";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    let code = match first.as_ref().map(|word| word.to_string_lossy()).as_deref() {
        None | Some("serve") => boot::serve().unwrap_or_else(|error| {
            boot::say(&format!("subagentd: {error:#}"));
            1
        }),
        Some("shim") => shim(arguments.next()),
        Some("probe") => runtimes::probe::main(),
        Some("offline") => subagentd_offline::run(arguments),
        Some("--version" | "-V") => print(&format!("subagentd {}\n", api::VERSION)),
        Some("--help" | "-h") => print(USAGE),
        Some(other) => {
            boot::say(&format!("subagentd: `{other}` is not known\n\n{USAGE}"));
            2
        }
    };
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn shim(folder: Option<OsString>) -> i32 {
    match folder {
        Some(folder) => subagentd_runtime::shim::main(Path::new(&folder)),
        None => {
            boot::say("subagentd shim: the attempt's folder is missing; the daemon starts shims, people do not");
            2
        }
    }
}

fn print(text: &str) -> i32 {
    use std::io::Write as _;
    // A closed pipe is the reader's wish.
    std::io::stdout().write_all(text.as_bytes()).ok();
    0
}
