//! The command line as it is typed.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use subagentd_proto::run::State;

use crate::render::words;
use crate::{duration, exit};

const EXAMPLES: &str = "\
Examples:
  subagentd-cli agents                      see which agents there are
  subagentd-cli run explore \"where are stale sockets removed?\"
                                            wait, then see where the answer is
  subagentd-cli result 1a2b3c4d | less      read the answer
  subagentd-cli run debug --detach - < report.txt
                                            hand over work and go on
  subagentd-cli inbox                       see what ended meanwhile
  subagentd-cli wait 1a2b3c4d --timeout 5m  wait again, or elsewhere
  subagentd-cli cancel 1a2b3c4d             end a run

RUN is a run's id or any unique ending of at least 6 hex digits; lists show 8.
A task that begins with a dash goes behind `--`.
Results go to standard output, hints and errors to standard error. With
--json an error is a document too: {\"error\": {\"kind\": ..., \"message\": ...}}.";

/// Hand work to subagents, and read what became of it.
#[derive(Debug, Parser)]
#[command(name = "subagentd-cli", version, after_help = format!("{EXAMPLES}\n\n{}", exit::table()))]
#[command(arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Print one JSON document, the reply
    #[arg(long, global = true, display_order = 100)]
    pub(crate) json: bool,

    /// Whose runs and inbox, if not cli:NAME
    #[arg(long, global = true, display_order = 101, value_name = "OWNER")]
    pub(crate) owner: Option<String>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Launch an agent on a task, and wait for its end
    Run(Run),
    /// Show runs, newest first
    List(List),
    /// Show one run with everything that was decided about it
    Show(Named),
    /// Wait for a run's end; the exit code tells how it ended
    Wait(Wait),
    /// End a run
    Cancel(Named),
    /// Print a run's answer, and nothing else, to standard output
    Result(Answer),
    /// Show what ended and was not seen yet
    Inbox(Inbox),
    /// Show the agents and runtimes that can be used
    Agents,
    /// Start, stop or look at the daemon
    Daemon {
        #[command(subcommand)]
        action: Daemon,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The agent's name, see `agents`
    pub(crate) agent: String,
    /// What it shall do; `-` reads it from standard input
    pub(crate) task: String,
    /// Return as soon as the run is accepted
    #[arg(long)]
    pub(crate) detach: bool,
    /// Exact model, as PROVIDER/ID
    #[arg(long, value_name = "P/ID")]
    pub(crate) model: Option<String>,
    /// off, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL", hide_possible_values = true, value_parser = PossibleValuesParser::new(words::THINKING))]
    pub(crate) thinking: Option<String>,
    /// What runs it, if not the default; see `agents`
    #[arg(long)]
    pub(crate) runtime: Option<String>,
    /// A few words for lists
    #[arg(long)]
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
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Show older runs too, up to 10,000
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Show at most so many runs
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
    /// Show only runs in this state, or these: a,b
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = state)]
    pub(crate) state: Vec<State>,
}

#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The run's id, or a unique ending of it
    #[arg(value_parser = run_name)]
    pub(crate) run: String,
}

#[derive(Debug, Args)]
pub(crate) struct Wait {
    /// The run's id, or a unique ending of it
    #[arg(value_parser = run_name)]
    pub(crate) run: String,
    /// Stop waiting after this time; the run goes on
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) timeout: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The run's id, or a unique ending of it
    #[arg(value_parser = run_name)]
    pub(crate) run: String,
    /// Which child of the run, from 0
    #[arg(long, value_name = "I")]
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
    /// Mark notices as seen
    Ack(Ack),
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Ack {
    /// Their numbers
    #[arg(value_name = "NUMBER")]
    pub(crate) seqs: Vec<u64>,
    /// All there are
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Daemon {
    /// Start it, unless it runs
    Start,
    /// Stop it; runs go on and are taken up by the next one
    Stop,
    /// Tell whether it runs, and what it does
    Status,
}

fn state(word: &str) -> Result<State, String> {
    words::state_of(word).ok_or_else(|| {
        let words: Vec<&str> = words::STATES.iter().map(|(_, word)| *word).collect();
        format!("one of: {}", words.join(", "))
    })
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
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(["subagentd-cli"].iter().chain(line))
    }

    #[test]
    fn the_definition_is_sound_and_ends_with_the_exit_codes() {
        let mut command = Cli::command();
        command.clone().debug_assert();
        let help = command.render_help().to_string();
        assert!(help.contains("subagentd-cli run explore \"where are"), "{help}");
        assert!(help.trim_end().ends_with("130  stopped waiting by Ctrl-C; the run goes on"), "{help}");
    }

    #[test]
    fn every_help_fits_80_columns() {
        let mut waiting = vec![Cli::command()];
        while let Some(mut command) = waiting.pop() {
            for line in command.render_help().to_string().lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
            waiting.extend(command.get_subcommands().cloned());
        }
    }

    #[test]
    fn wrong_lines_are_refused() {
        let table: &[&[&str]] = &[
            &[],
            &["run", "explore"],
            &["run", "explore", "x", "--timeout", "90"],
            &["run", "explore", "x", "--thinking", "hard"],
            &["run", "explore", "x", "--detatch"],
            &["show", "12345"],
            &["show", "my-run"],
            &["list", "--limit", "0"],
            &["list", "--state", "done"],
            &["inbox", "ack"],
            &["inbox", "ack", "1", "--all"],
            &["daemon"],
        ];
        for line in table {
            assert!(parse(line).is_err(), "{line:?} was taken");
        }
    }

    #[test]
    fn right_lines_are_taken() {
        let table: &[&[&str]] = &[
            &["run", "explore", "-"],
            &["run", "--detach", "explore", "find it", "--timeout", "1h30m", "--json"],
            &["run", "explore", "--", "-x is a flag, what does it do?"],
            &["--json", "list", "--all", "--state", "queued,running"],
            &["show", "1A2B3C"],
            &["wait", "01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d", "--timeout", "0"],
            &["result", "1a2b3c4d", "--child", "1", "--path"],
            &["inbox"],
            &["inbox", "--all"],
            &["inbox", "ack", "3", "4"],
            &["inbox", "ack", "--all", "--owner", "cli:other"],
            &["daemon", "status"],
        ];
        for line in table {
            if let Err(error) = parse(line) {
                panic!("{line:?}: {error}");
            }
        }
    }
}
