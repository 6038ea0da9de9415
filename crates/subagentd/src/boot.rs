//! From nothing to serving: lock → settings → store → hub → socket → ready, and back down.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use subagentd_ipc::daemon_file::DaemonFile;
use subagentd_ipc::limits::Limits;
use subagentd_ipc::place::{Environment, Place};
use subagentd_ipc::serve::{Handle as ServerHandle, Server};
use subagentd_ipc::socket::{Address, Bound, LockError, StateLock, bind_private};
use subagentd_runtime::folder::Places;
use subagentd_runtime::runner::Local;
use subagentd_runtime::{process, spawn};
use subagentd_store::Store;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::api::{self, About, Api, VERSION};
use crate::clock::now_ms;
use crate::definitions::Definitions;
use crate::hub::{Context, Hub};
use crate::policy::Policies;
use crate::runtimes::Runtimes;
use crate::settings::{self, Settings};

/// Exit code when another daemon has the state directory (N6).
pub(crate) const ALREADY_RUNNING: i32 = 10;
/// Between two checks that the socket's path is still ours.
const SOCKET_CHECK: Duration = Duration::from_secs(30);
/// Threads for calls that block: file system and spawns.
const BLOCKING_THREADS: usize = 24;
/// Idle blocking threads are ended after this.
const BLOCKING_IDLE: Duration = Duration::from_secs(2);

/// Runs the daemon and gives its exit code.
///
/// # Errors
/// When it cannot serve, with what to do.
pub(crate) fn serve() -> anyhow::Result<i32> {
    let open_files = settle_process();
    let place = Place::find(&Environment::of_process())?;
    let configuration = configuration_folder();
    let settings = Settings::read(configuration.as_deref(), variables())?;
    let lock = match StateLock::take(&place.state) {
        Ok(lock) => lock,
        Err(error @ LockError::Held { .. }) => {
            say(&format!("subagentd: {error}"));
            return Ok(ALREADY_RUNNING);
        }
        Err(error) => return Err(error.into()),
    };
    crate::log::start(&settings.log.level)?;
    if let Some(warning) = &place.warning {
        tracing::warn!("{warning}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_keep_alive(BLOCKING_IDLE)
        .build()
        .context("the daemon's threads cannot be started")?;
    let policies = Policies::new(settings::file(configuration.as_deref()));
    let ended = runtime.block_on(run(place, settings, policies, open_files));
    // A blocking call that hangs on a dead file system must not hold up the end.
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(lock);
    ended.map(|()| 0)
}

/// Makes the process what a daemon is, whoever started it. Gives the limit of open files that it came with.
fn settle_process() -> Option<u64> {
    crate::signals::reset();
    use std::os::fd::AsFd as _;
    // Started by a client, not typed in: leave its terminal. A leader already has its own session.
    if !rustix::termios::isatty(std::io::stdout().as_fd()) {
        rustix::process::setsid().ok();
    }
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    if let Err(error) = std::env::set_current_dir("/") {
        say(&format!("subagentd: cannot change to /: {error}"));
    }
    close_on_exec();
    // Fifty children with their pipes and connections are more than the usual 1,024.
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    if soft < hard {
        // Fewer descriptors only mean that connections are refused earlier.
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).ok();
    }
    Some(soft)
}

/// Whatever our starter left open must not reach a shim.
fn close_on_exec() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let numbers: Vec<i32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    for number in numbers {
        crate::descriptors::close_on_exec(number);
    }
}

fn configuration_folder() -> Option<std::path::PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(std::path::PathBuf::from);
    given("XDG_CONFIG_HOME").filter(|path| path.is_absolute()).or_else(|| Some(given("HOME")?.join(".config")))
}

fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// Writes to standard error, where a person or the client's log reads it.
pub(crate) fn say(line: &str) {
    use std::io::Write as _;
    // Nobody is left to tell.
    writeln!(std::io::stderr(), "{line}").ok();
}

