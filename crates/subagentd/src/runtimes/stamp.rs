//! What a question rests on: programs, files and variables, as one digest. Nothing is started and little is read.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use subagentd_core::deliver;
use subagentd_core::plan::Environment;

/// Variables that name a window, a terminal or a login. No program can run other models for them, and each new shell
/// has others. A trailing `*` covers a family.
const NOT_LOOKED_AT: &[&str] = &[
    "ALACRITTY_*",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "GNOME_TERMINAL_*",
    "ITERM_*",
    "KITTY_*",
    "KONSOLE_*",
    "LS_COLORS",
    "PS1",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_TTY",
    "SUBAGENTD_*",
    "VTE_VERSION",
    "WAYLAND_DISPLAY",
    "WEZTERM_*",
    "WINDOWID",
    "XAUTHORITY",
    "XDG_SESSION_*",
];

/// Collects what a question rests on.
#[derive(Default)]
pub(crate) struct Stamp {
    text: String,
}

impl Stamp {
    /// Adds words.
    pub(crate) fn word(&mut self, word: &str) {
        self.text.push_str(word);
        self.text.push('\0');
    }

    /// Adds how a file looks: when it was written, its size, which one it is. An absent one looks like nothing.
    pub(crate) fn file(&mut self, path: &Path) {
        self.word(&path.to_string_lossy());
        if let Ok(file) = fs::metadata(path) {
            let (seconds, nanos) = (file.mtime(), file.mtime_nsec());
            // Text never fails to grow.
            write!(self.text, "{seconds}.{nanos}.{}.{}.{}", file.size(), file.dev(), file.ino()).ok();
        }
        self.text.push('\0');
    }

    /// Adds every variable that may matter: any of them can be a key.
    pub(crate) fn environment(&mut self, environment: &Environment) {
        for (name, value) in environment.iter().filter(|(name, _)| !is_of_a_window(name)) {
            self.word(name);
            self.word(value);
        }
    }

    /// The digest: it says nothing about the values.
    pub(crate) fn digest(&self) -> String {
        deliver::digest(self.text.as_bytes())
    }
}

fn is_of_a_window(name: &str) -> bool {
    NOT_LOOKED_AT.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(head) => name.starts_with(head),
        None => name == *pattern,
    })
}

/// The first program of one of these names in a client's `PATH`. Entries that are not absolute are passed over: they
/// would mean another folder for every child.
pub(crate) fn on_path(names: &[&str], environment: &Environment) -> Option<PathBuf> {
    names.iter().find_map(|name| folders(environment).map(|folder| folder.join(name)).find(|path| is_program(path)))
}

/// The folders of a client's `PATH`.
pub(crate) fn folders(environment: &Environment) -> impl Iterator<Item = PathBuf> {
    let path = environment.get("PATH").map(String::as_str).unwrap_or_default();
    path.split(':').map(PathBuf::from).filter(|folder| folder.is_absolute())
}

/// Whether it can be run.
pub(crate) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file()) && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn digest(fill: impl Fn(&mut Stamp)) -> String {
        let mut stamp = Stamp::default();
        fill(&mut stamp);
        stamp.digest()
    }

    #[test]
    fn any_change_of_a_file_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("auth.json");
        let look = || digest(|stamp| stamp.file(&path));
        let absent = look();
        fs::write(&path, "{}").unwrap();
        let first = look();
        assert_ne!(absent, first);
        assert_eq!(first, look());
        fs::write(&path, "{ }").unwrap();
        let longer = look();
        assert_ne!(first, longer);
        // Replaced by one of the same size and time.
        let beside = folder.path().join("new");
        fs::write(&beside, "{\t}").unwrap();
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::File::options().write(true).open(&beside).unwrap().set_modified(time).unwrap();
        fs::rename(&beside, &path).unwrap();
        assert_ne!(longer, look());
    }

    #[test]
    fn keys_count_and_windows_do_not() {
        let with = |name: &str, value: &str| {
            let environment = Environment::from([(name.to_owned(), value.to_owned())]);
            digest(|stamp| stamp.environment(&environment))
        };
        assert_ne!(with("ACME_API_KEY", "a"), with("ACME_API_KEY", "b"));
        assert_ne!(with("PATH", "/a"), with("PATH", "/b"));
        assert_eq!(with("KITTY_WINDOW_ID", "1"), with("KITTY_PID", "2"));
        assert_eq!(with("SSH_TTY", "/dev/pts/1"), with("SSH_TTY", "/dev/pts/2"));
    }

    #[test]
    fn the_first_program_of_the_path_counts() {
        let place = tempfile::tempdir().unwrap();
        let folders = ["a", "b", "c"].map(|name| place.path().join(name));
        for folder in &folders {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("tool"), "").unwrap();
        }
        let [a, b, c] = &folders;
        for folder in [b, c] {
            fs::set_permissions(folder.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::create_dir(a.join("other")).unwrap();
        let path = format!("relative::{}:{}:{}", a.display(), b.display(), c.display());
        let environment = Environment::from([("PATH".to_owned(), path)]);
        assert_eq!(on_path(&["tool"], &environment), Some(b.join("tool")), "the first may not be run");
        assert_eq!(on_path(&["missing", "tool"], &environment), Some(b.join("tool")));
        assert_eq!(on_path(&["other"], &environment), None, "a folder is no program");
        assert_eq!(on_path(&["tool"], &Environment::new()), None);
    }
}
