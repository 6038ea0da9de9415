//! What tests do to the daemon's database, as only a stranger would.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use subagentd_tests::Site;

/// Somebody else who writes to the database and does not come to an end.
pub(crate) struct Busy(Child);

impl Busy {
    /// None when there is no program to do it with.
    pub(crate) fn new(site: &Site) -> Option<Self> {
        const PROGRAM: &str = "import sqlite3, sys; base = sqlite3.connect(sys.argv[1], isolation_level=None); base.execute('BEGIN IMMEDIATE'); print('busy', flush=True); sys.stdin.read()";
        let mut command = Command::new("python3");
        command.args(["-c", PROGRAM]).arg(site.state().join("subagentd.db"));
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = match spawned {
            Ok(process) => process,
            Err(error) => {
                say(&format!("SKIPPED: python3 is not installed: {error}"));
                return None;
            }
        };
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "busy\n");
        Some(Self(process))
    }

    pub(crate) fn end(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success());
    }
}

/// Changes the database of a daemon that is gone; `false` when there is no program to do it with.
pub(crate) fn change(site: &Site, statement: &str) -> bool {
    const PROGRAM: &str = "import sqlite3, sys; base = sqlite3.connect(sys.argv[1]); base.execute(sys.argv[2]); base.commit(); base.close()";
    let database = site.state().join("subagentd.db");
    match Command::new("python3").args(["-c", PROGRAM]).arg(database).arg(statement).status() {
        Ok(status) => {
            assert!(status.success(), "{statement}");
            true
        }
        Err(error) => {
            say(&format!("SKIPPED: python3 is not installed: {error}"));
            false
        }
    }
}

/// The test runner shows it when the test fails.
#[expect(clippy::print_stderr, reason = "this is how a test speaks")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}
