//! Where pi, its node and its search tools are, for one client. Only looks.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use subagentd_core::outcome::error_line;
use subagentd_core::plan::Environment;
use subagentd_runtime::files;

use super::words;
use crate::environment;
use crate::runtimes::stamp::{self, Stamp};
use crate::runtimes::version::Version;

/// The package that pi is.
pub(super) const PACKAGE: &str = "@earendil-works/pi-coding-agent";
/// What of the package is run, where it has it: the rest is found from there.
const BUNDLE: &str = "dist/bundle/cli.js";
/// Folders above a program in which its package is looked for.
const DEPTH: usize = 8;
/// A larger package.json is none.
const PACKAGE_BYTES: usize = 1024 * 1024;
/// The oldest pi whose dialect is known.
const OLDEST: Version = Version(1, 6, 0);
/// What in pi's configuration folder decides about its models.
const CONFIGURATION: [&str; 4] = ["auth.json", "models.json", "models-store.json", "settings.json"];

/// Everything that was found.
#[derive(Debug)]
pub(super) struct Found {
    /// The program and its first arguments.
    pub(super) command: Vec<String>,
    /// The node that runs it, if it is one.
    pub(super) node: Option<String>,
    /// The package's version, if the program belongs to the package.
    pub(super) version: Option<String>,
    /// Its configuration folder.
    pub(super) folder: PathBuf,
    /// ripgrep, for its tool `grep`.
    pub(super) rg: Option<PathBuf>,
    /// fd, for its tool `find`.
    pub(super) fd: Option<PathBuf>,
    /// Digest of all that it can do in this environment.
    pub(super) key: String,
}

/// Finds it, by the configured command or in the client's `PATH`.
///
/// # Errors
/// One sentence that says what was looked for, where, and what to do.
pub(super) fn find(configured: Option<&[String]>, environment: &Environment) -> Result<Found, String> {
    let Program { command, node, package } = match configured {
        Some(command) => by_configuration(command, environment)?,
        None => by_path(environment)?,
    };
    let version = package.as_ref().map(|package| package.version.clone());
    if let Some(package) =
        package.as_ref().filter(|package| Version::read(&package.version).is_none_or(|own| own < OLDEST))
    {
        return Err(words::too_old(&package.version, &package.folder, OLDEST));
    }
    let folder = configuration_folder(environment);
    let (rg, fd) = (tool(&folder, &["rg"], environment), tool(&folder, &["fd", "fdfind"], environment));
    let mut stamp = Stamp::default();
    stamp.word(crate::api::VERSION);
    stamp.environment(environment);
    command.iter().for_each(|word| stamp.word(word));
    // An argument may be a file of the program.
    command.iter().map(Path::new).filter(|word| word.is_absolute()).for_each(|file| stamp.file(file));
    package.iter().for_each(|package| stamp.file(&package.folder.join("package.json")));
    [&rg, &fd].into_iter().flatten().for_each(|file| stamp.file(file));
    CONFIGURATION.iter().for_each(|name| stamp.file(&folder.join(name)));
    Ok(Found { command, node, version, folder, rg, fd, key: stamp.digest() })
}

struct Program {
    command: Vec<String>,
    node: Option<String>,
    package: Option<Package>,
}

/// As it was named. Nothing about it has to be as in the package.
fn by_configuration(command: &[String], environment: &Environment) -> Result<Program, String> {
    let (named, arguments) = command.split_first().ok_or_else(|| words::not_there("", words::EMPTY))?;
    let program = if named.contains('/') {
        Some(PathBuf::from(named)).filter(|path| path.is_absolute() && stamp::is_program(path))
    } else {
        stamp::on_path(&[named], environment)
    };
    let program = text(program.ok_or_else(|| words::not_there(named, words::places(named, environment)))?)?;
    let script = arguments.iter().map(Path::new).find(|word| word.is_absolute() && word.is_file());
    let package = package(script.unwrap_or(Path::new(&program)));
    let is_node = Path::new(&program).file_name().is_some_and(|name| name == "node" || name == "nodejs");
    let node = is_node.then(|| program.clone());
    Ok(Program { command: std::iter::once(program).chain(arguments.iter().cloned()).collect(), node, package })
}

