//! Starting: once, whatever lies about and however many try.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::json;
use subagentd_ipc::daemon_file::DaemonFile;
use subagentd_proto::run::State;
use subagentd_tests::{Ended, Puppet, Said, Site};

/// Programs that start at the same time.
const AT_ONCE: usize = 20;
/// Repetitions of each way to start.
const REPETITIONS: usize = 10;

/// A program of somebody else, ended with the test.
struct Foreign(Child);

impl Foreign {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap())
    }

    fn assert_alive(&mut self) {
        assert_eq!(self.0.try_wait().unwrap(), None, "the foreign program was ended");
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // It may have been ended, which the test then told.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// What a power cut leaves: a socket that nobody listens on, and `daemon.json` in one condition or another.
fn leave(site: &Site, foreign: &Foreign, condition: &str) {
    site.start().kill9();
    let (file, socket) = (site.state().join("daemon.json"), site.place().socket);
    assert!(file.exists() && socket.exists());
    let written = |pid: i64| {
        let mut entry = serde_json::to_value(DaemonFile::read(&site.state()).unwrap()).unwrap();
        entry["pid"] = json!(pid);
        entry.to_string()
    };
    match condition {
        "all there" => {}
        "of a foreign program" => fs::write(&file, written(foreign.0.id().into())).unwrap(),
        "of nobody" => fs::write(&file, written(i64::from(i32::MAX))).unwrap(),
        "empty" => fs::write(&file, "").unwrap(),
        "text" => fs::write(&file, "4711\nnot json").unwrap(),
        "no file" => fs::remove_file(&file).unwrap(),
        "no socket" => fs::remove_file(&socket).unwrap(),
        "neither" => {
            fs::remove_file(&file).unwrap();
            fs::remove_file(&socket).unwrap();
        }
        other => panic!("{other}"),
    }
}

const CONDITIONS: [&str; 8] =
    ["all there", "of a foreign program", "of nobody", "empty", "text", "no file", "no socket", "neither"];

/// F01, started by hand.
#[tokio::test]
async fn after_a_power_cut_the_first_start_serves() {
    let site = Site::new();
    let mut foreign = Foreign::new();
    for condition in CONDITIONS {
        leave(&site, &foreign, condition);
        let said = site.cli(&["daemon", "status"]).await;
        assert_eq!(said.code, Some(9), "{condition}: a dead socket is no daemon: {said:?}");
        let daemon = site.start();
        assert_eq!(daemon.status().await.pid, daemon.pid(), "{condition}");
        assert_eq!(DaemonFile::read(&site.state()).unwrap().pid, i32::try_from(daemon.pid()).unwrap(), "{condition}");
        assert_eq!(site.daemons().len(), 1, "{condition}");
        daemon.stop().await;
    }
    foreign.assert_alive();
}

/// F01, started by a client.
#[tokio::test]
async fn after_a_power_cut_a_client_starts_one() {
    let site = Site::new();
    let mut foreign = Foreign::new();
    for condition in CONDITIONS {
        leave(&site, &foreign, condition);
        let said = site.cli(&["list", "--json"]).await;
        assert_eq!(said.code, Some(0), "{condition}: {said:?}");
        assert_eq!(site.daemons().len(), 1, "{condition}");
        assert_eq!(site.cli(&["daemon", "stop"]).await.code, Some(0), "{condition}");
        assert!(site.daemons().is_empty(), "{condition}");
    }
    foreign.assert_alive();
}

/// F01, `stop`.
#[tokio::test]
async fn a_stop_clears_away_what_was_left() {
    let site = Site::new();
    let mut foreign = Foreign::new();
    for condition in CONDITIONS {
        leave(&site, &foreign, condition);
        let said = site.cli(&["daemon", "stop", "--json"]).await;
        assert_eq!((said.code, said.document()), (Some(0), json!({ "running": false })), "{condition}: {said:?}");
        assert!(!site.state().join("daemon.json").exists() && !site.place().socket.exists(), "{condition}");
        assert!(site.daemons().is_empty(), "{condition}");
    }
    foreign.assert_alive();
}

/// F06, the first part.
#[tokio::test]
async fn a_second_start_touches_nothing() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "unmoved");
    let run = owner.begin(&site.puppet("explore", &puppet)).await;
    let before = snapshot(&site, daemon.socket());
    let Ended { code, said } = site.try_start(site.serve()).unwrap_err();
    assert_eq!(code, Some(10), "{said}");
    assert!(said.contains(site.state().to_str().unwrap()) && said.contains(&daemon.pid().to_string()), "{said}");
    assert_eq!(snapshot(&site, daemon.socket()), before);
    assert!(owner.client.is_connected());
    assert_eq!(owner.get(&run).await.state, State::Running);
    puppet.open_gate().await;
    assert_eq!(owner.wait(&run).await.state, State::Succeeded);
}

/// What a second daemon could have touched.
fn snapshot(site: &Site, socket: &Path) -> (u64, String) {
    use std::os::unix::fs::MetadataExt as _;
    let file = fs::read_to_string(site.state().join("daemon.json")).unwrap();
    (socket.symlink_metadata().unwrap().ino(), file)
}

/// F06, the second part.
#[tokio::test]
async fn of_twenty_daemons_at_once_one_serves() {
    for repetition in 0..REPETITIONS {
        let site = Site::new();
        let mut serving = Vec::new();
        thread::scope(|scope| {
            let starts: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(|| site.try_start(site.serve()))).collect();
            for start in starts {
                match start.join().unwrap() {
                    Ok(daemon) => serving.push(daemon),
                    Err(ended) => assert_eq!(ended.code, Some(10), "{ended:?}"),
                }
            }
        });
        assert_eq!(serving.len(), 1, "in repetition {repetition}");
        assert_one_serves(&site).await;
        assert_eq!(serving[0].status().await.pid, serving[0].pid());
    }
}

/// F06 by way of clients.
#[tokio::test]
async fn twenty_clients_at_once_start_one_daemon() {
    for repetition in 0..REPETITIONS {
        let site = Site::new();
        thread::scope(|scope| {
            let clients: Vec<_> =
                (0..AT_ONCE).map(|_| scope.spawn(|| Said::of(site.cli_command(&["agents", "--json"])))).collect();
            for client in clients {
                let said = client.join().unwrap();
                assert_eq!(said.code, Some(0), "in repetition {repetition}: {said:?}");
            }
        });
        assert_one_serves(&site).await;
    }
}

/// One daemon, and it goes on answering when all others have gone.
async fn assert_one_serves(site: &Site) {
    // Those that found another one may still be on their way out.
    let daemons = || site.daemons().len();
    subagentd_tests::until("one daemon", async || (daemons() == 1).then_some(())).await;
    let said = site.cli(&["daemon", "status", "--json"]).await;
    let pid = said.document()["pid"].as_i64();
    assert_eq!(pid, Some(i64::from(site.daemons()[0].pid)), "{said:?}");
    assert_eq!(pid, DaemonFile::read(&site.state()).map(|file| file.pid.into()));
}
