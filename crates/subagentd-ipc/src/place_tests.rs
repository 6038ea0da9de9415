use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

type Pairs = [(&'static str, &'static str)];

fn variables(pairs: &[(&str, &str)]) -> Environment {
    let mut environment = Environment { uid: 1_000, ..Environment::default() };
    for (name, value) in pairs {
        let value = Some(OsString::from(value));
        match *name {
            "STATE" => environment.state_dir = value,
            "SOCKET" => environment.socket = value,
            "XDG_STATE_HOME" => environment.xdg_state_home = value,
            "HOME" => environment.home = value,
            other => panic!("{other}"),
        }
    }
    environment
}

/// Without a file system: nothing is a link, the runtime directory is what is said.
fn decided(pairs: &[(&str, &str)], runtime: RuntimeDirectory) -> Result<Place, PlaceError> {
    let environment = variables(pairs);
    let facts =
        Facts { state: state_directory(&environment)?, default_state: default_state(&environment).ok(), runtime };
    Place::decide(&environment, facts)
}

fn usable(path: &str) -> RuntimeDirectory {
    RuntimeDirectory::Usable(PathBuf::from(path))
}

#[test]
fn state_and_socket_follow_the_variables() {
    let home = "/home/u/.local/state/subagentd";
    let hash = hash(Path::new("/s"));
    let other = format!("/run/1/subagentd/rpc-{hash}.sock");
    let table: &[(&Pairs, &str, &str)] = &[
        (&[("HOME", "/home/u")], home, "/run/1/subagentd/rpc.sock"),
        (&[("HOME", "/home/u"), ("STATE", "")], home, "/run/1/subagentd/rpc.sock"),
        (&[("HOME", "/home/u"), ("STATE", home)], home, "/run/1/subagentd/rpc.sock"),
        (&[("HOME", "/home/u"), ("XDG_STATE_HOME", "/x")], "/x/subagentd", "/run/1/subagentd/rpc.sock"),
        (&[("HOME", "/home/u"), ("STATE", "/s")], "/s", &other),
        (&[("STATE", "/s")], "/s", &other),
        (&[("STATE", "/s"), ("SOCKET", "/q/r")], "/s", "/q/r"),
    ];
    for (pairs, state, socket) in table {
        let place = decided(pairs, usable("/run/1")).unwrap();
        assert_eq!((place.state.to_str(), place.socket.to_str()), (Some(*state), Some(*socket)), "{pairs:?}");
        assert_eq!(place.warning, None, "{pairs:?}");
    }
    assert_eq!(hash.len(), 12);
}

#[test]
fn without_a_usable_runtime_directory_the_socket_is_in_tmp() {
    let long = format!("/{}", "r".repeat(150));
    for (runtime, warned) in
        [(RuntimeDirectory::Unset, false), (RuntimeDirectory::Unusable("gone".to_owned()), true), (usable(&long), true)]
    {
        let place = decided(&[("STATE", "/s")], runtime.clone()).unwrap();
        let expected = format!("/tmp/subagentd-1000-{}/rpc.sock", hash(Path::new("/s")));
        assert_eq!(place.socket.to_str(), Some(expected.as_str()), "{runtime:?}");
        assert_eq!(place.warning.is_some(), warned, "{runtime:?}: {:?}", place.warning);
    }
}

#[test]
fn the_longest_path_that_fits_is_used() {
    let tail = decided(&[("STATE", "/s")], usable("/r")).unwrap().socket.as_os_str().len() - 2;
    let fits = format!("/{}", "r".repeat(SOCKET_PATH_BYTES - tail - 1));
    let place = decided(&[("STATE", "/s")], usable(&fits)).unwrap();
    assert!(place.socket.starts_with(&fits) && place.socket.as_os_str().len() == SOCKET_PATH_BYTES, "{place:?}");
    let place = decided(&[("STATE", "/s")], usable(&format!("{fits}r"))).unwrap();
    assert!(place.socket.starts_with("/tmp"), "{place:?}");
}

