//! Rules about the repository's own files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Lines of code in one source file, comments, blank lines and its tests left out. A longer one has two subjects.
const LINES: usize = 500;

/// Columns of a line of TypeScript; rustfmt sees to the others.
const COLUMNS: usize = 120;

/// Looks at all of them and gives one line for each fault.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn files(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut faults = migrations(&root.join("migrations"))?;
    let mut crates = Vec::new();
    for member in entries(&root.join("crates"))? {
        crates.append(&mut sources(member.join("src"), "rs")?);
    }
    let clients = sources(root.join("clients"), "ts")?;
    for source in crates.iter().chain(&clients) {
        let text = read(source)?;
        let name = source.strip_prefix(root).unwrap_or(source).display();
        let lines = code_lines(&text);
        if lines > LINES {
            faults.push(format!("{name} has {lines} lines of code, {LINES} are allowed; split it by subject"));
        }
        if source.extension().is_some_and(|extension| extension == "ts") {
            faults.extend(wide_lines(&text).map(|line| format!("{name}:{line} is wider than {COLUMNS} columns")));
        }
    }
    Ok(faults)
}

/// A migration's checksum covers its bytes, and its number is its name's head.
fn migrations(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    for path in entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if read(&path)?.contains('\r') {
            faults.push(format!("migrations/{name} has carriage returns; its lines end with LF"));
        }
        let stamp = name.split_once('_').filter(|_| name.ends_with(".sql")).map_or("", |(stamp, _)| stamp);
        if stamp.len() != 14 || !stamp.bytes().all(|byte| byte.is_ascii_digit()) {
            faults.push(format!("migrations/{name} is not called YYYYMMDDhhmmss_what.sql"));
        }
    }
    Ok(faults)
}

/// The sources below a folder, without files that are tests as a whole and what npm installed.
fn sources(folder: PathBuf, wanted: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    let mut waiting = vec![folder];
    while let Some(folder) = waiting.pop() {
        for path in entries(&folder)? {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            if name == "node_modules" || name == "tests" || name.ends_with("_tests") {
                continue;
            }
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == wanted) {
                sources.push(path);
            }
        }
    }
    Ok(sources)
}

/// Numbers of the lines that are too wide.
fn wide_lines(text: &str) -> impl Iterator<Item = usize> {
    let numbered = (1..).zip(text.lines());
    numbered.filter(|(_, line)| line.chars().count() > COLUMNS).map(|(number, _)| number)
}

fn code_lines(text: &str) -> usize {
    let code = text.split_once("\n#[cfg(test)]\nmod tests {").map_or(text, |(code, _)| code);
    code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let failed = || format!("{} cannot be read", folder.display());
    let entries = fs::read_dir(folder).with_context(failed)?;
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>().with_context(failed)?;
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_tests_are_no_code() {
        let text = "//! Page.\n\nuse x;\n/// Doc.\nfn f() {\n    // Why.\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        assert_eq!(code_lines(text), 4);
        assert_eq!(code_lines("fn f() {}\n"), 1);
    }

    #[test]
    fn migrations_are_named_by_time_and_end_lines_with_lf() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("20261130090000_runs.sql", "SELECT 1;\n");
        assert_eq!(migrations(folder.path()).unwrap(), Vec::<String>::new());
        write("0001_more.sql", "SELECT 1;\n");
        write("20261130090001_more.sql", "SELECT 1;\r\n");
        let faults = migrations(folder.path()).unwrap();
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(
            faults[0].contains("0001_more.sql is not called") && faults[1].contains("carriage returns"),
            "{faults:?}"
        );
    }

    #[test]
    fn long_files_and_wide_lines_are_found_where_they_count() {
        let root = tempfile::tempdir().unwrap();
        let src = root.path().join("crates/one/src");
        fs::create_dir_all(&src).unwrap();
        fs::create_dir(root.path().join("migrations")).unwrap();
        for name in ["long.rs", "place_tests.rs", "tests.rs"] {
            fs::write(src.join(name), "x();\n".repeat(LINES + 1)).unwrap();
        }
        fs::write(src.join("short.rs"), "x();\n".repeat(LINES)).unwrap();
        let packages = root.path().join("clients/pi/node_modules");
        fs::create_dir_all(&packages).unwrap();
        let wide = format!("{}\n{}é\n", "x".repeat(COLUMNS), "x".repeat(COLUMNS));
        fs::write(packages.join("theirs.ts"), &wide).unwrap();
        fs::write(root.path().join("clients/pi/wide.ts"), &wide).unwrap();
        let faults = files(root.path()).unwrap();
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].starts_with("crates/one/src/long.rs has 501"), "{faults:?}");
        assert!(faults[1].starts_with("clients/pi/wide.ts:2 is wider"), "{faults:?}");
    }
}
