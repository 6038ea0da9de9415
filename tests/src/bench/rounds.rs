//! The rounds: in each of them every floor once, then one launch from its call to its notice.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use subagentd_ipc::{Client, Items};
use subagentd_proto::daemon::StatusParams;
use subagentd_proto::inbox::{AckParams, Notice, WatchParams};
use subagentd_proto::method::{DaemonStatus, InboxAck, InboxWatch, RunLaunch};
use subagentd_proto::run::{Capture, CapturedEnvironment, LaunchParams, State};
use tokio::time::timeout;

use crate::daemon::Daemon;
use crate::floor::{self, Database, Disk, Echo};

/// Nothing here takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);
/// What the child does: a stamp as its first act and one as its last.
const SCRIPT: &str = r#"{"before": {"touch": {"path": "$WORK/stamps", "label": "first $ATTEMPT"}}}
{"say": "done"}
{"after": {"touch": {"path": "$WORK/stamps", "label": "last $ATTEMPT"}}}
{"after": {"exit": 0}}
"#;

/// Times of all rounds.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    /// One message to another thread and back.
    pub(crate) echo: Vec<Duration>,
    /// 4 KiB and fdatasync.
    pub(crate) sync: Vec<Duration>,
    /// One row, committed with `synchronous=FULL`.
    pub(crate) commit: Vec<Duration>,
    /// A program that does nothing, from start to end.
    pub(crate) nothing: Vec<Duration>,
    /// The daemon's program, from start to end.
    pub(crate) program: Vec<Duration>,
    /// `daemon/status` on a kept connection.
    pub(crate) status: Vec<Duration>,
    /// `run/launch` on a kept connection, from the call to the reply.
    pub(crate) acknowledged: Vec<Duration>,
    /// From the call to the child's first stamp.
    pub(crate) first: Vec<Duration>,
    /// From the child's last stamp to the notice at the subscriber.
    pub(crate) notice: Vec<Duration>,
}

struct Bench<'a> {
    program: &'a Path,
    echo: Echo,
    disk: Disk,
    database: Database,
    launcher: Client,
    subscriber: Client,
    notices: Items<Notice>,
    work: PathBuf,
    environment: CapturedEnvironment,
}

/// Runs `warm_up` rounds that do not count and `rounds` that do.
///
/// # Errors
/// When a launch does not end well, or anything fails.
pub(crate) async fn measure(program: &Path, daemon: &Daemon, warm_up: u32, rounds: u32) -> anyhow::Result<Samples> {
    let script = daemon.disk().join("script.jsonl");
    fs::write(&script, SCRIPT)?;
    let script = script.to_str().context("the folder's name is not UTF-8")?.to_owned();
    let subscriber = daemon.connect().await?;
    let mut bench = Bench {
        program,
        echo: Echo::start()?,
        disk: Disk::new(daemon.disk())?,
        database: Database::new(daemon.disk()).await?,
        launcher: daemon.connect().await?,
        notices: subscriber.subscribe::<InboxWatch>(WatchParams::default()).await?,
        subscriber,
        work: daemon.work(),
        environment: CapturedEnvironment {
            variables: BTreeMap::from([("SUBAGENTD_OFFLINE_SCRIPT".to_owned(), script)]),
            ..CapturedEnvironment::default()
        },
    };
    let mut samples = Samples::default();
    for _ in 0..warm_up {
        bench.round(&mut Samples::default()).await?;
    }
    for _ in 0..rounds {
        bench.round(&mut samples).await?;
    }
    Ok(samples)
}

impl Bench<'_> {
    async fn round(&mut self, samples: &mut Samples) -> anyhow::Result<()> {
        self.until_idle().await?;
        let start = Instant::now();
        self.echo.round_trip()?;
        samples.echo.push(start.elapsed());

        let start = Instant::now();
        self.disk.write()?;
        samples.sync.push(start.elapsed());

        let start = Instant::now();
        self.database.commit().await?;
        samples.commit.push(start.elapsed());

        let start = Instant::now();
        floor::start_and_end(Path::new(floor::NOTHING))?;
        samples.nothing.push(start.elapsed());

        let start = Instant::now();
        floor::start_and_end(self.program)?;
        samples.program.push(start.elapsed());

        let start = Instant::now();
        self.launcher.call::<DaemonStatus>(StatusParams {}).await?;
        samples.status.push(start.elapsed());

        self.launch(samples).await
    }

    async fn launch(&mut self, samples: &mut Samples) -> anyhow::Result<()> {
        let params = LaunchParams {
            agent: "explore".to_owned(),
            task: "Where is the floor?".to_owned(),
            directory: self.work.to_str().context("the folder's name is not UTF-8")?.to_owned(),
            runtime: Some("offline".to_owned()),
            capture: Capture { environment: Some(self.environment.clone()), ..Capture::default() },
            ..LaunchParams::default()
        };
        let called = now();
        let start = Instant::now();
        let reply = self.launcher.call::<RunLaunch>(params).await?;
        samples.acknowledged.push(start.elapsed());

        let notice = timeout(PATIENCE, self.notices.next()).await.context("no notice came")?;
        let noticed = now();
        let notice = notice.context("the subscription ended")??;
        anyhow::ensure!(notice.run == reply.run, "a notice of another run came");
        anyhow::ensure!(notice.state == State::Succeeded, "a run ended as {:?}: {}", notice.state, notice.reason);

        let stamps = Stamps::take(&self.work.join("stamps"))?;
        samples.first.push(between(called, stamps.first)?);
        samples.notice.push(between(stamps.last, noticed)?);
        self.subscriber.call::<InboxAck>(AckParams { up_to: Some(notice.seq), seqs: Vec::new() }).await?;
        Ok(())
    }

    /// A launch counts from rest: what the one before leaves to do is not its own time.
    async fn until_idle(&self) -> anyhow::Result<()> {
        let start = Instant::now();
        while self.launcher.call::<DaemonStatus>(StatusParams {}).await?.live > 0 {
            anyhow::ensure!(start.elapsed() < PATIENCE, "a child does not end");
        }
        Ok(())
    }
}

/// What the child wrote down, since the epoch.
struct Stamps {
    first: Duration,
    last: Duration,
}

impl Stamps {
    /// Reads them and removes the file: the next child makes its own.
    fn take(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).context("the child left no stamps")?;
        fs::remove_file(path)?;
        let stamp = |line: Option<&str>| -> anyhow::Result<Duration> {
            let number = line.and_then(|line| line.split(' ').next()).context("a stamp of the child is missing")?;
            Ok(Duration::from_nanos(number.parse()?))
        };
        let mut lines = text.lines();
        Ok(Self { first: stamp(lines.next())?, last: stamp(lines.next())? })
    }
}

/// Since the epoch: the only clock that this process and the child read alike and write down.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn between(from: Duration, to: Duration) -> anyhow::Result<Duration> {
    to.checked_sub(from).context("the wall clock went backwards during a round; try again")
}
