//! What counts as one workspace, and workspaces that are not there.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use subagentd_proto::error::Kind;
use subagentd_proto::run::State;
use subagentd_tests::{Puppet, Said, Script, Site, Stamps, fault, programs};

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
