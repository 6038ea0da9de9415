//! A child that begins with its parent's conversation, as it was at the launch (G13).

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use subagentd_proto::error::Kind;
use subagentd_proto::run::{CapturedConversation, State};
use subagentd_tests::{Ask, Daemon, Faux, Owner, Pi, Script, Site, fault};

use super::conversations;

/// A host's own conversation: of two turns, with the entry that ends the first one.
struct Parent {
    file: PathBuf,
    first_turn: String,
}

impl Parent {
    /// Held by a pi that is no child of a run's any more.
    async fn make(pi: &Pi, daemon: &Daemon) -> Self {
        let host = daemon.owner("host").await;
        let say = |text: &str| pi.play("explore", &Faux::new().say(text)).task("first words of the parent");
        let run = host.run(&say("first answer")).await.run;
        host.resume(&run, &say("second answer"), Some("second words of the parent")).await.unwrap();
        assert_eq!(host.wait(&run).await.state, State::Succeeded);
        let file = pi.path("parent.jsonl");
        fs::copy(&conversations(pi, &run)[0], &file).unwrap();
        let first_turn = entry_with(&file, "first answer");
        Self { file, first_turn }
    }

    fn of(&self, mut ask: Ask, leaf: Option<&str>) -> Ask {
        ask.params.context = Some("parent".to_owned());
        let path = self.file.to_str().unwrap().to_owned();
        ask.params.capture.conversation = Some(CapturedConversation { path, leaf: leaf.map(str::to_owned) });
        ask
    }
}

/// The id of the message that contains these words.
fn entry_with(file: &Path, words: &str) -> String {
    let text = fs::read_to_string(file).unwrap();
    let line = text.lines().find(|line| line.contains(words)).unwrap();
    serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned()
}

async fn heard(owner: &Owner, run: &str) -> String {
    let view = owner.wait(run).await;
    assert_eq!(view.state, State::Succeeded, "{view:#?}");
    owner.text(run).await.0
}

#[tokio::test]
async fn a_child_knows_its_parents_conversation_as_of_its_launch() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let parent = Parent::make(&pi, &daemon).await;
    let owner = daemon.owner("me").await;
    let before = fs::read_to_string(&parent.file).unwrap();
    let holder = owner.begin(&Site::play(&pi, "explore", &Script::new().sleep_long()).runtime("offline")).await;
    let ask = || pi.play("debug", &Faux::new().say_what_was_heard()).task("the child's task");
    let whole = owner.launch(&parent.of(ask(), None)).await;
    assert_eq!(whole.decisions.context.value, "parent", "{whole:?}");
    let leaf = parent.first_turn.as_str();
    let beginning = owner.launch(&parent.of(ask(), Some(leaf))).await.run;
    let mut fresh = parent.of(ask(), None);
    fresh.params.context = Some("fresh".to_owned());
    let fresh = owner.launch(&fresh).await.run;
    // The parent goes on while they wait.
    fs::write(&parent.file, before.replace("words of the parent", "words of later")).unwrap();
    owner.cancel(&holder).await;
    let all = "first words of the parent | second words of the parent | the child's task";
    assert_eq!(heard(&owner, &whole.run).await, all);
    assert_eq!(heard(&owner, &beginning).await, "first words of the parent | the child's task");
    assert_eq!(heard(&owner, &fresh).await, "the child's task");

    // It goes on in its own conversation, and its parent's is only read.
    owner.resume(&whole.run, &ask(), Some("and more")).await.unwrap();
    assert_eq!(heard(&owner, &whole.run).await, format!("{all} | and more"));
    assert!(!fs::read_to_string(&parent.file).unwrap().contains("the child's task"));
}

#[tokio::test]
async fn a_conversation_that_is_not_there_is_refused() {
    let Some(pi) = Pi::site().await else { return };
    let daemon = pi.start();
    let owner = daemon.owner("me").await;
    let ask = || pi.play("debug", &Faux::new().say("never"));
    let parent = Parent { file: pi.path("none.jsonl"), first_turn: String::new() };
    let refusal = fault(owner.try_launch(&parent.of(ask(), None)).await);
    assert_eq!(refusal.kind, Kind::Refused, "{refusal}");
    assert!(refusal.message.contains("none.jsonl"), "{refusal}");
    fs::write(&parent.file, "{\"type\":\"session\",\"id\":\"x\"}\n").unwrap();
    let refusal = fault(owner.try_launch(&parent.of(ask(), Some("nobody"))).await);
    assert!(refusal.message.contains("nobody"), "{refusal}");
    let mut without = ask();
    without.params.context = Some("parent".to_owned());
    fault(owner.try_launch(&without).await);
    assert!(owner.list().await.is_empty(), "nothing was stored");
}
