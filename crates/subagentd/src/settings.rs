//! The daemon's settings (design 12, decision N1): built-in values, the user's file, `SUBAGENTD_*`.
//!
//! One struct with one name per setting; origins and further layers come with the settings' own methods. What the same
//! file says about launches is none of it: [`crate::policy`] reads that for each launch.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use config::{Config, ConfigError, Environment, File, FileFormat};
use jiff::SignedDuration;
use serde::Deserialize;
use subagentd_core::plan::{Program, TimeLimits};
use subagentd_runtime::files;

use crate::policy;

/// Name of the file below the user's configuration folder.
const FILE: &str = "subagentd/config.toml";
/// Name of the folder with the user's packages, beside it.
const PACKAGES: &str = "subagentd/packages";
/// Separates levels in the name of a variable: `SUBAGENTD_LIMITS__CHILDREN`. Other variables without it
/// (`SUBAGENTD_SOCKET`) than the next one are no settings.
const LEVEL: &str = "__";
/// The one setting that has no level above it.
const DEFAULT_RUNTIME: &str = "SUBAGENTD_DEFAULT_RUNTIME";

/// Below it a watcher that does not acknowledge would be sent the same notices all the time.
const SHORTEST_OFFER: SignedDuration = SignedDuration::from_millis(100);

/// The built-in layer, in the form of the file.
const BUILT_IN: &str = r#"
[limits]
children = 4
first_event = "2m"
idle = "10m"
tool_call = "60m"
total = "4h"
grace = "2s"
start_distance = "50ms"

[inbox]
offer = "10s"

[log]
level = "info"

[environment]
only = []

[agents]
packages = []
project = ".pi/agents"

[runtimes]
"#;

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Bounds of children.
    pub limits: Limits,
    /// Delivery of notices.
    pub inbox: Inbox,
    /// Log output.
    pub log: Log,
    /// What of the client's environment a child gets.
    pub environment: EnvironmentSettings,
    /// Where agents are defined.
    pub agents: Agents,
    /// Child programs by name.
    pub runtimes: BTreeMap<String, Runtime>,
    /// The runtime of a launch that names none; absent lets the daemon choose.
    pub default_runtime: Option<String>,
}

/// Bounds of children. Durations are written like `90s`, `10m`, `1h 30m`, `250ms`; zero means no limit.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    /// Children at once, at least 1.
    pub children: usize,
    /// From the start of a child to its first event.
    pub first_event: SignedDuration,
    /// Between two events, not counted while a tool call is open.
    pub idle: SignedDuration,
    /// For one tool call.
    pub tool_call: SignedDuration,
    /// For a whole attempt.
    pub total: SignedDuration,
    /// Between two means of ending a child.
    pub grace: SignedDuration,
    /// Between two starts of pi, which share its configuration folder and the locks in it.
    pub start_distance: SignedDuration,
}

/// Delivery of notices.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inbox {
    /// How long a watcher may take to acknowledge a notice before it is offered to the owner's next watcher, or again;
    /// zero means that only the watcher's end moves it on.
    pub offer: SignedDuration,
}

/// Log output.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    /// `error`, `warn`, `info`, `debug` or `trace`.
    pub level: String,
}

/// What of the client's environment a child gets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnvironmentSettings {
    /// Names that may pass; empty means all but the documented list (A11).
    pub only: Vec<String>,
}

/// Where agents are defined beside the shipped ones. Paths may begin with `~/`, the client's home.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agents {
    /// Directories of the user's own; absent means where pi has them.
    pub user: Option<Vec<PathBuf>>,
    /// The directory in a project: a path below its root.
    pub project: PathBuf,
    /// Packages that are switched on: shipped ones, or directories in `package_path`.
    pub packages: Vec<String>,
    /// Where the user's packages are; absent means `subagentd/packages` in the user's configuration folder.
    pub package_path: Option<PathBuf>,
}

