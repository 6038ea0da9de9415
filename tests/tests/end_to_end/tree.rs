//! The end of a tree: when it is announced nobody is left, however the processes were started.

use std::time::Instant;

use subagentd_proto::run::State;
use subagentd_tests::{Site, Stamps};

use crate::lives::{self, SOON, Tree};

/// All lives at once: children limit, and a grace that is short.
fn site() -> Site {
    Site::with(&[("limits.children", "32"), ("limits.grace", "150ms")])
}

#[tokio::test]
async fn after_its_own_settlement_nobody_of_a_childs_tree_is_left() {
    let site = site();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut watch = owner.watch(None).await;
    let mut trees = Vec::new();
    let begun = Instant::now();
    for life in lives::all(&site) {
        trees.push(Tree::launch(&owner, life.name, &life.settles(&site, "explore")).await);
    }
    lives::assert_gone_when_announced(&site, &mut watch, &mut trees).await;
    assert!(begun.elapsed() < SOON, "although pipes were held: {:?}", begun.elapsed());
    for (tree, life) in trees.iter().zip(lives::all(&site)) {
        let view = owner.get(&tree.run).await;
        let child = &view.children[0];
        assert_eq!((view.state, child.answer_complete), (State::Succeeded, Some(true)), "{}: {view:?}", tree.name);
        let due = if life.stubborn { "child.lingered" } else { "tree.left-behind" };
        assert!(child.remarks.iter().any(|remark| remark == due), "{}: {child:?}", tree.name);
        assert!(!child.remarks.iter().any(|remark| remark == "leftovers"), "{}: {child:?}", tree.name);
        assert_eq!(owner.text(&tree.run).await.0, "done");
    }
    let polite = Stamps::read(&lives::stamps(&site, "polite"));
    assert_eq!(polite.first("beat").is_some(), polite.first("bye").is_some(), "no time for a good-bye: {polite:?}");
}

#[tokio::test]
async fn after_a_cancel_nobody_of_a_childs_tree_is_left() {
    let site = site();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut watch = owner.watch(None).await;
    let mut trees = Vec::new();
    for life in lives::all(&site) {
        trees.push(Tree::launch(&owner, life.name, &life.rests(&site, "explore")).await);
    }
    for tree in &trees {
        tree.stands(&site).await;
        owner.until(&tree.run, State::Running).await;
    }
    let begun = Instant::now();
    for tree in &trees {
        owner.cancel(&tree.run).await;
    }
    lives::assert_gone_when_announced(&site, &mut watch, &mut trees).await;
    assert!(begun.elapsed() < SOON, "although pipes were held: {:?}", begun.elapsed());
    for (tree, life) in trees.iter().zip(lives::all(&site)) {
        let view = owner.get(&tree.run).await;
        let child = &view.children[0];
        assert_eq!((view.state, child.reason.as_deref()), (State::Cancelled, Some("cancelled")), "{view:?}");
        let left_behind = child.remarks.iter().any(|remark| remark == "tree.left-behind");
        assert!(left_behind || life.stubborn, "{}: {child:?}", tree.name);
        assert!(!child.remarks.iter().any(|remark| remark == "leftovers"), "{}: {child:?}", tree.name);
    }
    let polite = Stamps::read(&lives::stamps(&site, "polite"));
    assert!(polite.first("bye").is_some(), "no time for a good-bye: {polite:?}");
}

/// A child that heeds neither abort nor closed pipes is asked by TERM before it is killed.
#[tokio::test]
async fn a_child_may_say_good_bye_before_it_is_killed() {
    let site = site();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let file = site.path("stamps-bye");
    let bye = serde_json::json!({ "onTerm": [{ "touch": { "path": file, "label": "bye $PID" } }, { "say": "as far as I came" }] });
    let script = subagentd_tests::Script::new()
        .step(serde_json::json!({ "ignore": { "ignoreInput": true } }))
        .step(bye)
        .step(serde_json::json!({ "sleep": { "ms": 100_000, "ignoreEnd": true } }));
    let run = owner.begin(&site.play("explore", &script)).await;
    owner.cancel(&run).await;
    let view = owner.wait(&run).await;
    assert_eq!(view.state, State::Cancelled, "{view:?}");
    assert_eq!(Stamps::read(&file).counts("bye").len(), 1);
    assert_eq!(owner.text(&run).await.0, "as far as I came", "{view:?}");
}
