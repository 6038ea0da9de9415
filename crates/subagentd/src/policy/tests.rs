use std::fs;

use subagentd_core::definition::Thinking;
use subagentd_core::resolve::Effect;
use subagentd_core::route::{Family, LadderLayer};

use super::*;

/// A user's file and a project's.
struct Place(tempfile::TempDir);

impl Place {
    fn new(user: &str, project: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.0.path().join(".subagentd")).unwrap();
        place.write(user);
        fs::write(place.0.path().join(OF_PROJECT), project).unwrap();
        place
    }

    fn write(&self, user: &str) {
        fs::write(self.0.path().join("user.toml"), user).unwrap();
    }

    fn policies(&self) -> Policies {
        Policies::new(Some(self.0.path().join("user.toml")))
    }

    fn read(&self, trusted: bool) -> Layers {
        self.policies().read(trusted.then(|| self.0.path()))
    }
}

const SOUND: &str = "group = \"size\"\ntiers = [{ name = \"Big\", size = \"L\" }]\n";
const MINE: &str = "[profiles.qwen]\ngroup = \"size\"\ntiers = [{ name = \"huge\", size = \"L\" }]\n";

#[test]
fn a_project_that_is_not_trusted_has_no_say() {
    let project = "parent_model = \"a/b\"\nexcluded_extension_packages = [\"x\"]\n[ceiling]\nagents = []\n[tools.effects]\nweb = \"none\"\n[profiles.gpt]\ngroup = 3\n";
    let place = Place::new("", project);
    let layers = place.read(false);
    assert_eq!(layers.policy("me").unwrap(), Policy::default());
    assert_eq!(layers.parent(), None);
    assert!(layers.problems().is_empty());
    let layers = place.read(true);
    let policy = layers.policy("me").unwrap();
    assert_eq!(policy.ceilings.len(), 1);
    assert_eq!(policy.excluded_packages, ["x"]);
    assert_eq!(policy.effects.get("web"), Some(&Effect::None));
    assert_eq!(layers.parent().unwrap().model.to_string(), "a/b");
    assert!(layers.profiles().ladder(Family::Gpt).unwrap().profile.is_none());
}

#[test]
fn a_faulty_family_is_out_of_order_and_no_other() {
    let place = Place::new(&format!("{MINE}[profiles.gpt]\n{SOUND}"), "[profiles.glm]\ngroup = \"size\"\n");
    let layers = place.read(true);
    let ladder = |family| layers.profiles().ladder(family).unwrap();
    assert_eq!((ladder(Family::Qwen).layer, ladder(Family::Qwen).profile.is_some()), (LadderLayer::User, true));
    assert_eq!((ladder(Family::Gpt).layer, ladder(Family::Gpt).profile.is_some()), (LadderLayer::User, false));
    assert_eq!((ladder(Family::Glm).layer, ladder(Family::Glm).profile.is_some()), (LadderLayer::Project, false));
    assert!(ladder(Family::Claude).profile.is_some());
    let told: Vec<String> = layers.problems().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("user.toml, line 6: `profiles.gpt.tiers[0].name`: "), "{told:?}");
    assert!(told[1].contains(".subagentd/config.toml, line 1: `profiles.glm.tiers`: "), "{told:?}");
    assert!(layers.policy("me").is_ok(), "nobody is kept from launching");
}

#[test]
fn keys_keep_their_case_and_layers_are_not_merged() {
    let place = Place::new("[tools.effects]\nWebSearch = \"none\"\nmine = \"none\"\n[profiles.GPT]\n", "");
    let layers = place.read(true);
    let policy = layers.policy("me").unwrap();
    assert_eq!(policy.effects.get("WebSearch"), Some(&Effect::None));
    assert_eq!(policy.effects.get("websearch"), None);
    let told = layers.problems();
    assert_eq!((told.len(), told[0].key.as_str()), (1, "profiles.GPT"), "{told:?}");
    let two = Place::new(MINE, "[profiles.qwen]\ntiers = []\n").read(true);
    assert!(two.profiles().ladder(Family::Qwen).unwrap().profile.is_none(), "no half of the layer below");
}

