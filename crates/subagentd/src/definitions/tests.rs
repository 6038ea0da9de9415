//! Real directories in, catalogues out.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use subagentd_core::definition::{Catalog, FILE_BYTES, Layer, Missing};
use tempfile::TempDir;

use super::*;

/// A user with a home and a project, each with a directory of agents.
struct Site {
    _folder: TempDir,
    root: PathBuf,
    settings: Agents,
    environment: Environment,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["home/.pi/agent/agents", "work/.pi/agents", "packages"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let package_path = Some(root.join("packages"));
        let settings = Agents { project: ".pi/agents".into(), package_path, ..Agents::default() };
        let environment = [("HOME".to_owned(), root.join("home").display().to_string())].into();
        Self { _folder: folder, root, settings, environment }
    }

    fn user(&self, name: &str) -> PathBuf {
        self.root.join("home/.pi/agent/agents").join(name)
    }

    fn project(&self, name: &str) -> PathBuf {
        self.root.join("work/.pi/agents").join(name)
    }

    fn definitions(&self) -> Definitions {
        Definitions::new(&self.settings)
    }

    fn look(&self, definitions: &Definitions, trusted: bool) -> Arc<Catalog> {
        self.look_in(definitions, trusted, AgentScope::Both)
    }

    fn look_in(&self, definitions: &Definitions, trusted: bool, scope: AgentScope) -> Arc<Catalog> {
        let work = self.root.join("work");
        definitions.catalog(&CatalogRequest { environment: &self.environment, project: Some(&work), trusted, scope })
    }

    fn catalog(&self) -> Arc<Catalog> {
        self.look(&self.definitions(), true)
    }
}

fn says(path: &Path, words: &str) {
    fs::write(path, format!("---\ndescription: {words}\n---\n")).unwrap();
}

fn described(catalog: &Catalog, name: &str) -> String {
    catalog.find(name).unwrap().described().to_owned()
}

fn names(catalog: &Catalog, layer: Layer) -> Vec<&str> {
    catalog.iter().filter(|agent| agent.layer == layer).map(|agent| agent.identifier.as_str()).collect()
}