/// The first `pi`, which is a link to a script of the package, run by the first `node`: what the script's own first
/// line would take, without a shell in between.
fn by_path(environment: &Environment) -> Result<Program, String> {
    let pi = stamp::on_path(&["pi"], environment).ok_or_else(|| words::no_pi(environment))?;
    let script = fs::canonicalize(&pi).unwrap_or_else(|_| pi.clone());
    let package = package(&script).ok_or_else(|| words::not_the_package(&pi))?;
    let node = stamp::on_path(&["node"], environment).ok_or_else(|| words::no_node(environment))?;
    let bundle = Some(package.folder.join(BUNDLE)).filter(|bundle| bundle.is_file());
    let node = text(node)?;
    let command = vec![node.clone(), text(bundle.unwrap_or(script))?];
    Ok(Program { command, node: Some(node), package: Some(package) })
}

struct Package {
    folder: PathBuf,
    version: String,
}

/// The package that a file belongs to, if that is pi.
fn package(file: &Path) -> Option<Package> {
    #[derive(Deserialize)]
    struct Facts {
        name: String,
        version: String,
    }
    let folder = file.ancestors().skip(1).take(DEPTH).find(|folder| folder.join("package.json").is_file())?;
    let bytes = files::read_limited(fs::File::open(folder.join("package.json")).ok()?, PACKAGE_BYTES).ok()?;
    let facts: Facts = serde_json::from_slice(&bytes).ok()?;
    (facts.name == PACKAGE).then(|| Package { folder: folder.to_owned(), version: error_line(&facts.version) })
}

/// As pi finds it: its own variable, else below the home.
pub(crate) fn configuration_folder(environment: &Environment) -> PathBuf {
    match environment.get("PI_CODING_AGENT_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => environment::below_home(environment, Path::new(folder)),
        None => environment::home(environment).join(".pi/agent"),
    }
}

/// As pi finds it: its own copy first.
fn tool(folder: &Path, names: &[&str], environment: &Environment) -> Option<PathBuf> {
    let own = names.first().map(|name| folder.join("bin").join(name)).filter(|path| path.exists());
    own.or_else(|| stamp::on_path(names, environment))
}

