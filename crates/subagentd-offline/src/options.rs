//! The command line: what a driver passes to pi, and `--script`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use thiserror::Error;

use crate::grandchild;

/// Tools a driver may ask for. Others are dropped without a word, as pi does, so that the driver's own check is exercised.
const BUILT_IN: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/// Active when no `--tools` is given.
const DEFAULT_TOOLS: [&str; 4] = ["read", "bash", "edit", "write"];

/// Options with a value that mean something to a model's program only.
const UNUSED_VALUES: [&str; 6] =
    ["--provider", "--model", "--thinking", "-e", "--append-system-prompt", "--exclude-tools"];

/// Options without a value that hold here anyway.
const UNUSED_SWITCHES: [&str; 6] =
    ["--no-approve", "--no-extensions", "--no-skills", "--no-prompt-templates", "--no-themes", "--no-context-files"];

pub(crate) const HELP: &str = "\
A child without a model: it searches the current directory for what a task names.
It speaks pi's RPC dialect on standard input and output.

Usage: subagentd-offline --mode rpc [--tools LIST] [--session-dir DIR] [--session-id ID] [--fork FILE] [--script FILE]

  --mode rpc          the only mode, and the default
  --tools a,b,c       tools to report as active
  --session-dir DIR   keep the conversation there; without it none is kept
  --session-id ID     its name; one that is there is gone on with
  --fork FILE         begin it as a copy of this one
  --script FILE       play this file instead of searching (also SUBAGENTD_OFFLINE_SCRIPT)

Taken and not used: --provider --model --thinking --append-system-prompt --exclude-tools -e (with a value),
--no-approve --no-extensions --no-skills --no-prompt-templates --no-themes --no-context-files
";

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    Serve(Options),
    /// To be a process that a script starts, by this plan.
    Grandchild(String),
    Help,
    Version,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) tools: Vec<String>,
    pub(crate) session: String,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) fork: Option<PathBuf>,
    pub(crate) script: Option<PathBuf>,
}

#[derive(Debug, Error)]
pub(crate) enum OptionError {
    #[error("unknown argument {0:?}; see --help")]
    Unknown(OsString),
    #[error("{0} needs a value")]
    NoValue(String),
    #[error("--mode {0:?} is not spoken here; the only mode is rpc")]
    Mode(OsString),
    #[error("the value of {0} is not valid UTF-8")]
    NotText(String),
}

pub(crate) fn read(mut args: impl Iterator<Item = OsString>, variable: Option<OsString>) -> Result<Asked, OptionError> {
    let mut options = Options {
        tools: DEFAULT_TOOLS.map(str::to_owned).to_vec(),
        session: format!("offline-{}", std::process::id()),
        folder: None,
        fork: None,
        script: variable.filter(|path| !path.is_empty()).map(PathBuf::from),
    };
    while let Some(arg) = args.next() {
        let Some(name) = arg.to_str() else {
            return Err(OptionError::Unknown(arg));
        };
        if UNUSED_SWITCHES.contains(&name) {
            continue;
        }
        let mut value = || args.next().ok_or_else(|| OptionError::NoValue(name.to_owned()));
        match name {
            "--help" | "-h" => return Ok(Asked::Help),
            "--version" => return Ok(Asked::Version),
            "--mode" => match value()? {
                mode if mode == OsStr::new("rpc") => {}
                mode => return Err(OptionError::Mode(mode)),
            },
            // Between processes of this program only, so it is not in the help.
            grandchild::OPTION => return text(name, value()?).map(Asked::Grandchild),
            "--tools" => options.tools = active(&text(name, value()?)?),
            "--session-dir" => options.folder = Some(PathBuf::from(value()?)),
            "--fork" => options.fork = Some(PathBuf::from(value()?)),
            "--session-id" => options.session = text(name, value()?)?,
            "--script" => options.script = Some(PathBuf::from(value()?)),
            _ if UNUSED_VALUES.contains(&name) => drop(value()?),
            _ => return Err(OptionError::Unknown(arg)),
        }
    }
    Ok(Asked::Serve(options))
}

fn active(list: &str) -> Vec<String> {
    let mut tools: Vec<String> = Vec::new();
    for name in list.split(',').map(str::trim).filter(|name| BUILT_IN.contains(name)) {
        if !tools.iter().any(|tool| tool == name) {
            tools.push(name.to_owned());
        }
    }
    tools
}

fn text(name: &str, value: OsString) -> Result<String, OptionError> {
    value.into_string().map_err(|_| OptionError::NotText(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(args: &[&str], variable: Option<&str>) -> Result<Asked, OptionError> {
        read(args.iter().map(OsString::from), variable.map(OsString::from))
    }

    fn options(args: &[&str], variable: Option<&str>) -> Options {
        match ask(args, variable) {
            Ok(Asked::Serve(options)) => options,
            other => panic!("{args:?} gave {other:?}"),
        }
    }

    #[test]
    fn takes_what_a_driver_passes() {
        let line = "--mode rpc --provider p --model m --thinking high --tools read,nope,grep,read --exclude-tools x,mcp__* --session-dir /d \
                    --session-id s-1 --fork /p.jsonl --no-approve --no-extensions -e f.ts --no-skills --no-prompt-templates --no-themes \
                    --no-context-files --append-system-prompt p.md --script /x.jsonl";
        let args: Vec<&str> = line.split_whitespace().collect();
        let taken = options(&args, Some("/other"));
        assert_eq!(taken.tools, ["read", "grep"]);
        assert_eq!(taken.session, "s-1");
        assert_eq!((taken.folder, taken.fork), (Some(PathBuf::from("/d")), Some(PathBuf::from("/p.jsonl"))));
        assert_eq!(taken.script, Some(PathBuf::from("/x.jsonl")));
    }

    #[test]
    fn the_variable_names_a_script_unless_it_is_empty() {
        assert_eq!(options(&[], Some("/v")).script, Some(PathBuf::from("/v")));
        assert_eq!(options(&[], Some("")).script, None);
        assert_eq!(options(&[], None).tools, DEFAULT_TOOLS);
        assert!(options(&["--tools", ""], None).tools.is_empty());
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for (args, says) in [
            (&["--frobnicate"][..], "unknown argument"),
            (&["a task"], "unknown argument"),
            (&["--tools"], "needs a value"),
            (&["--mode", "json"], "only mode is rpc"),
        ] {
            match ask(args, None) {
                Err(error) if error.to_string().contains(says) => {}
                other => panic!("{args:?} gave {other:?}, expected {says:?}"),
            }
        }
    }
}