impl Agents {
    /// The first value that has no meaning: its key, what it is, and what it may be.
    fn wrong(&self) -> Option<(&'static str, String, &'static str)> {
        let anchored = |path: &Path| path.is_absolute() || path.starts_with("~");
        let shown = |path: &Path| path.display().to_string();
        let is_name = |name: &str| {
            let path = Path::new(name);
            files::is_plain(path) && path.components().count() == 1 && !name.starts_with('.')
        };
        let anchor = "it must be absolute or begin with ~/";
        if let Some(path) = self.user.iter().flatten().find(|path| !anchored(path)) {
            return Some(("agents.user", shown(path), anchor));
        }
        if let Some(path) = self.package_path.as_deref().filter(|path| !anchored(path)) {
            return Some(("agents.package_path", shown(path), anchor));
        }
        if !files::is_plain(&self.project) {
            return Some(("agents.project", shown(&self.project), "it must be a path below the project, without `..`"));
        }
        let name = self.packages.iter().find(|name| !is_name(name))?;
        Some(("agents.packages", name.clone(), "a package's name is that of a directory, without slashes"))
    }
}

/// A child program.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Runtime {
    /// The program and its first arguments.
    pub command: Vec<String>,
}

/// Why settings could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    /// The file cannot be read.
    #[error("the settings {} cannot be read: {error}; correct or remove the file", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file or variable is wrong; the text of the library names file and key.
    #[error("{error}; correct or remove it in {places}")]
    Wrong {
        /// The library's words on one line: they name the key.
        error: String,
        /// Where it may stand.
        places: String,
    },
    /// A value has the right type and no meaning.
    #[error("the setting {key} is {value}; {allowed}")]
    Value {
        /// The key.
        key: String,
        /// What it is.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
}

/// A message of several lines draws the place; its first line names it, its last one says what is wrong.
fn one_line(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next_back()) {
        (Some(first), Some(last)) => format!("{first}: {last}"),
        (first, _) => first.unwrap_or_default().to_owned(),
    }
}

