//! What nothing here can be faster than: the same primitives without the daemon.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};

/// Bytes of a row and of a message: about what a launch stores and sends.
const MESSAGE: usize = 500;
/// Bytes of one plain write.
const BLOCK: usize = 4 * 1024;
/// Blocks of the file that is written to and from the start again, as SQLite's log is.
const BLOCKS: u64 = 256;

/// A thread that sends back what it gets.
pub(crate) struct Echo(UnixStream);

impl Echo {
    /// Starts it. It ends with its connection.
    ///
    /// # Errors
    /// When the system makes no sockets.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let (near, mut far) = UnixStream::pair()?;
        thread::spawn(move || {
            let mut message = [0; MESSAGE];
            while far.read_exact(&mut message).and_then(|()| far.write_all(&message)).is_ok() {}
        });
        Ok(Self(near))
    }

    /// There and back.
    ///
    /// # Errors
    /// When the thread is gone.
    pub(crate) fn round_trip(&mut self) -> anyhow::Result<()> {
        let mut message = [7; MESSAGE];
        self.0.write_all(&message)?;
        Ok(self.0.read_exact(&mut message)?)
    }
}

/// A file with its space in place.
pub(crate) struct Disk {
    file: File,
    next: u64,
}

impl Disk {
    /// Makes it.
    ///
    /// # Errors
    /// When the disk is full.
    pub(crate) fn new(folder: &Path) -> anyhow::Result<Self> {
        let mut file = File::create_new(folder.join("blocks"))?;
        for _ in 0..BLOCKS {
            file.write_all(&[1; BLOCK])?;
        }
        file.sync_all()?;
        Ok(Self { file, next: 0 })
    }

    /// One block, and fdatasync.
    ///
    /// # Errors
    /// As the system says.
    pub(crate) fn write(&mut self) -> anyhow::Result<()> {
        self.file.write_all_at(&[2; BLOCK], self.next % BLOCKS * BLOCK as u64)?;
        self.next += 1;
        Ok(self.file.sync_data()?)
    }
}

/// A database with the daemon's settings and one table.
pub(crate) struct Database(SqliteConnection);

impl Database {
    /// Makes it.
    ///
    /// # Errors
    /// As SQLite says.
    pub(crate) async fn new(folder: &Path) -> anyhow::Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(folder.join("floor.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let mut connection = SqliteConnection::connect_with(&options).await?;
        sqlx::query("CREATE TABLE row (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
            .execute(&mut connection)
            .await?;
        Ok(Self(connection))
    }

    /// One row, committed.
    ///
    /// # Errors
    /// As SQLite says.
    pub(crate) async fn commit(&mut self) -> anyhow::Result<()> {
        let insert = sqlx::query("INSERT INTO row (body) VALUES (?1)").bind(vec![3_u8; MESSAGE]);
        insert.execute(&mut self.0).await?;
        Ok(())
    }
}

/// A program that does nothing, on any Linux.
pub(crate) const NOTHING: &str = "/bin/true";

/// A program from start to end without any work. A launch starts the daemon's own twice: as shim and as child.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn start_and_end(program: &Path) -> anyhow::Result<()> {
    let status = Command::new(program).arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    anyhow::ensure!(status.success(), "{} --version failed", program.display());
    Ok(())
}
