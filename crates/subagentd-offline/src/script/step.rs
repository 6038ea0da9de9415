//! The steps of a script and the lines they are written as.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::field;
use crate::record::Stop;

/// Steps of a grandchild, as they are passed on in an argument. The kernel takes 128 KiB for one; longer lists are refused.
const STEPS_BYTES: usize = 64 * 1024;

/// Most chains of one fork loop; more are refused.
const LOOP_WIDTH: u32 = 32;

/// Longest time of a fork loop; a longer one is refused.
const LOOP_MS: u64 = 30_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Say(Say),
    Tool(Tool),
    /// Waits for so long for something in the queue.
    Listen(Duration),
    Act(Act),
}

/// A step that needs no dialect, so that a grandchild can play it too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    Sleep(Sleep),
    Touch(Touch),
    Beat(Beat),
    Fork(Fork),
    ForkLoop(ForkLoop),
    Ignore(Ignore),
    OnTerm(Vec<Parting>),
    Raw(Vec<u8>),
    Stderr(String),
    Hang(Duration),
    Exit(u8),
    Die(Signal),
}

/// A step of a good-bye.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Parting {
    Say(Say),
    Act(Act),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Say {
    pub(crate) text: String,
    pub(crate) stop: Option<Stop>,
    pub(crate) error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Tool {
    pub(crate) name: String,
    #[serde(default = "no_args")]
    pub(crate) args: Value,
    #[serde(default)]
    pub(crate) result: Value,
    pub(crate) exit_code: Option<i64>,
    pub(crate) is_error: Option<bool>,
    pub(crate) duration_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Sleep {
    pub(crate) ms: u64,
    #[serde(default)]
    pub(crate) ignore_end: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Touch {
    pub(crate) path: String,
    pub(crate) label: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Beat {
    pub(crate) stamp: Touch,
    pub(crate) every: Duration,
}

/// How a grandchild differs from a plain one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Manner {
    pub(crate) setsid: bool,
    pub(crate) group: bool,
    pub(crate) hold_pipes: bool,
    pub(crate) clear_mark: bool,
    pub(crate) close_tree: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fork {
    pub(crate) manner: Manner,
    pub(crate) double: bool,
    pub(crate) wait: bool,
    /// Checked, but left as they are written: so they are passed on.
    pub(crate) steps: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForkLoop {
    pub(crate) manner: Manner,
    pub(crate) width: u32,
    pub(crate) total: Duration,
    /// How long each process lives before it starts the next.
    pub(crate) each: Duration,
    pub(crate) stamp: Option<Touch>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ignore {
    pub(crate) signals: Vec<Signal>,
    pub(crate) input: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SayLine {
    text: String,
    stop: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BeatLine {
    path: String,
    label: Option<String>,
    #[serde(default = "beat_ms")]
    ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForkLine {
    #[serde(default)]
    steps: Vec<Value>,
    #[serde(default)]
    double: bool,
    #[serde(default)]
    wait: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ForkLoopLine {
    #[serde(default = "one")]
    width: u32,
    ms: u64,
    #[serde(default)]
    each_ms: u64,
    stamp: Option<Touch>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct IgnoreLine {
    #[serde(default)]
    signals: Vec<Value>,
    #[serde(default)]
    ignore_input: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnTermLine {
    steps: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLine {
    bytes: String,
    #[serde(default = "one")]
    times: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StderrLine {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HangLine {
    #[serde(default = "field::longest_hang")]
    ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListenLine {
    #[serde(default = "field::longest_hang")]
    ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExitLine {
    code: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DieLine {
    signal: Value,
}

/// The step that a JSON object stands for.
pub(super) fn parse_step(mut fields: Map<String, Value>) -> Result<Step, String> {
    // The key that names the step, and the value that a bare text, number or list stands for.
    const STEPS: [(&str, &str); 16] = [
        ("say", "text"),
        ("tool", "name"),
        ("sleep", "ms"),
        ("touch", "path"),
        ("exit", "code"),
        ("die", "signal"),
        ("beat", "path"),
        ("fork", "steps"),
        ("background", "steps"),
        ("forkLoop", "ms"),
        ("ignore", "signals"),
        ("onTerm", "steps"),
        ("raw", "bytes"),
        ("stderr", "text"),
        ("hang", "ms"),
        ("listen", "ms"),
    ];
    let named: Vec<(&str, &str)> = STEPS.into_iter().filter(|(key, _)| fields.contains_key(*key)).collect();
    let &[(key, main)] = named.as_slice() else {
        let found: Vec<&str> = fields.keys().map(String::as_str).collect();
        return Err(format!("a line has exactly one step, found {found:?}"));
    };
    let mut values = match fields.remove(key) {
        Some(Value::Object(values)) => values,
        Some(value) => Map::from_iter([(main.to_owned(), value)]),
        None => Map::new(),
    };
    values.extend(fields);
    match key {
        "say" => say(fill(key, values)?).map(Step::Say),
        "tool" => fill(key, values).map(Step::Tool),
        "listen" => field::time(key, fill::<ListenLine>(key, values)?.ms).map(Step::Listen),
        _ => act(key, values).map(Step::Act),
    }
}

/// Steps of a grandchild.
pub(crate) fn acts(steps: &[Value]) -> Result<Vec<Act>, String> {
    numbered(steps, |step| match step {
        Step::Act(act) => Ok(act),
        Step::Say(_) | Step::Tool(_) | Step::Listen(_) => {
            Err("a grandchild speaks no dialect, so say, tool and listen cannot stand here")
        }
    })
}

pub(super) fn object(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(fields) => Ok(fields),
        Value::Array(_) => Err("found a list".to_owned()),
        other => Err(format!("found {other} where a JSON object belongs")),
    }
}

fn act(key: &str, values: Map<String, Value>) -> Result<Act, String> {
    match key {
        "sleep" => fill(key, values).map(Act::Sleep),
        "touch" => fill(key, values).map(Act::Touch),
        "beat" => beat(fill(key, values)?).map(Act::Beat),
        "fork" => fork(key, values, Manner::default()).map(Act::Fork),
        "background" => fork(key, values, Manner { group: true, ..Manner::default() }).map(Act::Fork),
        "forkLoop" => fork_loop(key, values).map(Act::ForkLoop),
        "ignore" => ignore(fill(key, values)?).map(Act::Ignore),
        "onTerm" => partings(&fill::<OnTermLine>(key, values)?.steps).map(Act::OnTerm),
        "raw" => {
            let RawLine { bytes, times } = fill(key, values)?;
            field::bytes(&bytes, times).map(Act::Raw)
        }
        "stderr" => Ok(Act::Stderr(fill::<StderrLine>(key, values)?.text)),
        "hang" => field::time(key, fill::<HangLine>(key, values)?.ms).map(Act::Hang),
        "exit" => Ok(Act::Exit(fill::<ExitLine>(key, values)?.code)),
        _ => field::signal(key, &fill::<DieLine>(key, values)?.signal, &field::DEADLY).map(Act::Die),
    }
}

fn fill<T: DeserializeOwned>(key: &str, values: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(values)).map_err(|error| format!("{key}: {error}"))
}

fn say(line: SayLine) -> Result<Say, String> {
    let stop = match line.stop {
        None => None,
        Some(word) => match Stop::ALL.into_iter().find(|stop| stop.word() == word) {
            Some(stop) => Some(stop),
            None => {
                return Err(format!("say: stop is one of {:?}, not {word:?}", Stop::ALL.map(Stop::word)));
            }
        },
    };
    Ok(Say { text: line.text, stop, error: line.error })
}

fn beat(BeatLine { path, label, ms }: BeatLine) -> Result<Beat, String> {
    if ms == 0 {
        return Err("beat: ms is at least 1".to_owned());
    }
    Ok(Beat { stamp: Touch { path, label }, every: Duration::from_millis(ms) })
}

fn fork(key: &str, values: Map<String, Value>, usual: Manner) -> Result<Fork, String> {
    let (manner, rest) = manner(key, values, usual)?;
    let ForkLine { steps, double, wait } = fill(key, rest)?;
    if double && wait {
        return Err(format!("{key}: double makes an orphan, which cannot be waited for"));
    }
    acts(&steps).map_err(|why| format!("{key}: {why}"))?;
    let size = serde_json::to_vec(&steps).map_or(usize::MAX, |text| text.len());
    if size > STEPS_BYTES {
        return Err(format!("{key}: its steps take {size} bytes, at most {STEPS_BYTES} are passed on"));
    }
    Ok(Fork { manner, double, wait, steps })
}

fn fork_loop(key: &str, values: Map<String, Value>) -> Result<ForkLoop, String> {
    let (manner, rest) = manner(key, values, Manner::default())?;
    let ForkLoopLine { width, ms, each_ms, stamp } = fill(key, rest)?;
    if width == 0 || width > LOOP_WIDTH || ms > LOOP_MS {
        return Err(format!("{key}: width is 1 to {LOOP_WIDTH}, ms at most {LOOP_MS}"));
    }
    Ok(ForkLoop { manner, width, total: Duration::from_millis(ms), each: Duration::from_millis(each_ms), stamp })
}

/// Takes the words of a manner out of the values, since serde cannot refuse unknown words of a flattened struct.
fn manner(key: &str, values: Map<String, Value>, usual: Manner) -> Result<(Manner, Map<String, Value>), String> {
    const WORDS: [&str; 5] = ["setsid", "group", "holdPipes", "clearMark", "closeTree"];
    let (words, rest): (Map<String, Value>, Map<String, Value>) =
        values.into_iter().partition(|(word, _)| WORDS.contains(&word.as_str()));
    let grouped = words.contains_key("group");
    let mut manner: Manner = fill(key, words)?;
    if !grouped {
        manner.group = usual.group;
    }
    Ok((manner, rest))
}

fn ignore(IgnoreLine { signals, ignore_input }: IgnoreLine) -> Result<Ignore, String> {
    let signals =
        signals.iter().map(|name| field::signal("ignore", name, &field::IGNORABLE)).collect::<Result<_, _>>()?;
    Ok(Ignore { signals, input: ignore_input })
}

fn partings(steps: &[Value]) -> Result<Vec<Parting>, String> {
    numbered(steps, |step| match step {
        Step::Say(say) => Ok(Parting::Say(say)),
        Step::Act(act) if !matches!(act, Act::OnTerm(_)) => Ok(Parting::Act(act)),
        Step::Act(_) | Step::Tool(_) | Step::Listen(_) => Err("tool, listen and onTerm cannot stand here"),
    })
    .map_err(|why| format!("onTerm: {why}"))
}

fn numbered<T>(steps: &[Value], take: impl Fn(Step) -> Result<T, &'static str>) -> Result<Vec<T>, String> {
    let one = |(at, step): (usize, &Value)| {
        let step = object(step.clone()).and_then(parse_step);
        step.and_then(|step| take(step).map_err(str::to_owned))
            .map_err(|why| format!("step {}: {why}", at.saturating_add(1)))
    };
    steps.iter().enumerate().map(one).collect()
}

fn no_args() -> Value {
    json!({})
}

const fn beat_ms() -> u64 {
    50
}

const fn one() -> u32 {
    1
}
