//! Values of steps that need more than serde to be read.

use std::str::FromStr;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::life::LIFE;

/// Most bytes of one `raw`; more are refused.
const RAW_BYTES: usize = 64 * 1024 * 1024;

/// Signals that end a process which does nothing about them. PIPE is not among them: it is ignored from the start.
pub(super) const DEADLY: [Signal; 12] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGILL,
    Signal::SIGABRT,
    Signal::SIGBUS,
    Signal::SIGFPE,
    Signal::SIGKILL,
    Signal::SIGUSR1,
    Signal::SIGSEGV,
    Signal::SIGUSR2,
    Signal::SIGTERM,
];

/// Signals that others send. ALRM is not among them: it is the bound on a life.
pub(super) const IGNORABLE: [Signal; 6] =
    [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGUSR1, Signal::SIGUSR2];

pub(super) fn signal(key: &str, value: &Value, allowed: &[Signal]) -> Result<Signal, String> {
    let found = match value {
        Value::String(name) if name.starts_with("SIG") => Signal::from_str(name).ok(),
        Value::String(name) => Signal::from_str(&format!("SIG{name}")).ok(),
        Value::Number(number) => number
            .as_i64()
            .and_then(|number| i32::try_from(number).ok())
            .and_then(|number| Signal::try_from(number).ok()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    found.filter(|signal| allowed.contains(signal)).ok_or_else(|| {
        let names: Vec<&str> = allowed.iter().map(|signal| signal.as_str()).collect();
        format!("{key}: {value} is none of {}", names.join(", "))
    })
}

/// Text in which `\xNN` stands for a byte and `\\` for a backslash, so many times over.
pub(super) fn bytes(text: &str, times: u32) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('\\');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    while let Some(part) = parts.next() {
        if part.is_empty() {
            bytes.push(b'\\');
            bytes.extend_from_slice(parts.next().ok_or("raw: a backslash at the end")?.as_bytes());
            continue;
        }
        let split = part.strip_prefix('x').and_then(|part| part.split_at_checked(2));
        let digits = split.filter(|(digits, _)| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some((Ok(byte), rest)) = digits.map(|(digits, rest)| (u8::from_str_radix(digits, 16), rest)) else {
            return Err(format!("raw: after a backslash stands x with two hex digits or a backslash, not {part:?}"));
        };
        bytes.push(byte);
        bytes.extend_from_slice(rest.as_bytes());
    }
    let times = usize::try_from(times).unwrap_or(usize::MAX);
    if bytes.len().saturating_mul(times) > RAW_BYTES {
        return Err(format!("raw: it makes more than {RAW_BYTES} bytes"));
    }
    Ok(bytes.repeat(times))
}

pub(super) fn time(key: &str, ms: u64) -> Result<Duration, String> {
    let time = Duration::from_millis(ms);
    if time > LIFE { Err(format!("{key}: ms is at most {}", LIFE.as_millis())) } else { Ok(time) }
}

pub(super) fn longest_hang() -> u64 {
    u64::try_from(LIFE.as_millis()).unwrap_or(u64::MAX)
}
