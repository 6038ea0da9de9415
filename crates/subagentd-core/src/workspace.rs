//! Where a child works, and what of it a writer locks (design 6).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What makes two names the same directory: asked of the file system, never derived from the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RootIdentity {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

/// The directory that a child works in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// The directory as the caller named it; the child's working directory.
    pub directory: PathBuf,
    /// The same with links resolved.
    pub resolved: PathBuf,
    /// The root that a writer locks: the git work tree's top level if inside one, else the directory.
    pub root: PathBuf,
    /// Device and inode of the root at launch.
    pub identity: RootIdentity,
}

/// The top level of a git work tree, as found by looking from a directory upwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitRoot {
    /// Its path, with links resolved.
    pub path: PathBuf,
    /// Its device and inode.
    pub identity: RootIdentity,
}

impl Workspace {
    /// The workspace of a directory. Its root is the nearest git work tree's top level if there is one around the
    /// directory, else the directory itself. A candidate that does not contain the resolved directory is none: it was
    /// found through a name that means another place by now.
    #[must_use]
    pub fn new(directory: PathBuf, resolved: PathBuf, identity: RootIdentity, git: Option<GitRoot>) -> Self {
        let around = git.filter(|git| resolved.starts_with(&git.path));
        let (root, identity) = match around {
            Some(git) => (git.path, git.identity),
            None => (resolved.clone(), identity),
        };
        Self { directory, resolved, root, identity }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_work_tree_around_the_directory_or_the_directory() {
        let identity = |inode| RootIdentity { device: 1, inode };
        for (git, root, inode) in [
            (None, "/real/repo/crate", 9),
            (Some("/real/repo"), "/real/repo", 1),
            (Some("/real/repo/crate"), "/real/repo/crate", 1),
            (Some("/real/rep"), "/real/repo/crate", 9),
            (Some("/real/repo/crate/deeper"), "/real/repo/crate", 9),
        ] {
            let candidate = git.map(|path| GitRoot { path: PathBuf::from(path), identity: identity(1) });
            let resolved = PathBuf::from("/real/repo/crate");
            let workspace = Workspace::new(PathBuf::from("/link/crate"), resolved, identity(9), candidate);
            assert_eq!((workspace.root, workspace.identity), (PathBuf::from(root), identity(inode)), "{git:?}");
            assert_eq!(workspace.directory, PathBuf::from("/link/crate"));
        }
    }
}
