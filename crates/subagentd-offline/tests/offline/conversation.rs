use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::child::{Child, answer, refused};
use crate::stage::Stage;

fn kept(folder: &Path) -> Vec<Vec<Value>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    files.map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()).collect()
}

fn goes_on(work: &Path, folder: &str, more: &[&str], prompt: &str) -> String {
    let mut child = Child::start(work, &[&["--session-dir", folder, "--session-id", "c-1"], more].concat());
    child.prompt(prompt);
    let text = answer(&child.settle()).0;
    assert_eq!(child.finish(), Some(0));
    text
}

#[test]
fn a_later_process_knows_that_it_goes_on() {
    let stage = Stage::new("");
    let folder = stage.work.path().join("deep/session");
    let path = folder.to_str().unwrap();
    let first = goes_on(stage.work.path(), path, &[], "where is the gate?");
    assert!(!first.contains("goes on"), "{first}");
    let second = goes_on(stage.work.path(), path, &[], "and the door?");
    assert!(second.contains("goes on with a conversation, after 1 earlier message."), "{second}");
    // A line that a kill has cut does not lose the others.
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    fs::write(&file, format!("{}{{\"type\":\"mess", fs::read_to_string(&file).unwrap())).unwrap();
    let third = goes_on(stage.work.path(), path, &[], "and the roof?");
    assert!(third.contains("after 2 earlier messages."), "{third}");
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.ends_with("_c-1.jsonl"), "{name}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

    // Another name is another conversation, and without a folder there is none.
    let mut other = Child::start(stage.work.path(), &["--session-dir", path, "--session-id", "1"]);
    other.prompt("where is the gate?");
    assert!(!answer(&other.settle()).0.contains("goes on"));
    let mut none = Child::start(stage.work.path(), &["--session-id", "c-1"]);
    none.prompt("where is the gate?");
    assert!(!answer(&none.settle()).0.contains("goes on"));
    none.prompt("and now?");
    assert!(answer(&none.settle()).0.contains("goes on"), "in one process it does, too");
}

#[test]
fn a_copy_goes_on_and_leaves_its_parent() {
    let stage = Stage::new("");
    let (parents, own) = (stage.work.path().join("p"), stage.work.path().join("o"));
    goes_on(stage.work.path(), parents.to_str().unwrap(), &[], "where is the gate?");
    let before = kept(&parents);
    let parent = fs::read_dir(&parents).unwrap().next().unwrap().unwrap().path();
    let fork = ["--fork", parent.to_str().unwrap()];
    let text = goes_on(stage.work.path(), own.to_str().unwrap(), &fork, "and the door?");
    assert!(text.contains("after 1 earlier message."), "{text}");
    assert_eq!(kept(&parents), before);
    let copy = kept(&own).remove(0);
    assert_eq!((&copy[0]["type"], &copy[0]["parentSession"]), (&json!("session"), &json!(parent)));
    assert_eq!(copy[1..before[0].len()], before[0][1..]);

    let args = |from: &str| {
        let own = own.to_str().unwrap().to_owned();
        ["--session-dir", &own, "--session-id", "c-1", "--fork", from].map(str::to_owned)
    };
    for (from, says) in [(parent.to_str().unwrap(), "is there already"), ("/nowhere.jsonl", "is there already")] {
        let (code, said) = refused(stage.work.path(), &args(from).each_ref().map(String::as_str));
        assert!(code == Some(1) && said.contains(says), "{said}");
    }
    let (code, said) = refused(stage.work.path(), &["--fork", "/nowhere.jsonl"]);
    assert!(code == Some(1) && said.contains("/nowhere.jsonl, cannot be read"), "{said}");
}

#[test]
fn resumed_steps_take_the_place_of_the_others() {
    let steps = "{\"say\":\"first\"}\n{\"resumed\":{\"touch\":{\"path\":\"$WORK/t\",\"label\":\"after $EARLIER\"}}}\n\
                 {\"resumed\":{\"say\":\"going on\"}}";
    let stage = Stage::new(steps);
    let folder = stage.work.path().join("s");
    let args = ["--script", stage.script.to_str().unwrap()];
    let texts = ["go", "on"].map(|prompt| goes_on(stage.work.path(), folder.to_str().unwrap(), &args, prompt));
    assert_eq!(texts, ["first", "going on"]);
    assert!(stage.read("t").ends_with(" after 1\n"), "{}", stage.read("t"));
}

#[test]
fn listening_ends_with_a_steer_a_follow_up_an_abort_or_its_time() {
    let script = "{\"tool\":\"ls\"}\n{\"listen\":{}}\n{\"say\":\"heard\"}";
    for (behaviour, users) in [("steer", ["steered", "answered"]), ("followUp", ["answered", "followed"])] {
        let stage = Stage::new(script);
        let mut child = stage.start();
        child.prompt("go");
        child.until_type("tool_execution_end");
        child.send(&json!({ "type": "prompt", "id": "q", "message": "x", "streamingBehavior": behaviour }));
        let records = child.settle();
        let order: Vec<&str> = records
            .iter()
            .filter(|record| record["type"] == "message_end")
            .filter_map(|record| match (record["message"]["role"].as_str(), &record["message"]["content"][0]["text"]) {
                (Some("user"), _) => Some(if behaviour == "steer" { "steered" } else { "followed" }),
                (Some("assistant"), Value::String(text)) if text == "heard" => Some("answered"),
                _ => None,
            })
            .collect();
        assert_eq!(order, users);
        assert!(records.iter().any(|record| record["type"] == "queue_update"));
    }
    let stage = Stage::new(script);
    let mut child = stage.start();
    child.prompt("go");
    child.until_type("tool_execution_end");
    child.send(&json!({ "type": "abort" }));
    assert_eq!(answer(&child.settle()).1, "aborted");

    let stage = Stage::new("{\"listen\":1}");
    let mut child = stage.start();
    child.prompt("go");
    assert_eq!(child.end().1.code(), Some(1));
}

#[test]
fn a_queue_that_is_cleared_is_given_back_and_not_heard() {
    let stage = Stage::new("{\"tool\":\"ls\"}\n{\"sleep\":60000}\n{\"say\":\"x\"}");
    let mut child = stage.start();
    child.prompt("go");
    child.until_type("tool_execution_end");
    for (behaviour, text) in [("steer", "now"), ("followUp", "then")] {
        child.send(&json!({ "type": "prompt", "id": text, "message": text, "streamingBehavior": behaviour }));
    }
    child.send(&json!({ "type": "clear_queue", "id": "c" }));
    let cleared = child.until(|record| record["id"] == "c").pop().unwrap();
    assert_eq!(cleared["data"], json!({ "steering": ["now"], "followUp": ["then"] }));
    child.send(&json!({ "type": "abort" }));
    let records = child.settle();
    assert!(!records.iter().any(|record| record["message"]["role"] == "user"), "{records:#?}");
    // Idle now: a steer starts a run of its own.
    child.send(&json!({ "type": "prompt", "id": "s", "message": "late", "streamingBehavior": "steer" }));
    let records = child.settle();
    let response = records.iter().find(|record| record["id"] == "s").unwrap();
    assert_eq!(response["data"]["disposition"], "started");
}
