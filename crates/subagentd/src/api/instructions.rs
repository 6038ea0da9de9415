//! Standing instructions as of the request: what changes in their files later does not reach the child (G13).
//!
//! A host names the files that hold in its directory. For a child elsewhere, and for a caller that names none, they are
//! found by pi's own rule: of each directory the first of [`NAMES`] that is a file; pi's configuration folder first,
//! then every directory from the root of the file system to the child's. What lies inside the workspace belongs to the
//! project and counts only when that is trusted; what lies above is the user's.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use subagentd_core::deliver;
use subagentd_core::id::ChildId;
use subagentd_core::plan::{Alternative, Decision, Environment, Source};
use subagentd_core::resolve::Stated;
use subagentd_core::workspace::Workspace;
use subagentd_proto::error::{Fault, Kind};
use subagentd_proto::limits::{STANDING_BYTES, STANDING_FILES};
use subagentd_proto::run::CapturedInstructions;
use subagentd_runtime::files;
use subagentd_runtime::folder::Places;

use super::{conversation, launch};
use crate::runtimes::configuration_folder;

/// Names of files with instructions. In one directory an earlier one hides the later.
const NAMES: [&str; 5] = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];
/// Files that a reason names; the rest is counted.
const NAMED: usize = 5;
/// A file that says where a linked work tree's repository is, in bytes.
const POINTER_BYTES: usize = 16 * 1024;

/// Where a child's standing instructions are. There is no file if there are none.
#[must_use]
pub(crate) fn file(places: &Places, child: ChildId) -> PathBuf {
    places.run(child.run).join(format!("standing-{}.md", child.index))
}

/// Standing instructions as of the request. Has no `Debug`: they are the user's.
pub(super) struct Standing {
    /// Empty if there are none.
    text: String,
    source: Source,
    files: Vec<PathBuf>,
    left_out: Vec<Alternative>,
}

/// Takes those that hold for a child.
///
/// # Errors
/// When the host names something that cannot be taken, or all of it is too large; the launch is refused.
pub(super) fn take(
    stated: Option<&CapturedInstructions>,
    workspace: &Workspace,
    trusted: bool,
    environment: &Environment,
) -> Result<Standing, Fault> {
    if let Some(stated) = stated {
        check(stated)?;
        if Path::new(&stated.directory).canonicalize().is_ok_and(|directory| directory == workspace.resolved) {
            return of_host(stated);
        }
    }
    of_directory(workspace, trusted, &configuration_folder(environment))
}

/// Stores them for a child, synced.
///
/// # Errors
/// When they cannot be stored; the launch is refused.
pub(super) fn keep(places: &Places, child: ChildId, standing: &Standing) -> Result<(), Fault> {
    let place = file(places, child);
    let name = place.file_name().map(Path::new).unwrap_or(&place);
    let written =
        places.make_run(child.run).and_then(|folder| files::write_synced_in(folder, name, standing.text.as_bytes()));
    written.map_err(|error| launch::unstorable(&error))
}

impl Standing {
    /// Whether there are some.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Their digest.
    pub(super) fn stated(&self) -> Stated<Option<String>> {
        let value = (!self.is_empty()).then(|| deliver::digest(self.text.as_bytes()));
        Stated { value, source: self.source }
    }

    /// Says of a decision which files it is about, and which ones it leaves out.
    pub(super) fn explain(&mut self, decision: &mut Decision<Option<String>>) {
        let mut named: Vec<String> = self.files.iter().take(NAMED).map(|file| file.display().to_string()).collect();
        let more = self.files.len().saturating_sub(NAMED);
        if more > 0 {
            named.push(format!("{more} more"));
        }
        if !named.is_empty() {
            decision.reason = format!("{}: {}", decision.reason, named.join(", "));
        }
        decision.alternatives = std::mem::take(&mut self.left_out);
    }

    fn new(source: Source) -> Self {
        Self { text: String::new(), source, files: Vec::new(), left_out: Vec::new() }
    }

