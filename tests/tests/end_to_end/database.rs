//! What tests do to the daemon's database, as only a stranger would.

use std::fs::{File, OpenOptions};
use std::process::Command;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use subagentd_tests::{Site, until_blocking};

/// The byte of the shared-memory file that whoever writes in SQLite's WAL mode has locked.
const WRITE_LOCK: libc::off_t = 120;

/// Somebody else who writes to the database and does not come to an end.
pub(crate) struct Busy(File);

impl Busy {
    /// As soon as the daemon writes nothing.
    pub(crate) fn new(site: &Site) -> Self {
        let file = site.state().join("subagentd.db-shm");
        let busy = Self(OpenOptions::new().read(true).write(true).open(file).unwrap());
        until_blocking("nobody else writes", || busy.lock(libc::F_WRLCK));
        busy
    }

    pub(crate) fn end(self) {
        self.lock(libc::F_UNLCK).unwrap();
    }

    /// A lock of the open file: it keeps out every other process, as the lock of a process would.
    fn lock(&self, kind: libc::c_int) -> Option<()> {
        let lock = libc::flock {
            l_type: libc::c_short::try_from(kind).unwrap(),
            l_whence: libc::c_short::try_from(libc::SEEK_SET).unwrap(),
            l_start: WRITE_LOCK,
            l_len: 1,
            l_pid: 0,
        };
        fcntl(&self.0, FcntlArg::F_OFD_SETLK(&lock)).ok().map(drop)
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
