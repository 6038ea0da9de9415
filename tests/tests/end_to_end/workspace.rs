//! What counts as one workspace, and workspaces that are not there.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

use subagentd_proto::error::Kind;
use subagentd_proto::run::State;
use subagentd_tests::{Puppet, Said, Script, Site, Stamps, fault, programs, until};

/// F07.
#[tokio::test]
async fn one_directory_has_one_writer_through_all_its_names() {
    let site = Site::with(&[("limits.children", "8")]);
    let work = site.work();
    fs::create_dir_all(work.join(".git")).unwrap();
    fs::write(work.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::create_dir_all(work.join("sub/deeper")).unwrap();
    symlink(&work, site.path("link")).unwrap();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let stamps = site.path("stamps");
    let script = Script::new().stamp(&stamps, "start").sleep(30).stamp(&stamps, "end").say("done");
    let ask = site.play("worker", &script);
    let names = ["work", "link", "work/.", "work/", "work/sub", "work/sub/../sub/deeper", "link/sub", "work/../work"];
    let mut runs = Vec::new();
    for name in names {
        let path = site.path(name);
        let launched = owner.launch(&ask.clone().directory(&path)).await;
        assert_eq!(launched.decisions.directory, path.to_str().unwrap(), "as the caller named it");
        assert_eq!(launched.decisions.workspace, work.to_str().unwrap(), "{name}");
        runs.push(launched.run);
    }
    for run in &runs {
        assert_eq!(owner.wait(run).await.state, State::Succeeded);
    }
    let stamps = Stamps::read(&stamps);
    assert_eq!((stamps.counts("end").len(), stamps.peak()), (names.len(), 1));
}

#[tokio::test]
async fn two_directories_have_two_writers_even_if_only_a_letters_case_tells_them_apart() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "held");
    let held = owner.begin(&site.puppet("worker", &puppet).directory(site.directory("same"))).await;
    let other = site.play("worker", &Script::new().say("beside")).directory(site.directory("SAME"));
    assert_eq!(owner.run(&other).await.state, State::Succeeded);
    assert_eq!(owner.get(&held).await.state, State::Running);
    puppet.open_gate().await;
    owner.wait(&held).await;
}

/// Each daemon knows only its own: the root itself is locked. To be kept out is no failed start, however often (N16).
#[tokio::test]
async fn two_daemons_do_not_run_two_writers_in_one_root() {
    let (site, other) = (Site::new(), Site::new());
    let (daemon, second) = (site.start(), other.start());
    let (owner, second) = (daemon.owner("me").await, second.owner("me").await);
    let puppet = Puppet::new(&site, "gate; settle", "first");
    let holder = owner.begin(&site.puppet("worker", &puppet)).await;
    let stamps = site.path("stamps");
    let writer = other.play("worker", &Script::new().stamp(&stamps, "start").say("second")).directory(site.work());
    let (run, cancelled) = (second.launch(&writer).await.run, second.launch(&writer).await.run);
    let reader = other.play("explore", &Script::new().say("beside")).directory(site.work());
    assert_eq!(second.run(&reader).await.state, State::Succeeded, "readers wait for nobody");
    let waits = until("it was kept out three times", async || {
        let view = second.get(&run).await;
        assert!(!view.state.is_end(), "{view:?}");
        view.children[0].waits.clone().filter(|_| view.children[0].attempt >= 3)
    })
    .await;
    assert_eq!(waits.on, "elsewhere", "{waits:?}");
    second.cancel(&cancelled).await;
    assert_eq!(second.wait(&cancelled).await.state, State::Cancelled);
    assert_eq!(owner.get(&holder).await.state, State::Running);
    assert!(!stamps.exists(), "two writers");
    puppet.open_gate().await;
    assert_eq!(owner.wait(&holder).await.state, State::Succeeded);
    assert_eq!(second.wait(&run).await.state, State::Succeeded);
}

/// F24 (a), (b), (g).
#[tokio::test]
async fn a_missing_workspace_and_a_missing_program_are_told_apart() {
    let site = Site::new();
    site.configure(
        "[runtimes.missing]\ncommand = [\"/nonexistent/child\"]\n[runtimes.unknown]\ncommand = [\"no-such-child\"]\n",
    );
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    fs::write(site.path("file"), "").unwrap();
    for name in ["nowhere", "file"] {
        let path = site.path(name);
        let refusal = fault(owner.try_launch(&site.ask("explore", "look").directory(&path)).await);
        assert_eq!(refusal.kind, Kind::WorkspaceUnusable);
        assert!(refusal.message.contains(path.to_str().unwrap()), "{refusal}");
    }
    assert!(owner.list().await.is_empty(), "nothing was stored");
    for (runtime, program) in [("missing", "/nonexistent/child"), ("unknown", "no-such-child")] {
        let mut ask = site.ask("explore", "look").runtime(runtime);
        ask.params.model = Some("a/b".to_owned());
        let view = owner.run(&ask).await;
        let child = &view.children[0];
        assert_eq!((view.state, child.reason.as_deref()), (State::Failed, Some("start.failed")), "{view:?}");
        let error = child.error.as_deref().unwrap();
        assert!(error.contains(program) && !error.contains("workspace"), "{error}");
    }
}

