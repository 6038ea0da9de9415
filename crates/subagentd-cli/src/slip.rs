//! A command line that cannot be read: what the parser says, and what was probably meant.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit::Exit;
use crate::failure::Problem;
use crate::output::Screen;

/// Words that people try, and what does it here.
const OTHER_WORDS: [(&str, &str); 19] = [
    ("ps", "list"),
    ("status", "daemon status"),
    ("kill", "cancel"),
    ("stop", "daemon stop"),
    ("rm", "cancel"),
    ("launch", "run"),
    ("start", "daemon start"),
    ("submit", "run"),
    ("get", "show"),
    ("log", "show"),
    ("logs", "show"),
    ("output", "result"),
    ("tell", "steer"),
    ("say", "steer"),
    ("send", "steer"),
    ("continue", "resume"),
    ("unpause", "resume"),
    ("attach", "wait"),
    ("ack", "inbox ack"),
];

/// Commands that are told a text, which people forget to quote.
const WITH_TEXT: [&str; 3] = ["run", "steer", "resume"];

/// Prints help, version, or what is wrong with the command line.
pub(crate) fn tell(error: &clap::Error) -> Exit {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A closed pipe is the only thing that can go wrong here, and then nobody reads.
        drop(error.print());
        return Exit::Succeeded;
    }
    Screen::new(false).note(error.to_string().trim_end());
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let json = args.iter().any(|arg| arg == "--json");
    let meant = meant(error, &args);
    if let Some(meant) = &meant {
        // Told to programs too, where hints are not: this is the error.
        Screen::new(false).note(&format!("\n{meant}"));
    }
    if json {
        let text = error.to_string();
        let mut problem = Problem::new(Exit::Usage, "usage", first_paragraph(&text));
        problem.hint = meant;
        drop(Screen::new(true).document(&problem.document()));
    }
    Exit::Usage
}

/// What happened, on one line: the parser's first paragraph.
fn first_paragraph(text: &str) -> String {
    let lines = text.trim_start_matches("error: ").lines().take_while(|line| !line.trim().is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

fn meant(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let command = args.iter().find_map(|arg| WITH_TEXT.into_iter().find(|command| arg == command));
    let is_run = command == Some("run");
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
            let known = OTHER_WORDS.iter().find(|(other, _)| other == word);
            known.map(|(_, command)| format!("Did you mean `subagentd-cli {command}`?"))
        }
        ErrorKind::MissingRequiredArgument if is_run => Some(
            "An agent, then its task in quotes: `subagentd-cli run explore \"where is the config read?\"`.\n\
                  `subagentd-cli agents` shows the agents there are."
                .to_owned(),
        ),
        ErrorKind::UnknownArgument => match (command, error.get(ContextKind::InvalidArg)) {
            // What begins with a dash gets the parser's own tip.
            (_, Some(ContextValue::String(word))) if word.starts_with('-') => None,
            (Some("run"), Some(_)) => {
                Some("A task of several words stands in quotes: `subagentd-cli run AGENT \"THE TASK\"`.".to_owned())
            }
            (Some(command), Some(_)) => {
                Some(format!("A text of several words stands in quotes: `subagentd-cli {command} RUN \"THE TEXT\"`."))
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Cli;

    fn told(line: &[&str]) -> (String, Option<String>) {
        let args: Vec<OsString> = line.iter().map(OsString::from).collect();
        let error = Cli::try_parse_from(["subagentd-cli"].iter().chain(line)).unwrap_err();
        (first_paragraph(&error.to_string()), meant(&error, &args))
    }

    #[test]
    fn slips_get_the_word_that_helps() {
        let table: [(&[&str], &str, &str); 5] = [
            (&["kill", "1a2b3c4d"], "unrecognized subcommand 'kill'", "`subagentd-cli cancel`"),
            (&["run", "explore"], "the following required arguments were not provided: <TASK>", "in quotes"),
            (&["run", "explore", "where", "is", "it"], "unexpected argument 'is' found", "stands in quotes"),
            (&["steer", "1a2b3c4d", "do", "run", "it"], "unexpected argument 'run' found", "steer RUN \"THE TEXT\""),
            (&["resume", "1a2b3c4d", "go", "on"], "unexpected argument 'on' found", "resume RUN \"THE TEXT\""),
        ];
        for (line, first, meant) in table {
            let (message, hint) = told(line);
            assert_eq!(message, first, "{line:?}");
            assert!(hint.as_deref().is_some_and(|hint| hint.contains(meant)), "{line:?}: {hint:?}");
        }
        assert_eq!(told(&["lst"]).1, None, "the parser finds the similar one itself");
        assert_eq!(told(&["run", "explore", "x", "--detatch"]).1, None, "and here");
        assert_eq!(told(&["show", "abc"]).1, None);
    }

    #[test]
    fn other_words_are_no_commands_and_lead_to_some() {
        let command = Cli::command();
        for (other, meant) in OTHER_WORDS {
            assert!(command.find_subcommand(other).is_none(), "{other}");
            let first = meant.split(' ').next().unwrap();
            assert!(command.find_subcommand(first).is_some(), "{meant}");
        }
    }
}
