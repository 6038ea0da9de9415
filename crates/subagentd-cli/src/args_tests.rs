//! What is taken and what is refused.

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
fn every_state_is_in_the_help_of_list() {
    for (_, word) in words::STATES {
        assert!(help::LIST.contains(word), "{word}");
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
        &["list", "--agent"],
        &["run", "explore", "x", "--title", " "],
        &["wait"],
        &["cancel"],
        &["steer"],
        &["steer", "use the new API"],
        &["steer", "1a2b3c4d", "two", "texts"],
        &["pause", "1a2b3c4d", "now"],
        &["resume", "1a2b3c4d", "--child", "first"],
        &["inbox", "ack"],
        &["inbox", "ack", "1", "--all"],
        &["inbox", "ack", "1a2b3c4d"],
        &["daemon"],
        &["agents", "--scope", "builtin"],
        &["agents", "explore"],
        &["lease"],
        &["lease", "release"],
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
        &["ls", "--long", "--agent", "explore"],
        &["run", "-d", "explore", "x"],
        &["resume", "1a2b3c4d", "-d"],
        &["wait", "1a2b3c4d", "9f8e7d6c", "--timeout", "5m"],
        &["cancel", "1a2b3c4d", "9f8e7d6c"],
        &["inbox", "list", "--all"],
        &["show", "1A2B3C"],
        &["wait", "01998c1e-7a4b-7c3d-9e1f-00001a2b3c4d", "--timeout", "0"],
        &["steer", "1a2b3c4d"],
        &["steer", "1a2b3c4d", "-"],
        &["steer", "1a2b3c4d", "use the new API", "--after", "--child", "1"],
        &["steer", "1a2b3c4d", "--", "-x is a flag"],
        &["pause", "1a2b3c4d"],
        &["resume", "1a2b3c4d"],
        &["resume", "1a2b3c4d", "now the tests", "--take-over", "--detach", "--child", "0"],
        &["result", "1a2b3c4d", "--child", "1", "--path"],
        &["inbox"],
        &["inbox", "--all"],
        &["inbox", "ack", "3", "4"],
        &["inbox", "ack", "--all", "--owner", "cli:other"],
        &["daemon", "status"],
        &["models", "--runtime", "pi", "--refresh", "--json"],
        &["agents", "--directory", "/w", "--trust-project", "--scope", "project", "--json"],
        &["agents", "--task=- look into this"],
        &["agents", "--task", "-"],
        &["lease", "list"],
        &["lease", "release", "1a2b3c4d"],
    ];
    for line in table {
        if let Err(error) = parse(line) {
            panic!("{line:?}: {error}");
        }
    }
}
