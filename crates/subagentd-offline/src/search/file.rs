//! What a file is, told by its path.

/// Endings of texts for people.
const DOCUMENTS: [&str; 9] = ["md", "markdown", "rst", "txt", "adoc", "html", "htm", "org", "tex"];

/// What kind of file a path names; it says how likely an answer is in there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Code,
    Test,
    Document,
    Data,
    /// Code of others, kept in the tree.
    Vendored,
    /// Lock files, change logs, licences.
    Record,
}

pub(crate) fn file_kind(path: &str) -> FileKind {
    let lower = path.to_lowercase();
    let (folder, file) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let (stem, extension) = file.rsplit_once('.').unwrap_or((file, ""));
    let in_folder = |names: &[&str]| folder.split('/').any(|part| names.contains(&part));
    let begins = |names: &[&str]| names.iter().any(|name| stem.starts_with(name));
    let prose = matches!(extension, "" | "md" | "markdown" | "rst" | "txt" | "html");
    if extension == "lock"
        || prose && begins(&["changelog", "changes", "license", "licence", "copying", "notice", "authors", "history"])
        || matches!(file, "package-lock.json" | "pnpm-lock.yaml" | "go.sum" | "npm-shrinkwrap.json")
    {
        return FileKind::Record;
    }
    if in_folder(&["vendor", "node_modules", "third_party", "third-party", "dist"]) || stem.ends_with(".min") {
        return FileKind::Vendored;
    }
    if DOCUMENTS.contains(&extension) {
        return FileKind::Document;
    }
    let test_name = stem == "tests"
        || stem == "test"
        || ["_test", "_tests", ".test", ".spec", "_spec"].iter().any(|end| stem.ends_with(end));
    if test_name
        || stem.starts_with("test_")
        || in_folder(&[
            "test",
            "tests",
            "testing",
            "spec",
            "specs",
            "__tests__",
            "fixtures",
            "testdata",
            "benches",
            "snapshots",
        ])
    {
        return FileKind::Test;
    }
    match extension {
        "json" | "jsonl" | "yaml" | "yml" | "toml" | "csv" | "tsv" | "xml" | "svg" | "ini" | "snap" | "css" | "map" => {
            FileKind::Data
        }
        _ => FileKind::Code,
    }
}

/// The last part of a path behind its last dot, in lower case.
pub(crate) fn extension(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_files_by_their_path() {
        for (path, kind) in [
            ("src/socket.rs", FileKind::Code),
            ("Cargo.lock", FileKind::Record),
            ("CHANGELOG.md", FileKind::Record),
            ("src/notice.rs", FileKind::Code),
            ("spec/rules.md", FileKind::Document),
            ("docs/guide.md", FileKind::Document),
            ("tests/socket.rs", FileKind::Test),
            ("src/socket_test.go", FileKind::Test),
            ("src/socket.test.ts", FileKind::Test),
            ("vendor/x/lib.c", FileKind::Vendored),
            ("data/a.json", FileKind::Data),
        ] {
            assert_eq!(file_kind(path), kind, "{path}");
        }
    }
}