    fn add(&mut self, path: &Path, text: &str) -> Result<(), Fault> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
        if text.is_empty() {
            return Ok(());
        }
        let name = path.display().to_string();
        let gap = if self.text.is_empty() { "" } else { "\n" };
        self.text.push_str(&format!("{gap}<instructions file={name:?}>\n{text}\n</instructions>\n"));
        self.files.push(path.to_owned());
        if self.text.len() > STANDING_BYTES { Err(too_large(path)) } else { Ok(()) }
    }

    fn leave_out(&mut self, path: &Path, reason: String) {
        self.left_out.push(Alternative { value: path.display().to_string(), reason });
    }
}

fn check(stated: &CapturedInstructions) -> Result<(), Fault> {
    let count = stated.files.len();
    if count > STANDING_FILES {
        let text = format!("`capture.instructions.files` has {count} files; at most {STANDING_FILES} are taken");
        return Err(Fault::new(Kind::Limit, text));
    }
    let paths = std::iter::once(("directory".to_owned(), &stated.directory))
        .chain(stated.files.iter().enumerate().map(|(index, file)| (format!("files[{index}]"), file)));
    for (at, path) in paths {
        if !path.starts_with('/') || path.contains('\0') {
            let text = format!("`capture.instructions.{at}` is no absolute path");
            return Err(Fault::new(Kind::InvalidParams, text));
        }
    }
    Ok(())
}

fn of_host(stated: &CapturedInstructions) -> Result<Standing, Fault> {
    let mut standing = Standing::new(Source::Capture);
    for path in stated.files.iter().map(Path::new) {
        match read(path) {
            Ok(Some(text)) => standing.add(path, &text)?,
            // A host names what it has loaded once; the file may be gone since.
            Ok(None) => standing.leave_out(path, "it is gone".to_owned()),
            Err(error) if error.kind() == ErrorKind::FileTooLarge => return Err(too_large(path)),
            Err(error) => {
                let text = format!("the standing instructions {} cannot be read: {error}", path.display());
                return Err(Fault::new(Kind::Refused, text));
            }
        }
    }
    Ok(standing)
}

fn of_directory(workspace: &Workspace, trusted: bool, configuration: &Path) -> Result<Standing, Fault> {
    let mut standing = Standing::new(Source::Default);
    let mut seen = Vec::new();
    // Of a project that is not trusted no copy counts.
    let hidden = trusted.then(|| hidden(workspace)).flatten();
    let mut folders: Vec<&Path> = workspace.resolved.ancestors().collect();
    folders.push(configuration);
    for folder in folders.into_iter().rev() {
        let is_project = folder != configuration && folder.starts_with(&workspace.root);
        let Some((path, text)) = first_of(folder, &mut standing)? else { continue };
        if seen.contains(&path) || hidden.as_ref() == Some(&path) {
            continue;
        }
        if is_project && !trusted {
            standing.leave_out(&path, "the project is not trusted".to_owned());
        } else {
            standing.add(&path, &text)?;
        }
        seen.push(path);
    }
    Ok(standing)
}

/// The file with instructions of one directory. One that cannot be read is told, and the next name counts.
fn first_of(folder: &Path, standing: &mut Standing) -> Result<Option<(PathBuf, String)>, Fault> {
    for name in NAMES {
        let path = folder.join(name);
        match read(&path) {
            Ok(Some(text)) => return Ok(Some((path, text))),
            Ok(None) => {}
            Err(error) if error.kind() == ErrorKind::FileTooLarge => return Err(too_large(&path)),
            Err(error) => standing.leave_out(&path, format!("it cannot be read: {error}")),
        }
    }
    Ok(None)
}

/// The text of a regular file; `None` if there is none.
fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match conversation::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(error),
    };
    if file.metadata()?.len() > STANDING_BYTES as u64 {
        return Err(ErrorKind::FileTooLarge.into());
    }
    text(file, STANDING_BYTES).map(Some)
}

