//! What is accepted, once, and reaches the child byte for byte.

use std::fs;

use serde_json::{Value, json};
use subagentd_proto::error::Kind;
use subagentd_proto::run::{RunView, State};
use subagentd_tests::{Owner, Puppet, Script, Site, fault};

/// F20.
#[tokio::test]
async fn a_key_gives_one_run_however_often_it_is_sent() {
    let site = Site::new();
    let daemon = site.start();
    let ask = site.play("explore", &Script::new().say("once")).key("k1");

    // The connection is cut before the answer can come.
    let mut raw = daemon.raw();
    raw.hello("me");
    raw.send("run/launch", &serde_json::to_value(&ask.params).unwrap());
    drop(raw);
    let owner = daemon.owner("me").await;
    let first = owner.launch(&ask).await;
    let mut answers = Vec::new();
    for _ in 0..10 {
        let (client, ask) = (daemon.owner("me").await, ask.clone());
        answers.push(tokio::spawn(async move { client.launch(&ask).await }));
    }
    for answer in answers {
        let answer = answer.await.unwrap();
        assert_eq!((answer.run.as_str(), answer.repeated), (first.run.as_str(), true));
    }
    owner.wait(&first.run).await;
    let daemon = daemon.restart(&site).await;
    let owner = daemon.owner("me").await;
    let again = owner.launch(&ask).await;
    assert_eq!((&again.run, again.repeated, again.state), (&first.run, true, State::Succeeded));
    assert_eq!(owner.list().await.len(), 1);

    let refusal = fault(owner.try_launch(&ask.clone().task("another")).await);
    assert_eq!(refusal.kind, Kind::KeyConflict);
    assert!(refusal.message.contains(&first.run), "{refusal}");
    // What the host states about itself is not what the caller asks; the key is the owner's own.
    assert_eq!(owner.launch(&ask.clone().variable("CHANGED", "yes")).await.run, first.run);
    assert_ne!(daemon.owner("you").await.launch(&ask).await.run, first.run);
}

/// F20, the last part.
#[tokio::test]
async fn a_key_stays_with_a_run_that_failed_and_is_free_after_a_refusal() {
    let site = Site::new();
    site.configure("[runtimes.missing]\ncommand = [\"/nonexistent/child\"]\n");
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut broken = site.ask("explore", "look").runtime("missing").key("broken");
    broken.params.model = Some("a/b".to_owned());
    let failed = owner.run(&broken).await;
    assert_eq!(failed.state, State::Failed);
    let again = owner.launch(&broken).await;
    assert_eq!((again.run, again.repeated, again.state), (failed.run, true, State::Failed));

    let ask = site.play("explore", &Script::new().say("fine")).key("refused");
    fault(owner.try_launch(&ask.clone().directory("/nonexistent")).await);
    assert_eq!(owner.run(&ask).await.state, State::Succeeded);
}

/// F21.
#[tokio::test]
async fn a_long_order_reaches_the_child_byte_for_byte() {
    const PLANTED: &str = "planted-words-of-the-order";
    let site = Site::with(&[("limits.children", "8")]);
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let mut orders: Vec<String> = [127 * 1024, 129 * 1024, 200 * 1024, 2 * 1024 * 1024].map(order).to_vec();
    orders.extend([format!("- {PLANTED}\r\n\ttail "), format!("@{PLANTED} 😀\u{2028}"), format!("--help {PLANTED}")]);
    let script = Script::new().say("read").step(json!({ "sleep": 600_000 }));
    let mut runs = Vec::new();
    for order in &orders {
        runs.push(owner.launch(&site.play("explore", &script).task(order)).await.run);
    }
    for (run, order) in runs.iter().zip(&orders) {
        let view = owner.until(run, State::Running).await;
        let heard = subagentd_tests::until("the order in the child's records", async || told(&view)).await;
        assert!(heard == *order, "{} bytes sent, {} heard", order.len(), heard.len());
        assert!(order.starts_with(&view.children[0].task), "a view shows its beginning");
    }
    for process in site.processes() {
        assert!(!process.command.iter().any(|word| word.contains(PLANTED)), "{:?}", process.command);
    }
    for run in &runs {
        owner.cancel(run).await;
        owner.wait(run).await;
    }
    assert!(!site.logs().contains(PLANTED));

    fn order(bytes: usize) -> String {
        let mut text = format!("{PLANTED} ä\n");
        while text.len() < bytes {
            text.push_str("0123456789 abcdef \\ \" \t \u{7f} ü\n");
        }
        text.truncate(text.floor_char_boundary(bytes));
        text
    }
}

