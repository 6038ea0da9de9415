//! The lives that children lead: what their scripts do, and how each ends if nobody interferes.

use std::path::Path;

use serde_json::{Value, json};

use super::dice::Dice;
use super::history::Expected;

/// One life.
#[derive(Debug, Clone)]
pub(super) struct Life {
    pub(super) name: &'static str,
    pub(super) steps: Vec<Value>,
    pub(super) expected: Expected,
    /// Total and idle limit in milliseconds.
    pub(super) timeout: Option<u64>,
    pub(super) idle: Option<u64>,
    /// Whether it waits for somebody to end it.
    pub(super) endless: bool,
}

/// Longer than any limit of this program: the child waits to be ended.
const FOR_EVER: u64 = 100_000;
/// Between two stamps of a process.
const BEAT: u64 = 6;

const NAMES: [&str; 21] = [
    "quick",
    "quick",
    "tools",
    "nap",
    "nap",
    "slow-start",
    "linger",
    "deaf",
    "session",
    "double",
    "pipes",
    "unmarked",
    "closed",
    "loop",
    "exit",
    "dies",
    "error",
    "silent",
    "large",
    "endless",
    "idle",
];

/// A life by chance. `stamps` is where the child and all it starts write down that they live.
pub(super) fn draw(dice: &mut Dice, key: &str, stamps: &Path) -> Life {
    let name = NAMES[dice.index(NAMES.len())];
    live(name, dice, key, stamps)
}

/// The life of this name.
pub(super) fn live(name: &'static str, dice: &mut Dice, key: &str, stamps: &Path) -> Life {
    let answer = format!("answer of {key}");
    let say = json!({ "say": answer });
    let nap = json!({ "sleep": dice.between(20, 400) });
    let short = json!({ "sleep": dice.between(0, 60) });
    let beat = json!({ "beat": { "path": stamps, "label": "beat:$ATTEMPT", "ms": BEAT } });
    let orphan = json!([beat, { "sleep": FOR_EVER }]);
    let deaf = json!([{ "ignore": { "signals": ["TERM", "HUP"] } }, beat, { "sleep": FOR_EVER }]);
    let mut life = Life {
        name,
        steps: vec![
            json!({ "before": { "touch": { "path": stamps, "label": "begin:$ATTEMPT $PID" } } }),
            json!({ "before": beat }),
        ],
        expected: Expected { reason: "completed", answer: Some(answer.clone()) },
        timeout: None,
        idle: None,
        endless: false,
    };
    let ends = |reason| Expected { reason, answer: None };
    let steps = match name {
        "quick" => vec![say],
        "tools" => vec![
            json!({ "tool": { "name": "bash", "args": { "command": "true" }, "result": "ok", "exitCode": 0 } }),
            short,
            json!({ "tool": { "name": "read", "args": { "path": "a" }, "result": "no", "isError": true } }),
            say,
        ],
        "nap" => vec![nap, say],
        "slow-start" => vec![json!({ "before": nap }), say],
        "linger" => vec![say, json!({ "after": { "sleep": { "ms": FOR_EVER, "ignoreEnd": true } } })],
        "session" => vec![json!({ "fork": { "setsid": true, "steps": orphan } }), nap, say],
        "double" => vec![json!({ "fork": { "double": true, "steps": deaf } }), short, say],
        "pipes" => vec![json!({ "fork": { "setsid": true, "holdPipes": true, "steps": deaf } }), short, say],
        // Never both at once: what has neither mark nor descriptor cannot be found once its parents are gone.
        "unmarked" => {
            vec![json!({ "fork": { "double": true, "setsid": true, "clearMark": true, "steps": orphan } }), nap, say]
        }
        "closed" => {
            vec![json!({ "fork": { "double": true, "setsid": true, "closeTree": true, "steps": orphan } }), nap, say]
        }
        "loop" => {
            let stamp = json!({ "path": stamps, "label": "beat:$ATTEMPT $PID" });
            vec![json!({ "forkLoop": { "width": 2, "ms": 400, "eachMs": 4, "stamp": stamp } }), short, say]
        }
        "large" => {
            let text = answer.repeat(12_000);
            life.expected.answer = Some(text.clone());
            vec![json!({ "say": text })]
        }
        "exit" => {
            life.expected = ends("child.exited");
            vec![short, json!({ "exit": dice.between(0, 5) })]
        }
        "dies" => {
            life.expected = ends("child.signalled");
            let signal = ["KILL", "USR1", "HUP"][dice.index(3)];
            vec![short, json!({ "die": signal })]
        }
        "error" => {
            life.expected = ends("model.error");
            vec![short, json!({ "say": { "text": "half", "stop": "error", "error": "the provider is overloaded" } })]
        }
        "silent" => {
            life.expected = ends("answer.missing");
            vec![json!({ "say": "" })]
        }
        "idle" => {
            life.expected = ends("timeout.idle");
            life.idle = Some(dice.between(80, 250));
            vec![json!({ "sleep": FOR_EVER })]
        }
        "deaf" => {
            life.expected = ends("timeout.total");
            life.timeout = Some(dice.between(150, 400));
            vec![
                json!({ "ignore": { "signals": ["TERM", "HUP", "INT"], "ignoreInput": true } }),
                json!({ "hang": FOR_EVER }),
            ]
        }
        _ => {
            life.expected = ends("timeout.total");
            life.timeout = Some(dice.between(300, 900));
            life.endless = true;
            vec![json!({ "sleep": FOR_EVER })]
        }
    };
    life.steps.extend(steps);
    life
}
