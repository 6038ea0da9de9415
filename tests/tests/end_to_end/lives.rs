//! Children that leave others behind or do not obey, and how their end is watched from outside.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use subagentd_proto::inbox::Notice;
use subagentd_tests::{Ask, Owner, Script, Site, Stamps, Watch};

/// Longer than the longest way to an end with the graces of these tests, and far shorter than any life of a script.
pub(crate) const SOON: Duration = Duration::from_secs(6);
/// A few beats: who still lives after the announcement has written by then.
const BEATS: Duration = Duration::from_millis(40);

/// What a child does before it settles or rests.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    pub(crate) name: &'static str,
    steps: Vec<Value>,
    /// Neither an abort nor closed pipes nor TERM ends the child.
    pub(crate) stubborn: bool,
    /// Nothing tells whose it is once shim and daemon are gone: it has no mark and no `tree` (A6).
    pub(crate) untraceable: bool,
}

/// Every life, with stamps below the site that name it.
pub(crate) fn all(site: &Site) -> Vec<Life> {
    let life = |name: &'static str, step: &dyn Fn(Value) -> Value| {
        let beat = json!({ "beat": stamps(site, name), "label": "beat", "ms": 5 });
        let steps = vec![step(beat)];
        Life { name, steps, stubborn: false, untraceable: false }
    };
    let rest = || json!({ "sleep": 100_000 });
    let fork = |name: &'static str, manner: Value| {
        life(name, &|beat| {
            let mut step = json!({ "fork": [beat, rest()] });
            step.as_object_mut().unwrap().extend(manner.as_object().unwrap().clone());
            step
        })
    };
    let stubborn = {
        let mut life = life("stubborn", &|beat| json!({ "fork": [{ "ignore": ["TERM", "HUP"] }, beat, rest()] }));
        life.steps.push(json!({ "ignore": { "signals": ["TERM", "HUP"], "ignoreInput": true } }));
        life.steps.push(json!({ "beat": stamps(site, "stubborn"), "label": "beat", "ms": 5 }));
        life.stubborn = true;
        life
    };
    let polite = life("polite", &|beat| {
        let bye = json!({ "touch": { "path": stamps(site, "polite"), "label": "bye $PID" } });
        json!({ "fork": [{ "onTerm": [bye] }, beat, rest()], "setsid": true })
    });
    let chain = life("chain", &|_| {
        let stamp = json!({ "path": stamps(site, "chain"), "label": "beat $PID" });
        json!({ "forkLoop": { "ms": 30_000, "width": 2, "eachMs": 5, "stamp": stamp } })
    });
    let hidden = {
        let manner = json!({ "double": true, "setsid": true, "clearMark": true, "closeTree": true, "holdPipes": true });
        let mut life = life("hidden", &|beat| {
            let mut step = json!({ "fork": [{ "ignore": ["TERM"] }, beat, rest()] });
            step.as_object_mut().unwrap().extend(manner.as_object().unwrap().clone());
            step
        });
        life.untraceable = true;
        life
    };
    vec![
        life("background", &|beat| json!({ "background": [beat, rest()] })),
        fork("setsid", json!({ "setsid": true })),
        fork("orphan", json!({ "double": true })),
        fork("pipes", json!({ "double": true, "setsid": true, "holdPipes": true })),
        fork("unmarked", json!({ "setsid": true, "clearMark": true })),
        fork("closed", json!({ "setsid": true, "closeTree": true })),
        stubborn,
        polite,
        chain,
        hidden,
    ]
}

/// Where the processes of a life write.
pub(crate) fn stamps(site: &Site, name: &str) -> PathBuf {
    site.path(format!("stamps-{name}"))
}

impl Life {
    /// It says its answer when its tree stands, and would stay if it is stubborn.
    pub(crate) fn settles(&self, site: &Site, agent: &str) -> Ask {
        // On a slow machine the tree stands a little later, which makes it no harder to end.
        let script = self.script().sleep(250).say("done");
        let stay = json!({ "after": { "sleep": { "ms": 100_000, "ignoreEnd": true } } });
        let script = if self.stubborn { script.step(stay) } else { script };
        site.play(agent, &script).tree(site, self.name)
    }

    /// It rests until somebody ends it.
    pub(crate) fn rests(&self, site: &Site, agent: &str) -> Ask {
        let rest = json!({ "sleep": { "ms": 100_000, "ignoreEnd": self.stubborn } });
        site.play(agent, &self.script().step(rest)).tree(site, self.name)
    }

    fn script(&self) -> Script {
        self.steps.iter().cloned().fold(Script::new(), Script::step)
    }
}

/// A tree that was started, and when its end was announced.
pub(crate) struct Tree {
    pub(crate) name: &'static str,
    pub(crate) run: String,
    announced: Option<u128>,
}

impl Tree {
    pub(crate) fn new(name: &'static str, run: String) -> Self {
        Self { name, run, announced: None }
    }

    /// Launches a life.
    pub(crate) async fn launch(owner: &Owner, name: &'static str, ask: &Ask) -> Self {
        Self::new(name, owner.launch(ask).await.run)
    }

    /// Waits until the life has written: its tree stands.
    pub(crate) async fn stands(&self, site: &Site) {
        let file = stamps(site, self.name);
        subagentd_tests::until(&format!("{} lives", self.name), async || Stamps::read(&file).first("beat")).await;
    }
}

/// Waits until each end is announced. Nobody of a tree may be alive then, or write afterwards. Notices of other runs are
/// left out.
pub(crate) async fn assert_gone_when_announced(site: &Site, watch: &mut Watch, trees: &mut [Tree]) -> Vec<Notice> {
    let mut notices = Vec::new();
    while trees.iter().any(|tree| tree.announced.is_none()) {
        let notice = watch.next().await;
        let Some(tree) = trees.iter_mut().find(|tree| tree.run == notice.run) else { continue };
        let alive = site.tree(tree.name);
        assert!(alive.is_empty(), "{}: its end is announced and these are alive: {alive:#?}", tree.name);
        assert_eq!(tree.announced.replace(now()), None, "{}: announced twice", tree.name);
        notices.push(notice);
    }
    tokio::time::sleep(BEATS).await;
    for tree in trees {
        let last = Stamps::read(&stamps(site, tree.name)).last();
        assert!(last <= tree.announced, "{}: wrote after its end was announced", tree.name);
    }
    notices
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()
}