/// What the child says it was asked.
fn told(view: &RunView) -> Option<String> {
    let folder = view.children[0].folder.as_ref()?;
    let events = fs::read_to_string(format!("{folder}/events.jsonl")).ok()?;
    let records = events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let asked = |record: &Value| {
        let message = &record["record"]["message"];
        (record["kind"] == "message_end" && message["role"] == "user").then(|| message["content"][0]["text"].clone())
    };
    records.filter_map(|record| asked(&record)).next()?.as_str().map(str::to_owned)
}

#[tokio::test]
async fn blank_and_impossible_orders_are_refused_at_once() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    for (task, word) in [("", "blank"), (" \n\t", "blank"), ("a\0b", "NUL")] {
        let refusal = fault(owner.try_launch(&site.ask("explore", task)).await);
        assert_eq!(refusal.kind, Kind::InvalidParams);
        assert!(refusal.message.contains(word), "{refusal}");
    }
    for (ask, kind) in [
        (site.ask("nobody", "x"), Kind::UnknownAgent),
        (site.ask("explore", "x").runtime("nothing"), Kind::RuntimeUnavailable),
        (site.ask("explore", "x").title(&"t".repeat(121)), Kind::Limit),
        (site.ask("explore", "x").key(&"k".repeat(201)), Kind::Limit),
    ] {
        assert_eq!(fault(owner.try_launch(&ask).await).kind, kind, "{ask:?}");
    }
    let mut ask = site.ask("explore", "x");
    ask.params.model = Some("search".to_owned());
    assert_eq!(fault(owner.try_launch(&ask).await).kind, Kind::ModelNotExact);
    ask.params.model = Some("offline/other".to_owned());
    assert_eq!(fault(owner.try_launch(&ask).await).kind, Kind::ModelUnavailable);
    assert!(owner.list().await.is_empty());
}

/// F21: what the system itself refuses is the run's end, with the system's reason.
#[tokio::test]
async fn an_environment_that_no_program_takes_fails_the_run_and_nothing_else() {
    let site = Site::new();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let ask = site.play("explore", &Script::new().say("fine"));
    let view = owner.run(&ask.clone().variable("LARGE", &"x".repeat(200 * 1024))).await;
    let child = &view.children[0];
    assert_eq!((view.state, child.reason.as_deref()), (State::Failed, Some("start.failed")), "{child:?}");
    assert!(child.error.as_deref().unwrap().to_lowercase().contains("argument list too long"), "{child:?}");
    assert_eq!(owner.run(&ask).await.state, State::Succeeded);
}

#[tokio::test]
async fn what_was_decided_is_told_with_reasons_and_kept() {
    let site = Site::new();
    fs::write(site.work().join("socket.rs"), "fn remove_stale_socket() {}\n").unwrap();
    let daemon = site.start();
    let owner = daemon.owner("me").await;
    let launched = owner.launch(&site.ask("explore", "where is remove_stale_socket?").title("a title")).await;
    let decisions = &launched.decisions;
    assert_eq!(decisions.runtime.value, "offline");
    assert!(!decisions.runtime.reason.is_empty() && !decisions.model.reason.is_empty());
    assert_eq!(decisions.model.value, "offline/search");
    assert_eq!(decisions.class.value, "shared");
    let view = owner.wait(&launched.run).await;
    assert_eq!(view.children[0].decisions, launched.decisions);
    assert_eq!(view.title.as_deref(), Some("a title"));
    let reported = view.children[0].reported.as_ref().unwrap();
    assert_eq!(reported.model.as_deref(), Some("offline/search"));
    let (text, _) = owner.text(&launched.run).await;
    assert!(text.contains("socket.rs:1"), "{text}");
    assert_by_any_ending(&owner, &view).await;
}

async fn assert_by_any_ending(owner: &Owner, view: &RunView) {
    let hex = view.run.replace('-', "");
    for digits in [6, 8, 20] {
        assert_eq!(owner.get(&hex[hex.len() - digits..]).await.run, view.run);
    }
}

#[tokio::test]
async fn two_owners_do_not_see_each_others_notices() {
    let site = Site::new();
    let daemon = site.start();
    let (me, you) = (daemon.owner("me").await, daemon.owner("you").await);
    let puppet = Puppet::new(&site, "settle", "mine");
    let view = me.run(&site.puppet("explore", &puppet)).await;
    assert!(you.inbox().await.is_empty());
    assert_eq!(you.ack(&[view.notice.unwrap().seq]).await, 0, "not yours to acknowledge");
    assert_eq!(me.inbox().await.len(), 1);
}
