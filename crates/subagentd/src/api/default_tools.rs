//! The tools that pi activates by itself, for callers that state none (G8): its built-in ones, or what its settings say.

use std::fs::File;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use serde::Deserialize;
use subagentd_core::resolve::PLAIN_TOOLS;
use subagentd_runtime::files;

/// Settings of pi's, in bytes; a longer file says nothing here.
const SETTINGS_BYTES: usize = 1024 * 1024;

/// Those of pi, by the user's settings in its configuration folder and the project's below a directory, if that has a
/// say. Settings that cannot be read say nothing, as for pi itself.
#[must_use]
pub(super) fn of_pi(configuration: &Path, project: Option<&Path>) -> Vec<String> {
    let project = project.map(|directory| directory.join(".pi"));
    let folders = std::iter::once(configuration).chain(project.as_deref());
    let lists = folders.filter_map(|folder| stated(&folder.join("settings.json")));
    lists.fold(PLAIN_TOOLS.map(str::to_owned).to_vec(), |below, list| laid(&below, &list))
}

#[derive(Deserialize)]
struct Settings {
    #[serde(default, rename = "defaultTools")]
    default_tools: Option<Vec<String>>,
}

fn stated(path: &Path) -> Option<Vec<String>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let bytes = files::read_limited(file, SETTINGS_BYTES).ok()?;
    serde_json::from_slice::<Settings>(&bytes).ok()?.default_tools
}

/// Plain names take the place of what is below; `+name` adds to it and `-name` takes away, in their order.
fn laid(below: &[String], list: &[String]) -> Vec<String> {
    let changes = |name: &&String| name.starts_with(['+', '-']);
    let plain: Vec<String> = list.iter().filter(|name| !changes(name)).cloned().collect();
    let mut tools = if plain.is_empty() && !list.is_empty() { below.to_vec() } else { plain };
    for change in list.iter().filter(changes) {
        if let Some(added) = change.strip_prefix('+').filter(|name| !tools.iter().any(|tool| tool == name)) {
            tools.push(added.to_owned());
        } else if let Some(removed) = change.strip_prefix('-') {
            tools.retain(|tool| tool != removed);
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_replace_or_change_what_is_below() {
        let table: [(&[&str], &[&str]); 6] = [
            (&["+grep", "-write"], &["read", "bash", "edit", "grep"]),
            (&["read", "ls"], &["read", "ls"]),
            (&[], &[]),
            (&["read", "+ls", "-read"], &["ls"]),
            (&["+read"], &["read", "bash", "edit", "write"]),
            (&["-ls"], &["read", "bash", "edit", "write"]),
        ];
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (list, wanted) in table {
            assert_eq!(laid(&owned(&PLAIN_TOOLS), &owned(list)), owned(wanted), "{list:?}");
        }
    }

    #[test]
    fn the_project_changes_what_the_user_has_where_it_has_a_say() {
        let place = tempfile::tempdir().unwrap();
        let (user, project) = (place.path().join("agent"), place.path().join("project"));
        assert_eq!(of_pi(&user, Some(&project)), PLAIN_TOOLS);
        std::fs::create_dir_all(&user).unwrap();
        std::fs::create_dir_all(project.join(".pi")).unwrap();
        std::fs::write(user.join("settings.json"), r#"{"theme": 1, "defaultTools": ["read", "grep"]}"#).unwrap();
        std::fs::write(project.join(".pi/settings.json"), r#"{"defaultTools": ["+bash"]}"#).unwrap();
        assert_eq!(of_pi(&user, None), ["read", "grep"]);
        assert_eq!(of_pi(&user, Some(&project)), ["read", "grep", "bash"]);
        std::fs::write(user.join("settings.json"), "{").unwrap();
        assert_eq!(of_pi(&user, None), PLAIN_TOOLS);
    }
}
