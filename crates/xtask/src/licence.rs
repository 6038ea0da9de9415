//! What the lock files may hold: permissive licences only, and nothing that cannot stand beside what is there.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use crate::program;

/// Licences that ask for a notice at most.
const ACCEPTED: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "BlueOak-1.0.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];
/// It brings an SQLite of its own, and a program can be linked with one only.
const EXCLUDED: &str = "rusqlite";
/// Of the clients in TypeScript.
const NPM_LOCK: &str = "clients/pi/package-lock.json";
/// Two versions of it would watch with two threads.
const ONCE: &str = "notify";

/// Looks at every package of the lock file and gives one line for each fault.
///
/// # Errors
/// When cargo cannot tell.
pub(crate) fn packages(root: &Path) -> anyhow::Result<Vec<String>> {
    let text = program::output(program::cargo(root).args(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&text).context("the output of cargo metadata is no JSON")?;
    let packages = metadata.get("packages").and_then(Value::as_array).context("cargo metadata names no packages")?;
    Ok(faults(packages))
}

/// Looks at every package of npm's lock file and gives one line for each fault.
///
/// # Errors
/// When the file cannot be read or holds no packages.
pub(crate) fn npm_packages(root: &Path) -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(root.join(NPM_LOCK)).with_context(|| format!("{NPM_LOCK} cannot be read"))?;
    npm_faults(&text)
}

fn npm_faults(lock: &str) -> anyhow::Result<Vec<String>> {
    let lock: Value = serde_json::from_str(lock).with_context(|| format!("{NPM_LOCK} is no JSON"))?;
    let packages = lock.get("packages").and_then(Value::as_object).context("npm's lock file names no packages")?;
    let mut faults = Vec::new();
    for (place, package) in packages {
        let licence = package.get("license").and_then(Value::as_str).unwrap_or_default();
        if !is_accepted(licence) {
            faults.push(format!("{place} has the licence \"{licence}\", which is not on the list of accepted ones"));
        }
        if package.get("resolved").is_some() {
            faults.push(format!(
                "{place} names its registry; make the lock file with npm's --omit-lockfile-registry-resolved"
            ));
        }
    }
    Ok(faults)
}

fn faults(packages: &[Value]) -> Vec<String> {
    let word = |package: &Value, key: &str| package.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut faults = Vec::new();
    for package in packages {
        let (name, version, licence) = (word(package, "name"), word(package, "version"), word(package, "license"));
        if !is_accepted(&licence) {
            faults.push(format!(
                "{name} {version} has the licence \"{licence}\", which is not on the list of accepted ones"
            ));
        }
        if name == EXCLUDED {
            faults.push(format!("{name} {version} is in the lock file; SQLite comes through sqlx only"));
        }
    }
    let count = packages.iter().filter(|package| word(package, "name") == ONCE).count();
    if count > 1 {
        faults.push(format!("{ONCE} is in the lock file {count} times; one is enough"));
    }
    faults
}

/// Whether one may choose accepted licences only. The grammar is that of SPDX, with the older `/` for `OR`.
fn is_accepted(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    any(&mut words) && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any(words: &mut Words<'_>) -> bool {
    let mut accepted = all(words);
    while words.next_if_eq(&"OR").is_some() {
        // Both sides are read, whatever the first one says.
        accepted |= all(words);
    }
    accepted
}

fn all(words: &mut Words<'_>) -> bool {
    let mut accepted = one(words);
    while words.next_if_eq(&"AND").is_some() {
        accepted &= one(words);
    }
    accepted
}

fn one(words: &mut Words<'_>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let accepted = any(words);
        return words.next_if_eq(&")").is_some() && accepted;
    }
    let Some(name) = words.next() else { return false };
    match words.next_if_eq(&"WITH") {
        Some(_) => {
            words.next().is_some_and(|exception| ACCEPTED.contains(&format!("{name} WITH {exception}").as_str()))
        }
        None => ACCEPTED.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn expressions_are_read_as_a_choice() {
        let table = [
            ("MIT", true),
            ("Unlicense/MIT", true),
            ("MIT OR Apache-2.0 OR LGPL-2.1-or-later", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true),
            ("GPL-3.0 OR MIT AND BSD-3-Clause", true),
            ("GPL-3.0", false),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND MPL-2.0", false),
            ("MIT WITH Odd-exception", false),
            ("(MIT", false),
            ("MIT MIT", false),
            ("", false),
        ];
        for (expression, accepted) in table {
            assert_eq!(is_accepted(expression), accepted, "{expression}");
        }
    }

    #[test]
    fn every_kind_of_fault_is_told_once() {
        let package = |name: &str, licence: &str| json!({"name": name, "version": "1.0.0", "license": licence});
        let packages = [
            package("notify", "CC0-1.0"),
            package("notify", "CC0-1.0"),
            package("rusqlite", "MIT"),
            package("x", "MPL-2.0"),
            json!({"name": "y", "version": "2", "license": null}),
        ];
        let faults = faults(&packages);
        assert_eq!(faults.len(), 4, "{faults:?}");
        for (fault, says) in faults.iter().zip(["rusqlite 1.0.0", "x 1.0.0", "y 2", "2 times"]) {
            assert!(fault.contains(says), "{fault}");
        }
    }

    #[test]
    fn packages_of_npm_have_an_accepted_licence_and_no_registry() {
        let lock = json!({"packages": {
            "": {"license": "MIT"},
            "node_modules/good": {"license": "BlueOak-1.0.0"},
            "node_modules/bad": {"license": "GPL-3.0-only"},
            "node_modules/silent": {},
            "node_modules/placed": {"license": "MIT", "resolved": "https://registry.invalid/placed.tgz"},
        }});
        let faults = npm_faults(&lock.to_string()).unwrap();
        assert_eq!(faults.len(), 3, "{faults:?}");
        for (fault, says) in faults.iter().zip(["bad has the licence", "placed names its registry", "silent has the"]) {
            assert!(fault.contains(says), "{fault}");
        }
    }
}