/// What keeps an agent from being launched.
fn broken(catalog: &Catalog, name: &str) -> String {
    match catalog.find(name) {
        Err(Missing::Broken { file, problem, .. }) => format!("{file}: {}", problem.message),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn each_layer_is_where_it_should_be() {
    let mut site = Site::new();
    says(&site.user("Mine.md"), "mine");
    says(&site.project("ours.md"), "ours");
    fs::create_dir(site.root.join("packages/extra")).unwrap();
    says(&site.root.join("packages/extra/added.md"), "added");
    says(&site.root.join("packages/extra/explore.md"), "another");
    // None of these is a definition in plain sight.
    fs::write(site.user("notes.txt"), "x").unwrap();
    fs::write(site.user(".hidden.md"), "x").unwrap();
    fs::create_dir(site.user("below")).unwrap();
    says(&site.user("below/deep.md"), "deep");
    assert_eq!(names(&site.catalog(), Layer::User), ["mine"]);
    assert_eq!(names(&site.catalog(), Layer::Project), ["ours"]);
    assert_eq!(names(&site.catalog(), Layer::Package), [""; 0]);

    site.settings.packages = vec!["extra".to_owned(), "handoff".to_owned()];
    let catalog = site.catalog();
    assert_eq!(names(&catalog, Layer::Package), ["added", "code", "explore", "general", "research", "review"]);
    assert!(matches!(catalog.find("explore"), Err(Missing::Duplicate { .. })), "two packages have it");
    assert_eq!(catalog.faults(), [""; 0]);

    site.settings.project = "agents".into();
    assert_eq!(names(&site.catalog(), Layer::Project), [""; 0]);
    site.settings.user = Some(vec!["~/other".into(), site.root.join("work/.pi/agents")]);
    let catalog = site.catalog();
    assert_eq!(names(&catalog, Layer::User), ["ours"]);
    let other = site.root.join("home/other").display().to_string();
    assert!(matches!(catalog.faults(), [fault] if fault.contains(&other)), "{:?}", catalog.faults());
    site.settings.user = Some(Vec::new());
    assert_eq!(names(&site.catalog(), Layer::User), [""; 0]);

    site.settings.user = None;
    let folder = site.root.join("work/.pi").display().to_string();
    site.environment.insert("PI_CODING_AGENT_DIR".to_owned(), folder);
    assert_eq!(names(&site.catalog(), Layer::User), ["ours"], "where pi has it");
}

#[test]
fn packages_that_are_not_there_or_empty_are_told_with_their_place() {
    let mut site = Site::new();
    site.settings.packages = ["handof", "bare", "handoff"].map(str::to_owned).into();
    fs::create_dir(site.root.join("packages/bare")).unwrap();
    let catalog = site.catalog();
    let [bare, missing] = catalog.faults() else { panic!("{:?}", catalog.faults()) };
    assert!(bare.contains("`bare` has no agents") && bare.contains("packages/bare"), "{bare}");
    assert!(missing.contains("(handoff)") && missing.contains("packages/handof"), "{missing}");
    assert!(catalog.find("code").is_ok());
}

#[test]
fn a_project_counts_only_when_it_is_trusted() {
    let site = Site::new();
    says(&site.project("explore.md"), "theirs");
    let definitions = site.definitions();
    assert_eq!(described(&site.look(&definitions, true), "explore"), "theirs");
    assert_ne!(described(&site.look(&definitions, false), "explore"), "theirs");
    let user = site.look_in(&definitions, true, AgentScope::User);
    assert_ne!(described(&user, "explore"), "theirs");
    let work = site.root.join("work");
    let (environment, scope) = (&site.environment, AgentScope::Both);
    for (trusted, places) in [(true, 2), (false, 1)] {
        let request = CatalogRequest { environment, project: Some(&work), trusted, scope };
        assert_eq!(place::places(&site.settings, &request).len(), places, "only these are looked at");
    }
    // Whoever looks at this one finds fault with it.
    let folder = site.root.join("work/.pi/agents");
    fs::remove_dir_all(&folder).unwrap();
    mknodat(CWD, &folder, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let catalog = site.look(&definitions, false);
    assert!(catalog.find("explore").is_ok() && catalog.faults().is_empty());
    assert!(matches!(site.look(&definitions, true).find("explore"), Err(Missing::Unread { .. })));
}

#[test]
fn what_cannot_be_read_stays_visible_and_nothing_takes_its_place() {
    let site = Site::new();
    let pipe = |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    pipe(&site.user("explore.md"));
    pipe(&site.project("worker.md"));
    let _socket = UnixListener::bind(site.user("reviewer.md")).unwrap();
    fs::create_dir(site.user("debug.md")).unwrap();
    symlink("nowhere.md", site.user("researcher.md")).unwrap();
    fs::write(site.user("long.md"), vec![b'x'; FILE_BYTES + 1]).unwrap();
    fs::write(site.user("whole.md"), vec![b'x'; FILE_BYTES]).unwrap();
    says(&site.user("sound.md"), "sound");
    let catalog = site.catalog();
    for (name, why) in [
        ("explore", "no file"),
        ("worker", "no file"),
        ("reviewer", "no file"),
        ("debug", "no file"),
        ("researcher", "No such file"),
        ("long", "1048577 bytes"),
    ] {
        let told = broken(&catalog, name);
        assert!(told.contains(why) && told.contains(&format!("/{name}.md")), "{told}");
    }
    assert_eq!(described(&catalog, "sound"), "sound");
    assert!(catalog.find("whole").is_ok());
}

#[test]
fn a_file_or_directory_that_may_not_be_read_is_told() {
    // Root may read everything, and then there is nothing to show.
    let may_read_all = rustix::process::geteuid().is_root();
    let site = Site::new();
    says(&site.user("explore.md"), "mine");
    fs::set_permissions(site.user("explore.md"), fs::Permissions::from_mode(0o000)).unwrap();
    let catalog = site.catalog();
    assert!(may_read_all || broken(&catalog, "explore").contains("Permission denied"));
    fs::set_permissions(site.user(""), fs::Permissions::from_mode(0o000)).unwrap();
    let found = site.catalog().find("debug").cloned();
    fs::set_permissions(site.user(""), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(may_read_all || matches!(found, Err(Missing::Unread { .. })), "{found:?}");
}

#[test]
fn a_place_that_is_no_directory_stops_launches() {
    let site = Site::new();
    for make in [
        (|path: &Path| fs::write(path, "").unwrap()) as fn(&Path),
        |path| mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap(),
        |path| symlink("nowhere", path).unwrap(),
    ] {
        let path = site.root.join("home/.pi/agent/agents");
        fs::remove_dir(&path).or_else(|_| fs::remove_file(&path)).unwrap();
        make(&path);
        let catalog = site.catalog();
        let found = catalog.find("explore");
        let Err(Missing::Unread { path: told, .. }) = found else { panic!("{found:?}") };
        assert_eq!(told, path.display().to_string());
        assert!(matches!(catalog.faults(), [fault] if fault.contains(&told)), "{:?}", catalog.faults());
    }
    let mut site = Site::new();
    site.environment.insert("PI_CODING_AGENT_DIR".to_owned(), "relative".to_owned());
    assert!(matches!(site.catalog().find("explore"), Err(Missing::Unread { .. })));
    site.environment.insert("PI_CODING_AGENT_DIR".to_owned(), "/nonexistent/agent".to_owned());
    assert!(site.catalog().find("explore").is_ok(), "nobody has to have any");
}

/// F15.
#[test]
fn links_are_followed_but_not_out_of_a_project() {
    let site = Site::new();
    says(&site.root.join("outside.md"), "outside");
    says(&site.root.join("work/inside.md"), "inside");
    symlink(site.root.join("outside.md"), site.user("mine.md")).unwrap();
    symlink(site.root.join("outside.md"), site.project("out.md")).unwrap();
    symlink("../../../outside.md", site.project("up.md")).unwrap();
    symlink("../../inside.md", site.project("near.md")).unwrap();
    symlink(site.root.join("work/inside.md"), site.project("absolute.md")).unwrap();
    let catalog = site.catalog();
    assert_eq!(described(&catalog, "mine"), "outside");
    for name in ["near", "absolute"] {
        assert_eq!(described(&catalog, name), "inside");
    }
    for name in ["out", "up"] {
        assert!(broken(&catalog, name).contains("leads out of the project"), "{name}");
    }

    fs::rename(site.root.join("work/.pi"), site.root.join("work/shared")).unwrap();
    symlink("shared", site.root.join("work/.pi")).unwrap();
    assert_eq!(described(&site.catalog(), "near"), "inside");
    fs::rename(site.root.join("work/shared"), site.root.join("shared")).unwrap();
    fs::remove_file(site.root.join("work/.pi")).unwrap();
    symlink("../shared", site.root.join("work/.pi")).unwrap();
    let catalog = site.catalog();
    let Err(Missing::Unread { reason, .. }) = catalog.find("near") else { panic!("{:?}", catalog.faults()) };
    assert!(reason.contains("leads out of the project"), "{reason}");
}

#[test]
fn more_files_than_are_read_are_there_as_broken_ones() {
    let site = Site::new();
    for number in 0..501 {
        fs::write(site.user(&format!("a{number:03}.md")), "x").unwrap();
    }
    let catalog = site.catalog();
    assert!(catalog.find("a499").is_ok());
    assert!(broken(&catalog, "a500").contains("more than 500 files"));
    let site = Site::new();
    for number in 0..17 {
        fs::write(site.user(&format!("a{number:02}.md")), vec![b'x'; FILE_BYTES]).unwrap();
    }
    let catalog = site.catalog();
    assert!(catalog.find("a15").is_ok());
    assert!(broken(&catalog, "a16").contains("16777216 bytes"));
    let site = Site::new();
    for number in 0..10_001 {
        fs::File::create(site.user(&format!("{number}.txt"))).unwrap();
    }
    assert!(matches!(site.catalog().find("explore"), Err(Missing::Unread { .. })));
}

#[test]
fn names_that_are_no_text_are_told() {
    use std::os::unix::ffi::OsStrExt as _;
    let site = Site::new();
    fs::write(site.user("").join(std::ffi::OsStr::from_bytes(b"od\xffd.md")), "x").unwrap();
    let catalog = site.catalog();
    let odd = catalog.iter().find(|agent| agent.layer == Layer::User).unwrap();
    assert!(odd.broken && odd.problems[0].message.contains("not UTF-8"), "{:?}", odd.problems);
}

/// W4: in the same tick of the file system's clock, with the same size and in the same inode.
#[test]
fn a_file_that_was_just_written_is_read() {
    let site = Site::new();
    let definitions = site.definitions();
    for number in 0..300 {
        let words = format!("version {number:03}");
        says(&site.user("mine.md"), &words);
        assert_eq!(described(&site.look(&definitions, true), "mine"), words);
    }
}

#[test]
fn what_looks_the_same_is_not_read_again() {
    let site = Site::new();
    let mut definitions = site.definitions();
    says(&site.user("mine.md"), "one");
    assert!(!Arc::ptr_eq(&site.look(&definitions, true), &site.look(&definitions, true)), "it is too young");
    definitions.settled = Duration::ZERO;
    let look = || site.look(&definitions, true);
    let first = look();
    assert!(Arc::ptr_eq(&first, &look()));
    assert!(!Arc::ptr_eq(&first, &site.look(&definitions, false)), "another request");
    assert!(Arc::ptr_eq(&first, &look()));
    type Change = fn(&Site);
    let changes: [(&str, Change); 8] = [
        ("rewritten", |site| says(&site.user("mine.md"), "longer")),
        ("its time set back", |site| {
            let file = fs::File::options().write(true).open(site.user("mine.md")).unwrap();
            let time = file.metadata().unwrap().modified().unwrap();
            says(&site.user("mine.md"), "larger");
            file.set_modified(time).unwrap();
        }),
        ("replaced", |site| {
            says(&site.root.join("new"), "others");
            fs::rename(site.root.join("new"), site.user("mine.md")).unwrap();
        }),
        ("added", |site| says(&site.user("other.md"), "other")),
        ("removed", |site| fs::remove_file(site.user("other.md")).unwrap()),
        ("a link", |site| {
            says(&site.root.join("target.md"), "target");
            symlink(site.root.join("target.md"), site.user("link.md")).unwrap();
        }),
        ("its target", |site| says(&site.root.join("target.md"), "a longer target")),
        ("a directory gone", |site| fs::remove_dir_all(site.project("")).unwrap()),
    ];
    for (what, change) in changes {
        let before = look();
        assert!(Arc::ptr_eq(&before, &look()), "before: {what}");
        change(&site);
        let after = look();
        assert!(!Arc::ptr_eq(&before, &after), "{what}");
        let fresh = site.catalog();
        assert_eq!(*after, *fresh, "{what}");
    }
}

#[test]
fn what_could_not_be_read_is_tried_again() {
    let site = Site::new();
    let mut definitions = site.definitions();
    definitions.settled = Duration::ZERO;
    symlink("later.md", site.user("mine.md")).unwrap();
    broken(&site.look(&definitions, true), "mine");
    assert!(!Arc::ptr_eq(&site.look(&definitions, true), &site.look(&definitions, true)));
    says(&site.user("later.md"), "here");
    assert_eq!(described(&site.look(&definitions, true), "mine"), "here");
}

#[test]
fn the_oldest_catalogue_makes_room() {
    let site = Site::new();
    let mut definitions = site.definitions();
    definitions.settled = Duration::ZERO;
    let look = |number: usize| {
        let project = site.root.join(number.to_string());
        let project = Some(project.as_path());
        let (environment, scope) = (&site.environment, AgentScope::Both);
        definitions.catalog(&CatalogRequest { environment, project, trusted: true, scope })
    };
    let first = look(0);
    let kept: Vec<_> = (1..9).map(look).collect();
    assert!(Arc::ptr_eq(&kept[0], &look(1)));
    assert!(!Arc::ptr_eq(&first, &look(0)));
}
