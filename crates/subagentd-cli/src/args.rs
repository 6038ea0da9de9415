//! The command line as it is typed.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use subagentd_proto::run::State;

use crate::render::words;
use crate::{duration, exit, help};

/// Hand work to subagents, and read what became of it.
#[derive(Debug, Parser)]
#[command(name = "subagentd-cli", version, after_help = format!("{}\n\n{}", help::PROGRAM, exit::table()))]
#[command(arg_required_else_help = true, max_term_width = 80)]
pub(crate) struct Cli {
    /// Print one JSON document in place of text
    #[arg(long, global = true, display_order = 100)]
    pub(crate) json: bool,

    /// Act as this owner, in place of cli:USER
    #[arg(long, global = true, display_order = 101, value_name = "OWNER")]
    pub(crate) owner: Option<String>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Launch an agent on a task, and wait for its end
    #[command(after_help = help::RUN)]
    Run(Run),
    /// Tell what `run` would decide with the same options, and why
    #[command(after_help = help::EXPLAIN)]
    Explain(Explain),
    /// Show what needs you, works, waits and is done
    #[command(after_help = help::LIST, visible_alias = "ls")]
    List(List),
    /// Show one run with everything that was decided about it
    #[command(after_help = help::SHOW)]
    Show(Named),
    /// Wait for the end of runs; the exit code tells how they ended
    #[command(after_help = help::WAIT)]
    Wait(Wait),
    /// Tell a run something while it works or waits
    #[command(after_help = help::STEER)]
    Steer(Steer),
    /// Let a run settle where it is, to go on later
    #[command(after_help = help::PAUSE)]
    Pause(Named),
    /// Go on with a run that is paused or has ended, and wait
    #[command(after_help = help::RESUME)]
    Resume(Resume),
    /// End runs, with everything they started
    #[command(after_help = help::CANCEL)]
    Cancel(Several),
    /// Print a run's answer, and nothing else, to standard output
    #[command(after_help = help::RESULT)]
    Result(Answer),
    /// Show what ended and was not seen yet
    #[command(after_help = help::INBOX)]
    Inbox(Inbox),
    /// Show the agents and runtimes that can be used
    #[command(after_help = help::AGENTS)]
    Agents(Agents),
    /// Show the models that can be named, by runtime
    #[command(after_help = help::MODELS)]
    Models(Models),
    /// Show the ladders that models are chosen by
    #[command(after_help = help::PROFILES)]
    Profiles(Profiles),
    /// Show who holds which workspace, or give one up
    #[command(after_help = help::LEASE)]
    Lease {
        #[command(subcommand)]
        action: Lease,
    },
    /// Start, stop or look at the daemon
    #[command(after_help = help::DAEMON)]
    Daemon {
        #[command(subcommand)]
        action: Daemon,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The agent's name, see `agents`
    pub(crate) agent: String,
    /// What it shall do, in quotes; `-` reads it from standard input
    pub(crate) task: String,
    #[command(flatten)]
    pub(crate) options: LaunchOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The agent's name, see `agents`
    pub(crate) agent: String,
    /// What it should do; the digest is told only with it
    pub(crate) task: Option<String>,
    #[command(flatten)]
    pub(crate) options: LaunchOptions,
}

/// What `run` and `explain` have in common.
#[derive(Debug, Args)]
pub(crate) struct LaunchOptions {
    /// Return as soon as the run is accepted
    #[arg(short, long)]
    pub(crate) detach: bool,
    /// Exact model, as PROVIDER/ID; see `models`
    #[arg(long, value_name = "P/ID")]
    pub(crate) model: Option<String>,
    /// off, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL", hide_possible_values = true, value_parser = PossibleValuesParser::new(words::THINKING))]
    pub(crate) thinking: Option<String>,
    /// What runs it, if not the default; see `agents`
    #[arg(long)]
    pub(crate) runtime: Option<String>,
    /// A few words for lists
    #[arg(long, value_parser = title)]
    pub(crate) title: Option<String>,
    /// Where it works, if not here
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// End it after this time, e.g. 90s; 0: no limit
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) timeout: Option<u64>,
    /// End it when silent for so long; 0: no limit
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) idle_timeout: Option<u64>,
    /// Same key and request again: the same run
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// Let the project's agents and settings count
    #[arg(long)]
    pub(crate) trust_project: bool,
    /// Tools that stand for a parent's: a,b,c
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    pub(crate) parent_tools: Option<Vec<String>>,
    /// fresh: it begins with nothing but its task
    #[arg(long, value_name = "CONTEXT", hide_possible_values = true, value_parser = PossibleValuesParser::new(words::CONTEXTS))]
    pub(crate) context: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Profiles {
    /// Where the project is, if not here
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Let the project's own settings count
    #[arg(long)]
    pub(crate) trust_project: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// One table of all runs, newest first, up to 10,000
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// One table of the newest N runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: Option<u32>,
    /// One table of the runs in this state, or these: a,b
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = state)]
    pub(crate) state: Vec<State>,
    /// One table of the runs of this agent
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// With a column that tells where each works
    #[arg(long)]
    pub(crate) long: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The run's id, or a unique ending of it
    #[arg(value_parser = run_name)]
    pub(crate) run: String,
}

