//! Building programs of the workspace, and where they are then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

use crate::program;

/// Programs by name.
#[derive(Debug)]
pub(crate) struct Built(BTreeMap<String, PathBuf>);

impl Built {
    /// Builds with these arguments. Cargo itself says where the programs are: its settings may put them anywhere.
    ///
    /// Always of the whole workspace: a smaller choice of packages asks for other features of the crates they share, and
    /// would build those, and everything above them, a second time.
    ///
    /// # Errors
    /// When the build fails; cargo has told why.
    pub(crate) fn with(root: &Path, arguments: &[&str]) -> anyhow::Result<Self> {
        let mut cargo = program::cargo(root);
        cargo.args(["build", "--workspace", "--message-format", "json-render-diagnostics"]).args(arguments);
        let messages = program::output(&mut cargo)?;
        Ok(Self(messages.lines().filter_map(program_of).collect()))
    }

    /// The program of this name.
    ///
    /// # Errors
    /// When it was not built.
    pub(crate) fn program(&self, name: &str) -> anyhow::Result<&Path> {
        self.0.get(name).map(PathBuf::as_path).with_context(|| format!("cargo built no program {name}"))
    }
}

/// What one message of cargo says of a program.
fn program_of(message: &str) -> Option<(String, PathBuf)> {
    let message: Value = serde_json::from_str(message).ok()?;
    let path = message.get("executable")?.as_str()?;
    let name = message.get("target")?.get("name")?.as_str()?;
    Some((name.to_owned(), PathBuf::from(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_about_programs_count() {
        let program = r#"{"reason":"compiler-artifact","target":{"name":"a"},"executable":"/t/debug/a"}"#;
        assert_eq!(program_of(program), Some(("a".to_owned(), PathBuf::from("/t/debug/a"))));
        for other in [r#"{"reason":"compiler-artifact","target":{"name":"a"},"executable":null}"#, "{}", "text"] {
            assert_eq!(program_of(other), None, "{other}");
        }
    }
}