/// A command is stored and sent as text.
fn text(path: PathBuf) -> Result<String, String> {
    path.into_os_string()
        .into_string()
        .map_err(|path| format!("the path {} is not UTF-8; name pi by `runtimes.pi.command`", path.to_string_lossy()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// A machine with node and an installed pi.
    pub(crate) struct Machine {
        pub(crate) place: tempfile::TempDir,
        pub(crate) environment: Environment,
    }

    impl Machine {
        pub(crate) fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            let path = |name: &str| place.path().join(name).display().to_string();
            let variables = [("PATH", format!("{}:{}", path("bin"), path("sbin"))), ("HOME", path("home"))];
            let environment = variables.map(|(name, value)| (name.to_owned(), value)).into();
            let machine = Self { place, environment };
            machine.program("bin/node", "");
            machine.program("lib/pi/dist/bundle/cli.js", "");
            machine.package(PACKAGE, "1.6.0");
            symlink("../lib/pi/dist/bundle/cli.js", machine.path("bin/pi")).unwrap();
            machine
        }

        pub(crate) fn path(&self, name: &str) -> PathBuf {
            self.place.path().join(name)
        }

        pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
            let path = self.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        }

        pub(crate) fn program(&self, name: &str, text: &str) -> PathBuf {
            let path = self.write(name, text);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        }

        pub(crate) fn package(&self, name: &str, version: &str) {
            self.write("lib/pi/package.json", &format!(r#"{{"name":"{name}","version":"{version}","x":[1]}}"#));
        }

        fn find(&self, configured: Option<&[&str]>) -> Result<Found, String> {
            let words: Option<Vec<String>> = configured
                .map(|words| words.iter().map(|word| word.replace('@', self.place.path().to_str().unwrap())).collect());
            find(words.as_deref(), &self.environment)
        }
    }

    #[test]
    fn pi_is_found_through_its_link_and_run_by_node() {
        let machine = Machine::new();
        let found = machine.find(None).unwrap();
        let text = |name: &str| machine.path(name).display().to_string();
        let script = fs::canonicalize(machine.path("lib/pi/dist/bundle/cli.js")).unwrap().display().to_string();
        assert_eq!(found.command, [text("bin/node"), script]);
        assert_eq!((found.version.as_deref(), found.node), (Some("1.6.0"), Some(text("bin/node"))));
        assert_eq!((found.folder, found.rg, found.fd), (machine.path("home/.pi/agent"), None, None));
    }

    #[test]
    fn each_thing_that_is_missing_has_its_sentence() {
        type Break = fn(&Machine);
        let table: [(Break, &str, &str); 6] = [
            (|m| fs::remove_file(m.path("bin/pi")).unwrap(), "there is no `pi` in PATH", "npm install -g @earendil"),
            (|m| fs::remove_file(m.path("bin/node")).unwrap(), "no `node` in PATH", "22.19"),
            (|m| m.package("pi", "3.14.0"), "bin/pi is not", "runtimes.pi.command"),
            (|m| m.package(PACKAGE, "1.5.9"), "pi 1.5.9", "@latest"),
            (|m| m.package(PACKAGE, "next"), "pi next", "@latest"),
            (|m| drop(m.write("lib/pi/package.json", "{")), "bin/pi is not", "runtimes.pi.command"),
        ];
        for (number, (damage, what, mend)) in table.into_iter().enumerate() {
            let machine = Machine::new();
            damage(&machine);
            let error = machine.find(None).unwrap_err();
            assert!(error.contains(what) && error.contains(mend), "{number}: {error}");
        }
        let empty = find(None, &Environment::new()).unwrap_err();
        assert!(empty.contains("PATH is empty"), "{empty}");
    }

    #[test]
    fn a_configured_command_is_taken_as_it_is() {
        let machine = Machine::new();
        machine.program("opt/stand-in", "");
        let found = machine.find(Some(&["@/bin/node", "@/lib/pi/dist/bundle/cli.js", "--x"])).unwrap();
        assert_eq!((found.version.as_deref(), found.node.is_some(), found.command.len()), (Some("1.6.0"), true, 3));
        let found = machine.find(Some(&["@/opt/stand-in"])).unwrap();
        assert_eq!((found.version, found.node), (None, None));
        machine.program("sbin/mypi", "");
        let found = machine.find(Some(&["mypi"])).unwrap();
        assert_eq!(found.command, [machine.path("sbin/mypi").display().to_string()]);
        for (command, says) in [
            (&["@/opt/missing"][..], "does not exist or cannot be run"),
            (&["opt/stand-in"], "neither an absolute path nor a bare name"),
            (&["nopi"], "is not in PATH"),
            (&["@/opt"], "does not exist or cannot be run"),
        ] {
            let error = machine.find(Some(command)).unwrap_err();
            assert!(error.contains(says) && error.contains("runtimes.pi.command"), "{error}");
        }
        machine.package(PACKAGE, "1.0.0");
        let error = machine.find(Some(&["@/bin/node", "@/lib/pi/dist/bundle/cli.js"])).unwrap_err();
        assert!(error.contains("pi 1.0.0"), "{error}");
    }

    #[test]
    fn the_key_follows_everything_that_decides() {
        let mut machine = Machine::new();
        let mut seen = vec![machine.find(None).unwrap().key];
        assert_eq!(seen[0], machine.find(None).unwrap().key);
        let mut changed = |machine: &Machine, what: &str| {
            let key = machine.find(None).unwrap().key;
            assert!(!seen.contains(&key), "{what} does not show");
            seen.push(key);
        };
        for name in CONFIGURATION {
            machine.write(&format!("home/.pi/agent/{name}"), "{}");
            changed(&machine, name);
        }
        machine.program("sbin/rg", "");
        changed(&machine, "rg");
        machine.program("home/.pi/agent/bin/fd", "");
        changed(&machine, "fd");
        machine.package(PACKAGE, "1.7.0");
        changed(&machine, "package.json");
        machine.program("bin/node", "longer");
        changed(&machine, "node");
        machine.environment.insert("ACME_API_KEY".to_owned(), "k".to_owned());
        changed(&machine, "a key");
        machine.write("other/auth.json", "{}");
        let other = machine.path("other").display().to_string();
        machine.environment.insert("PI_CODING_AGENT_DIR".to_owned(), other);
        changed(&machine, "another folder");
    }

    #[test]
    fn search_tools_are_found_as_pi_finds_them() {
        let mut machine = Machine::new();
        machine.program("sbin/fdfind", "");
        assert_eq!(machine.find(None).unwrap().fd, Some(machine.path("sbin/fdfind")));
        machine.program("sbin/fd", "");
        assert_eq!(machine.find(None).unwrap().fd, Some(machine.path("sbin/fd")));
        machine.environment.insert("PI_CODING_AGENT_DIR".to_owned(), "~/mine".to_owned());
        let own = machine.program("home/mine/bin/fd", "");
        assert_eq!(machine.find(None).unwrap().fd, Some(own));
    }
}