fn text(file: File, most: usize) -> io::Result<String> {
    let bytes = files::read_limited(file, most)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn too_large(path: &Path) -> Fault {
    let text =
        format!("standing instructions with {} have more than {STANDING_BYTES} bytes; shorten them", path.display());
    Fault::new(Kind::Limit, text)
}

/// The file of the main work tree that a linked one inside of it has a copy of: they are the same instructions.
fn hidden(workspace: &Workspace) -> Option<PathBuf> {
    let root = &workspace.root;
    let pointer = pointer(&root.join(".git"))?;
    let repository = root.join(pointer.strip_prefix("gitdir:")?.trim());
    let common = repository.join(self::pointer(&repository.join("commondir"))?.trim()).canonicalize().ok()?;
    let main = common.parent()?;
    let is_checkout = main.join(".git").canonicalize().is_ok_and(|git| git == common);
    if !is_checkout || main == root || !root.starts_with(main) {
        return None;
    }
    let is_file = |name: &&str| root.join(name).metadata().is_ok_and(|found| found.is_file());
    NAMES.into_iter().find(is_file).map(|name| main.join(OsStr::new(name)))
}

fn pointer(path: &Path) -> Option<String> {
    text(conversation::open(path).ok()?, POINTER_BYTES).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use subagentd_core::workspace::{GitRoot, RootIdentity};

    struct Place(tempfile::TempDir);

    impl Place {
        fn new(files: &[(&str, &str)]) -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            for (path, text) in files {
                let path = place.path(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            place
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(path)
        }

        fn workspace(&self, root: &str, directory: &str) -> Workspace {
            let identity = RootIdentity { device: 1, inode: 1 };
            let directory = self.path(directory);
            fs::create_dir_all(&directory).unwrap();
            let git = GitRoot { path: self.path(root), identity };
            Workspace::new(directory.clone(), directory, identity, Some(git))
        }

        fn found(&self, root: &str, directory: &str, trusted: bool) -> Standing {
            of_directory(&self.workspace(root, directory), trusted, &self.path("agent")).ok().unwrap()
        }
    }

    /// The words of the parts, and the files that were left out.
    fn told(standing: &Standing, place: &Place) -> (String, Vec<String>) {
        let words = standing.text.lines().filter(|line| line.starts_with('#')).collect::<Vec<_>>().join(" ");
        let base = place.path("");
        let short = |file: &String| Path::new(file).strip_prefix(&base).unwrap().display().to_string();
        (words, standing.left_out.iter().map(|other| short(&other.value)).collect())
    }

    const TREE: [(&str, &str); 5] = [
        ("agent/AGENTS.md", "#user"),
        ("home/AGENTS.md", "#above"),
        ("home/repo/CLAUDE.md", "#root"),
        ("home/repo/a/AGENTS.md", "\u{feff}#inner"),
        ("home/repo/a/CLAUDE.md", "#hidden"),
    ];

    #[test]
    fn the_chain_runs_from_the_user_to_the_directory() {
        let place = Place::new(&TREE);
        let mut standing = place.found("home/repo", "home/repo/a/b", true);
        assert_eq!(told(&standing, &place), ("#user #above #root #inner".to_owned(), Vec::new()));
        assert!(standing.text.contains(&format!("<instructions file={:?}>", place.path("home/AGENTS.md"))));
        assert_eq!(standing.stated().source, Source::Default);
        let mut decision =
            Decision { value: None, source: Source::Default, reason: "r".to_owned(), alternatives: Vec::new() };
        standing.explain(&mut decision);
        assert!(decision.reason.contains("home/repo/a/AGENTS.md"), "{}", decision.reason);
    }

    #[test]
    fn what_a_project_says_counts_only_when_it_is_trusted() {
        let place = Place::new(&TREE);
        let standing = place.found("home/repo", "home/repo/a", false);
        let left = ["home/repo/CLAUDE.md", "home/repo/a/AGENTS.md"].map(str::to_owned).to_vec();
        assert_eq!(told(&standing, &place), ("#user #above".to_owned(), left));
        let none = place.found("home", "home/repo/a", false);
        assert_eq!(told(&none, &place).0, "#user", "all else is inside the work tree");
    }

    #[test]
    fn one_file_of_a_directory_counts_and_folders_and_links_to_nowhere_do_not() {
        let place =
            Place::new(&[("w/AGENTS.override.md", "#first"), ("w/AGENTS.md", "#second"), ("w/x/CLAUDE.md", "#deep")]);
        fs::create_dir(place.path("w/x/AGENTS.md")).unwrap();
        std::os::unix::fs::symlink("/nonexistent", place.path("w/x/AGENTS.override.md")).unwrap();
        let standing = place.found("w", "w/x", true);
        assert_eq!(told(&standing, &place).0, "#first #deep");
        let bare = Place::new(&[("w/AGENTS.md", " \n")]);
        let none = bare.found("w", "w", true);
        assert!(none.is_empty() && none.stated().value.is_none());
    }

    #[test]
    fn a_work_tree_inside_its_main_one_is_told_once() {
        let place = Place::new(&[
            ("main/AGENTS.md", "#main"),
            ("main/.git/HEAD", "x"),
            ("main/.git/worktrees/l/commondir", "../..\n"),
            ("main/linked/AGENTS.md", "#linked"),
        ]);
        let pointer = format!("gitdir: {}\n", place.path("main/.git/worktrees/l").display());
        fs::write(place.path("main/linked/.git"), pointer).unwrap();
        assert_eq!(told(&place.found("main/linked", "main/linked", true), &place).0, "#linked");
        fs::remove_file(place.path("main/linked/AGENTS.md")).unwrap();
        assert_eq!(told(&place.found("main/linked", "main/linked", true), &place).0, "#main");
    }

    #[test]
    fn a_host_names_them_for_its_own_directory_only() {
        let place = Place::new(&[("w/AGENTS.md", "#own"), ("other/x.md", "#host"), ("w/sub/AGENTS.md", "#sub")]);
        let path = |name: &str| place.path(name).display().to_string();
        let stated =
            CapturedInstructions { directory: path("w/../w"), files: vec![path("other/x.md"), path("gone.md")] };
        let environment = Environment::from([("PI_CODING_AGENT_DIR".to_owned(), path("agent"))]);
        let taken =
            |directory: &str| take(Some(&stated), &place.workspace("w", directory), true, &environment).ok().unwrap();
        let host = taken("w");
        assert_eq!(told(&host, &place), ("#host".to_owned(), vec!["gone.md".to_owned()]));
        assert_eq!(host.stated().source, Source::Capture);
        assert_eq!(told(&taken("w/sub"), &place).0, "#own #sub");
    }

    #[test]
    fn what_cannot_be_taken_is_refused_by_name() {
        let place = Place::new(&[("w/AGENTS.md", &"x".repeat(STANDING_BYTES)), ("v/x", "")]);
        let refusal = |directory: &str, files: Vec<String>| {
            let stated = CapturedInstructions { directory: place.path(directory).display().to_string(), files };
            take(Some(&stated), &place.workspace("w", "w"), true, &Environment::new()).err().unwrap()
        };
        let large = place.path("w/AGENTS.md").display().to_string();
        for directory in ["w", "v"] {
            let fault = refusal(directory, vec![large.clone()]);
            assert_eq!(fault.kind, Kind::Limit, "{fault}");
            assert!(fault.message.contains(&large), "{fault}");
        }
        let fault = refusal("w", vec!["relative.md".to_owned()]);
        assert_eq!(fault.kind, Kind::InvalidParams);
        assert!(fault.message.contains("capture.instructions.files[0]"), "{fault}");
        assert_eq!(refusal("w", vec![large; STANDING_FILES + 1]).kind, Kind::Limit);
        let folder = place.path("v").display().to_string();
        let fault = refusal("w", vec![folder.clone()]);
        assert!(fault.kind == Kind::Refused && fault.message.contains(&folder), "{fault}");
    }
}
