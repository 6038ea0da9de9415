//! The daemon is this test program, run again through a script: see [`stand_in`].

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use subagentd_proto::daemon::{StatusResponse, StopParams, StopResponse};
use subagentd_proto::method::DaemonStop;
use subagentd_proto::run::Decision;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::place::Environment;
use crate::socket::{LockError, StateLock, bind_private};
use crate::{Limits, Router, serve};

const PATIENCE: Duration = Duration::from_secs(20);

struct Scene {
    folder: tempfile::TempDir,
    place: Place,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        std::fs::create_dir(&run).unwrap();
        let place = Self::place_with(folder.path(), Some(&run));
        Self { folder, place }
    }

    fn place_with(folder: &Path, run: Option<&Path>) -> Place {
        Place::find(&Environment {
            state_dir: Some(folder.join("state").into()),
            xdg_runtime_dir: run.map(Into::into),
            uid: nix::unistd::geteuid().as_raw(),
            ..Environment::default()
        })
        .unwrap()
    }

    fn script(&self, text: &str) -> PathBuf {
        let path = self.folder.path().join("daemon.sh");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The test harness talks on standard output, so the ready pipe moves to descriptor 3.
    fn daemon(&self) -> PathBuf {
        let program = std::env::current_exe().unwrap();
        let runtime = self.folder.path().join("run");
        self.script(&format!(
            "echo started >> '{folder}/starts'\nexport SUBAGENTD_STAND_IN=1 XDG_RUNTIME_DIR='{runtime}'\nexec 3>&1 >&2\n\
             exec '{program}' --exact start::tests::stand_in --nocapture",
            folder = self.folder.path().display(),
            runtime = runtime.display(),
            program = program.display(),
        ))
    }

    fn starts(&self) -> usize {
        std::fs::read_to_string(self.folder.path().join("starts")).map_or(0, |text| text.lines().count())
    }
}

/// The directory outside the scene, removed also when the test fails.
struct Fallback<'a>(&'a Path);

impl Drop for Fallback<'_> {
    fn drop(&mut self) {
        let removed = std::fs::remove_dir_all(self.0);
        assert!(removed.is_ok() || std::thread::panicking(), "{removed:?}");
    }
}

fn soon() -> Instant {
    Instant::now() + PATIENCE
}

async fn pid(client: &Client) -> u32 {
    client.call::<DaemonStatus>(StatusParams {}).await.unwrap().pid
}

async fn stop(client: &Client) {
    client.call::<DaemonStop>(StopParams {}).await.unwrap();
}

/// Not a test when the harness runs it: the daemon of the tests below.
#[test]
fn stand_in() {
    if std::env::var_os("SUBAGENTD_STAND_IN").is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let code = runtime.block_on(stand_in_daemon());
    std::process::exit(code);
}

async fn stand_in_daemon() -> i32 {
    let place = Place::find(&Environment::of_process()).unwrap();
    let _lock = match StateLock::take(&place.state) {
        Ok(lock) => lock,
        Err(LockError::Held { .. }) => return ALREADY_RUNNING,
        Err(error) => panic!("{error}"),
    };
    let bound = bind_private(&place.socket).unwrap();
    DaemonFile::of_process(place.socket.clone(), "0").unwrap().write(&place.state).unwrap();
    let stop = CancellationToken::new();
    let mut router = Router::new(Arc::new((place.clone(), stop.clone())));
    router.method::<DaemonStatus, _, _>(|shared: Arc<(Place, CancellationToken)>, _, _| async move {
        Ok(status(&shared.0))
    });
    router.method::<DaemonStop, _, _>(|shared: Arc<(Place, CancellationToken)>, _, _| async move {
        shared.1.cancel();
        Ok(StopResponse { live: 0, queued: 0 })
    });
    let mut ready = OpenOptions::new().write(true).open("/proc/self/fd/3").unwrap();
    writeln!(ready, "ready {}", place.socket.display()).unwrap();
    let serving = serve(bound.listener, router.finish(), Limits::default(), stop);
    // A test that failed leaves nothing behind for long.
    let _report = tokio::time::timeout(PATIENCE, serving).await;
    0
}

fn status(place: &Place) -> StatusResponse {
    StatusResponse {
        version: "0".to_owned(),
        protocol: 1,
        pid: std::process::id(),
        started_at_ms: 0,
        state_directory: place.state.display().to_string(),
        socket: place.socket.display().to_string(),
        stopping: false,
        live: 0,
        queued: 0,
        max_children: 1,
        default_runtime: Decision {
            value: String::new(),
            source: String::new(),
            reason: String::new(),
            alternatives: Vec::new(),
        },
    }
}

#[tokio::test]
async fn twenty_callers_end_up_with_one_daemon() {
    let scene = Scene::new();
    let program = scene.daemon();
    let calls = (0..20).map(|_| connect_or_start(&program, &scene.place, soon()));
    let clients: Vec<Client> = futures_util::future::join_all(calls)
        .await
        .into_iter()
        .map(|client| client.unwrap_or_else(|error| panic!("{error}")))
        .collect();
    let first = pid(&clients[0]).await;
    for client in &clients {
        assert_eq!(pid(client).await, first);
    }
    assert_eq!(scene.starts(), 1);
    stop(&clients[0]).await;
}

