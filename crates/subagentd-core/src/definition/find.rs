//! From the name in a request to an agent, or to the reason why there is none.

use super::nearest::nearest;
use super::{BadName, Catalog, Definition, Problem, Unread, name};

/// Why a catalogue has no agent to launch under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// No agent can have this name, so nothing was looked up.
    BadName {
        /// The name as it was asked for.
        asked: String,
        /// What is wrong with it.
        fault: BadName,
    },
    /// No definition has this identifier.
    Unknown {
        /// The name as it was asked for.
        asked: String,
        /// An identifier that is spelled nearly so.
        nearest: Option<String>,
        /// Every agent that can be launched.
        available: Vec<String>,
    },
    /// Several agents have this alias.
    Ambiguous {
        /// The name as it was asked for.
        asked: String,
        /// The agents.
        candidates: Vec<String>,
    },
    /// A place with definitions could not be looked through: one of them may be this agent, or change it.
    Unread {
        /// The name as it was asked for.
        asked: String,
        /// The place.
        path: String,
        /// Why, and what to do.
        reason: String,
    },
    /// Several files of one layer claim this identifier.
    Duplicate {
        /// The identifier.
        agent: String,
        /// The files.
        files: Vec<String>,
        /// The error that names them.
        problem: Problem,
    },
    /// It is switched off.
    Disabled {
        /// Its identifier.
        agent: String,
        /// The file that says so.
        file: String,
    },
    /// A file of it has an error.
    Broken {
        /// Its identifier.
        agent: String,
        /// The file.
        file: String,
        /// Its first error.
        problem: Problem,
    },
}

impl Catalog {
    /// The agent to launch under a name, in any case. An identifier comes before an alias, also when that agent cannot
    /// be launched: nothing falls to another agent.
    ///
    /// # Errors
    ///
    /// When there is none, or it cannot be launched.
    pub fn find(&self, asked: &str) -> Result<&Definition, Missing> {
        let name = name::normalised(asked).map_err(|fault| Missing::BadName { asked: asked.to_owned(), fault })?;
        if let Some(Unread { path, reason, .. }) = self.unread.first() {
            return Err(Missing::Unread { asked: asked.to_owned(), path: path.clone(), reason: reason.clone() });
        }
        let named = self.definitions.get(&name);
        launchable(match named {
            Some(definition) => definition,
            None => self.aliased(asked, &name)?,
        })
    }

    fn aliased(&self, asked: &str, name: &str) -> Result<&Definition, Missing> {
        let mut candidates = self.aliases.get(name).into_iter().flatten();
        match (candidates.next(), candidates.next()) {
            (Some(one), None) => self.definitions.get(one).ok_or_else(|| self.unknown(asked)),
            (Some(_), Some(_)) => {
                let candidates = self.aliases.get(name).into_iter().flatten().cloned().collect();
                Err(Missing::Ambiguous { asked: asked.to_owned(), candidates })
            }
            (None, _) => Err(self.unknown(asked)),
        }
    }

    fn unknown(&self, asked: &str) -> Missing {
        let launchable = self.iter().filter(|definition| !definition.broken && definition.is_enabled());
        let available: Vec<_> = launchable.map(|definition| definition.identifier.clone()).collect();
        Missing::Unknown { asked: asked.to_owned(), nearest: nearest(asked, &available), available }
    }
}

fn launchable(definition: &Definition) -> Result<&Definition, Missing> {
    let agent = definition.identifier.clone();
    if let Some(problem) = definition.first_error().cloned() {
        let files = definition.claimants.clone();
        return Err(match files.is_empty() {
            false => Missing::Duplicate { agent, files, problem },
            true => Missing::Broken { agent, file: problem.file.clone(), problem },
        });
    }
    if !definition.is_enabled() {
        let file = definition.origin(super::Key::Enabled).map_or(&definition.file, |origin| &origin.file).clone();
        return Err(Missing::Disabled { agent, file });
    }
    Ok(definition)
}

#[cfg(test)]
mod tests {
    use super::super::Layer;
    use super::*;

    fn definition(name: &str, text: &str) -> Definition {
        Definition::parse(name, Layer::Builtin, &format!("{name}.md"), text)
    }

    fn catalog() -> Catalog {
        Catalog::new([
            definition("Explore", "---\naliases: [scout, twin, same]\n---\nLook around."),
            definition("worker", "---\nenabled: false\naliases: idle, same\n---\n"),
            definition("broken", "---\ntools: 7\nenabled: false\n---\n"),
            definition("twin", "One."),
            definition("TWIN", "Two."),
        ])
    }

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(catalog().find("eXplore").unwrap().identifier, "explore");
        assert_eq!(catalog().find("Scout").unwrap().identifier, "explore");
    }

    #[test]
    fn unknown_names_hear_what_there_is_and_what_was_meant() {
        for (asked, expected) in
            [("explor", Some("explore")), ("EXPLROE", Some("explore")), ("plan", None), ("workre", None)]
        {
            let missing = catalog().find(asked).unwrap_err();
            let Missing::Unknown { nearest, available, .. } = missing else {
                panic!("{asked}: {missing:?}");
            };
            assert_eq!(nearest.as_deref(), expected, "{asked}");
            assert_eq!(available, ["explore"]);
        }
    }

    #[test]
    fn names_that_point_elsewhere_are_not_looked_up() {
        let long = "a".repeat(300);
        for (asked, expected) in [
            ("", BadName::Empty),
            ("../x", BadName::Hidden),
            ("a/b", BadName::Path),
            ("a\\b", BadName::Path),
            (".hidden", BadName::Hidden),
            ("a\0b", BadName::Control),
            (long.as_str(), BadName::TooLong),
        ] {
            let missing = catalog().find(asked).unwrap_err();
            assert!(matches!(missing, Missing::BadName { fault, .. } if fault == expected), "{asked:?}: {missing:?}");
        }
    }

    #[test]
    fn what_is_off_or_broken_is_seen_and_not_found() {
        assert_eq!(catalog().iter().count(), 4);
        for asked in ["worker", "idle"] {
            let off = catalog().find(asked).unwrap_err();
            assert!(matches!(off, Missing::Disabled { ref file, .. } if file == "worker.md"), "{off:?}");
        }
        let broken = catalog().find("broken").unwrap_err();
        assert!(matches!(broken, Missing::Broken { ref problem, .. } if problem.line == 2), "{broken:?}");
        let twin = catalog().find("twin").unwrap_err();
        let names_both = |text: &str| text.contains("twin.md") && text.contains("TWIN.md");
        assert!(matches!(twin, Missing::Duplicate { ref problem, .. } if names_both(&problem.message)), "{twin:?}");
    }

    #[test]
    fn an_alias_of_several_agents_names_them() {
        let missing = catalog().find("SAME").unwrap_err();
        let Missing::Ambiguous { asked, candidates } = missing else { panic!("{missing:?}") };
        assert_eq!((asked.as_str(), candidates), ("SAME", vec!["explore".to_owned(), "worker".to_owned()]));
    }
}
