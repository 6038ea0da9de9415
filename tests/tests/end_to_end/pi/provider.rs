//! What a provider over HTTP does, and what the command line says to it.

use subagentd_tests::{LOOP, LOOP_GONE, LOOP_KEYLESS, Pi, Provider, Turn};

/// One way to end.
struct End {
    tag: &'static str,
    model: &'static str,
    turns: Vec<Turn>,
    /// Exit code, state, reason, and a word of the error.
    is: (i32, &'static str, &'static str, &'static str),
    /// Requests that pi makes; none where they never come to the script.
    requests: usize,
}

fn end(tag: &'static str, turns: &[Turn], is: (i32, &'static str, &'static str, &'static str), requests: usize) -> End {
    End { tag, model: LOOP, turns: turns.to_vec(), is, requests }
}

const fn failed(reason: &'static str, words: &'static str) -> (i32, &'static str, &'static str, &'static str) {
    (1, "failed", reason, words)
}

const WELL: (i32, &str, &str, &str) = (0, "succeeded", "completed", "");
const SILENT: (i32, &str, &str, &str) = (5, "timed_out", "timeout.idle", "");
/// pi asks four times in all.
const TRIES: usize = 4;

/// Runs each by the command line and compares all that it says.
async fn assert_ends(ends: &[End]) {
    let Some(pi) = Pi::with(&[("limits.idle", "400ms")]).await else { return };
    let provider = Provider::start();
    pi.connect(&provider);
    let _daemon = pi.start();
    for End { tag, model, turns, is, requests } in ends {
        let (code, state, reason, words) = *is;
        provider.script(tag, turns);
        let said = pi.cli(&["run", "worker", tag, "--model", model, "--runtime", "pi", "--json"]).await;
        let run = &said.document()["run"];
        let child = &run["children"][0];
        let found = (said.code, run["state"].as_str(), child["reason"].as_str());
        assert_eq!(found, (Some(code), Some(state), Some(reason)), "{tag}: {said:?}");
        assert!(child["error"].as_str().unwrap_or_default().contains(words), "{tag}: {said:?}");
        assert_eq!(provider.requests(tag), *requests, "{tag}: {said:?}");
        if code == 0 {
            assert_eq!(pi.cli(&["result", run["run"].as_str().unwrap()]).await.out, "whole: ä€😀\n", "{tag}");
            assert!(child["usage"]["cost"].as_f64().unwrap() > 0.0, "{tag}: {said:?}");
        }
    }
    pi.until_no_attempts().await;
}

#[tokio::test]
async fn failures_that_pi_repeats_end_well_or_are_told() {
    let whole = || Turn::Say("whole: ä€😀\n");
    assert_ends(&[
        end("well", &[whole()], WELL, 1),
        end("a tool", &[Turn::Bash("exit 3".to_owned()), whole()], WELL, 2),
        end("once 429", &[Turn::Status(429, "too many requests"), whole()], WELL, 2),
        end("once cut", &[Turn::Cut("half"), whole()], WELL, 2),
        end("always 429", &[Turn::Status(429, "too many requests")], failed("model.error", "429"), TRIES),
        end("always 500", &[Turn::Status(500, "a bad day")], failed("model.error", "500"), TRIES),
        end("always cut", &[Turn::Cut("half")], failed("model.error", ""), TRIES),
        end("unfinished", &[Turn::Unfinished("half")], failed("model.error", ""), TRIES),
    ])
    .await;
}

#[tokio::test]
async fn failures_that_nothing_mends_are_told_at_once() {
    let keyless = End { model: LOOP_KEYLESS, ..end("bad key", &[], failed("model.error", "401"), 0) };
    let gone = End { model: LOOP_GONE, ..end("refused", &[], failed("model.error", ""), 0) };
    assert_ends(&[
        keyless,
        gone,
        end("status 400", &[Turn::Status(400, "what is that")], failed("model.error", "400"), 1),
        end("garbled", &[Turn::Garbled("half")], failed("model.error", ""), 1),
        end("length", &[Turn::Length("half")], failed("answer.cut-off", ""), 1),
        end("empty", &[Turn::Say("")], failed("answer.missing", ""), 1),
        end("silent", &[Turn::SilentBefore], SILENT, 1),
        end("falls silent", &[Turn::SilentAfter("half")], SILENT, 1),
    ])
    .await;
}
