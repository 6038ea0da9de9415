//! Where daemon and clients meet: one rule, private directories, any length of path.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use subagentd_tests::Site;

/// The socket of the daemon that a client of this site reaches.
async fn reached(site: &Site) -> String {
    let said = site.cli(&["daemon", "status", "--json"]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    said.document()["socket"].as_str().unwrap().to_owned()
}

/// F03.
#[tokio::test]
async fn two_deep_homes_never_share_a_socket() {
    let mut sockets = Vec::new();
    let mut keep = Vec::new();
    for last in ["a", "b"] {
        let mut site = Site::new();
        let deep = site.directory(&format!("{}/{}/{}{last}", "d".repeat(60), "e".repeat(60), "f".repeat(30)));
        assert!(deep.as_os_str().len() > 150);
        let runtime = deep.join("run");
        fs::create_dir(&runtime).unwrap();
        site.set("SUBAGENTD_STATE_DIR", deep.join("state"));
        site.set("XDG_RUNTIME_DIR", &runtime);
        let daemon = site.start();
        assert!(daemon.socket().as_os_str().len() <= 107, "{:?}", daemon.socket());
        assert_eq!(reached(&site).await, daemon.socket().to_str().unwrap(), "found by the same rule");
        let directory = daemon.socket().parent().unwrap().metadata().unwrap();
        assert_eq!(directory.mode() & 0o777, 0o700);
        assert!(site.logs().contains("107"), "the length and its limit are told:\n{}", site.logs());
        let view =
            daemon.owner("me").await.run(&site.play("explore", &subagentd_tests::Script::new().say("deep"))).await;
        assert_eq!(view.state, subagentd_proto::run::State::Succeeded, "{view:?}");
        sockets.push(daemon.socket().to_owned());
        keep.push((daemon, site));
    }
    assert_ne!(sockets[0], sockets[1]);

    let mut site = Site::new();
    site.set("SUBAGENTD_SOCKET", format!("/tmp/{}", "s".repeat(120)));
    let ended = site.try_start(site.serve()).unwrap_err();
    for words in ["125", "107", "SUBAGENTD_SOCKET"] {
        assert!(ended.said.contains(words), "{words} is missing: {ended:?}");
    }
    assert_eq!(site.cli(&["list"]).await.code, Some(9));
}

/// F04.
#[tokio::test]
async fn every_pairing_of_environments_reaches_the_one_daemon() {
    let mut site = Site::new();
    let runtimes = [Some(site.path("run")), None, Some(site.path("nowhere"))];
    let set = |site: &mut Site, runtime: &Option<std::path::PathBuf>| match runtime {
        Some(path) => site.set("XDG_RUNTIME_DIR", path),
        None => site.unset("XDG_RUNTIME_DIR"),
    };
    for of_daemon in &runtimes {
        set(&mut site, of_daemon);
        let daemon = site.start();
        let socket = daemon.socket().to_str().unwrap().to_owned();
        for of_client in &runtimes {
            set(&mut site, of_client);
            assert_eq!(reached(&site).await, socket, "{of_daemon:?} {of_client:?}");
            let second = site.try_start(site.serve()).unwrap_err();
            assert_eq!(second.code, Some(10), "{of_daemon:?} {of_client:?} {second:?}");
        }
        daemon.stop().await;
    }
    assert!(site.logs().contains("nowhere"), "a missing directory is told");
}

/// F05.
#[tokio::test]
async fn the_socket_is_private_from_its_first_moment() {
    let site = Site::new();
    let place = site.place();
    let stop = Arc::new(AtomicBool::new(false));
    let looking = {
        let (socket, stop) = (place.socket.clone(), Arc::clone(&stop));
        std::thread::spawn(move || {
            let directory = socket.parent().unwrap().to_owned();
            let mut looks = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                if socket.symlink_metadata().is_ok() {
                    assert_eq!(directory.metadata().unwrap().mode() & 0o777, 0o700);
                    looks += 1;
                }
            }
            looks
        })
    };
    let mut command = site.command("sh");
    command.args(["-c", "umask 000; exec \"$0\" serve"]).arg(&subagentd_tests::programs().daemon);
    let daemon = site.try_start(command).unwrap();
    stop.store(true, Ordering::Relaxed);
    looking.join().unwrap();
    assert_eq!(daemon.socket(), place.socket);
    assert_eq!(daemon.socket().metadata().unwrap().mode() & 0o777, 0o600);
}

/// F05, (a) to (c).
#[tokio::test]
async fn a_directory_that_others_can_reach_is_closed_or_refused() {
    let site = Site::new();
    let directory = site.place().socket.parent().unwrap().to_owned();
    let open = fs::Permissions::from_mode(0o777);
    // (a) empty: closed.
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, open.clone()).unwrap();
    drop(site.start());
    assert_eq!(directory.metadata().unwrap().mode() & 0o777, 0o700);
    // (a) with other people's things in it: refused.
    fs::set_permissions(&directory, open).unwrap();
    fs::write(directory.join("foreign"), "").unwrap();
    refused(&site, &directory, &["chmod 700"]);
    assert_eq!(directory.metadata().unwrap().mode() & 0o777, 0o777, "and not touched");
    // (b) a link to elsewhere.
    fs::remove_dir_all(&directory).unwrap();
    symlink(site.directory("elsewhere"), &directory).unwrap();
    refused(&site, &directory, &["link"]);
    fs::remove_file(&directory).unwrap();
    // (c) another user's. Only root can make one.
    if rustix::process::geteuid().is_root() {
        fs::create_dir(&directory).unwrap();
        std::os::unix::fs::chown(&directory, Some(65_534), None).unwrap();
        refused(&site, &directory, &["65534"]);
        let socket = site.place().socket;
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let said = site.cli(&["daemon", "status"]).await;
        assert_eq!(said.code, Some(9), "{said:?}");
        assert!(said.err.contains("65534"), "the client refuses it, too: {said:?}");
    }
}

fn refused(site: &Site, directory: &Path, words: &[&str]) {
    let ended = site.try_start(site.serve()).unwrap_err();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for word in words.iter().copied().chain([directory.to_str().unwrap()]) {
        assert!(ended.said.contains(word), "{word} is missing: {ended:?}");
    }
}

#[tokio::test]
async fn a_state_directory_of_others_is_closed_or_refused() {
    let mut site = Site::new();
    let state = site.directory("state");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    drop(site.start());
    assert_eq!(state.metadata().unwrap().mode() & 0o777, 0o700);
    let link = site.path("link");
    symlink(&state, &link).unwrap();
    site.set("SUBAGENTD_STATE_DIR", &link);
    let ended = site.try_start(site.serve()).unwrap_err();
    assert!(ended.said.contains("link"), "{ended:?}");
    site.set("SUBAGENTD_STATE_DIR", "relative");
    let ended = site.try_start(site.serve()).unwrap_err();
    assert!(ended.said.contains("SUBAGENTD_STATE_DIR"), "{ended:?}");
    site.set("SUBAGENTD_STATE_DIR", site.path("state"));
}
