//! A daemon of its own for the benchmark.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use subagentd_ipc::Client;
use subagentd_proto::daemon::StopParams;
use subagentd_proto::method::DaemonStop;
use tempfile::TempDir;

/// Ended when dropped.
pub(crate) struct Daemon {
    process: Child,
    /// State, work and everything that is synced. Beside the program and not in /tmp, which may be memory.
    disk: TempDir,
    /// Its path must be short.
    runtime: TempDir,
}

impl Daemon {
    /// Starts it with built-in settings and waits until it serves.
    ///
    /// # Errors
    /// When it does not come to serve; its log is shown.
    pub(crate) fn start(program: &Path) -> anyhow::Result<Self> {
        let beside = program.parent().context("the daemon's path has no folder")?;
        let disk = tempfile::Builder::new().prefix("bench-").tempdir_in(beside)?;
        let runtime = tempfile::Builder::new().prefix("bench-").tempdir()?;
        for folder in ["state", "work"] {
            std::fs::create_dir(disk.path().join(folder))?;
        }
        let log = disk.path().join("daemon.log");
        let mut process = Command::new(program)
            .arg("serve")
            .env_clear()
            .env("SUBAGENTD_STATE_DIR", disk.path().join("state"))
            .env("SUBAGENTD_SOCKET", runtime.path().join("rpc.sock"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .spawn()
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let output = process.stdout.take().context("the daemon has no output")?;
        let daemon = Self { process, disk, runtime };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        anyhow::ensure!(
            line.starts_with("ready "),
            "the daemon ended before it served:\n{}",
            std::fs::read_to_string(log).unwrap_or_default()
        );
        Ok(daemon)
    }

    /// A greeted connection. All of them have the same owner.
    ///
    /// # Errors
    /// When the daemon refuses it.
    pub(crate) async fn connect(&self) -> anyhow::Result<Client> {
        let client = self.unnamed().await?;
        client.hello("bench", "bench", env!("CARGO_PKG_VERSION")).await?;
        Ok(client)
    }

    /// The folder on the disk that is measured.
    pub(crate) fn disk(&self) -> &Path {
        self.disk.path()
    }

    /// Where children work.
    pub(crate) fn work(&self) -> PathBuf {
        self.disk.path().join("work")
    }

    /// Stops it and waits for its end.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) async fn stop(&mut self) -> anyhow::Result<()> {
        self.unnamed().await?.call::<DaemonStop>(StopParams {}).await?;
        self.process.wait()?;
        Ok(())
    }

    async fn unnamed(&self) -> anyhow::Result<Client> {
        Ok(Client::connect(&self.runtime.path().join("rpc.sock")).await?)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Both do nothing after a stop.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