async fn run(place: Place, settings: Settings, policies: Policies, open_files: Option<u64>) -> anyhow::Result<()> {
    let store = Store::open(&place.state).await?;
    let places = Places::new(&place.state);
    places.make().with_context(|| format!("the folders below {} cannot be made", place.state.display()))?;
    let stop = CancellationToken::new();
    adopt(stop.clone())?;
    let runtimes = Arc::new(Runtimes::new(&settings, &place.state));
    let boot = process::boot_id().context("the kernel does not tell which boot this is")?;
    let context = Arc::new(Context {
        runner: Arc::new(Local::new(places.clone(), boot.clone())),
        places,
        writer: store.writer.clone(),
        reader: store.reader.clone(),
        settings,
        open_files,
        boot,
        last_start: Mutex::default(),
    });
    let (hub, handle) = Hub::open(Arc::clone(&context)).await?;
    let bound = bind_private(&place.socket)?;
    let ledger = api::ledger(&context.settings);
    let definitions = Definitions::new(&context.settings.agents);
    let api = Arc::new(Api {
        hub: handle,
        context,
        definitions,
        runtimes,
        policies,
        ledger,
        lookers: api::lookers(),
        about: About {
            store: store.identity().to_owned(),
            started_at_ms: now_ms(),
            state: place.state.clone(),
            socket: place.socket.clone(),
        },
        stop: stop.clone(),
    });
    let served = tokio::spawn(serve_socket(place.clone(), bound, api, stop.clone()));
    // A panic in the hub takes the daemon down at once: the state behind it is unknown.
    let hub = tokio::spawn(hub.run(stop.clone()));
    let hub_end = hub.await;
    stop.cancel();
    let served = served.await;
    store.close().await.context("the store could not be closed cleanly; nothing that was committed is lost")?;
    hub_end.context("the hub failed")?;
    served.context("the server failed")?
}

/// Takes in what shims leave when they are killed, and reaps every child from now on.
fn adopt(stop: CancellationToken) -> anyhow::Result<()> {
    spawn::adopt_orphans().context("the kernel does not let the daemon take in orphans")?;
    let mut ended = signal(SignalKind::child())?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = ended.recv() => spawn::reap(),
            }
        }
    });
    Ok(())
}

/// Serves until the stop, and keeps the socket's path ours.
async fn serve_socket(place: Place, bound: Bound, api: Arc<Api>, stop: CancellationToken) -> anyhow::Result<()> {
    // However this ends, a daemon that serves nobody must not keep the state directory.
    let _ends_the_daemon = stop.clone().drop_guard();
    let (server, handle) = Server::new(api::methods(api), Limits::default(), stop.clone());
    let Bound { listener, mut address } = bound;
    write_daemon_file(&place)?;
    announce(&place.socket);
    let mut server = tokio::spawn(server.run(listener));
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let mut check = tokio::time::interval_at(tokio::time::Instant::now() + SOCKET_CHECK, SOCKET_CHECK);
    loop {
        tokio::select! {
            report = &mut server => {
                tracing::info!(report = ?report.context("the server failed")?, "stopped serving");
                break;
            }
            _ = terminate.recv() => stop.cancel(),
            _ = interrupt.recv() => stop.cancel(),
            _ = hang_up.recv() => address = keep_socket(&place, address, &handle).await,
            _ = check.tick() => address = keep_socket(&place, address, &handle).await,
        }
    }
    address.remove().context("the socket cannot be removed")?;
    DaemonFile::remove(&place.state).context("daemon.json cannot be removed")
}

/// Binds anew when the socket's path is not ours any more: a cleaner of temporary folders, or a logout, took it.
async fn keep_socket(place: &Place, address: Address, server: &ServerHandle) -> Address {
    if address.still_mine() {
        return address;
    }
    match bind_private(&place.socket) {
        Ok(bound) => {
            tracing::warn!(socket = %place.socket.display(), "the socket was gone; bound anew");
            server.rebind(bound.listener).await;
            bound.address
        }
        Err(error) => {
            tracing::error!(%error, "the socket is gone and cannot be bound anew; it is tried again");
            address
        }
    }
}

fn write_daemon_file(place: &Place) -> anyhow::Result<()> {
    let write = || DaemonFile::of_process(place.socket.clone(), VERSION)?.write(&place.state);
    write().with_context(|| format!("daemon.json cannot be written in {}", place.state.display()))
}

/// Tells whoever started us, by the pipe that standard output then is.
fn announce(socket: &Path) {
    use std::io::Write as _;
    tracing::info!(version = VERSION, pid = std::process::id(), socket = %socket.display(), "serving");
    let mut output = std::io::stdout();
    // Nobody may be listening.
    writeln!(output, "ready {}", socket.display()).and_then(|()| output.flush()).ok();
}