/// F24 (c). Root enters any directory, so daemon and client are somebody else.
#[tokio::test]
async fn a_workspace_that_may_not_be_entered_is_refused_by_name() {
    const NOBODY: u32 = 65_534;
    let site = Site::new();
    let closed = site.directory("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let root = rustix::process::geteuid().is_root();
    let own = site.directory("programs");
    let program = |from: &std::path::Path| {
        // The target directory may be closed to others.
        let copy = own.join(from.file_name().unwrap());
        fs::copy(from, &copy).unwrap();
        copy
    };
    let (serve, cli) = (program(&programs().daemon), program(&programs().cli));
    if root {
        for path in ["", "run", "work", "home", "config", "config/subagentd", "logs", "parts", "closed", "programs"] {
            std::os::unix::fs::chown(site.path(path), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    let as_somebody = |program: &std::path::Path, args: &[&str]| {
        let mut command = site.command(if root { std::path::Path::new("setpriv") } else { program });
        if root {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(program);
        }
        command.args(args);
        command
    };
    let daemon = site.try_start(as_somebody(&serve, &["serve"])).unwrap();
    let said =
        Said::of(as_somebody(&cli, &["run", "explore", "look", "--json", "--directory", closed.to_str().unwrap()]));
    assert_eq!(said.code, Some(3), "{said:?}");
    let error = &said.document()["error"];
    assert_eq!(error["kind"], "workspaceUnusable");
    assert!(error["message"].as_str().unwrap().contains(closed.to_str().unwrap()), "{error}");
    drop(daemon);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
}

/// F24 (d), and its neighbour: another directory in its place.
#[tokio::test]
async fn a_workspace_that_goes_while_its_run_waits_is_told_by_name() {
    let site = Site::with(&[("limits.children", "1")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let puppet = Puppet::new(&site, "gate; settle", "held");
    owner.begin(&site.puppet("explore", &puppet)).await;
    let (gone, replaced) = (site.directory("gone"), site.directory("replaced"));
    let ask = site.play("explore", &Script::new().say("never"));
    let waits_gone = owner.launch(&ask.clone().directory(&gone)).await.run;
    let waits_replaced = owner.launch(&ask.clone().directory(&replaced)).await.run;
    fs::remove_dir(&gone).unwrap();
    fs::rename(&replaced, site.path("elsewhere")).unwrap();
    fs::create_dir(&replaced).unwrap();
    puppet.open_gate().await;
    for (run, reason, path) in
        [(waits_gone, "workspace.gone", &gone), (waits_replaced, "workspace.replaced", &replaced)]
    {
        let view = owner.wait(&run).await;
        let child = &view.children[0];
        assert_eq!((view.state, child.reason.as_deref()), (State::Failed, Some(reason)), "{view:?}");
        assert!(child.error.as_deref().unwrap().contains(path.to_str().unwrap()), "{child:?}");
    }
}

/// F24 (e): the directory is gone while the child works in it, or another one stands in its place.
#[tokio::test]
async fn a_workspace_that_goes_under_a_working_child_is_its_end() {
    let site = Site::with(&[("limits.children", "8"), ("limits.grace", "100ms")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let take_away = |name: &str| fs::remove_dir(site.path(name)).unwrap();
    let replace = |name: &str| {
        fs::rename(site.path(name), site.path(format!("{name}-elsewhere"))).unwrap();
        fs::create_dir(site.path(name)).unwrap();
    };
    let mut runs = Vec::new();
    for (name, agent) in
        [("taken", "explore"), ("taken-writer", "worker"), ("other", "explore"), ("other-writer", "worker")]
    {
        let ask = site.play(agent, &Script::new().say("partly").sleep_long()).directory(site.directory(name));
        runs.push((name, owner.begin(&ask).await));
    }
    let begun = Instant::now();
    for (name, _) in &runs {
        if name.starts_with("taken") { take_away(name) } else { replace(name) }
    }
    for (name, run) in &runs {
        let view = owner.wait(run).await;
        let child = &view.children[0];
        assert_eq!((view.state, child.reason.as_deref()), (State::Failed, Some("workspace.gone")), "{name}: {view:?}");
        assert!(child.error.as_deref().unwrap().contains(site.path(name).to_str().unwrap()), "{child:?}");
        assert_ne!(child.answer_complete, Some(true), "{name}: {child:?}");
    }
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    site.until_no_attempts().await;
}

/// F24 (e), and the child is done before anybody looks.
#[tokio::test]
async fn a_quick_success_in_a_workspace_that_is_gone_is_none() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let parts = [r#"rmdir "$PWD"; settle"#, r#"mv "$PWD" "$PWD-elsewhere"; mkdir "$PWD"; settle"#];
    for (part, name) in parts.into_iter().zip(["removed", "moved"]) {
        let puppet = Puppet::new(&site, part, "all done");
        let view = owner.run(&site.puppet("worker", &puppet).directory(site.directory(name))).await;
        let child = &view.children[0];
        assert_eq!((view.state, child.reason.as_deref()), (State::Failed, Some("workspace.gone")), "{name}: {view:?}");
        assert_eq!(owner.text(&view.run).await.0, "all done", "what it said is kept");
    }
}

/// F24 (f).
#[tokio::test]
async fn the_daemon_does_not_depend_on_the_directory_it_was_started_in() {
    let site = Site::new();
    let floor = site.directory("floor");
    let mut command = site.serve();
    command.current_dir(&floor);
    let daemon = site.try_start(command).unwrap();
    fs::remove_dir(&floor).unwrap();
    let owner = daemon.owner("me").await;
    assert_eq!(owner.run(&site.play("explore", &Script::new().say("fine"))).await.state, State::Succeeded);
}
