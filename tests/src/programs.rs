//! The workspace's programs, built once per test process: `cargo test` builds no other package's binaries.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Where the programs are.
#[derive(Debug)]
pub struct Programs {
    /// `subagentd`.
    pub daemon: PathBuf,
    /// `subagentd-cli`.
    pub cli: PathBuf,
}

/// Names a folder with programs that are built already, such as an installed release, to be tested in their place.
const BUILT: &str = "END_TO_END_PROGRAMS";

/// Builds the programs as this test was built (profile, target), or waits until another test has.
pub fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Result<Programs, String>> = OnceLock::new();
    let built = PROGRAMS.get_or_init(|| match std::env::var_os(BUILT) {
        Some(folder) => Ok(Programs::of(Path::new(&folder))),
        None => build(),
    });
    built.as_ref().unwrap_or_else(|error| panic!("the programs do not build:\n{error}"))
}

impl Programs {
    fn of(folder: &Path) -> Self {
        Self { daemon: folder.join("subagentd"), cli: folder.join("subagentd-cli") }
    }
}

fn build() -> Result<Programs, String> {
    let own = std::env::current_exe().expect("a test knows its own path");
    // <target>/[<triple>/]<profile>/deps/<test>
    let profile = own.parent().and_then(Path::parent).expect("tests lie in <profile>/deps");
    let above = profile.parent().expect("profiles lie in the target directory");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--workspace", "--bins"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let is_target = |folder: &Path| folder.join("CACHEDIR.TAG").exists();
    if is_target(above) {
        cargo.arg("--target-dir").arg(above);
    } else {
        cargo.arg("--target").arg(above.file_name().expect("a triple")).arg("--target-dir").args(above.parent());
    }
    match profile.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => {}
        Some(name) => drop(cargo.args(["--profile", name])),
    }
    let built = cargo.output().expect("cargo runs");
    match built.status.success() {
        true => Ok(Programs::of(profile)),
        // Told by every test, tried only once.
        false => Err(String::from_utf8_lossy(&built.stderr).into_owned()),
    }
}
