//! Names of the settings that hold for launches.

/// Tables and values that are read here; every other one is the daemon's own.
const OURS: [&str; 6] = ["profiles", "tools", "ceiling", "owners", "parent_model", "parent_thinking"];

/// Packages whose extensions no child loads.
pub(super) const EXCLUDED: &str = "excluded_extension_packages";

/// What becomes of a setting that people know from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// It holds.
    InEffect,
    /// It has no effect, for this reason.
    Without(&'static str),
}

const NOT_YET: Known = Known::Without("this is known and has no effect yet");
const REPLACED: Known = Known::Without("this has no effect: runs are not kept or forgotten by minutes of a session");

/// Operational settings (G22). Each may also be spelled as in JSON.
const OPERATIONAL: [(&str, Known); 9] = [
    (EXCLUDED, Known::InEffect),
    ("max_concurrent", Known::Without("this has no effect: set `limits.children`, which is its name here")),
    ("default_max_turns", NOT_YET),
    ("grace_turns", NOT_YET),
    ("abort_all_on_interrupt", NOT_YET),
    ("mid_run_updates", NOT_YET),
    ("prompt_inheritance", NOT_YET),
    ("consumed_session_retention_minutes", REPLACED),
    ("unconsumed_session_retention_minutes", REPLACED),
];

/// Whether a key at the top of a settings file is read for each launch, not at the daemon's start.
#[must_use]
pub(crate) fn is_of_launches(key: &str) -> bool {
    OURS.contains(&key) || operational(key).is_some()
}

/// The operational setting of this name.
pub(super) fn operational(key: &str) -> Option<(&'static str, Known)> {
    OPERATIONAL.into_iter().find(|(name, _)| *name == key || camel(name) == key)
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut text, word| {
        let mut letters = word.chars();
        text.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        text.push_str(letters.as_str());
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_from_elsewhere_are_known_in_both_spellings() {
        for (key, known) in [
            ("excludedExtensionPackages", Some(Known::InEffect)),
            ("excluded_extension_packages", Some(Known::InEffect)),
            ("midRunUpdates", Some(NOT_YET)),
            ("consumedSessionRetentionMinutes", Some(REPLACED)),
            ("mid_run_update", None),
            ("limits", None),
        ] {
            assert_eq!(operational(key).map(|(_, known)| known), known, "{key}");
        }
        assert!(is_of_launches("profiles") && !is_of_launches("limits"));
    }
}
