use std::os::unix::process::ExitStatusExt;

use serde_json::json;

use crate::child::{Child, answer, refused};
use crate::stage::Stage;

#[test]
fn says_make_one_message_with_the_last_stop() {
    for (steps, text, stop) in [
        ("{\"say\":\"a\"}\n{\"say\":{\"text\":\"b\"}}", "ab", "stop"),
        ("{\"say\":\"a\",\"stop\":\"length\"}\n{\"say\":\"b\"}", "ab", "length"),
        ("{\"say\":\"\",\"stop\":\"error\",\"error\":\"overloaded\"}", "", "error"),
        ("{\"touch\":\"$WORK/t\"}", "", "stop"),
    ] {
        let stage = Stage::new(steps);
        let mut child = stage.start();
        child.prompt("go");
        let records = child.settle();
        assert_eq!(answer(&records), (text.to_owned(), stop.to_owned()), "{steps}");
        if stop == "error" {
            assert!(records.iter().any(|record| record["message"]["errorMessage"] == "overloaded"));
        }
    }
}

#[test]
fn a_tool_step_is_a_turn_with_its_exit_code() {
    let steps = json!({ "tool": { "name": "bash", "args": { "command": "false" }, "result": "no", "exitCode": 1, "durationMs": 7 } });
    let stage = Stage::new(&format!("{steps}\n{{\"tool\":\"ls\"}}\n{{\"say\":\"done\"}}"));
    let mut child = stage.start();
    child.prompt("go");
    let records = child.settle();
    let ends: Vec<_> = records.iter().filter(|record| record["type"] == "tool_execution_end").collect();
    assert_eq!(ends.len(), 2);
    assert_eq!(ends[0]["result"]["structuredContent"]["exit_code"], 1);
    assert_eq!(ends[0]["result"]["content"][0]["text"], "no");
    assert_eq!((&ends[0]["isError"], &ends[0]["durationMs"]), (&json!(true), &json!(7)));
    assert_eq!(ends[1]["isError"], false);
    let start = records.iter().find(|record| record["type"] == "tool_execution_start").unwrap();
    assert_eq!(start["toolCallId"], ends[0]["toolCallId"]);
    assert_eq!(start["args"]["command"], "false");
    assert_eq!(records.iter().filter(|record| record["type"] == "turn_end").count(), 3);
    assert_eq!(answer(&records), ("done".to_owned(), "stop".to_owned()));
}

#[test]
fn touch_appends_a_time_and_a_label() {
    let steps = "{\"before\":{\"touch\":{\"path\":\"$WORK/stamps\",\"label\":\"start $SESSION $ATTEMPT\"}}}\n\
                 {\"touch\":\"stamps\"}\n{\"say\":\"x\"}\n{\"after\":{\"touch\":{\"path\":\"stamps\",\"label\":\"end\"}}}";
    let stage = Stage::new(steps);
    let mut child = Child::start_with(
        stage.work.path(),
        &["--session-id", "s-9"],
        &[("SUBAGENTD_OFFLINE_SCRIPT", stage.script.to_str().unwrap()), ("SUBAGENTD_ATTEMPT", "r/0.1")],
    );
    child.next();
    assert!(stage.read("stamps").ends_with("start s-9 r/0.1\n"), "{}", stage.read("stamps"));
    child.prompt("go");
    child.settle();
    assert_eq!(child.finish(), Some(0));
    let stamps = stage.read("stamps");
    let (times, labels): (Vec<u128>, Vec<&str>) = stamps
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(time, label)| (time.parse::<u128>().unwrap(), label))
        .unzip();
    assert_eq!(labels, ["start s-9 r/0.1", "-", "end"]);
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn exit_and_die_end_the_process_where_they_stand() {
    for (step, code, signal) in [
        ("{\"exit\":3}", Some(3), None),
        ("{\"exit\":0}", Some(0), None),
        ("{\"die\":\"KILL\"}", None, Some(9)),
        ("{\"die\":\"SIGTERM\"}", None, Some(15)),
        ("{\"die\":6}", None, Some(6)),
        ("{\"die\":\"SEGV\"}", None, Some(11)),
    ] {
        let stage = Stage::new(&format!("{{\"say\":\"lost\"}}\n{step}"));
        let mut child = stage.start();
        child.prompt("go");
        let (records, status) = child.end();
        assert_eq!((status.code(), status.signal()), (code, signal), "{step}");
        assert!(!records.iter().any(|record| record["type"] == "agent_end"), "{step}: {records:#?}");

        let stage = Stage::new(&format!("{{\"before\":{step}}}"));
        let child = stage.start();
        let (records, status) = child.end();
        assert_eq!((records.len(), status.code(), status.signal()), (0, code, signal), "before {step}");

        let stage = Stage::new(&format!("{{\"say\":\"kept\"}}\n{{\"after\":{step}}}"));
        let mut child = stage.start();
        child.prompt("go");
        let (records, status) = child.end();
        assert_eq!((status.code(), status.signal()), (code, signal), "after {step}");
        assert_eq!(answer(&records).0, "kept");
    }
}

#[test]
fn a_sleep_that_ignores_the_end_goes_on_through_it() {
    let steps = "{\"sleep\":{\"ms\":200,\"ignoreEnd\":true}}\n{\"touch\":\"never\"}";
    let stage = Stage::new(&format!("{{\"before\":{{\"touch\":\"begun\"}}}}\n{steps}"));
    let mut child = stage.start();
    child.prompt("go");
    child.until_type("agent_start");
    let begun = std::time::Instant::now();
    child.close_input();
    let (_, status) = child.end();
    assert_eq!(status.code(), Some(0));
    assert!(begun.elapsed() >= std::time::Duration::from_millis(150), "{:?}", begun.elapsed());
    assert_eq!(stage.read("never"), "", "the end takes effect after the sleep");
}

#[test]
fn a_sleep_before_the_first_output_ends_with_the_input() {
    let stage = Stage::new("{\"before\":{\"sleep\":60000}}");
    let mut child = stage.start();
    child.send(&json!({ "type": "get_state" }));
    child.close_input();
    let (records, status) = child.end();
    assert_eq!((records.len(), status.code()), (0, Some(0)));
}

#[test]
fn steps_are_played_once() {
    let stage = Stage::new("{\"say\":\"once\"}");
    let mut child = stage.start();
    child.prompt("go");
    assert_eq!(answer(&child.settle()).0, "once");
    child.prompt("again");
    let (text, stop) = answer(&child.settle());
    assert!(text.contains("no steps") && stop == "stop", "{text} {stop}");
}

#[test]
fn a_wrong_script_names_file_line_and_steps() {
    let stage = Stage::new("{\"say\":\"a\"}\n{\"shout\":\"b\"}");
    let (code, said) = refused(stage.work.path(), &["--script", "script.jsonl"]);
    assert_eq!(code, Some(1));
    for part in ["script.jsonl:2", "shout", "say, tool, sleep, touch, exit, die"] {
        assert!(said.contains(part), "{said}");
    }
    let (code, said) = refused(stage.work.path(), &["--script", "absent"]);
    assert!(code == Some(1) && said.contains("cannot read the script absent"), "{said}");
}
