//! What the launching shell states about itself: variables, umask, limits, directory, user.
//!
//! The daemon decides which variables a child gets; everything is handed over here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};
use subagentd_proto::run::CapturedEnvironment;

use crate::failure::{Failure, usage};

/// The resource limits that a shell user sets, by the names of the wire. Real-time and System V ones are left to the
/// daemon.
const LIMITS: [(&str, Resource); 9] = [
    ("as", Resource::As),
    ("core", Resource::Core),
    ("cpu", Resource::Cpu),
    ("data", Resource::Data),
    ("fsize", Resource::Fsize),
    ("memlock", Resource::Memlock),
    ("nofile", Resource::Nofile),
    ("nproc", Resource::Nproc),
    ("stack", Resource::Stack),
];
/// No limit, as a number: the kernel's own word for it. It is said and not left out, since what is left out stays as
/// the daemon has it, and that may be less.
const UNLIMITED: u64 = u64::MAX;

/// The environment of this process.
pub(crate) fn capture() -> CapturedEnvironment {
    let (variables, omitted) = split(std::env::vars_os());
    let umask = fs::read_to_string("/proc/self/status").ok().and_then(|status| umask(&status));
    CapturedEnvironment { variables, omitted, umask, limits: limits() }
}

/// The soft limits: what a program started here would find.
fn limits() -> BTreeMap<String, u64> {
    let soft = |resource| getrlimit(resource).current.unwrap_or(UNLIMITED);
    LIMITS.into_iter().map(|(name, resource)| (name.to_owned(), soft(resource))).collect()
}

/// Variables that are text, and the names of the others.
fn split(variables: impl Iterator<Item = (OsString, OsString)>) -> (BTreeMap<String, String>, Vec<String>) {
    let mut texts = BTreeMap::new();
    let mut omitted = Vec::new();
    for (name, value) in variables {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => {
                texts.insert(name, value);
            }
            (Ok(name), Err(_)) => omitted.push(name),
            (Err(name), _) => omitted.push(name.to_string_lossy().into_owned()),
        }
    }
    omitted.sort_unstable();
    (texts, omitted)
}

/// The file mode mask. Read from the kernel's report, since asking for it by `umask(2)` would change it.
fn umask(status: &str) -> Option<u32> {
    let value = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(value.trim(), 8).ok()
}

/// The owner of what this user launches: stable over shells, logins and renamed terminals.
pub(crate) fn owner() -> String {
    let uid = nix::unistd::getuid();
    match nix::unistd::User::from_uid(uid) {
        Ok(Some(user)) => format!("cli:{}", user.name),
        _ => format!("cli:{uid}"),
    }
}

/// Where the child shall work: `asked`, or the current directory as the shell names it. Absolute, not resolved, so
/// that lists show the name the user knows.
pub(crate) fn directory(asked: Option<&Path>) -> Result<String, Failure> {
    let path = match asked {
        Some(path) if path.is_absolute() => path.to_owned(),
        Some(path) => current()?.join(path),
        None => current()?,
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    path.into_os_string().into_string().map_err(|path| {
        let path = path.to_string_lossy();
        usage(format!("the directory's name is not UTF-8: {path}; rename it, or name another one by --directory"))
    })
}

fn current() -> Result<PathBuf, Failure> {
    let real = std::env::current_dir().map_err(|error| {
        usage(format!("the current directory cannot be named ({error}); go to another one or use --directory"))
    })?;
    Ok(named_by_shell(std::env::var_os("PWD"), real))
}

/// `$PWD` if it names the same directory as `real`, else `real`: a stale or borrowed `$PWD` must not move the child.
fn named_by_shell(pwd: Option<OsString>, real: PathBuf) -> PathBuf {
    let Some(named) = pwd.map(PathBuf::from).filter(|path| path.is_absolute()) else {
        return real;
    };
    match (fs::metadata(&named), fs::metadata(&real)) {
        (Ok(a), Ok(b)) if (a.dev(), a.ino()) == (b.dev(), b.ino()) => named,
        _ => real,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn values_that_are_not_text_are_named_and_left_out() {
        let odd = || OsString::from_vec(vec![b'x', 0xff]);
        let (variables, omitted) = split(
            [
                (OsString::from("PATH"), OsString::from("/bin")),
                (OsString::from("ODD"), odd()),
                (odd(), OsString::from("value")),
                (OsString::from("EMPTY"), OsString::new()),
            ]
            .into_iter(),
        );
        let texts = [("EMPTY", ""), ("PATH", "/bin")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(variables, BTreeMap::from(texts));
        assert_eq!(omitted, ["ODD", "x\u{fffd}"]);
    }

    #[test]
    fn the_umask_is_octal() {
        assert_eq!(umask("Name:\tcat\nUmask:\t0027\nState:\tR\n"), Some(0o27));
        assert_eq!(umask("Name:\tcat\n"), None);
        assert!(capture().umask.is_some(), "this kernel reports it");
    }

    #[test]
    fn limits_are_those_that_the_kernel_reports() {
        let report = fs::read_to_string("/proc/self/limits").unwrap();
        let rows = [
            ("as", "Max address space"),
            ("core", "Max core file size"),
            ("cpu", "Max cpu time"),
            ("data", "Max data size"),
            ("fsize", "Max file size"),
            ("memlock", "Max locked memory"),
            ("nofile", "Max open files"),
            ("nproc", "Max processes"),
            ("stack", "Max stack size"),
        ];
        let wanted = rows.map(|(name, title)| {
            let row = report.lines().find_map(|line| line.strip_prefix(title)).unwrap();
            let soft = row.split_whitespace().next().unwrap();
            (name.to_owned(), if soft == "unlimited" { u64::MAX } else { soft.parse().unwrap() })
        });
        assert_eq!(limits(), BTreeMap::from(wanted), "{report}");
    }

    #[test]
    fn the_shells_name_counts_only_for_the_same_directory() {
        let temp = tempfile::tempdir().unwrap();
        let real = temp.path().join("real");
        let link = temp.path().join("link");
        fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        let table = [
            (Some(link.clone()), &link),
            (Some(temp.path().to_owned()), &real),
            (Some(temp.path().join("gone")), &real),
            (Some(PathBuf::from("relative")), &real),
            (None, &real),
        ];
        for (pwd, wanted) in table {
            let named = named_by_shell(pwd.clone().map(PathBuf::into_os_string), real.clone());
            assert_eq!(&named, wanted, "{pwd:?}");
        }
    }

    #[test]
    fn an_asked_directory_is_made_absolute_and_not_resolved() {
        let temp = tempfile::tempdir().unwrap();
        let link = temp.path().join("link");
        symlink(temp.path(), &link).unwrap();
        assert_eq!(directory(Some(&link)).unwrap(), link.to_str().unwrap());
        let below = directory(Some(Path::new("./below"))).unwrap();
        assert!(Path::new(&below).is_absolute() && below.ends_with("/below"), "{below}");
        assert!(!below.contains("/./"), "{below}");
    }

    #[test]
    fn the_owner_is_the_user_and_stays() {
        let owner = owner();
        assert!(owner.starts_with("cli:") && owner.len() > 4, "{owner}");
        assert_eq!(owner, super::owner());
    }
}