impl Settings {
    /// Reads all layers. `variables` are those of the process.
    ///
    /// # Errors
    /// When a file or a variable cannot be understood, with its name and key.
    pub(crate) fn read(
        configuration: Option<&Path>,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, SettingsError> {
        let is_ours = |name: &str| name == DEFAULT_RUNTIME || name.starts_with("SUBAGENTD_") && name.contains(LEVEL);
        let ours = variables.filter(|(name, _)| is_ours(name)).collect();
        let mut layers = Config::builder().add_source(File::from_str(BUILT_IN, FileFormat::Toml));
        let file = file(configuration);
        let wrong = |error: ConfigError| {
            let error = one_line(&error.to_string());
            let file = file.as_ref().map(|file| format!("{} or ", file.display()));
            SettingsError::Wrong { error, places: format!("{}a SUBAGENTD_… variable", file.unwrap_or_default()) }
        };
        if let Some(file) = &file {
            let text = policy::read_file(file);
            let text = text.map_err(|error| SettingsError::Unreadable { file: file.clone(), error })?;
            let own = of_the_daemon(&text.unwrap_or_default()).map_err(wrong)?;
            layers = layers.add_source(File::from_str(&own, FileFormat::Toml));
        }
        let environment = Environment::with_prefix("SUBAGENTD").prefix_separator("_").separator(LEVEL);
        let environment = environment.try_parsing(true).source(Some(ours));
        let built = layers.add_source(environment).build();
        let mut settings: Self = built.and_then(Config::try_deserialize).map_err(wrong)?;
        settings.check()?;
        let packages = configuration.map(|folder| folder.join(PACKAGES));
        settings.agents.package_path = settings.agents.package_path.or(packages);
        Ok(settings)
    }

    fn check(&self) -> Result<(), SettingsError> {
        let wrong = |key: &str, value: &dyn std::fmt::Display, allowed| {
            Err(SettingsError::Value { key: key.to_owned(), value: value.to_string(), allowed })
        };
        if self.limits.children == 0 {
            return wrong("limits.children", &0, "it must be at least 1");
        }
        for (key, duration) in self.limits.durations() {
            if duration.is_negative() {
                return wrong(&format!("limits.{key}"), &duration, "a duration must not be negative");
            }
        }
        let offer = self.inbox.offer;
        if !offer.is_zero() && offer < SHORTEST_OFFER {
            return wrong("inbox.offer", &offer, "it must be at least 100ms, or zero");
        }
        if let Some((key, value, allowed)) = self.agents.wrong() {
            return wrong(key, &value, allowed);
        }
        for (name, runtime) in &self.runtimes {
            if runtime.command.first().is_none_or(String::is_empty) {
                return wrong(
                    &format!("runtimes.{name}.command"),
                    &"empty",
                    "it must be a list that begins with a program",
                );
            }
        }
        Ok(())
    }

    /// The time limits of a child whose launch names none.
    #[must_use]
    pub(crate) fn time_limits(&self) -> TimeLimits {
        TimeLimits {
            first_event_ms: milliseconds(self.limits.first_event),
            idle_ms: milliseconds(self.limits.idle),
            tool_call_ms: milliseconds(self.limits.tool_call),
            total_ms: milliseconds(self.limits.total),
            grace_ms: milliseconds(self.limits.grace),
        }
    }

    /// How long a notice is out with one watcher, if there is an end to it.
    #[must_use]
    pub(crate) fn inbox_offer(&self) -> Option<Duration> {
        let offer = milliseconds(self.inbox.offer);
        (offer > 0).then(|| Duration::from_millis(offer))
    }

    /// The grace between two means of ending a child.
    #[must_use]
    pub(crate) fn grace(&self) -> Duration {
        Duration::from_millis(milliseconds(self.limits.grace))
    }

    /// The least time between two starts of pi.
    #[must_use]
    pub(crate) fn start_distance(&self) -> Duration {
        Duration::from_millis(milliseconds(self.limits.start_distance))
    }

    /// The program of a runtime; `offline` is always there, as part of this very program.
    #[must_use]
    pub(crate) fn program(&self, runtime: &str) -> Option<Program> {
        let configured = self.runtimes.get(runtime).and_then(|runtime| {
            let (program, args) = runtime.command.split_first()?;
            Some(Program { path: PathBuf::from(program), args: args.to_vec() })
        });
        let built_in = || Program { path: PathBuf::from("/proc/self/exe"), args: vec![OFFLINE.to_owned()] };
        configured.or_else(|| (runtime == OFFLINE).then(built_in))
    }
}

/// The user's file.
#[must_use]
pub(crate) fn file(configuration: Option<&Path>) -> Option<PathBuf> {
    configuration.map(|folder| folder.join(FILE))
}

/// A settings file without what it says about launches.
fn of_the_daemon(text: &str) -> Result<String, ConfigError> {
    let mut table: toml::Table = toml::from_str(text).map_err(|error| ConfigError::Foreign(Box::new(error)))?;
    table.retain(|key, _| !policy::is_of_launches(key));
    toml::to_string(&table).map_err(|error| ConfigError::Foreign(Box::new(error)))
}

/// The runtime that needs no model.
pub(crate) const OFFLINE: &str = "offline";
/// The runtime that is found for each client; `runtimes.pi.command` names it once for all.
pub(crate) const PI: &str = "pi";

impl Limits {
    fn durations(&self) -> [(&'static str, SignedDuration); 6] {
        [
            ("first_event", self.first_event),
            ("idle", self.idle),
            ("tool_call", self.tool_call),
            ("total", self.total),
            ("grace", self.grace),
            ("start_distance", self.start_distance),
        ]
    }
}

fn milliseconds(duration: SignedDuration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn built_in_values_are_those_of_the_design() {
        let settings =
            Settings::read(None, variables(&[("SUBAGENTD_SOCKET", "/x"), ("PATH", "/bin")]).into_iter()).unwrap();
        let limits = settings.time_limits();
        assert_eq!(settings.limits.children, 4);
        assert_eq!((limits.first_event_ms, limits.idle_ms), (120_000, 600_000));
        assert_eq!((limits.tool_call_ms, limits.total_ms, limits.grace_ms), (3_600_000, 14_400_000, 2_000));
        assert_eq!(settings.inbox_offer(), Some(Duration::from_secs(10)));
        assert_eq!(settings.program(OFFLINE).unwrap().args, ["offline"]);
        assert_eq!(settings.program("pi"), None);
    }

    #[test]
    fn later_layers_win_and_wrong_ones_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(
            &file,
            "[limits]\nchildren = 2\nidle = \"250ms\"\n[runtimes.pi]\ncommand = [\"/opt/pi\", \"--x\"]\n",
        )
        .unwrap();
        let read = |list: &[(&str, &str)]| Settings::read(Some(folder.path()), variables(list).into_iter());
        let settings = read(&[("SUBAGENTD_LIMITS__CHILDREN", "7"), ("SUBAGENTD_DEFAULT_RUNTIME", "pi")]).unwrap();
        assert_eq!((settings.limits.children, settings.time_limits().idle_ms), (7, 250));
        assert_eq!(settings.default_runtime.as_deref(), Some(PI));
        assert_eq!(read(&[]).unwrap().default_runtime, None);
        assert_eq!(settings.program("pi").unwrap().path, Path::new("/opt/pi"));

        std::fs::write(&file, "[limits]\nchildrens = 2\n").unwrap();
        let error = read(&[]).unwrap_err().to_string();
        assert!(error.contains("childrens"), "{error}");
        std::fs::write(&file, "[profiles.gpt]\nx = 1\n[limits]\nidle = [\n").unwrap();
        let error = read(&[]).unwrap_err().to_string();
        assert!(error.contains("line 4") && error.contains("config.toml"), "{error}");
        let launches = "parent_model = 3\nmidRunUpdates = true\n[profiles.GPT]\n[owners.\"pi:*\"]\n[ceiling]\nagents = 1\n\
                        [tools]\n[runtimes.\"My.pi\"]\ncommand = [\"x\"]\n";
        std::fs::write(&file, launches).unwrap();
        let settings = read(&[]).unwrap();
        assert!(settings.runtimes.contains_key("My.pi"), "{settings:?}");
        let error = read(&[("SUBAGENTD_CEILING__THINKING", "low")]).unwrap_err().to_string();
        assert!(error.contains("ceiling"), "what has no effect is not taken: {error}");
        std::fs::write(&file, "[limits]\nidle = \"soon\"\n").unwrap();
        let error = read(&[]).unwrap_err().to_string();
        assert!(error.contains("limits.idle") && error.contains("config.toml"), "{error}");
        std::fs::write(&file, "[limits]\n[broken\n").unwrap();
        let error = read(&[]).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("unclosed") && !error.contains('\n'), "{error}");
        std::fs::write(&file, "").unwrap();
        let error = read(&[("SUBAGENTD_LIMITS__CHILDREN", "0")]).unwrap_err().to_string();
        assert!(error.contains("limits.children"), "{error}");
        let agents = read(&[]).unwrap().agents;
        assert_eq!((agents.user, agents.project), (None, PathBuf::from(".pi/agents")));
        assert_eq!(agents.package_path, Some(folder.path().join("subagentd/packages")));
        for (line, right) in [
            ("user = [\"~/agents\", \"/etc/agents\"]", true),
            ("user = [\"agents\"]", false),
            ("project = \"../agents\"", false),
            ("project = \"/agents\"", false),
            ("packages = [\"handoff\", \"mine\"]", true),
            ("packages = [\"../mine\"]", false),
            ("packages = [\".mine\"]", false),
            ("packages = [\"\"]", false),
            ("package_path = \"packages\"", false),
        ] {
            std::fs::write(&file, format!("[agents]\n{line}\n")).unwrap();
            let read = read(&[]).map_err(|error| error.to_string());
            assert_eq!(read.is_ok(), right, "{line}: {read:?}");
            assert!(read.err().is_none_or(|error| error.contains("agents.")), "{line}");
        }
        std::fs::write(&file, "").unwrap();
        for (value, right) in [("0s", true), ("100ms", true), ("99ms", false), ("-10s", false)] {
            let read = read(&[("SUBAGENTD_INBOX__OFFER", value)]);
            assert_eq!(read.is_ok(), right, "{value}: {read:?}");
        }
    }
}
