//! Finding the workspace of a launch on disk. The rule itself is `core`'s.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use subagentd_core::workspace::{GitRoot, RootIdentity, Workspace};
use subagentd_proto::error::{Fault, Kind};

/// The workspace of a directory as the caller named it. Blocks: the file system may be slow.
pub(super) fn find(directory: &str) -> Result<Workspace, Fault> {
    let named = PathBuf::from(directory);
    let unusable = |why: &dyn std::fmt::Display| {
        Fault::new(Kind::WorkspaceUnusable, format!("the workspace {directory} cannot be used: {why}"))
    };
    if !named.is_absolute() || directory.contains('\0') {
        return Err(unusable(&"it must be an absolute path"));
    }
    let resolved = named.canonicalize().map_err(|error| unusable(&error))?;
    let found = resolved.metadata().map_err(|error| unusable(&error))?;
    if !found.is_dir() {
        return Err(unusable(&"it is not a directory"));
    }
    rustix::fs::access(&resolved, rustix::fs::Access::EXEC_OK).map_err(|error| unusable(&io::Error::from(error)))?;
    let git = git_root(&resolved).map_err(|error| unusable(&error))?;
    if resolved.to_str().is_none() {
        // Plans and requests are JSON.
        return Err(unusable(&"its real path is not UTF-8"));
    }
    Ok(Workspace::new(named, resolved, identity(&found), git))
}

/// The nearest directory upwards that git takes for a work tree's top level: `.git` is a repository, or a file that
/// names one (linked work trees, submodules).
fn git_root(resolved: &Path) -> io::Result<Option<GitRoot>> {
    let is_top = |folder: &Path| {
        let git = folder.join(".git");
        git.join("HEAD").symlink_metadata().is_ok() || names_a_repository(&git)
    };
    let Some(top) = resolved.ancestors().find(|folder| is_top(folder)) else {
        return Ok(None);
    };
    Ok(Some(GitRoot { path: top.to_owned(), identity: identity(&top.metadata()?) }))
}

fn names_a_repository(git: &Path) -> bool {
    use std::io::Read as _;
    let mut head = [0; 7];
    // Files only: opening a pipe of that name would wait for a writer.
    git.is_file()
        && std::fs::File::open(git).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && head == *b"gitdir:"
}

fn identity(metadata: &std::fs::Metadata) -> RootIdentity {
    RootIdentity { device: metadata.dev(), inode: metadata.ino() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_directory_is_one_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("repo/.git")).unwrap();
        std::fs::write(base.join("repo/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::create_dir_all(base.join("repo/a/b")).unwrap();
        std::os::unix::fs::symlink(base.join("repo"), base.join("link")).unwrap();
        let of = |path: &str| find(base.join(path).to_str().unwrap()).unwrap();
        let first = of("repo");
        for name in ["repo/", "repo/.", "link", "link/a", "repo/a/b", "repo/a/../a"] {
            let other = of(name);
            assert_eq!((other.identity, &other.root), (first.identity, &first.root), "{name}");
            assert_eq!(other.directory, base.join(name));
        }
    }

    #[test]
    fn a_linked_work_tree_is_a_root_of_its_own_and_an_empty_git_folder_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("linked/src")).unwrap();
        std::fs::write(base.join("linked/.git"), "gitdir: /elsewhere/.git/worktrees/linked\n").unwrap();
        std::fs::create_dir_all(base.join("plain/.git")).unwrap();
        let root = |path: &str| find(base.join(path).to_str().unwrap()).unwrap().root;
        assert_eq!(root("linked/src"), base.join("linked"));
        assert_eq!(root("plain"), base.join("plain"));
    }

    #[test]
    fn what_cannot_be_worked_in_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let missing = folder.path().join("missing");
        for path in ["relative", missing.to_str().unwrap(), folder.path().join("file").to_str().unwrap()] {
            let fault = find(path).unwrap_err();
            assert_eq!(fault.kind, Kind::WorkspaceUnusable);
            assert!(fault.message.contains(path), "{fault}");
        }
    }
}