#[test]
fn deep_state_directories_never_share_a_socket() {
    let deep = format!("/{}", "d".repeat(149));
    let sockets: Vec<PathBuf> = ["a", "b"]
        .map(|last| decided(&[("STATE", &format!("{deep}{last}"))], RuntimeDirectory::Unset).unwrap().socket)
        .into();
    assert_ne!(sockets[0], sockets[1]);
    assert!(sockets.iter().all(|socket| socket.as_os_str().len() <= SOCKET_PATH_BYTES), "{sockets:?}");
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_variable() {
    let long = format!("/{}", "q".repeat(107));
    let table: &[(&[(&str, &str)], &str)] = &[
        (&[("STATE", "s")], "SUBAGENTD_STATE_DIR"),
        (&[("XDG_STATE_HOME", "s")], "XDG_STATE_HOME"),
        (&[("HOME", "u")], "HOME"),
        (&[("STATE", "/s"), ("SOCKET", "q")], "SUBAGENTD_SOCKET"),
        (&[("STATE", "/s"), ("SOCKET", &long)], "SUBAGENTD_SOCKET has 108 bytes, 107 are allowed"),
        (&[], "HOME is not set"),
    ];
    for (pairs, words) in table {
        let error = decided(pairs, RuntimeDirectory::Unset).unwrap_err().to_string();
        assert!(error.contains(words), "{pairs:?}: {error}");
    }
}

fn recorded(socket: &str) -> DaemonFile {
    DaemonFile { socket: PathBuf::from(socket), pid: 1, start: 2, boot: "b".to_owned(), version: "0".to_owned() }
}

#[test]
fn clients_meet_the_daemon_in_all_pairings_of_the_runtime_directory() {
    let runtimes =
        [RuntimeDirectory::Unset, usable("/run/1"), usable("/run/2"), RuntimeDirectory::Unusable("gone".to_owned())];
    for daemon in &runtimes {
        for client in &runtimes {
            let bound = decided(&[("STATE", "/s")], daemon.clone()).unwrap().socket;
            let place = decided(&[("STATE", "/s")], client.clone()).unwrap();
            let candidates = place.candidates(Some(&recorded(bound.to_str().unwrap())));
            assert_eq!(candidates[0], bound, "{daemon:?} {client:?}");
            // Without the file, every place that can be computed is looked at, once.
            let candidates = place.candidates(None);
            assert!(candidates.contains(&place.socket) && candidates.contains(&place.fallback), "{candidates:?}");
            assert_eq!(candidates.len(), if place.socket == place.fallback { 1 } else { 2 });
        }
    }
}

#[test]
fn a_named_socket_is_the_only_candidate() {
    let place = decided(&[("STATE", "/s"), ("SOCKET", "/q/r")], usable("/run/1")).unwrap();
    assert_eq!(place.candidates(Some(&recorded("/run/1/x"))), [PathBuf::from("/q/r")]);
}

#[test]
fn facts_follow_links_and_do_not_change_when_the_directory_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("real")).unwrap();
    symlink(root.join("real"), root.join("link")).unwrap();
    std::fs::create_dir(root.join("run")).unwrap();
    let mut environment = Environment {
        state_dir: Some(root.join("link/./x/../state").into()),
        xdg_runtime_dir: Some(root.join("run").into()),
        uid: nix::unistd::geteuid().as_raw(),
        ..Environment::default()
    };
    let before = Place::find(&environment).unwrap();
    std::fs::create_dir(root.join("real/state")).unwrap();
    let after = Place::find(&environment).unwrap();
    assert_eq!(before.socket, after.socket);
    environment.state_dir = Some(root.join("real/state").into());
    let direct = Place::find(&environment).unwrap();
    assert_eq!(direct.socket, after.socket);
    assert!(direct.is_state(&root.join("link/state")) && !direct.is_state(&root.join("real")));
    environment.state_dir = None;
    environment.xdg_state_home = Some(root.join("real").into());
    assert!(Place::find(&environment).unwrap().socket.ends_with("subagentd/rpc.sock"));
}

#[test]
fn a_runtime_directory_that_is_not_ours_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let mut environment = Environment { uid: nix::unistd::geteuid().as_raw(), ..Environment::default() };
    for (path, words) in [("file", "is no directory"), ("none", "cannot be used")] {
        environment.xdg_runtime_dir = Some(folder.path().join(path).into());
        let RuntimeDirectory::Unusable(why) = runtime_directory(&environment) else {
            panic!("{path} is used");
        };
        assert!(why.contains(words), "{why}");
    }
    environment.xdg_runtime_dir = Some(folder.path().into());
    assert_eq!(runtime_directory(&environment), RuntimeDirectory::Usable(folder.path().to_owned()));
    environment.uid += 1;
    assert!(matches!(runtime_directory(&environment), RuntimeDirectory::Unusable(_)));
    environment.xdg_runtime_dir = Some("relative".into());
    assert!(matches!(runtime_directory(&environment), RuntimeDirectory::Unusable(_)));
}

#[test]
fn daemon_json_is_written_whole_and_read_with_suspicion() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let path = state.join("daemon.json");
    assert_eq!(DaemonFile::read(state), None);
    DaemonFile::remove(state).unwrap();
    for leftover in ["", "4711\n", "{}", "{\"socket\":", &"x".repeat(100_000)] {
        std::fs::write(&path, leftover).unwrap();
        assert_eq!(DaemonFile::read(state), None, "{leftover}");
    }
    // Left behind by a daemon that was killed while it wrote.
    std::fs::write(state.join("daemon.json.new"), "half").unwrap();
    let file = DaemonFile::of_process(PathBuf::from("/q/r"), "1.2").unwrap();
    assert!(file.start > 0 && file.boot.len() == 36, "{file:?}");
    file.write(state).unwrap();
    assert_eq!(DaemonFile::read(state), Some(file));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(std::fs::read_dir(state).unwrap().count(), 1);
    DaemonFile::remove(state).unwrap();
    symlink("/proc/self/stat", &path).unwrap();
    assert_eq!(DaemonFile::read(state), None);
}