#[test]
fn a_wrong_value_disables_what_it_concerns() {
    let user = "parent_model = \"gpt\"\nparent_thinking = \"HIGH\"\nmidRunUpdates = false\n[tools]\nother = 1\n\
                [tools.effects]\nweb_search = \"nothing\"\nfine = \"read\"\n[limits]\nchildren = 2\n";
    let layers = Place::new(user, "[limits]\nchildren = 9\n[owners.x.ceiling]\n").read(true);
    let policy = layers.policy("me").unwrap();
    assert_eq!(policy.effects.get("web_search"), None, "what is meant is not known, and not the shipped word");
    assert_eq!(policy.effects.get("fine"), Some(&Effect::Read));
    assert_eq!(layers.parent(), None);
    let told: Vec<(String, u64, String)> =
        layers.problems().into_iter().map(|problem| (problem.key, problem.line, problem.message)).collect();
    let keys: Vec<(&str, u64)> = told.iter().map(|(key, line, _)| (key.as_str(), *line)).collect();
    let wanted = [
        ("parent_model", 1),
        ("parent_thinking", 2),
        ("midRunUpdates", 3),
        ("tools.effects.web_search", 7),
        ("tools.other", 5),
        ("limits", 1),
        ("owners", 3),
    ];
    assert_eq!(keys, wanted, "{told:#?}");
    assert!(told[1].2.contains("off, minimal, low, medium, high, xhigh, max"), "{told:?}");
    assert!(told[2].2.contains("no effect yet"), "{told:?}");
    assert!(told[5].2.contains("a project may set"), "{told:?}");
}

#[test]
fn ceilings_bind_their_owners_and_the_lower_layer_comes_first() {
    let user = "[ceiling]\nagents = [\"Worker\", \"explore\"]\nthinking = \"high\"\n\
                [owners.\"pi:*\".ceiling]\ntools = [\"read\"]\ndeny_extensions = true\n";
    let layers = Place::new(user, "[ceiling]\nthinking = \"low\"\n").read(true);
    let other = layers.policy("cli:ada").unwrap().ceilings;
    assert_eq!(other.len(), 2);
    assert_eq!(other[0].agents.as_deref().unwrap(), ["worker", "explore"]);
    assert_eq!((other[0].thinking, other[1].thinking), (Some(Thinking::High), Some(Thinking::Low)));
    assert!(other[0].of.contains("user.toml"), "{}", other[0].of);
    let pi = layers.policy("pi:42").unwrap().ceilings;
    assert_eq!((pi.len(), pi[1].deny_extensions), (3, true));
    assert!(pi[1].of.contains("`pi:*`"), "{}", pi[1].of);
}

#[test]
fn what_restricts_and_is_not_understood_binds_whom_it_would() {
    let everybody = [
        "ceiling = 1",
        "[ceiling]\ntool = [\"read\"]",
        "[ceiling]\nthinking = \"turbo\"",
        "[ceiling]\nagents = \"worker\"",
        "[ceiling]\ntools = [1]",
        "owners = 1",
        "excluded_extension_packages = \"x\"",
        "a = [1,",
    ];
    for text in everybody {
        let layers = Place::new(text, "").read(false);
        let problem = layers.policy("me").unwrap_err();
        assert!(problem.file.ends_with("user.toml"), "{problem}");
        assert_eq!(layers.problems().len(), 1, "{text}");
        assert!(Place::new("", text).read(false).policy("me").is_ok(), "not trusted: {text}");
    }
    for text in ["a = [1,", "[ceiling]\nthinking = \"turbo\""] {
        assert!(Place::new("", text).read(true).policy("me").is_err(), "{text}");
    }
    for text in ["[owners.\"pi:*\"]\ncelling = 1", "[owners.\"pi:*\".ceiling]\nthinking = 3", "[owners]\n\"pi:*\" = 1"]
    {
        let layers = Place::new(text, "").read(false);
        assert!(layers.policy("pi:1").is_err(), "{text}");
        assert!(layers.policy("cli:ada").is_ok(), "{text}");
    }
}

#[test]
fn what_is_written_holds_at_once() {
    let place = Place::new("", "");
    let policies = place.policies();
    let read = || policies.read(None);
    assert_eq!(read().parent(), None);
    for model in ["a/1", "a/2", "a/3"] {
        place.write(&format!("parent_model = \"{model}\"\nparent_thinking = \"low\"\n"));
        let parent = read().parent().unwrap();
        assert_eq!((parent.model.to_string().as_str(), parent.effort), (model, Some(Thinking::Low)));
        assert_eq!(parent.source, Source::Configuration);
    }
    fs::remove_file(place.0.path().join("user.toml")).unwrap();
    assert_eq!(read().parent(), None);
    fs::create_dir(place.0.path().join("user.toml")).unwrap();
    assert!(read().policy("me").is_err(), "nobody knows what it restricts");
}

#[test]
fn a_project_stands_above_the_user_key_by_key() {
    let user = "parent_model = \"a/b\"\nparent_thinking = \"high\"\n";
    let of = |project: &str| Place::new(user, project).read(true).parent();
    let parent = of("parent_thinking = \"low\"\n").unwrap();
    assert_eq!((parent.model.to_string().as_str(), parent.effort), ("a/b", Some(Thinking::Low)));
    assert_eq!(of("parent_model = \"c/d\"\n").unwrap().model.to_string(), "c/d");
    assert_eq!(of("parent_model = \"wrong\"\n"), None, "the layer below is what its writer meant to replace");
}
