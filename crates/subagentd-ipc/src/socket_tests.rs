use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener as StdListener;

use super::*;

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn one_lock_for_one_state_directory() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("a/b/state");
    let lock = StateLock::take(&state).unwrap();
    assert_eq!((mode(&state), mode(&folder.path().join("a"))), (0o700, 0o700));
    let file = DaemonFile::of_process("/q/r".into(), "1").unwrap();
    file.write(&state).unwrap();
    let held = StateLock::take(&state).unwrap_err();
    assert!(matches!(&held, LockError::Held { pid, .. } if *pid == Some(file.pid)), "{held}");
    drop(lock);
    StateLock::take(&state).unwrap();
}

#[test]
fn a_state_directory_is_closed_to_others_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::write(open.join("anything"), "").unwrap();
    chmod(&open, 0o777);
    StateLock::take(&open).unwrap();
    assert_eq!(mode(&open), 0o700);

    let link = folder.path().join("link");
    symlink(&open, &link).unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [&link, &file] {
        let error = StateLock::take(path).unwrap_err();
        let expected = matches!(error, LockError::Directory(DirectoryError::NotADirectory { .. }));
        assert!(expected, "{}: {error}", path.display());
    }
    let sticky = folder.path().join("sticky");
    std::fs::create_dir(&sticky).unwrap();
    chmod(&sticky, 0o1777);
    let error = StateLock::take(&sticky).unwrap_err();
    assert!(matches!(error, LockError::Directory(DirectoryError::Shared { .. })), "{error}");
    assert_eq!(mode(&sticky), 0o1777);
}

#[test]
fn a_directory_of_another_user_is_refused() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let foreign = folder.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::os::unix::fs::chown(&foreign, Some(12_345), None).unwrap();
    let error = StateLock::take(&foreign).unwrap_err();
    assert!(matches!(error, LockError::Directory(DirectoryError::Foreign { uid: 12_345, .. })), "{error}");
}

#[tokio::test]
async fn the_socket_is_private_and_removed_only_by_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s/rpc.sock");
    let bound = bind_private(&path).unwrap();
    assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
    assert!(bound.still_mine());
    std::fs::remove_file(&path).unwrap();
    assert!(!bound.still_mine());
    let second = bind_private(&path).unwrap();
    assert!(!bound.still_mine() && second.still_mine());
    assert!(!bound.address.remove().unwrap());
    assert!(second.address.remove().unwrap() && !path.exists());
}

#[tokio::test]
async fn only_a_dead_socket_is_ever_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rpc.sock");
    let live = StdListener::bind(&path).unwrap();
    assert!(matches!(bind_private(&path), Err(BindError::InUse { .. })));
    drop(live);
    assert!(bind_private(&path).unwrap().still_mine());

    for kind in ["file", "directory", "link"] {
        let path = folder.path().join(kind);
        match kind {
            "file" => std::fs::write(&path, "precious").unwrap(),
            "directory" => std::fs::create_dir(&path).unwrap(),
            _ => symlink(folder.path().join("file"), &path).unwrap(),
        }
        let error = bind_private(&path).unwrap_err();
        assert!(matches!(error, BindError::NotASocket { .. }), "{kind}: {error}");
        assert!(path.symlink_metadata().is_ok(), "{kind} is gone");
    }
    assert!(!remove_dead(&folder.path().join("none")).unwrap());
}

#[tokio::test]
async fn a_socket_directory_is_closed_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    std::fs::create_dir(&open).unwrap();
    chmod(&open, 0o777);
    bind_private(&open.join("rpc.sock")).unwrap();
    assert_eq!(mode(&open), 0o700);

    let shared = folder.path().join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::write(shared.join("letter"), "").unwrap();
    chmod(&shared, 0o755);
    let error = bind_private(&shared.join("rpc.sock")).unwrap_err();
    assert!(matches!(error, BindError::Directory(DirectoryError::Shared { mode: 0o755, .. })), "{error}");
    assert_eq!(mode(&shared), 0o755);

    let link = folder.path().join("link");
    symlink(&open, &link).unwrap();
    let error = bind_private(&link.join("other.sock")).unwrap_err();
    assert!(matches!(error, BindError::Directory(DirectoryError::NotADirectory { .. })), "{error}");
}

#[tokio::test]
async fn the_length_of_a_path_is_said() {
    let path = PathBuf::from(format!("/{}", "q".repeat(107)));
    let error = bind_private(&path).unwrap_err().to_string();
    assert!(error.contains("108") && error.contains("107") && error.contains("SUBAGENTD_SOCKET"), "{error}");
}