#[derive(Debug, Args)]
pub(crate) struct Several {
    /// The runs' ids, or unique endings of them
    #[arg(value_name = "RUN", required = true, value_parser = run_name)]
    pub(crate) runs: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Wait {
    /// The runs' ids, or unique endings of them
    #[arg(value_name = "RUN", required = true, value_parser = run_name)]
    pub(crate) runs: Vec<String>,
    /// Stop waiting after this time, in all; the runs go on
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) timeout: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Steer {
    /// The run's id, or a unique ending of it
    #[arg(value_parser = run_name)]
    pub(crate) run: String,
    /// What to say, in quotes; `-` or none reads it from standard input
    pub(crate) text: Option<String>,
    /// Say it when the run would otherwise be done
    #[arg(long)]
    pub(crate) after: bool,
    /// Which child of the run, from 0
    #[arg(long, value_name = "I", value_parser = child_number)]
    pub(crate) child: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The run's id, or a unique ending of it
    #[arg(value_parser = run_name)]
    pub(crate) run: String,
    /// What to say, in quotes; `-` reads it from standard input
    pub(crate) text: Option<String>,
    /// Make a run of another owner yours
    #[arg(long)]
    pub(crate) take_over: bool,
    /// Return as soon as it is accepted
    #[arg(short, long)]
    pub(crate) detach: bool,
    /// Which child of the run, from 0
    #[arg(long, value_name = "I", value_parser = child_number)]
    pub(crate) child: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The run's id, or a unique ending of it
    #[arg(value_parser = run_name)]
    pub(crate) run: String,
    /// Which child of the run, from 0
    #[arg(long, value_name = "I", value_parser = child_number)]
    pub(crate) child: Option<u32>,
    /// Print only the path of the file that holds the answer
    #[arg(long)]
    pub(crate) path: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Inbox {
    /// Show those already seen, too
    #[arg(long)]
    pub(crate) all: bool,
    #[command(subcommand)]
    pub(crate) action: Option<InboxAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InboxAction {
    /// Show them; the same as `inbox` alone
    #[command(after_help = help::INBOX)]
    List {
        /// Show those already seen, too
        #[arg(long)]
        all: bool,
    },
    /// Mark notices as seen
    #[command(after_help = help::ACK)]
    Ack(Ack),
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Ack {
    /// Their numbers, the column NO of `inbox`
    #[arg(value_name = "NUMBER", value_parser = notice_number)]
    pub(crate) seqs: Vec<u64>,
    /// All there are
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Agents {
    /// Where the project is, if not here
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Let the project's own agents count
    #[arg(long)]
    pub(crate) trust_project: bool,
    /// user leaves out the project's, project yours; or both
    #[arg(long, hide_possible_values = true, value_parser = PossibleValuesParser::new(words::SCOPES))]
    pub(crate) scope: Option<String>,
    /// Tell who suits this task; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) task: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Models {
    /// Only of this runtime
    #[arg(long)]
    pub(crate) runtime: Option<String>,
    /// Ask the runtimes again, whatever is known
    #[arg(long)]
    pub(crate) refresh: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Lease {
    /// Show the workspaces that are held, oldest first
    #[command(after_help = help::LEASE_LIST)]
    List,
    /// Give up what an ended run still holds
    #[command(after_help = help::LEASE_RELEASE)]
    Release(Named),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Daemon {
    /// Start it, unless it runs
    #[command(after_help = help::DAEMON_START)]
    Start,
    /// Stop it; runs go on and are taken up by the next one
    #[command(after_help = help::DAEMON_STOP)]
    Stop,
    /// Tell whether it runs, and what it does
    #[command(after_help = help::DAEMON_STATUS)]
    Status,
}

impl Command {
    /// The one run that it names. Those that take several tell of each by themselves.
    pub(crate) fn run(&self) -> Option<&str> {
        match self {
            Self::Show(named) | Self::Pause(named) | Self::Lease { action: Lease::Release(named) } => Some(&named.run),
            Self::Steer(args) => Some(&args.run),
            Self::Resume(args) => Some(&args.run),
            Self::Result(args) => Some(&args.run),
            _ => None,
        }
    }
}

fn state(word: &str) -> Result<State, String> {
    words::state_of(word).ok_or_else(|| {
        let words: Vec<&str> = words::STATES.iter().map(|(_, word)| *word).collect();
        format!("it is none of {}", words.join(", "))
    })
}

/// A blank one would be taken for none where it is shown.
fn title(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("say a few words, or leave it out".to_owned()) } else { Ok(text.to_owned()) }
}

fn child_number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "a child's number, from 0; `subagentd-cli show` tells those there are".to_owned())
}

fn notice_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a notice's number, as the column NO of `subagentd-cli inbox` shows it".to_owned())
}

/// Refuses here what can name no run, so that a slip of the finger starts no daemon.
fn run_name(text: &str) -> Result<String, String> {
    let name = text.trim().to_ascii_lowercase();
    let digits = name.bytes().filter(u8::is_ascii_hexdigit).count();
    let others = name.bytes().any(|byte| !byte.is_ascii_hexdigit() && byte != b'-');
    if others || digits > 32 {
        return Err("a run's name has only hex digits; see `subagentd-cli list`".to_owned());
    }
    if digits < 6 {
        return Err("give at least 6 hex digits of the run's end".to_owned());
    }
    Ok(name)
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