#[tokio::test]
async fn a_client_without_the_runtime_directory_finds_the_daemon() {
    let scene = Scene::new();
    let program = scene.daemon();
    let client = connect_or_start(&program, &scene.place, soon()).await.unwrap();
    for run in [None, Some(scene.folder.path().join("gone"))] {
        let place = Scene::place_with(scene.folder.path(), run.as_deref());
        assert_ne!(place.socket, scene.place.socket);
        let other = connect_or_start(&program, &place, soon()).await.unwrap();
        assert_eq!(pid(&other).await, pid(&client).await);
    }
    assert_eq!(scene.starts(), 1);
    stop(&client).await;
}

#[tokio::test]
async fn callers_with_and_without_the_runtime_directory_start_one_daemon() {
    let scene = Scene::new();
    let program = scene.daemon();
    // Their start locks differ, so both may start one: the state directory decides, and the loser's client joins.
    let bare = Scene::place_with(scene.folder.path(), None);
    let _fallback = Fallback(bare.socket.parent().unwrap());
    let calls = (0..10).map(|n| connect_or_start(&program, if n % 2 == 0 { &scene.place } else { &bare }, soon()));
    let mut pids = Vec::new();
    for client in futures_util::future::join_all(calls).await {
        pids.push(pid(&client.unwrap_or_else(|error| panic!("{error}"))).await);
    }
    pids.dedup();
    assert_eq!(pids.len(), 1, "{pids:?}");
    assert!(scene.starts() <= 2, "{}", scene.starts());
    stop(&find(&scene.place).await.unwrap()).await;
}

#[tokio::test]
async fn leftovers_of_a_killed_daemon_do_not_matter() {
    let scene = Scene::new();
    let program = scene.daemon();
    let client = connect_or_start(&program, &scene.place, soon()).await.unwrap();
    let killed = nix::unistd::Pid::from_raw(i32::try_from(pid(&client).await).unwrap());
    nix::sys::signal::kill(killed, nix::sys::signal::Signal::SIGKILL).unwrap();
    while client.is_connected() {
        tokio::time::sleep(PAUSE).await;
    }
    assert!(scene.place.socket.exists() && DaemonFile::read(&scene.place.state).is_some());
    assert!(matches!(find(&scene.place).await, Err(FindError::Nobody(ConnectError::Refused { .. }))));
    let next = connect_or_start(&program, &scene.place, soon()).await.unwrap();
    assert_ne!(pid(&next).await, u32::try_from(killed.as_raw()).unwrap());
    stop(&next).await;
}

#[tokio::test]
async fn a_daemon_of_another_state_directory_is_not_ours() {
    let scene = Scene::new();
    let client = connect_or_start(&scene.daemon(), &scene.place, soon()).await.unwrap();
    // A leftover of ours that names a path which another daemon has by now.
    let other = tempfile::tempdir().unwrap();
    let place = Scene::place_with(other.path(), None);
    std::fs::create_dir(&place.state).unwrap();
    let leftover = DaemonFile { pid: 1, ..DaemonFile::read(&scene.place.state).unwrap() };
    leftover.write(&place.state).unwrap();
    let found = find(&place).await;
    assert!(matches!(found, Err(FindError::Nobody(_))), "{found:?}");
    stop(&client).await;
}

#[tokio::test]
async fn a_daemon_that_fails_says_why_and_where_to_look() {
    let scene = Scene::new();
    let failing = scene.script("echo 'first line' >&2\necho 'the database is newer' >&2\nexit 3");
    let error = connect_or_start(&failing, &scene.place, soon()).await.unwrap_err().to_string();
    assert!(error.contains("the database is newer") && error.contains("3"), "{error}");
    assert!(error.contains(scene.place.state.join("daemon.log").to_str().unwrap()), "{error}");

    let missing = scene.folder.path().join("none");
    let error = connect_or_start(&missing, &scene.place, soon()).await.unwrap_err();
    assert!(matches!(error, StartError::Spawn { .. }), "{error}");
}

#[tokio::test]
async fn the_deadline_holds() {
    let scene = Scene::new();
    let silent = scene.script("exec sleep 5");
    let deadline = Instant::now() + Duration::from_millis(200);
    let error = connect_or_start(&silent, &scene.place, deadline).await.unwrap_err();
    assert!(matches!(error, StartError::Late { .. }), "{error}");
    assert!(deadline.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn another_daemon_that_cannot_be_reached_is_named() {
    let scene = Scene::new();
    let busy = scene.script("exit 10");
    let error = connect_or_start(&busy, &scene.place, soon()).await.unwrap_err();
    assert!(matches!(error, StartError::Elsewhere { .. }), "{error}");
    assert!(error.to_string().contains("runs already"), "{error}");
}
